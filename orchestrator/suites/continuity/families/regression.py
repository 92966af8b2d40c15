"""What explorations found once, each a file under `regressions/`, played on every memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from orchestrator.suites.continuity.explore.cases import ExploredCase, read_case
from orchestrator.suites.continuity.explore.steps import Act, Step
from orchestrator.suites.continuity.families.model import Account, End, FamilyCase, Need, Weight

__all__ = ["CASES", "EXPLORED"]

_FOLDER = Path(__file__).resolve().parent.parent / "regressions"
_OPERATIONS = 3


def _explored() -> Mapping[str, ExploredCase]:
    cases = (read_case(path) for path in sorted(_FOLDER.glob("*.json")))
    return MappingProxyType({f"regression.{case.name}": case for case in cases})


EXPLORED: Mapping[str, ExploredCase] = _explored()
"""The schedules, by the case's name."""


def _sets_clock(step: Step) -> bool:
    restarts = step.act is Act.KILL and ":" in step.variant
    return restarts or step.act in (Act.JUMP, Act.DRIFT)


def _case(name: str, explored: ExploredCase) -> FamilyCase:
    needs = set()
    if any(_sets_clock(step) for step in explored.schedule.steps):
        needs.add(Need.MEMORY_CLOCK)
    if any(step.act is Act.RESOLVE for step in explored.schedule.steps):
        needs.add(Need.OPERATOR_WORD)
    return FamilyCase(
        name=name,
        title=explored.title,
        requirement_id="MQ-C-91",
        capabilities=explored.schedule.capabilities,
        needs=frozenset(needs),
        account=Account.HOST,
        end=End.NO_HOST,
        weight=Weight.STANDARD,
        operations=_OPERATIONS,
    )


CASES = tuple(_case(name, explored) for name, explored in EXPLORED.items())
