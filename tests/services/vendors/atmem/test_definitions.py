"""A specification is bound whole, so that atmem itself refuses one that changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import common_pb2, continuity_pb2
from services.vendors.atmem.definitions import (
    capability_of,
    definition_of,
    known_capability,
    spec_of,
)
from services.vendors.atmem.model import KEY_MARGIN_SECONDS, LEASE_SECONDS
from tests.services.vendors.atmem.samples import spec

CAPABILITIES = [
    common_pb2.EFFECT_CAPABILITY_NONE,
    common_pb2.EFFECT_CAPABILITY_QUERY,
    common_pb2.EFFECT_CAPABILITY_IDEMPOTENT,
]
TEXTS = (
    "operation_id",
    "namespace",
    "workflow_id",
    "principal",
    "tool",
    "destination",
    "intent_digest",
    "arguments_digest",
    "idempotency_key",
)
IDENTITY = ("deployment", "thread_id", "checkpoint_namespace", "message_id", "tool_call_id")


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_definition_gives_back_its_specification(
    capability: common_pb2.EffectCapability.ValueType,
) -> None:
    asked = spec(capability)
    # As atmem keeps it: through JSON, with numbers as floats.
    kept = json.loads(json.dumps(definition_of(asked)))
    kept["retention_seconds"] = float(kept["retention_seconds"])
    assert spec_of(kept) == asked


@given(st.sampled_from(TEXTS), st.text(max_size=20))
def test_every_field_is_bound(name: str, text: str) -> None:
    asked, changed = spec(), spec()
    setattr(changed, name, text)
    assert (definition_of(asked) == definition_of(changed)) is (asked == changed)


@given(st.sampled_from(IDENTITY), st.text(max_size=20))
def test_every_part_of_the_identity_is_bound(name: str, text: str) -> None:
    asked, changed = spec(), spec()
    setattr(changed.identity, name, text)
    assert (definition_of(asked) == definition_of(changed)) is (asked == changed)


def test_capability_and_retention_are_in_their_own_places() -> None:
    definition = definition_of(spec(common_pb2.EFFECT_CAPABILITY_IDEMPOTENT, retention_seconds=90))
    assert (definition["name"], definition["tool"]) == ("call", "publish_document")
    assert (definition["capability"], definition["retention_seconds"]) == ("idempotent", 90)


@pytest.mark.parametrize(
    ("capability", "retention_seconds", "timeout_seconds"),
    [("NONE", 0, 90), ("QUERY", 0, 90), ("IDEMPOTENT", 121, 90), ("IDEMPOTENT", 120, 10)],
)
def test_a_retry_on_a_key_wants_the_whole_lease_of_it(
    capability: str, retention_seconds: int, timeout_seconds: int
) -> None:
    named = common_pb2.EffectCapability.Value(f"EFFECT_CAPABILITY_{capability}")
    definition = definition_of(spec(named, retention_seconds=retention_seconds))
    assert definition["timeout_seconds"] == timeout_seconds
    # atmem takes the definition, and retries while timeout + margin are left.
    assert capability != "IDEMPOTENT" or retention_seconds > timeout_seconds + KEY_MARGIN_SECONDS
    assert timeout_seconds == 10 or timeout_seconds + KEY_MARGIN_SECONDS == LEASE_SECONDS


def test_a_capability_that_is_not_set_is_none() -> None:
    assert not known_capability(common_pb2.EFFECT_CAPABILITY_UNSPECIFIED)
    assert all(known_capability(one) for one in CAPABILITIES)


@pytest.mark.parametrize("definition", [{}, {"arguments": {}}, {"arguments": {"identity": "x"}}])
def test_a_workflow_of_somebody_else_is_no_operation(definition: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not those of an operation"):
        spec_of(definition)  # type: ignore[arg-type]  # what somebody else may have kept


def test_an_unknown_capability_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown capability"):
        capability_of({"capability": "magic"})


def test_the_result_is_a_specification_of_the_contract() -> None:
    assert isinstance(spec_of(definition_of(spec())), continuity_pb2.OperationSpec)
