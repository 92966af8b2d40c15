"""Plays of `families.explore` and `families.regression`: schedules, drawn or kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.model import CapabilityVariant
from orchestrator.suites.continuity.explore.drawing import Coverage, draw
from orchestrator.suites.continuity.explore.player import play_schedule
from orchestrator.suites.continuity.families.explore import SEEDED
from orchestrator.suites.continuity.families.regression import EXPLORED
from orchestrator.suites.continuity.stage import Stage

__all__ = ["PLAYS"]


def _seeded(stage: Stage) -> None:
    members = stage.batch.members
    schedule = draw(
        members[0].sub_seed,
        stage.batch.kill_number,
        len(members),
        Coverage(),
        clocks=stage.context.skew,
        operators=stage.reviewer is not None,
        capabilities=[one.cell.capability or CapabilityVariant.NONE for one in members],
    )
    play_schedule(stage, schedule)


def _kept(stage: Stage) -> None:
    schedule = EXPLORED[stage.cell.case].schedule
    play_schedule(stage, schedule.side_by_side(len(stage.batch.members)))


PLAYS: Mapping[str, Callable[[Stage], None]] = {SEEDED: _seeded, **dict.fromkeys(EXPLORED, _kept)}
