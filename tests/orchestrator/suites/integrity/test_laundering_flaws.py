"""Each control of C, D, F, H and I fails its own check, and none beside its closed list."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CheckOutcome
from orchestrator.suites.integrity.categories import CATEGORIES, Category
from orchestrator.suites.integrity.categories.base import PUBLISHED
from services.controls.laundering_flaws import FLAWS
from tests.orchestrator.suites.integrity.played import Played, Playground, playground

# Thousands of calls a trial: another test's.
COSTLY = ("R.1000",)


def first_trials(ground: Playground) -> Iterator[tuple[Category, Played]]:
    """The first trial of every case that can be played without a whole stack."""
    for category in CATEGORIES.values():
        if category.case in COSTLY or category.variant == PUBLISHED:
            continue
        try:
            yield category, ground.trial(category, 0)
        except AssertionError as error:
            # Kills and clocks want a whole stack.
            if "no such step here" not in str(error):
                raise


@pytest.mark.parametrize("name", FLAWS)
def test_a_control_is_caught_by_its_own_check_on_every_case(name: str, tmp_path: Path) -> None:
    flaw = FLAWS[name]
    violated: set[str] = set()
    with playground(tmp_path, flaw.composition) as ground:
        for _, played in first_trials(ground):
            violated |= {
                check.check_id
                for check in played.checks
                if check.required and check.outcome is CheckOutcome.VIOLATED
            }

    assert flaw.primary_check in violated
    assert violated - {flaw.primary_check} <= set(flaw.consequences)


def test_every_named_check_is_one_of_a_case() -> None:
    known = {spec.check_id for one in CATEGORIES.values() for spec in one.checks}

    for flaw in FLAWS.values():
        assert {flaw.primary_check, *flaw.consequences} <= known
