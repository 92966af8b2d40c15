"""Schedules want REJECT of every bound field that is another, once an attempt was granted."""

from __future__ import annotations

import pytest
from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle.view import build_views
from orchestrator.scoring.families.explore import not_rejected
from tests.orchestrator.oracle.tracing import CONTINUITY, SECOND, Trace, begin, execute, spec, wait

KEYED = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT


def reject() -> continuity_pb2.BeginResponse:
    return continuity_pb2.BeginResponse(
        decision=continuity_pb2.Decision(reject=continuity_pb2.Reject(), reason_code="differs")
    )


def wrong_after_a_grant(
    changed: continuity_pb2.OperationSpec, answer: Message | None, status: int = 0
) -> int:
    """How many questions are blamed: the operation is granted, and asked about otherwise."""
    trace = Trace()
    trace.called(CONTINUITY + "Begin", begin(spec(capability=KEYED, retention=60)), execute(0))
    trace.now += SECOND
    trace.called(CONTINUITY + "Begin", begin(changed, "B", "b2"), answer, status=status)
    (view,) = build_views(trace.records)
    return len(list(not_rejected(view)))


def other(**fields: object) -> continuity_pb2.OperationSpec:
    changed = spec(capability=KEYED, retention=60)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


@pytest.mark.parametrize(
    "changed",
    [
        other(idempotency_key="another"),
        other(retention_seconds=120),
        other(principal="another"),
        other(workflow_id="another"),
        other(intent_digest="j" * 64),
    ],
)
def test_another_bound_field_is_rejected(changed: continuity_pb2.OperationSpec) -> None:
    assert wrong_after_a_grant(changed, wait()) == 1
    assert wrong_after_a_grant(changed, reject()) == 0
    assert wrong_after_a_grant(changed, None, status=14) == 0


@pytest.mark.parametrize("changed", [other(), other(tool="another"), other(principal="p" * 129)])
def test_what_is_equal_or_the_oracles_is_not_blamed_here(
    changed: continuity_pb2.OperationSpec,
) -> None:
    assert wrong_after_a_grant(changed, wait()) == 0


def test_nothing_is_bound_before_a_grant_was_seen() -> None:
    trace = Trace()
    trace.called(CONTINUITY + "Begin", begin(other(principal="another")), wait())
    trace.called(CONTINUITY + "Begin", begin(spec(capability=KEYED, retention=60)), execute(0))
    (view,) = build_views(trace.records)
    assert not list(not_rejected(view))
