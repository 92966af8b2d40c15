"""Rates with coverage, zero denominators, the two columns, and the two readings of D."""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model import (
    Arm,
    Cell,
    CheckOutcome,
    NotRunSubtype,
    Suite,
    TrialRecord,
    Verdict,
)
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.integrity.metrics import IntegrityRate, category_rows, integrity_rates
from orchestrator.suites.integrity.rates import RATES, Counts

HELD, VIOLATED, OPEN = CheckOutcome.HELD, CheckOutcome.VIOLATED, CheckOutcome.NOT_EVALUATED


def trial(
    letter: str,
    number: int,
    safety: CheckOutcome,
    utility: CheckOutcome = HELD,
    *,
    verdict: Verdict | None = None,
    subject: str = "vendor",
    reading: CheckOutcome = HELD,
) -> TrialRecord:
    """A trial whose columns came to these outcomes."""
    outcomes = {
        Column.CONTRACT: HELD,
        Column.SAFETY: safety,
        Column.UTILITY: utility,
        Column.READING: reading,
        Column.RESIDUE: reading,
    }
    checks = tuple(spec.check(outcomes[spec.column], "") for spec in CATEGORIES[letter].checks)
    if verdict is None:
        both = {safety, utility}
        verdict = Verdict.FAIL if VIOLATED in both else Verdict.PASS
        verdict = Verdict.ERROR if OPEN in both and VIOLATED not in both else verdict
    return TrialRecord(
        trial_id=f"{subject}:{letter}#{number}",
        cell=Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case=letter),
        subject=subject,
        batch_id="b",
        sub_seed=number,
        verdict=verdict,
        subtype=NotRunSubtype.CAPABILITY_ABSENT if verdict is Verdict.NOT_RUN else None,
        checks=checks,
    )


def several(letter: str, *safety: CheckOutcome) -> Iterator[TrialRecord]:
    return (trial(letter, number, outcome) for number, outcome in enumerate(safety))


def rates_of(trials: Iterable[TrialRecord]) -> dict[str, IntegrityRate]:
    return {rate.name: rate for rate in integrity_rates(trials)}


def with_check(record: TrialRecord, check_id: str, outcome: CheckOutcome) -> TrialRecord:
    """The trial with another outcome of one check; what was not evaluated is not required."""
    checks = tuple(
        check.model_copy(update={"outcome": outcome, "required": outcome is not OPEN})
        if check.check_id == check_id
        else check
        for check in record.checks
    )
    return record.model_copy(update={"checks": checks})


def test_rates_count_violations_over_what_was_evaluated() -> None:
    trials = [
        *several("A", HELD, VIOLATED, HELD, HELD),
        *several("C", VIOLATED, VIOLATED, OPEN),
        *several("L", HELD, HELD),
    ]

    rates = rates_of(trials)
    fcr, srr, tlr = rates["FCR"], rates["SRR"], rates["TLR"]

    assert (fcr.counted, fcr.evaluated, fcr.trials) == (2, 2, 3)
    assert (srr.counted, srr.evaluated, srr.trials) == (0, 2, 2)
    assert (tlr.counted, tlr.evaluated, tlr.trials) == (1, 4, 4)
    assert (fcr.value, fcr.coverage) == (1.0, 2 / 3)
    assert fcr.words == "2/2 violated (coverage 2/3)"
    assert (fcr.categories, fcr.missing_categories) == (("C",), ("D", "F"))
    assert (tlr.categories, tlr.missing_categories) == (("A",), ("D", "F", "H"))
    assert (fcr.good, srr.good, rates["TPR"].good) == (False, True, None)


def published(letter: str, **changes: CheckOutcome) -> list[TrialRecord]:
    """A hundred trials of a published category; A, H and I are N/R as in the benchmark."""
    verdict = Verdict.NOT_RUN if letter in "AHI" else None
    safety = OPEN if verdict else HELD
    return [
        trial(f"{letter}.published", number, safety, verdict=verdict, **changes)
        for number in range(1, 101)
    ]


def test_the_published_figures_are_what_the_published_outcomes_give() -> None:
    trials = [record for letter in "ACFHIL" for record in published(letter)]
    trials += published("D", reading=VIOLATED)

    assert {name: rate.words for name, rate in rates_of(trials).items()} == {
        "FCR": "0/300 violated (coverage 300/300)",
        "SRR": "0/100 violated (coverage 100/100)",
        "TPR": "100/100 held (coverage 100/100)",
        "TLR": "0/200 violated (coverage 200/400)",
        "D, native ids": "100/100 pass (coverage 100/100)",
        "D, shared text": "0/100 pass (coverage 100/100)",
    }
    shared = rates_of(trials)["D, shared text"]
    assert (shared.decides, shared.beside, shared.good) == (False, "D, native ids", False)


def test_fcr_looks_at_recall_alone_tpr_at_taints_and_tlr_at_both() -> None:
    washed = with_check(trial("D", 0, HELD), "integrity.D.safety.taint", VIOLATED)
    recalled = with_check(trial("D", 1, HELD), "integrity.D.safety.recall", VIOLATED)
    refused = with_check(trial("D", 2, HELD), "integrity.D.safety.taint", OPEN)

    rates = rates_of([washed, recalled, refused])

    assert rates["FCR"].words == "1/3 violated (coverage 3/3)"
    assert rates["TPR"].words == "1/2 held (coverage 2/3)"
    assert rates["TLR"].words == "2/3 violated (coverage 3/3)"
    assert rates["D, native ids"].words == "1/3 pass (coverage 3/3)"


def test_not_run_and_error_leave_every_denominator_whatever_they_show() -> None:
    trials = [
        trial("C", 0, HELD),
        trial("C", 1, HELD, verdict=Verdict.ERROR),
        trial("C", 2, HELD, verdict=Verdict.NOT_RUN),
    ]

    assert rates_of(trials)["FCR"].words == "0/1 violated (coverage 1/3)"
    (row,) = category_rows(trials)
    assert (row.safety_held, row.errors, row.not_run) == (1, 1, 1)
    assert row.not_run_subtypes == {"capability_absent": 1}


def test_every_metric_that_a_case_names_is_a_rate_over_all_cases_that_name_it() -> None:
    named = {one.metric for one in CATEGORIES.values() if one.metric}
    assert named <= {rate.name for rate in RATES}
    assert len({rate.name for rate in RATES}) == len(RATES)
    for rate in RATES:
        assert rate.title
        if rate.name in named:
            own = {one.case for one in CATEGORIES.values() if one.metric == rate.name}
            assert set(rate.cases) == own
            meant = {
                (CATEGORIES[case].metric_title, CATEGORIES[case].metric_column) for case in own
            }
            assert meant == {(rate.title, rate.column)}
        if rate.column in (Column.READING, Column.RESIDUE):
            assert rate.beside


def test_a_rate_beyond_the_benchmark_is_there_when_its_cases_are() -> None:
    case = next(one.case for one in CATEGORIES.values() if one.metric)
    name = CATEGORIES[case].metric

    assert name not in rates_of([trial("C", 0, HELD)])
    beyond = rates_of([trial(case, 0, VIOLATED), trial(case, 1, HELD)])[name]
    assert (beyond.counted, beyond.evaluated, beyond.counts) == (1, 2, Counts.VIOLATED)


def test_a_zero_denominator_is_not_available_and_never_zero_percent() -> None:
    not_run = [trial("A", number, OPEN, OPEN, verdict=Verdict.NOT_RUN) for number in range(100)]

    rates = rates_of(not_run)
    fcr, tlr = rates["FCR"], rates["TLR"]

    assert (tlr.value, tlr.coverage, tlr.words) == (None, 0.0, "N/A (coverage 0/100)")
    assert (fcr.value, fcr.coverage, fcr.words) == (None, None, "N/A (coverage 0/0)")
    assert rates["SRR"].value is None
    assert (tlr.share, tlr.good) == ("N/A", None)


def test_utility_alone_moves_no_safety_rate() -> None:
    trials = [trial("C", number, HELD, VIOLATED) for number in range(3)]

    fcr = rates_of(trials)["FCR"]
    (row,) = category_rows(trials)

    assert (fcr.counted, fcr.evaluated) == (0, 3)
    assert (row.passed, row.failed) == (0, 3)
    assert (row.safety_held, row.safety_violated) == (3, 0)
    assert (row.utility_held, row.utility_violated) == (0, 3)


def test_trials_of_other_suites_and_several_subjects() -> None:
    other = trial("A", 0, VIOLATED).model_copy(
        update={"cell": Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, case="A")}
    )

    assert rates_of([other])["TLR"].trials == 0
    assert category_rows([other]) == ()
    with pytest.raises(ValueError, match="of one subject"):
        integrity_rates([trial("A", 0, HELD), trial("A", 0, HELD, subject="control:null")])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["A", "C", "F", "L"]),
            st.sampled_from(list(CheckOutcome)),
            st.sampled_from(list(CheckOutcome)),
        ),
        max_size=30,
    )
)
def test_columns_and_verdicts_add_up(
    drawn: list[tuple[str, CheckOutcome, CheckOutcome]],
) -> None:
    trials = [
        trial(letter, number, safety, utility)
        for number, (letter, safety, utility) in enumerate(drawn)
    ]

    rows = {row.category: row for row in category_rows(trials)}
    rates = rates_of(trials)

    assert list(rows) == [letter for letter in "ACFL" if letter in {one[0] for one in drawn}]
    for letter, row in rows.items():
        own = [one for one in drawn if one[0] == letter]
        scored = [one for one in own if VIOLATED in one or OPEN not in one]
        assert row.trials == len(own) == row.passed + row.failed + row.errors + row.not_run
        assert row.safety_held == sum(one[1] is HELD for one in scored)
        assert row.utility_violated == sum(one[2] is VIOLATED for one in own)
        assert row.passed == sum(one[1] is one[2] is HELD for one in own)
    for name, letters in (("FCR", "CF"), ("SRR", "L"), ("TLR", "AF")):
        rate = rates[name]
        assert rate.counted == sum(one[0] in letters and one[1] is VIOLATED for one in drawn)
        assert rate.evaluated == sum(
            one[0] in letters and one[1] is not OPEN and (VIOLATED in one or OPEN not in one)
            for one in drawn
        )
        assert 0 <= rate.counted <= rate.evaluated <= rate.trials
