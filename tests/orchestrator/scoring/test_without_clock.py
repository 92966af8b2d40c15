"""Where no clock can be set: a lease's end is waited out, by every cell that wants nothing else."""

import pytest

from chaos.receipts import FaultReceipt, LeaseWaitReceipt
from memqual.v1 import vendor_pb2
from orchestrator.evidence.records import message_from_json, message_to_json
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    NotRunSubtype,
    Verdict,
)
from orchestrator.scoring.case_faults import check_case_faults
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.controls import ControlExpectation, expectation
from orchestrator.scoring.declared import not_run
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.cells import cell_table
from orchestrator.suites.continuity.families import CASES, Need
from tests.orchestrator.scoring.mini_memory import Naive, Null
from tests.orchestrator.scoring.mini_rig import Evidence, trial
from tests.orchestrator.scoring.support import cell, receipts_of, with_receipts

SKEWED = [
    one.cell
    for one in cell_table()
    if one.cell.arm.has_memory and one.cell.expiry is ExpiryMode.SKEWED
]
NEEDS_A_JUMP = [
    one
    for one in SKEWED
    if one.fault is FaultKind.CLOCK_JUMP or one.fate is Fate.LATE_AFTER_KEY_END
]
WAITED_OUT = [one for one in SKEWED if one not in NEEDS_A_JUMP]
QUIET = [one for one in WAITED_OUT if one.arm is Arm.MEMORY]
NS = 1_000_000_000


def describing(evidence: Evidence, lease_seconds: int, *, monotonic: bool = False) -> Evidence:
    """The same evidence of a memory that declares another lease."""
    text = evidence.evidence.describe_json
    describe = message_from_json(text, vendor_pb2.DescribeResponse, "describe_json")
    describe.limits.lease_seconds = lease_seconds
    if monotonic:
        describe.lease_clock = vendor_pb2.LEASE_CLOCK_MONOTONIC
    return evidence.changed(describe_json=message_to_json(describe))


@pytest.mark.parametrize("place", WAITED_OUT, ids=lambda cell: cell.cell_id)
def test_a_right_memory_passes(place: Cell) -> None:
    record = trial(place, moves=False).scored()
    assert (record.verdict, record.cause) == (Verdict.PASS, "")
    assert record.expiry is ExpiryMode.CONFIGURED
    assert record.unsafe_decisions == record.needless_decisions == 0
    assert not record.boundary


@pytest.mark.parametrize("place", WAITED_OUT, ids=lambda cell: cell.cell_id)
def test_its_decisions_are_those_of_the_long_lease(place: Cell) -> None:
    """A key that ends with its lease ends with a short one, too."""
    assert trial(place, moves=False).scored().decisions == trial(place).scored().decisions


@pytest.mark.parametrize("place", QUIET, ids=lambda cell: cell.cell_id)
def test_naive_comes_to_what_the_table_says(place: Cell) -> None:
    record = trial(place, Naive(), moves=False).scored()
    wanted = expectation("control:naive", place, record.expiry)
    assert wanted.met_by(record.verdict), record.cause


@pytest.mark.parametrize("place", QUIET[::5], ids=lambda cell: cell.cell_id)
def test_null_passes_nowhere(place: Cell) -> None:
    record = trial(place, Null(), moves=False).scored()
    assert record.verdict is Verdict.FAIL


def test_naive_may_pass_where_only_a_live_lease_would_show_it() -> None:
    place = cell(capability=CapabilityVariant.IDEMPOTENT)
    wanted = [expectation("control:naive", place, way) for way in ExpiryMode]
    assert wanted == [
        ControlExpectation.MUST_FAIL,
        ControlExpectation.MUST_FAIL,
        ControlExpectation.MAY_PASS,
        ControlExpectation.MUST_FAIL,
    ]


@pytest.mark.parametrize("place", NEEDS_A_JUMP, ids=lambda cell: cell.cell_id)
def test_what_needs_a_jump_is_not_run(place: Cell) -> None:
    record = trial(cell(), moves=False)
    describe = BatchFacts(record.evidence, record.trace, record.journal).describe
    why = not_run(place, describe, skew=False)
    assert why is not None
    assert why.subtype is NotRunSubtype.PLATFORM


def test_a_memory_on_a_monotonic_clock_is_waited_for_whatever_the_machine_can_do() -> None:
    short, long = (
        describing(trial(cell(), moves=False), seconds, monotonic=True) for seconds in (3, 120)
    )
    for skew in (True, False):
        assert short.changed(skew=skew).scored().verdict is not Verdict.NOT_RUN
        record = long.changed(skew=skew).scored()
        assert (record.verdict, record.subtype) == (Verdict.NOT_RUN, NotRunSubtype.PLATFORM)
        assert "monotonic" in record.cause


@pytest.mark.parametrize(("seconds", "run"), [(3, True), (10, True), (11, False), (120, False)])
def test_only_a_short_lease_is_waited_out(seconds: int, run: bool) -> None:
    record = describing(trial(cell(), moves=False), seconds).scored()
    assert (record.verdict is not Verdict.NOT_RUN) == run
    # A cell that says so itself waits as long as it takes.
    configured = describing(trial(cell(expiry=ExpiryMode.CONFIGURED), moves=False), seconds)
    assert configured.scored().verdict is not Verdict.NOT_RUN


def without_wait(evidence: Evidence) -> list[FaultReceipt]:
    return [one for one in receipts_of(evidence) if not isinstance(one, LeaseWaitReceipt)]


@pytest.mark.parametrize("place", [cell(), cell(expiry=ExpiryMode.CONFIGURED)])
def test_a_wait_without_its_receipt_is_an_error(place: Cell) -> None:
    evidence = trial(place, moves=False)
    assert evidence.scored().verdict is Verdict.PASS
    record = with_receipts(evidence, without_wait(evidence)).scored()
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "trial")
    assert "no receipt of the wait" in record.cause


def test_a_wait_that_was_too_short_is_an_error() -> None:
    evidence = trial(cell(), moves=False)
    receipts = receipts_of(evidence)
    [wait] = (one for one in receipts if isinstance(one, LeaseWaitReceipt))
    short = wait.model_copy(update={"after_ns": wait.before_ns + 3 * NS})
    record = with_receipts(evidence, [*without_wait(evidence), short]).scored()
    assert record.verdict is Verdict.ERROR
    assert "of a lease of 3 s went by" in record.cause


def test_a_lease_that_may_have_ended_before_the_wait_is_a_boundary() -> None:
    evidence = trial(cell(), moves=False)
    receipts = receipts_of(evidence)
    [wait] = (one for one in receipts if isinstance(one, LeaseWaitReceipt))
    late = wait.model_copy(
        update={
            "began_monotonic_ns": wait.began_monotonic_ns + 3 * NS,
            "ended_monotonic_ns": wait.ended_monotonic_ns + 3 * NS,
        }
    )
    record = with_receipts(evidence, [*without_wait(evidence), late]).scored()
    assert (record.verdict, record.boundary) == (Verdict.PASS, True)


def test_a_cases_jumps_are_its_waits() -> None:
    case = CASES["zombie.late_renewal"]
    evidence = trial(cell(), moves=False)
    [wait] = (one for one in receipts_of(evidence) if isinstance(one, LeaseWaitReceipt))
    for waits, proven in ((1, False), (2, True)):
        kept = with_receipts(evidence, [wait] * waits)
        facts = BatchFacts(kept.evidence, kept.trace, kept.journal)
        assert check_case_faults(Finder(), facts, case) is proven
    jumped = evidence.changed(expiry=ExpiryMode.SKEWED)
    kept = with_receipts(jumped, [wait, wait])
    assert not check_case_faults(
        Finder(), BatchFacts(kept.evidence, kept.trace, kept.journal), case
    )


def test_cases_that_only_want_a_leases_end_need_no_clock() -> None:
    """What still does is of clocks, drawn schedules, or one of the study's three ways."""
    whole = ("clock", "explore", "regression", "paper_interrupted")
    named = {
        one.name
        for one in CASES.values()
        if Need.MEMORY_CLOCK in one.needs and one.family not in whole
    }
    assert named == {"resolve.expired", "storage.power_loss_renewal"}
