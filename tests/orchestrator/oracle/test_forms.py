"""What breaks the contract's formats is owed a refusal, and changes nothing."""

import pytest

from memqual.v1 import continuity_pb2
from orchestrator.oracle.forms import receipt_is_well_formed, spec_is_well_formed
from services.common.canonical import operation_id, sha256_hex
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import receipt, record_receipt, spec, wait

REFUSED = 3


def placed() -> continuity_pb2.OperationSpec:
    """A specification with an identity and its digest."""
    made = spec()
    made.identity.CopyFrom(
        continuity_pb2.OperationIdentity(
            deployment="d", thread_id="t", message_id="m", tool_call_id="c"
        )
    )
    made.operation_id = operation_id(made.identity)
    return made


def test_a_specification_is_well_formed_with_its_own_digest_and_ids_of_128_bytes() -> None:
    made = placed()
    assert spec_is_well_formed(made)
    made.tool = "t" * 128
    assert spec_is_well_formed(made)
    made.tool = "t" * 129
    assert not spec_is_well_formed(made)


def test_another_operations_digest_or_a_long_part_of_the_identity_is_malformed() -> None:
    made = placed()
    made.operation_id = sha256_hex(b"another")
    assert not spec_is_well_formed(made)
    long = placed()
    long.identity.message_id = "m" * 129
    long.operation_id = operation_id(long.identity)
    assert not spec_is_well_formed(long)


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"result_digest": "d" * 64}, False),
        ({"effect_id": "e" * 129}, False),
        ({"result_json": "x" * 65_537, "result_digest": sha256_hex(b"x" * 65_537)}, False),
        ({"result_json": "x" * 65_536, "result_digest": sha256_hex(b"x" * 65_536)}, True),
    ],
)
def test_a_receipt_is_well_formed_within_its_sizes(change: dict[str, str], fits: bool) -> None:
    made = receipt()
    for name, value in change.items():
        setattr(made, name, value)
    assert receipt_is_well_formed(made) is fits


def test_a_malformed_question_is_refused_and_changes_nothing() -> None:
    story = Story()
    story.begins(None, "A", "b1", spec=spec(tool="t" * 129), status=REFUSED)
    story.grants("A", "b2")
    assert story.classes() == ["ok", "ok"]


def test_an_execute_for_a_malformed_question_is_unsafe() -> None:
    story = Story(spec=spec(tool="t" * 129))
    story.grants()
    assert story.classes() == ["unsafe"]


def test_a_malformed_receipt_is_refused_and_frees_nothing() -> None:
    story = Story()
    story.grants()
    wrong = record_receipt()
    wrong.receipt.result_digest = "d" * 64
    story.records(wrong, status=REFUSED)
    story.begins(wait(), "B", "b2")
    assert story.classes() == ["ok"] * 3


def test_a_malformed_receipt_that_is_taken_is_unsafe() -> None:
    story = Story()
    story.grants()
    wrong = record_receipt()
    wrong.receipt.result_digest = "d" * 64
    story.records(wrong)
    assert story.classes() == ["ok", "unsafe"]
