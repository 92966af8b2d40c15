"""Judges of `families.identity`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.oracle.messages import DecisionKind
from orchestrator.scoring.families.facts import CaseFacts, Judge

__all__ = ["JUDGES"]


def _other_arguments(trial: CaseFacts) -> None:
    asked = [call for call in trial.calls if call.method == "Begin"]
    rejected = bool(asked) and asked[-1].kind is DecisionKind.REJECT
    trial.find.that(
        "continuity.identity.other_arguments",
        trial.case.requirement_id,
        rejected,
        "REJECT",
        asked[-1].observed if asked else "never asked",
    )


JUDGES: Mapping[str, Judge] = {"identity.other_arguments": _other_arguments}
