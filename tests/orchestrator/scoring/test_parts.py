"""The small parts that a trial's verdict is made of."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from memqual.v1 import common_pb2
from orchestrator.model import CapabilityVariant, CheckOutcome, Verdict
from orchestrator.oracle.clockmap import ClockMap, ClockReading
from orchestrator.oracle.declared import NANOSECONDS
from orchestrator.oracle.judgement import CallJudgement, Classification
from orchestrator.oracle.messages import DecisionKind, DecisionTold
from orchestrator.oracle.outcomes import MILLISECOND_NS
from orchestrator.oracle.worlds import Row
from orchestrator.scoring.checks import Finder, requirements
from orchestrator.scoring.effects import EffectFacts, OperationEffects, effects_by_workflow
from orchestrator.scoring.end_checks import ENDLESS_WAITS, waits_for_ever
from orchestrator.scoring.exemplars import judged_in_row
from orchestrator.scoring.rows import asked_after, unreached

EVERY = tuple(CapabilityVariant)


def journal(*payloads: dict[str, object]) -> list[common_pb2.JournalRecord]:
    return [
        common_pb2.JournalRecord(sequence=number, payload_json=json.dumps(payload))
        for number, payload in enumerate(payloads, start=1)
    ]


def test_effects_are_counted_by_workflow_and_event() -> None:
    counted = effects_by_workflow(
        journal(
            {"event": "configured", "workflow_id": "w"},
            {"event": "received", "workflow_id": "w"},
            {"event": "applied", "workflow_id": "w", "arguments_digest": "a"},
            {"event": "replayed", "workflow_id": "w"},
            {"event": "refused", "workflow_id": "w", "refused_by": "tool"},
            {"event": "refused", "workflow_id": "w", "refused_by": "destination"},
            {"event": "queried", "workflow_id": "w"},
            {"event": "received", "workflow_id": ""},
            {"event": "applied", "workflow_id": "v", "arguments_digest": "b"},
            {"event": "applied", "workflow_id": "v", "arguments_digest": "c"},
        )
    )
    assert counted == {
        "w": EffectFacts(1, 1, 1, 1, 1, ("a",)),
        "v": EffectFacts(applied=2, arguments_digests=("b", "c")),
    }


def test_effects_are_counted_by_operation_too() -> None:
    def record(event: str, operation: str, digest: str = "") -> dict[str, object]:
        return {
            "event": event,
            "workflow_id": "w",
            "operation_id": operation,
            "arguments_digest": digest,
        }

    (facts,) = effects_by_workflow(
        journal(
            record("received", "read only"),
            record("read", "read only"),
            record("received", "written", "a"),
            record("applied", "written", "a"),
            record("replayed", "written", "a"),
            record("received", "refused"),
            record("refused", "refused") | {"refused_by": "tool"},
        )
    ).values()
    assert facts.received == 3
    assert dict(facts.operations) == {
        "read only": OperationEffects(answered=1),
        "written": OperationEffects(applied=1, answered=2, arguments_digests=("a",)),
    }
    assert facts.of_operation("refused") == OperationEffects()


def test_every_requirement_has_an_id_of_its_own_and_a_property() -> None:
    register = requirements()
    assert all(re.fullmatch(r"MQ-[CN]-\d\d", name) for name in register)
    of_the_paper = {"P1", "P2", "P3", "P4", "P5", "ours"}
    of_atant = {
        "ATANT persistence",
        "ATANT temporal order",
        "ATANT disambiguation",
        "ATANT model independence",
    }
    assert {row.property for row in register.values()} <= of_the_paper | of_atant
    assert all(row.text and row.design for row in register.values())


def test_a_finder_adds_up() -> None:
    find = Finder()
    assert find.verdict() == (Verdict.PASS, ())
    find.that("a", "MQ-C-01", True, "x", "")
    assert find.verdict()[0] is Verdict.PASS
    find.open("b", "MQ-C-02", "could not be seen")
    assert find.verdict()[0] is Verdict.ERROR
    find.rig("rig.c", "MQ-C-09", False, "x", "y")
    assert find.verdict()[0] is Verdict.ERROR
    find.that("d", "MQ-C-03", False, "x", "y")
    verdict, told = find.verdict()
    assert (verdict, [check.check_id for check in told]) == (Verdict.FAIL, ["d"])
    assert [check.outcome for check in find.checks()] == [
        CheckOutcome.HELD,
        CheckOutcome.NOT_EVALUATED,
        CheckOutcome.VIOLATED,
        CheckOutcome.VIOLATED,
    ]


def test_a_check_of_the_rig_is_named_as_one() -> None:
    with pytest.raises(ValueError, match="no check of the rig"):
        Finder().rig("continuity.end", "MQ-C-07", True, "", "")


# -- rows ----------------------------------------------------------------------------------------


def decision(rows: str, at_ns: int = 10, call_id: int = 1, **fields: Any) -> CallJudgement:
    made = CallJudgement(
        call_id=call_id,
        sequence=1,
        source="agent",
        method="Begin",
        incarnation_id="B",
        observed="WAIT",
        kind=DecisionKind.WAIT,
        reason="r",
        attempt=0,
        remaining_ms=0,
        allowed=("WAIT",),
        rows=tuple(Row(row) for row in rows),
        classification=Classification.OK,
        problems=(),
        forwarded_ns=at_ns,
        answered_ns=at_ns + 1,
    )
    return replace(made, **fields)


@pytest.mark.parametrize(
    ("wanted", "met", "left"),
    [
        ("LX", ["L", "X"], ""),
        ("LX", ["L", "L", "X", "C"], ""),
        ("LX", ["X"], "LX"),
        ("LX", ["X", "L"], "X"),
        ("LX", ["L"], "X"),
        ("LX", ["LN", "X"], ""),
        ("", ["L"], ""),
        ("S", ["S"], ""),
        ("S", ["L"], "S"),
    ],
)
def test_rows_are_reached_in_order(wanted: str, met: list[str], left: str) -> None:
    decisions = [decision(rows) for rows in met]
    assert "".join(unreached(tuple(wanted), decisions, begin_replay=True)) == left


def test_without_begin_replay_a_repeated_begin_meets_the_lease() -> None:
    assert unreached(("S",), [decision("L")], begin_replay=False) == ()
    assert unreached(("S",), [decision("S")], begin_replay=False) == ()


def test_questions_before_the_fault_and_of_the_dead_reach_no_row() -> None:
    before, held, after = decision("N", 5), decision("C", 20, 7), decision("L", 20, 8)
    assert asked_after([before, held, after], 10, frozenset({7})) == (after,)


# -- waiting -------------------------------------------------------------------------------------


def waits(*promised_ms: int, gap_ms: int = 100) -> list[CallJudgement]:
    return [
        decision("X", at_ns=1 + number * gap_ms * 1_000_000, remaining_ms=told)
        for number, told in enumerate(promised_ms)
    ]


def read_at(*offsets_seconds: float) -> ClockMap:
    """The memory's clock, set anew by an offset each time, 100 ms after the one before."""
    step = 100 * MILLISECOND_NS
    readings = [
        # Each clock holds from right before one question until the next one comes near.
        ClockReading(at - 2, at - 1, at + round(seconds * NANOSECONDS))
        for index, seconds in enumerate(offsets_seconds)
        for at in (index * step - 10 * MILLISECOND_NS, index * step + 70 * MILLISECOND_NS)
    ]
    return ClockMap.from_readings(readings)


STEADY = read_at(0)


def test_waiting_ends_when_it_was_told_to_often_enough() -> None:
    often = ENDLESS_WAITS + 1
    assert waits_for_ever(waits(*[50] * often), STEADY)
    assert not waits_for_ever(waits(*[50] * ENDLESS_WAITS), STEADY)
    assert not waits_for_ever(waits(*[60_000] * 9), STEADY)
    confirmed = [*waits(50, 50, 50, 50), decision("X", kind=DecisionKind.CONFIRM)]
    assert not waits_for_ever(confirmed[1:], STEADY)
    live = [decision("L", at_ns=number) for number in range(9)]
    assert not waits_for_ever(live, STEADY)
    assert not waits_for_ever([], STEADY)


def test_what_was_asked_for_is_over_by_the_memory_s_own_clock() -> None:
    often = ENDLESS_WAITS + 1
    ahead = read_at(*(31 * number for number in range(often)))
    assert waits_for_ever(waits(*[30_000] * often), ahead)
    assert not waits_for_ever(waits(*[32_000] * often), ahead)
    back = read_at(*(-31 * number for number in range(often)))
    assert not waits_for_ever(waits(*[50] * often), back)


# -- exemplars -----------------------------------------------------------------------------------


def told(kind: DecisionKind, **fields: Any) -> DecisionTold:
    return DecisionTold(kind, "r", **fields)


FRESH = told(DecisionKind.EXECUTE, attempt=2, token="second", remaining_ms=120_000)


@pytest.mark.parametrize("capability", EVERY)
def test_each_exemplar_leads_to_its_row(capability: CapabilityVariant) -> None:
    right = {
        Row.NEVER_GRANTED: FRESH,
        Row.LEASE_LIVE: told(DecisionKind.WAIT),
        Row.CLOCK_BEHIND: told(DecisionKind.WAIT),
    }
    for row, answer in right.items():
        judged = judged_in_row(row, capability, answer)
        assert (judged.classification, row in judged.rows) == (Classification.OK, True)


@pytest.mark.parametrize(
    ("capability", "kind"),
    [
        (CapabilityVariant.NONE, DecisionKind.CONFIRM),
        (CapabilityVariant.QUERY_FENCED, DecisionKind.QUERY),
        (CapabilityVariant.QUERY_UNFENCED, DecisionKind.QUERY),
        (CapabilityVariant.IDEMPOTENT, DecisionKind.EXECUTE),
        (CapabilityVariant.IDEMPOTENT_EXPIRED, DecisionKind.CONFIRM),
    ],
)
def test_after_expiry_the_capability_decides(
    capability: CapabilityVariant, kind: DecisionKind
) -> None:
    answers = {
        DecisionKind.CONFIRM: told(DecisionKind.CONFIRM),
        DecisionKind.QUERY: told(DecisionKind.QUERY, attempt=1, token="q"),
        DecisionKind.EXECUTE: FRESH,
    }
    for other, answer in answers.items():
        judged = judged_in_row(Row.EXPIRED, capability, answer)
        assert (judged.classification is Classification.OK) == (other is kind)


def test_the_same_begin_gets_the_same_and_a_completion_is_given_back() -> None:
    capability = CapabilityVariant.NONE
    dated = judged_in_row(Row.SAME_BEGIN, capability, FRESH)
    assert dated.allowed == ("EXECUTE(same)",)
    assert judged_in_row(Row.COMPLETE, capability, FRESH).allowed == ("REUSE",)


def test_no_exemplar_leads_to_other_rows() -> None:
    with pytest.raises(ValueError, match="row O"):
        judged_in_row(Row.OPERATOR, CapabilityVariant.NONE, FRESH)
