"""What the destination's journal says of one workflow: the truth about effects (DESIGN §6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memqual.v1 import common_pb2

__all__ = ["EffectFacts", "OperationEffects", "effects_by_workflow"]


@dataclass(frozen=True)
class OperationEffects:
    """What became of one operation's calls at the destination.

    Attributes:
        applied: Effects.
        answered: Calls that came to an effect, a replay or a read.
        arguments_digests: Of every effect, in order.
    """

    applied: int = 0
    answered: int = 0
    arguments_digests: tuple[str, ...] = ()


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
        operations: By operation id, in order of first sight; those that came to something.
    """

    received: int = 0
    applied: int = 0
    replayed: int = 0
    tool_errors: int = 0
    refused: int = 0
    arguments_digests: tuple[str, ...] = ()
    operations: Mapping[str, OperationEffects] = field(default_factory=lambda: MappingProxyType({}))

    def of_operation(self, operation_id: str) -> OperationEffects:
        """What became of an operation; zeros when nothing did."""
        return self.operations.get(operation_id, OperationEffects())


@dataclass
class _Counting:
    """One workflow, or one operation, while the journal is read."""

    counts: dict[str, int] = field(default_factory=dict)
    digests: list[str] = field(default_factory=list)

    def take(self, name: str, payload: Mapping[str, str]) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        if name == "applied":
            self.digests.append(payload["arguments_digest"])


_ANSWERS = ("applied", "replayed", "read")


def effects_by_workflow(journal: Iterable[common_pb2.JournalRecord]) -> dict[str, EffectFacts]:
    """Count each workflow's records; a workflow without a call has no entry.

    Args:
        journal: The destination's records; their chain is checked elsewhere (`verify`).
    """
    workflows: dict[str, _Counting] = {}
    operations: dict[str, dict[str, _Counting]] = {}
    for record in journal:
        payload = json.loads(record.payload_json)
        workflow = payload.get("workflow_id", "")
        name = _counted(payload)
        if not workflow or not (name or payload.get("event") == "read"):
            continue
        if name:
            workflows.setdefault(workflow, _Counting()).take(name, payload)
        operation = payload.get("operation_id", "")
        if operation and payload["event"] in _ANSWERS:
            of = operations.setdefault(workflow, {})
            of.setdefault(operation, _Counting()).take(payload["event"], payload)
    return {
        workflow: EffectFacts(
            **counted.counts,
            arguments_digests=tuple(counted.digests),
            operations=MappingProxyType(
                {
                    operation: OperationEffects(
                        applied=one.counts.get("applied", 0),
                        answered=sum(one.counts.values()),
                        arguments_digests=tuple(one.digests),
                    )
                    for operation, one in operations.get(workflow, {}).items()
                }
            ),
        )
        for workflow, counted in workflows.items()
    }


def _counted(payload: Mapping[str, str]) -> str:
    event = payload.get("event", "")
    if event == "refused":
        return "tool_errors" if payload.get("refused_by") == "tool" else "refused"
    return event if event in ("received", "applied", "replayed") else ""
