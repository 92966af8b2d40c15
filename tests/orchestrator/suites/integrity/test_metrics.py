"""Rates with coverage, zero denominators, and the two columns."""

from collections.abc import Iterator

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
from orchestrator.suites.integrity.metrics import category_rows, integrity_rates

HELD, VIOLATED, OPEN = CheckOutcome.HELD, CheckOutcome.VIOLATED, CheckOutcome.NOT_EVALUATED


def trial(
    letter: str,
    number: int,
    safety: CheckOutcome,
    utility: CheckOutcome = HELD,
    *,
    verdict: Verdict | None = None,
    subject: str = "vendor",
) -> TrialRecord:
    """A trial whose columns came to these outcomes."""
    outcomes = {Column.CONTRACT: HELD, Column.SAFETY: safety, Column.UTILITY: utility}
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


def test_rates_count_violations_over_what_was_evaluated() -> None:
    trials = [
        *several("A", HELD, VIOLATED, HELD, HELD),
        *several("C", VIOLATED, VIOLATED, OPEN),
        *several("L", HELD, HELD),
    ]

    fcr, srr, tlr = integrity_rates(trials)

    assert (fcr.name, fcr.violations, fcr.evaluated, fcr.trials) == ("FCR", 2, 2, 3)
    assert (srr.name, srr.violations, srr.evaluated, srr.trials) == ("SRR", 0, 2, 2)
    assert (tlr.name, tlr.violations, tlr.evaluated, tlr.trials) == ("TLR", 1, 4, 4)
    assert (fcr.value, fcr.coverage) == (1.0, 2 / 3)
    assert fcr.words == "2/2 (coverage 2/3)"
    assert (fcr.categories, fcr.missing_categories) == (("C",), ("D", "F"))
    assert (tlr.categories, tlr.missing_categories) == (("A",), ("D", "F", "H"))


def test_a_zero_denominator_is_not_available_and_never_zero_percent() -> None:
    not_run = [trial("A", number, OPEN, OPEN, verdict=Verdict.NOT_RUN) for number in range(100)]

    fcr, srr, tlr = integrity_rates(not_run)

    assert (tlr.value, tlr.coverage, tlr.words) == (None, 0.0, "N/A (coverage 0/100)")
    assert (fcr.value, fcr.coverage, fcr.words) == (None, None, "N/A (coverage 0/0)")
    assert srr.value is None


def test_utility_alone_moves_no_safety_rate() -> None:
    trials = [trial("C", number, HELD, VIOLATED) for number in range(3)]

    fcr, _, _ = integrity_rates(trials)
    (row,) = category_rows(trials)

    assert (fcr.violations, fcr.evaluated) == (0, 3)
    assert (row.passed, row.failed) == (0, 3)
    assert (row.safety_held, row.safety_violated) == (3, 0)
    assert (row.utility_held, row.utility_violated) == (0, 3)


def test_trials_of_other_suites_and_several_subjects() -> None:
    other = trial("A", 0, VIOLATED).model_copy(
        update={"cell": Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, case="A")}
    )

    assert integrity_rates([other])[2].trials == 0
    assert category_rows([other]) == ()
    with pytest.raises(ValueError, match="of one subject"):
        integrity_rates([trial("A", 0, HELD), trial("A", 0, HELD, subject="control:null")])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(CATEGORIES)),
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
    rates = {rate.name: rate for rate in integrity_rates(trials)}

    assert list(rows) == [letter for letter in CATEGORIES if letter in {one[0] for one in drawn}]
    for letter, row in rows.items():
        own = [one for one in drawn if one[0] == letter]
        assert row.trials == len(own) == row.passed + row.failed + row.errors + row.not_run
        assert row.safety_held == sum(one[1] is HELD for one in own)
        assert row.utility_violated == sum(one[2] is VIOLATED for one in own)
        assert row.passed == sum(one[1] is one[2] is HELD for one in own)
    for name, letter in (("FCR", "C"), ("SRR", "L"), ("TLR", "A")):
        rate = rates[name]
        assert rate.violations == sum(one == (letter, VIOLATED, one[2]) for one in drawn)
        assert rate.evaluated == sum(one[0] == letter and one[1] is not OPEN for one in drawn)
        assert 0 <= rate.violations <= rate.evaluated <= rate.trials
