"""Answers that are missing, cells that are not run, arms that are not scored."""

import pytest

from memqual.v1 import interposer_pb2, vendor_pb2
from orchestrator.evidence.records import message_to_json
from orchestrator.model import (
    ExpiryMode,
    NotRunSubtype,
    TargetSet,
    Verdict,
    WindowName,
)
from tests.orchestrator.scoring.mini_rig import Evidence, trial
from tests.orchestrator.scoring.support import (
    COMPLETE,
    cell,
    comparator,
    unevaluated,
    violated,
    with_kill,
    with_receipts,
)


def without_answer(evidence: Evidence, status: int) -> Evidence:
    """The last Begin ends with a status instead of its answer."""
    trace = [type(record).FromString(record.SerializeToString()) for record in evidence.trace]
    answers = [
        record
        for record in trace
        if record.kind == interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED
        and record.method.endswith("/Begin")
    ]
    answers[-1].kind = interposer_pb2.TRACE_KIND_UPSTREAM_FAILED
    answers[-1].status_code = status
    return Evidence(evidence.evidence, trace, evidence.journal)


@pytest.mark.parametrize("status", [4, 14])
def test_a_healthy_memory_that_does_not_answer_fails(status: int) -> None:
    record = without_answer(trial(cell()), status).scored()
    assert record.verdict is Verdict.FAIL
    assert "continuity.form" in violated(record)
    assert f"NO ANSWER({status})" in record.cause


def test_a_lost_connection_without_proof_that_the_memory_was_up_is_an_error() -> None:
    evidence = without_answer(with_receipts(trial(cell()), []), 14)
    record = evidence.scored()
    assert record.verdict is Verdict.ERROR
    assert "continuity.answered" in unevaluated(record)


def test_silence_is_the_memorys_even_without_proof_of_the_fault() -> None:
    record = without_answer(with_receipts(trial(cell()), []), 4).scored()
    assert (record.verdict, violated(record) >= {"continuity.form"}) == (Verdict.FAIL, True)


def declaring(
    status: vendor_pb2.CapabilityStatus.ValueType,
    clock: vendor_pb2.LeaseClock.ValueType = vendor_pb2.LEASE_CLOCK_WALL,
) -> str:
    limits = vendor_pb2.Limits(lease_seconds=120)
    describe = vendor_pb2.DescribeResponse(lease_clock=clock, limits=limits)
    supported = vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    describe.capabilities.add(capability=vendor_pb2.CAPABILITY_SOURCE_TRUST, status=supported)
    describe.capabilities.add(capability=vendor_pb2.CAPABILITY_CONTINUITY, status=status)
    return message_to_json(describe)


@pytest.mark.parametrize(
    ("text", "skew", "subtype"),
    [
        ("{}", True, NotRunSubtype.CAPABILITY_ABSENT),
        (
            declaring(vendor_pb2.CAPABILITY_STATUS_ABSENT),
            True,
            NotRunSubtype.CAPABILITY_ABSENT,
        ),
        (
            declaring(vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE),
            True,
            NotRunSubtype.NOT_EXPRESSIBLE,
        ),
        (
            declaring(vendor_pb2.CAPABILITY_STATUS_SUPPORTED, vendor_pb2.LEASE_CLOCK_MONOTONIC),
            True,
            NotRunSubtype.PLATFORM,
        ),
        (declaring(vendor_pb2.CAPABILITY_STATUS_SUPPORTED), False, NotRunSubtype.PLATFORM),
    ],
)
def test_what_cannot_be_run_is_not_run(text: str, skew: bool, subtype: NotRunSubtype) -> None:
    record = trial(cell()).changed(describe_json=text, skew=skew).scored()
    assert (record.verdict, record.subtype, record.checks) == (Verdict.NOT_RUN, subtype, ())
    assert record.cause


def test_without_skew_what_needs_none_is_run() -> None:
    assert trial(COMPLETE).changed(skew=False).scored().verdict is Verdict.PASS


def test_a_comparator_is_told_and_not_judged() -> None:
    record = comparator().changed(describe_json="{}").scored()
    assert (record.verdict, record.decisions) == (Verdict.UNSCORED, ())
    assert [check.check_id for check in record.checks] == ["rig.receipt", "rig.window"]
    assert record.dispatches > 0


def test_a_comparator_without_its_fault_is_an_error() -> None:
    record = with_receipts(comparator(), []).scored()
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "trial")


def test_a_memory_kill_is_an_outage_for_the_oracle() -> None:
    place = cell(target=TargetSet.MEMORY, window=WindowName.AFTER_RECEIPT, expiry=ExpiryMode.NONE)
    assert trial(place).scored().verdict is Verdict.PASS
    stepless = with_kill(trial(place), steps=())
    assert stepless.scored().verdict is Verdict.PASS
