"""How many of a schedule's trials are crashes."""

from __future__ import annotations

import pytest

from orchestrator.model import Profile
from orchestrator.plan import CONTROLS
from orchestrator.suites.continuity.cells import PlannedCell, select, select_for_controls
from orchestrator.suites.continuity.census import census, crashes
from orchestrator.suites.continuity.families import CASES


def planned(case: str) -> PlannedCell:
    return PlannedCell(cell=CASES[case].cells()[0], rows=(), kills=1, operations_per_kill=1)


def test_what_kills_a_service_is_a_crash_and_nothing_else() -> None:
    assert crashes(planned("golden.in_request"))
    assert not crashes(planned("matrix.key_reused"))
    assert all(crashes(one) for one in select(Profile.FULL, 1) if one.cell.window is not None)


@pytest.mark.parametrize("profile", [Profile.STANDARD, Profile.FULL])
def test_there_are_twenty_thousand_crash_trials(profile: Profile) -> None:
    assert census(profile, 20260922).crash_trials >= 20_000


def test_controls_are_counted_once_each() -> None:
    whole = census(Profile.SELFTEST, 1)
    vendors = sum(one.kills * one.operations_per_kill for one in select(Profile.SELFTEST, 1))
    alone = sum(
        one.kills * one.operations_per_kill for one in select_for_controls(Profile.SELFTEST)
    )
    assert whole.trials == vendors + len(CONTROLS) * alone
    assert whole.crash_trials <= whole.trials
    assert whole.kills <= whole.batches
