"""Faults of the network: one message of an operation, or whole edges between services (DESIGN §5).

The interposer does them by rules, so that what a fault met is in its trace. A message that is lost
says nothing to its client until the client's own deadline; a connection that is reset, or refused,
says UNAVAILABLE at once. The proof counts the messages that the fault met, and those that passed
on the same edges when it was over.

A response cannot be duplicated: a gRPC call of one request ends with its first response.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import grpc

from chaos.client import InterposerClient
from chaos.receipts import NetworkReceipt
from chaos.tracing import TraceKind, TraceRecord
from chaos.windows import WORKFLOW_KEY, RuleHold
from memqual.v1 import interposer_pb2 as pb

__all__ = [
    "Action",
    "Direction",
    "Disturbance",
    "Disturbed",
    "Edge",
    "edges_between",
    "message_rule",
    "partition_rules",
]

Action: TypeAlias = Literal["lost", "reset", "delayed", "duplicated", "reordered", "held"]
"""What a fault does to a message; `lost` and `reset` also to every message of an edge."""

Direction: TypeAlias = Literal["requests", "responses", "both"]
"""Which way of an edge: from caller to target, back, or both."""

HOSTS = ("agent", "standby")
_EDGES = (
    ("agent", "memory"),
    ("agent", "destination"),
    ("agent", "observer"),
    ("memory", "observer"),
)
_ACTIONS: dict[Action, tuple[pb.RuleAction.ValueType, TraceKind]] = {
    "lost": (pb.RULE_ACTION_DROP, TraceKind.DROPPED),
    "reset": (pb.RULE_ACTION_FAIL, TraceKind.FAILED),
    "delayed": (pb.RULE_ACTION_DELAY, TraceKind.DELAYED),
    "duplicated": (pb.RULE_ACTION_DUPLICATE, TraceKind.DUPLICATED),
    "reordered": (pb.RULE_ACTION_REORDER, TraceKind.REORDERED),
    "held": (pb.RULE_ACTION_HOLD, TraceKind.HELD),
}
_TIMED = frozenset({"delayed", "reordered"})
_PHASES: dict[Direction, tuple[pb.MessagePhase.ValueType, ...]] = {
    "requests": (pb.MESSAGE_PHASE_REQUEST,),
    "responses": (pb.MESSAGE_PHASE_RESPONSE,),
    "both": (pb.MESSAGE_PHASE_REQUEST, pb.MESSAGE_PHASE_RESPONSE),
}
_UNAVAILABLE: int = grpc.StatusCode.UNAVAILABLE.value[0]

Edge: TypeAlias = tuple[str, str]


def edges_between(service: str) -> tuple[Edge, ...]:
    """Every edge that ends at a service, or begins there: (source, target), sources by role."""
    return tuple(edge for edge in _EDGES if service in edge)


def message_rule(
    at: RuleHold, action: Action, workflow_ids: Sequence[str], rule_id: str, delay_ms: int = 0
) -> pb.Rule:
    """The rule that meets one message of each of these workflows.

    Args:
        at: which message.
        action: what is done to it.
        workflow_ids: 1..1,000 workflows.
        rule_id: 1..128 bytes, unique in the stack.
        delay_ms: with "delayed" and "reordered": for how long, at most.
    """
    rule = _rule(rule_id, (at.source, at.target), at.phase, action, delay_ms)
    rule.method = at.method
    rule.matches.append(pb.MetadataMatch(key=WORKFLOW_KEY, values=workflow_ids))
    # What the host sends in its place gets through.
    rule.max_hits_per_workflow = 1
    return rule


def partition_rules(
    edges: Iterable[Edge],
    direction: Direction,
    action: Literal["lost", "reset"],
    rule_id: str,
) -> tuple[pb.Rule, ...]:
    """The rules that cut edges, until they are cleared: nothing passes in that direction.

    Args:
        edges: (source, target) of each.
        direction: one way or both.
        action: `lost`: silence; `reset`: every message is answered UNAVAILABLE at once.
        rule_id: what the rules' ids begin with.
    """
    return tuple(
        _rule(f"{rule_id}-{source}-{target}-{phase}", (source, target), phase, action, 0)
        for source, target in edges
        for phase in _PHASES[direction]
    )


def _rule(
    rule_id: str,
    edge: Edge,
    phase: pb.MessagePhase.ValueType,
    action: Action,
    delay_ms: int,
) -> pb.Rule:
    source, target = edge
    return pb.Rule(
        rule_id=rule_id,
        edge=pb.Edge(source=source, target=target),
        phase=phase,
        action=_ACTIONS[action][0],
        delay_ms=delay_ms if action in _TIMED else 0,
        fail_code=_UNAVAILABLE if action == "reset" else 0,
    )


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Rules that are one fault.

    Attributes:
        client: control of the stack's interposer.
        action: what is done to the messages.
        direction: which way they go.
        rules: the rules.
        until_lifted: the edges are cut until then; otherwise each rule meets one message of an
            operation, and what comes after it passes.
    """

    client: InterposerClient
    action: Action
    direction: Direction
    rules: tuple[pb.Rule, ...]
    until_lifted: bool = False

    @property
    def name(self) -> str:
        """Name of the fault."""
        return f"network_{self.action}"

    def inject(self) -> Disturbed:
        """Arms the rules.

        Raises:
            RuleRefused: an id is in use, or a rule could never match.
        """
        first_sequence = self.client.statistics().trace_head_sequence + 1
        for rule in self.rules:
            self.client.arm(rule)
        return Disturbed(self, first_sequence)


@dataclass(slots=True)
class Disturbed:
    """A fault of the network that is on, or was.

    Attributes:
        fault: what it does.
        first_sequence: the first record of the trace that can be its doing.
        lifted_sequence: the last one; None while it is on.
    """

    fault: Disturbance
    first_sequence: int
    lifted_sequence: int | None = None

    def lift(self) -> None:
        """Takes the rules away; messages pass again. Idempotent."""
        if self.lifted_sequence is None:
            self.fault.client.clear(*(rule.rule_id for rule in self.fault.rules))
            self.lifted_sequence = self.fault.client.statistics().trace_head_sequence

    def receipt(self, trace: Sequence[TraceRecord] | None = None) -> NetworkReceipt:
        """The proof, as of now: read it when messages have had the time to pass again.

        Args:
            trace: the stack's records from `first_sequence` or earlier on; None: they are read.
        """
        self.lift()
        read = self.fault.client.trace(self.first_sequence) if trace is None else trace
        records = tuple(one for one in read if one.sequence >= self.first_sequence)
        ids = {rule.rule_id for rule in self.fault.rules}
        kind = _ACTIONS[self.fault.action][1]
        met = [one for one in records if one.kind is kind and one.rule_id in ids]
        over = max((one.sequence for one in met), default=self.first_sequence)
        if self.fault.until_lifted and self.lifted_sequence is not None:
            over = max(over, self.lifted_sequence)
        edges = {(rule.edge.source, rule.edge.target) for rule in self.fault.rules}
        return NetworkReceipt(
            action=self.fault.action,
            edges=tuple(sorted(f"{source}>{target}" for source, target in edges)),
            direction=self.fault.direction,
            until_lifted=self.fault.until_lifted,
            rule_ids=tuple(sorted(ids)),
            messages_affected=len(met),
            passed_after=_passed(records, edges, over, _ended(self.fault.action, met)),
            first_sequence=self.first_sequence,
            last_sequence=records[-1].sequence if records else self.first_sequence,
        )


def _ended(action: Action, met: Iterable[TraceRecord]) -> frozenset[int]:
    """The calls that the fault itself ended: what their clients got is its doing."""
    return frozenset(one.call_id for one in met if action in ("lost", "reset"))


def _passed(
    records: Iterable[TraceRecord], edges: set[Edge], over: int, ended: frozenset[int]
) -> int:
    """Answers that a target gave and its client got, on these edges, after a record."""
    answered: set[int] = set()
    passed = 0
    for record in records:
        if edges.isdisjoint((("", record.target), (_role(record.source), record.target))):
            continue
        if record.kind is TraceKind.RESPONSE_RECEIVED:
            answered.add(record.call_id)
        elif record.kind is TraceKind.RESPONSE_DELIVERED and record.sequence > over:
            passed += record.call_id in answered - ended
    return passed


def _role(source: str) -> str:
    return HOSTS[0] if source in HOSTS else source
