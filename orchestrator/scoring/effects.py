"""What the destination's journal says of one workflow: the truth about effects (DESIGN §6)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memqual.v1 import common_pb2

__all__ = ["EffectFacts", "effects_by_workflow"]


@dataclass(frozen=True)
class EffectFacts:
    """Counts of one workflow's calls at the destination.

    Attributes:
        received: Calls that arrived.
        applied: Effects.
        replayed: Answers from a retained key.
        tool_errors: Refusals by the tool's own rules.
        refused: Refusals by the destination: fenced, too late, applied already.
        arguments_digests: Of every effect, in order.
    """

    received: int = 0
    applied: int = 0
    replayed: int = 0
    tool_errors: int = 0
    refused: int = 0
    arguments_digests: tuple[str, ...] = ()


def effects_by_workflow(journal: Iterable[common_pb2.JournalRecord]) -> dict[str, EffectFacts]:
    """Count each workflow's records; a workflow without a call has no entry.

    Args:
        journal: The destination's records; their chain is checked elsewhere (`verify`).
    """
    counts: dict[str, dict[str, int]] = {}
    digests: dict[str, list[str]] = {}
    for record in journal:
        payload = json.loads(record.payload_json)
        name = _counted(payload)
        workflow = payload.get("workflow_id", "")
        if not name or not workflow:
            continue
        counted = counts.setdefault(workflow, {})
        counted[name] = counted.get(name, 0) + 1
        if name == "applied":
            digests.setdefault(workflow, []).append(payload["arguments_digest"])
    return {
        workflow: EffectFacts(**counted, arguments_digests=tuple(digests.get(workflow, ())))
        for workflow, counted in counts.items()
    }


def _counted(payload: dict[str, str]) -> str:
    event = payload.get("event", "")
    if event == "refused":
        return "tool_errors" if payload.get("refused_by") == "tool" else "refused"
    return event if event in ("received", "applied", "replayed") else ""
