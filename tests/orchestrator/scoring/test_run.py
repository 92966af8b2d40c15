"""A run's verdict, its rates and what it says of controls, from trial records alone."""

from typing import Any

import pytest

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    Check,
    CheckOutcome,
    ExpiryMode,
    FaultKind,
    NotRunSubtype,
    RunVerdict,
    Suite,
    TrialRecord,
    Verdict,
    WindowName,
)
from orchestrator.plan import ExpectedCells, ExpectedTrial
from orchestrator.scoring.controls import ControlExpectation, expectation
from orchestrator.scoring.run import Rate, aggregate
from tests.orchestrator.scoring.support import cell

NEVER = cell(window=WindowName.BEFORE_INTENT, expiry=ExpiryMode.NONE)


def record(
    verdict: Verdict = Verdict.PASS,
    number: int = 0,
    subject: str = "vendor",
    place: Cell | None = None,
    **fields: Any,
) -> TrialRecord:
    where = place or cell()
    return TrialRecord(
        trial_id=f"{subject}:{where.cell_id}#{number}",
        cell=where,
        subject=subject,
        batch_id=fields.pop("batch_id", "b0"),
        sub_seed=number,
        verdict=verdict,
        **fields,
    )


def expected(trials: list[TrialRecord]) -> ExpectedCells:
    return ExpectedCells.of(
        "quick",
        "r",
        1,
        tuple(
            ExpectedTrial(
                trial_id=one.trial_id,
                cell_id=one.cell.cell_id,
                subject=one.subject,
                sub_seed=one.sub_seed,
            )
            for one in {one.trial_id: one for one in trials}.values()
        ),
    )


def verdict_of(*trials: TrialRecord) -> RunVerdict:
    return aggregate(trials, expected(list(trials))).verdict


PASS, FAIL, ERROR, NOT_RUN = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.NOT_RUN


# -- verdict -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "run"),
    [
        ([PASS, PASS], RunVerdict.QUALIFIED),
        ([PASS, Verdict.UNSCORED], RunVerdict.QUALIFIED),
        ([PASS, NOT_RUN], RunVerdict.QUALIFIED_WITH_GAPS),
        ([PASS, ERROR], RunVerdict.INCOMPLETE),
        ([PASS, ERROR, NOT_RUN], RunVerdict.INCOMPLETE),
        ([PASS, FAIL], RunVerdict.NOT_QUALIFIED),
        ([PASS, FAIL, ERROR, NOT_RUN], RunVerdict.NOT_QUALIFIED),
    ],
)
def test_the_vendors_trials_make_the_verdict(verdicts: list[Verdict], run: RunVerdict) -> None:
    trials = [record(one, number) for number, one in enumerate(verdicts)]
    result = aggregate(trials, expected(trials))
    assert result.verdict is run
    assert result.reasons


def test_a_missing_trial_makes_the_run_invalid() -> None:
    trials = [record(number=0), record(number=1)]
    result = aggregate(trials[:1], expected(trials))
    assert (result.verdict, result.missing) == (RunVerdict.INVALID, (trials[1].trial_id,))


def test_a_trial_that_nobody_planned_counts_for_nothing() -> None:
    planned = [record(PASS)]
    stray = record(FAIL, number=7)
    assert aggregate([*planned, stray], expected(planned)).verdict is RunVerdict.QUALIFIED


@pytest.mark.parametrize("later", [PASS, ERROR, NOT_RUN])
def test_a_retry_never_turns_fail_into_anything_else(later: Verdict) -> None:
    assert verdict_of(record(FAIL), record(later)) is RunVerdict.NOT_QUALIFIED


def test_a_retry_may_turn_an_error_into_a_verdict() -> None:
    assert verdict_of(record(ERROR), record(PASS)) is RunVerdict.QUALIFIED
    assert verdict_of(record(ERROR), record(FAIL)) is RunVerdict.NOT_QUALIFIED


@pytest.mark.parametrize(
    ("subject", "place", "verdict", "run"),
    [
        ("control:reference", cell(), PASS, RunVerdict.QUALIFIED),
        ("control:reference", cell(), FAIL, RunVerdict.INVALID),
        ("control:naive", cell(), FAIL, RunVerdict.QUALIFIED),
        ("control:naive", cell(), PASS, RunVerdict.INVALID),
        ("control:naive", NEVER, PASS, RunVerdict.QUALIFIED),
        ("control:naive", NEVER, FAIL, RunVerdict.INVALID),
        ("control:null", NEVER, FAIL, RunVerdict.QUALIFIED),
        ("control:null", NEVER, PASS, RunVerdict.INVALID),
        ("control:null", NEVER, NOT_RUN, RunVerdict.INVALID),
        ("control:null", NEVER, ERROR, RunVerdict.INCOMPLETE),
        ("control:reference", cell(), ERROR, RunVerdict.INCOMPLETE),
    ],
)
def test_controls_say_whether_the_run_proves_anything(
    subject: str, place: Cell, verdict: Verdict, run: RunVerdict
) -> None:
    trials = [record(), record(verdict, subject=subject, place=place, cause="why")]
    result = aggregate(trials, expected(trials))
    assert result.verdict is run
    assert bool(result.control_misses) == (run is RunVerdict.INVALID)


def test_a_control_that_this_machine_cannot_try_is_not_missed() -> None:
    skipped = record(NOT_RUN, subject="control:naive", subtype=NotRunSubtype.PLATFORM)
    assert verdict_of(record(), skipped) is RunVerdict.QUALIFIED


def test_an_invalid_run_says_so_even_when_the_vendor_failed() -> None:
    missed = record(PASS, subject="control:naive")
    assert verdict_of(record(FAIL), missed) is RunVerdict.INVALID


# -- control table -------------------------------------------------------------------------------


def configured(capability: CapabilityVariant) -> Cell:
    return cell(expiry=ExpiryMode.CONFIGURED, capability=capability)


@pytest.mark.parametrize(
    ("subject", "place", "wanted"),
    [
        ("control:reference", cell(), ControlExpectation.MUST_PASS),
        ("control:null", NEVER, ControlExpectation.MUST_FAIL),
        ("control:naive", NEVER, ControlExpectation.MUST_PASS),
        ("control:naive", cell(), ControlExpectation.MUST_FAIL),
        (
            "control:naive",
            configured(CapabilityVariant.IDEMPOTENT),
            ControlExpectation.MAY_PASS,
        ),
        (
            "control:naive",
            configured(CapabilityVariant.IDEMPOTENT_EXPIRED),
            ControlExpectation.MUST_FAIL,
        ),
        (
            "control:null",
            Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="A"),
            ControlExpectation.MUST_FAIL,
        ),
    ],
)
def test_the_control_table(subject: str, place: Cell, wanted: ControlExpectation) -> None:
    assert expectation(subject, place) is wanted


def test_there_is_no_other_control() -> None:
    with pytest.raises(ValueError, match="no control"):
        expectation("control:other", cell())


# -- rates and counts ----------------------------------------------------------------------------


def test_errors_and_not_run_leave_every_denominator_and_show_as_coverage() -> None:
    trials = [record(one, number) for number, one in enumerate([PASS, PASS, FAIL, ERROR, NOT_RUN])]
    rate = aggregate(trials, expected(trials)).rates["continuity"]
    assert rate == Rate(numerator=2, denominator=3, not_run=1, errors=1)
    assert rate.text == "2/3 (coverage 3/5)"


def test_a_zero_denominator_is_not_applicable() -> None:
    trials = [record(NOT_RUN)]
    assert aggregate(trials, expected(trials)).rates["continuity"].text == "N/A (coverage 0/1)"
    whole = [record(PASS)]
    assert aggregate(whole, expected(whole)).rates["continuity"].text == "1/1"


def test_suites_and_cases_have_rates_of_their_own() -> None:
    case = Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="A")
    trials = [record(PASS), record(FAIL, place=case)]
    rates = aggregate(trials, expected(trials)).rates
    assert {name: rate.text for name, rate in rates.items()} == {
        "continuity": "1/1",
        "integrity": "0/1",
        "integrity/A": "0/1",
    }


def violation(check_id: str) -> Check:
    return Check(
        check_id=check_id,
        requirement_id="r",
        paper_property="P3",
        outcome=CheckOutcome.VIOLATED,
    )


def test_a_cell_is_told_in_kills_and_operations() -> None:
    trials = [
        record(
            FAIL,
            0,
            unsafe_decisions=2,
            effects=3,
            extra_effects=2,
            dispatches=4,
            checks=(violation("continuity.extra_effect"),),
        ),
        record(FAIL, 1, needless_decisions=1, checks=(violation("continuity.lost_effect"),)),
        record(PASS, 2, batch_id="b1", effects=2, extra_effects=1, hazard="network", boundary=True),
        record(FAIL, 3, batch_id="b2", checks=(violation("continuity.wrong_effect"),)),
    ]
    (summary,) = aggregate(trials, expected(trials)).cells
    assert summary.verdicts == {"FAIL": 3, "PASS": 1}
    assert (summary.kills, summary.kills_with_violation) == (3, 2)
    assert (summary.unsafe, summary.needless, summary.boundary) == (2, 1, 1)
    assert (summary.extra_effects, summary.hazards) == (3, {"network": 1})
    assert (summary.lost_effects, summary.wrong_effects) == (1, 1)
    assert (summary.dispatches, summary.effects, summary.tool_errors) == (4, 5, 0)


def test_findings_are_counted_and_change_no_verdict() -> None:
    trials = [record(number=n, findings=("stale_declaration: begin_replay",)) for n in (0, 1)]
    result = aggregate(trials, expected(trials))
    assert result.findings == {"stale_declaration: begin_replay": 2}
    assert result.verdict is RunVerdict.QUALIFIED


# -- P5 ------------------------------------------------------------------------------------------


def observed(fault: FaultKind = FaultKind.KILL) -> Cell:
    return cell(arm=Arm.BOTH, fault=fault)


WAITED, EXECUTED = ("WAIT:lease_live:0",), ("EXECUTE:granted:1",)


@pytest.mark.parametrize(
    "fault", [FaultKind.KILL, FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN]
)
def test_telemetry_that_changes_a_decision_disqualifies(fault: FaultKind) -> None:
    same = [record(decisions=WAITED), record(place=observed(fault), decisions=WAITED)]
    assert aggregate(same, expected(same)).parity == ()
    other = [record(decisions=WAITED), record(place=observed(fault), decisions=EXECUTED)]
    result = aggregate(other, expected(other))
    assert len(result.parity) == 1
    assert result.verdict is RunVerdict.NOT_QUALIFIED
    assert result.reasons[0].startswith("P5:")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({}, {"number": 1}),
        ({}, {"place": cell(arm=Arm.BOTH, capability=CapabilityVariant.IDEMPOTENT)}),
        ({}, {"place": cell(arm=Arm.BOTH, fault=FaultKind.CLOCK_JUMP)}),
        ({"boundary": True}, {"place": observed()}),
        ({"verdict": ERROR}, {"place": observed()}),
        ({}, {"place": cell(arm=Arm.OBSERVER, expiry=ExpiryMode.NONE)}),
    ],
)
def test_what_differs_in_more_than_telemetry_is_not_compared(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    trials = [record(decisions=WAITED, **left), record(decisions=EXECUTED, **right)]
    assert aggregate(trials, expected(trials)).parity == ()


def test_controls_are_not_compared() -> None:
    subject = "control:naive"
    trials = [
        record(FAIL, subject=subject, decisions=WAITED),
        record(FAIL, subject=subject, place=observed(), decisions=EXECUTED),
    ]
    assert aggregate(trials, expected(trials)).parity == ()
