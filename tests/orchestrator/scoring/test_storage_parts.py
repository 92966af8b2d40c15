"""Outages that a disturbance begins, rollbacks as their own class, and ends that are proven."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import cast

import pytest

from memqual.v1 import interposer_pb2, vendor_pb2
from orchestrator.model import CheckOutcome, Verdict
from orchestrator.oracle.judgement import CallJudgement, Classification, OperationJudgement
from orchestrator.oracle.messages import DecisionKind
from orchestrator.oracle.view import Outage
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.memory_ends import check_memory_lives
from orchestrator.scoring.outages import outages_from_marks
from orchestrator.scoring.rolled_back import apart_from_rollback
from orchestrator.suites.continuity.families import CASES


@dataclass(frozen=True)
class Facts:
    """As much of a batch as is looked at here."""

    trace: tuple[interposer_pb2.TraceRecord, ...] = ()
    describe: vendor_pb2.DescribeResponse = field(default_factory=vendor_pb2.DescribeResponse)

    def batch(self) -> BatchFacts:
        return cast(BatchFacts, self)


def marks(*told: dict[str, str]) -> tuple[interposer_pb2.TraceRecord, ...]:
    return tuple(
        interposer_pb2.TraceRecord(
            sequence=number,
            monotonic_ns=number * 10,
            kind=interposer_pb2.TRACE_KIND_MARK,
            mark_json=json.dumps(mark),
        )
        for number, mark in enumerate(told, start=1)
    )


def outage(*steps: str) -> tuple[interposer_pb2.TraceRecord, ...]:
    return marks(*({"kind": "outage", "service": "memory", "step": step} for step in steps))


def test_an_outage_begins_with_the_disturbance_that_the_kill_ends() -> None:
    told = outage("began", "began", "exited", "restarting", "healthy", "began", "exited")
    assert outages_from_marks(told) == (Outage(10, 30, 40, 50), Outage(60, 70))


def test_a_disturbance_that_no_kill_ends_is_no_outage() -> None:
    assert outages_from_marks(outage("began", "began")) == ()


def call(sequence: int, classification: Classification) -> CallJudgement:
    return CallJudgement(
        call_id=sequence,
        sequence=sequence,
        source="orchestrator",
        method="Begin",
        incarnation_id="i",
        observed="EXECUTE",
        kind=DecisionKind.EXECUTE,
        reason="r",
        attempt=1,
        remaining_ms=1,
        allowed=(),
        rows=(),
        classification=classification,
        problems=(),
        forwarded_ns=sequence * 10,
        answered_ns=sequence * 10 + 1,
    )


UNSAFE, NEEDLESS, OK = Classification.UNSAFE, Classification.NEEDLESS, Classification.OK
JUDGED = (
    OperationJudgement("o", (call(1, UNSAFE), call(3, OK), call(4, UNSAFE), call(5, NEEDLESS))),
)
ROLLED_BACK = marks({"kind": "other"}, {"kind": "rolled_back"})
DETECTS = vendor_pb2.DescribeResponse(
    capabilities=[
        vendor_pb2.CapabilityDeclaration(
            capability=vendor_pb2.CAPABILITY_ROLLBACK_DETECTION,
            status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
        )
    ]
)
TOLD = "volume_rollback: Begin answered EXECUTE, "


@pytest.mark.parametrize(
    ("describe", "kept", "findings"),
    [
        (vendor_pb2.DescribeResponse(), [1, 3], (f"{TOLD}unsafe", f"{TOLD}needless")),
        (DETECTS, [1, 3, 4], (f"{TOLD}needless",)),
    ],
    ids=["undeclared", "declared"],
)
def test_what_is_wrong_after_a_rollback_is_a_finding_unless_detection_is_declared(
    describe: vendor_pb2.DescribeResponse, kept: list[int], findings: tuple[str, ...]
) -> None:
    (cell,) = CASES["storage.rolled_back"].cells()
    judged, told = apart_from_rollback(Facts(ROLLED_BACK, describe).batch(), cell, JUDGED)
    assert [one.sequence for one in judged[0].calls] == kept
    assert told == findings


def test_no_other_case_is_forgiven_anything() -> None:
    (cell,) = CASES["storage.torn_write"].cells()
    facts = Facts(ROLLED_BACK).batch()
    assert apart_from_rollback(facts, cell, JUDGED) == (JUDGED, ())
    (cell,) = CASES["storage.rolled_back"].cells()
    assert apart_from_rollback(Facts().batch(), cell, JUDGED) == (JUDGED, ())


def test_an_end_that_is_proven_fails_with_its_cause() -> None:
    find = Finder()
    check_memory_lives(find, Facts(marks({"kind": "memory_ended", "cause": "why"})).batch())
    verdict, (failed,) = find.verdict()
    assert verdict is Verdict.FAIL
    assert (failed.check_id, failed.outcome, failed.actual) == (
        "continuity.alive",
        CheckOutcome.VIOLATED,
        "why",
    )


def test_what_is_not_proven_says_nothing() -> None:
    find = Finder()
    check_memory_lives(find, Facts(marks({"kind": "other"})).batch())
    assert find.checks() == ()
