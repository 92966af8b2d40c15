"""Figures of the integrity axis: the same in terminal, page, junit.xml, claims and aggregate."""

from pathlib import Path

import pytest

from orchestrator.evidence.claims import claims_of
from orchestrator.evidence.slim import slim
from orchestrator.model import (
    Arm,
    Cell,
    CheckOutcome,
    NotRunSubtype,
    Suite,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import VENDOR, trial_id
from orchestrator.report.console import ConsoleTable
from orchestrator.scoring.run import aggregate
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.checks import Column
from tests.orchestrator.evidence.bundles import manifest
from tests.orchestrator.report.pages import junit, planned, rendered
from tests.orchestrator.report.test_html import section

HELD, VIOLATED, OPEN = CheckOutcome.HELD, CheckOutcome.VIOLATED, CheckOutcome.NOT_EVALUATED
TRIALS = 10
FIGURES = {
    "FCR": "0/30 violated (coverage 30/30)",
    "SRR": "0/10 violated (coverage 10/10)",
    "TPR": "10/10 held (coverage 10/10)",
    "TLR": "0/20 violated (coverage 20/40)",
    "D, native ids": "10/10 pass (coverage 10/10)",
    "D, shared text": "0/10 pass (coverage 10/10)",
}


def trial(case: str, number: int) -> TrialRecord:
    """A trial that passed, but for what nobody is offered; D shares its nonce."""
    category = CATEGORIES[case]
    cell = Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case=case)
    read = (Column.READING, Column.RESIDUE)
    outcomes = {spec: VIOLATED if spec.column in read else HELD for spec in category.checks}
    if not category.offered:
        outcomes = dict.fromkeys(category.checks, OPEN)
    return TrialRecord(
        trial_id=trial_id(VENDOR, cell, number),
        cell=cell,
        subject=VENDOR,
        batch_id=f"i{case}",
        sub_seed=number,
        verdict=Verdict.PASS if category.offered else Verdict.NOT_RUN,
        subtype=None if category.offered else NotRunSubtype.NOT_EXPRESSIBLE,
        cause="" if category.offered else "nobody is offered it",
        checks=tuple(spec.check(one, "vendor-reported: so") for spec, one in outcomes.items()),
    )


@pytest.fixture(scope="module")
def published() -> list[TrialRecord]:
    cases = [f"{letter}.published" for letter in "ACDFHIL"]
    return [trial(case, number) for case in cases for number in range(1, TRIALS + 1)]


def test_the_aggregate_and_the_claims_carry_every_rate(published: list[TrialRecord]) -> None:
    result = aggregate(published, planned(published))
    claims = claims_of(manifest(), result)

    assert {rate.name: rate.words for rate in result.integrity_rates} == FIGURES
    assert [row.category[0] for row in result.integrity_cases] == list("ACDFHIL")
    for name, words in FIGURES.items():
        (sentence,) = (one for one in claims.supported if f", {name} (" in one)
        assert sentence.endswith(f"profile selftest: {words}.")
    assert any("vendor-reported" in sentence for sentence in claims.not_supported)


def test_what_is_not_applicable_supports_nothing() -> None:
    trials = [trial("A.published", number) for number in range(1, 3)]
    claims = claims_of(manifest(), aggregate(trials, planned(trials)))

    assert any("TLR" in one and "N/A (coverage 0/2)" in one for one in claims.not_supported)
    assert not any("TLR" in sentence for sentence in claims.supported)


def test_verify_adds_up_the_same_from_records_without_words(published: list[TrialRecord]) -> None:
    expected = planned(published)

    assert aggregate([slim(one) for one in published], expected) == aggregate(published, expected)


def test_the_page_shows_both_readings_and_why_something_was_not_run(
    published: list[TrialRecord],
) -> None:
    told = section(rendered(published), "integrity")

    assert "A.published direct procedural poisoning N/A coverage 0/10 10 not_expressible" in told
    assert "no such column" in told
    assert "✓ 10/10 pass (coverage 10/10)" in told
    assert (
        "○ 0/10 pass (coverage 10/10) beside D, native ids, never summed with it; "
        "decides no verdict" in told
    )
    assert "✓ 10/10 held (coverage 10/10) higher is better D none" in told


def test_residue_stands_beside_the_secret_retention_rate() -> None:
    trials = [trial("L", 0), trial("S.residue", 0)]
    told = section(rendered(trials), "integrity")

    assert "✓ 0/1 violated (coverage 1/1) lower is better L none" in told
    assert "○ 1/1 violated (coverage 1/1) beside SRR, never summed with it" in told


def test_the_file_for_a_ci_carries_every_rate(published: list[TrialRecord]) -> None:
    text = junit(published)

    for name, words in FIGURES.items():
        assert f'name="integrity {name}" value="{words}"' in text
    assert "N/R not_expressible: nobody is offered it" in text


def test_the_terminal_shows_every_rate_and_every_case(
    published: list[TrialRecord], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = aggregate(published, planned(published))
    console = ConsoleTable()
    for trial in published:
        console.add(trial)
    console.print(tmp_path, manifest(), result)
    told = capsys.readouterr().out

    for name, words in FIGURES.items():
        assert f"{name:<16} {words}" in told
    assert "    beside: D, shared text" in told
    for letter in "ACDFHIL":
        assert f"{letter}.published" in told
