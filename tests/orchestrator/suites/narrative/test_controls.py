"""Each narrative flaw is caught by its own check on real processes, and by none beside its list.

The reference passes the same. A control that a graded case must catch is graded worse there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.model import Verdict
from orchestrator.suites.narrative.cases import CASES
from services.controls.narrative_flaws import FLAWS
from services.controls.registry import FLAWS as EVERY_FLAW
from tests.orchestrator.suites.continuity.ground import sampled
from tests.orchestrator.suites.narrative.control_play import (
    graded_by,
    play_case,
    rate,
    unproven,
    violated,
)

pytestmark = [pytest.mark.e2e_process, pytest.mark.timeout(300)]

# Of all points: one question of eight is told apart.
FALLS_BY = 0.12

# Each flaw: the case that must show it, and one that must not show it at all.
SHOWN = {
    "narrative_in_memory": ("property.persistence", "property.determinism"),
    "narrative_writes_later": ("property.persistence_ingest", "property.persistence"),
    "narrative_bound_to_configuration": ("property.model_independence", "property.persistence"),
    "narrative_keeps_superseded": ("property.update", "property.persistence"),
    "narrative_machine_clock": ("property.temporal_order", "property.persistence"),
    "narrative_order_of_arrival": ("property.arrival_order", "property.persistence"),
    "narrative_mixes_speakers": ("property.disambiguation", "property.persistence"),
    "narrative_tells_of_others": ("property.disambiguation", "property.persistence"),
    "narrative_cites_others": ("property.disambiguation", "property.persistence"),
    "narrative_digests_its_life": ("property.persistence", "property.determinism"),
    "narrative_random": ("property.determinism", "property.bad_input"),
    "narrative_answers_in_turn": ("property.determinism", "property.persistence"),
    "narrative_answers_by_namespace": ("property.determinism", "property.persistence"),
    "narrative_declines": ("property.persistence", "property.bad_input"),
    "narrative_empty": ("level.core", ""),
    "narrative_takes_any_length": ("property.bad_input", "property.persistence"),
    "narrative_takes_any_time": ("property.bad_input", "property.persistence"),
    "narrative_says_exhausted": ("property.bad_input", "property.persistence"),
    "narrative_fails_on_emoji": ("property.bad_input", "property.persistence"),
    "narrative_dies_of_nul": ("property.bad_input", "property.persistence"),
    "narrative_runs_what_it_is_told": ("property.bad_input", "property.persistence"),
    "narrative_predicts_in_vain": ("level.core", "property.persistence"),
    "narrative_invents_facts": ("level.core", "property.persistence"),
    "rag": ("level.core", "property.persistence"),
    "transcript_dump": ("level.core", "property.persistence"),
}
FIRST = ("narrative_in_memory", "narrative_keeps_superseded")


def assert_caught(folder: Path, flaw: str, case: str) -> None:
    """The case that must show a flaw shows it by the flaw's own check."""
    own, records = EVERY_FLAW[flaw].primary_check, play_case(folder / "flawed", case, flaw)
    assert unproven(records) == []
    graded = graded_by(own)
    if graded is None:
        assert own in violated(records) <= {own, *EVERY_FLAW[flaw].consequences}
        assert Verdict.FAIL in {record.verdict for record in records}
    else:
        assert violated(records) == set()
        reference = play_case(folder / "reference", case)
        assert rate(reference, graded[1]) - rate(records, graded[1]) >= FALLS_BY


@pytest.mark.parametrize("flaw", sampled([*FIRST, *sorted(set(SHOWN) - set(FIRST))]))
def test_each_flaw_is_caught_by_its_own_check_and_by_no_other(tmp_path: Path, flaw: str) -> None:
    shown, hidden = SHOWN[flaw]
    assert_caught(tmp_path, flaw, shown)
    if hidden:
        records = play_case(tmp_path / "hidden", hidden, flaw, trials=1)
        assert (unproven(records), violated(records)) == ([], set())


@pytest.mark.nightly
@pytest.mark.parametrize("case", sorted({shown for shown, _ in SHOWN.values()}))
def test_the_reference_passes_where_a_flaw_is_shown(tmp_path: Path, case: str) -> None:
    records = play_case(tmp_path, case)
    assert (unproven(records), violated(records)) == ([], set())


def test_every_flaw_has_its_case_and_names_what_there_is() -> None:
    checks = {check.check_id for case in CASES.values() for check in case.checks}

    assert set(SHOWN) == {*FLAWS, "rag", "transcript_dump"}
    for name in SHOWN:
        flaw, shown = EVERY_FLAW[name], SHOWN[name][0]
        assert checks.issuperset(flaw.consequences)
        assert flaw.primary_check in checks or graded_by(flaw.primary_check) is not None
        assert flaw.primary_check.startswith(f"narrative.{shown}.")
