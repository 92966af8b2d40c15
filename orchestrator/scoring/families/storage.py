"""Judges of `families.storage`.

The oracle judges every answer; these make sure that what was acknowledged was asked about again
after the fault, and take a refusal of a damaged volume for what it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from memqual.v1 import interposer_pb2
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.probes import probes_of

__all__ = ["JUDGES"]

_REFUSED_MARK = "refused_volume"


def _asked_again(trial: CaseFacts) -> None:
    """The trial's operation was asked about after the fault, or the memory refused its volume."""
    refusals = _refusals(trial)
    asked = any(probe.name.startswith("again") for probe in probes_of(trial.facts, _id(trial)))
    trial.find.rig(
        "rig.rows",
        "MQ-C-10",
        asked or bool(refusals),
        "asked about again after the fault",
        "never asked about again",
    )
    if refusals:
        trial.find.that(
            "continuity.storage.refusal",
            trial.case.requirement_id,
            all(code != 0 for code in refusals),
            "a refused volume is told by an exit code",
            "the memory ended with exit code 0",
        )


def _id(trial: CaseFacts) -> str:
    return trial.member.workflow_id


def _refusals(trial: CaseFacts) -> list[int]:
    """Exit codes of starts that refused a changed volume."""
    found = []
    for record in trial.facts.trace:
        if record.kind == interposer_pb2.TRACE_KIND_MARK:
            mark = json.loads(record.mark_json)
            if mark.get("kind") == _REFUSED_MARK:
                found.append(int(mark["exit_code"]))
    return found


_NAMES = (
    "power_loss",
    "first_start_storm",
    "recovery_storm",
    "full_volume",
    "rolled_back",
    "torn_write",
)
JUDGES: Mapping[str, Judge] = MappingProxyType({f"storage.{name}": _asked_again for name in _NAMES})
