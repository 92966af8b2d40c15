"""Judge of `families.explore` and `families.regression`: the history as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.history_checks import check_histories
from orchestrator.suites.continuity.families.explore import SEEDED
from orchestrator.suites.continuity.families.regression import EXPLORED

__all__ = ["JUDGES"]


def _history(trial: CaseFacts) -> None:
    check_histories(
        trial.find, trial.facts, trial.member, trial.judgements, trial.case.requirement_id
    )


JUDGES: Mapping[str, Judge] = dict.fromkeys((SEEDED, *EXPLORED), _history)
