"""Faults of the network: of one lane's next message, and of whole edges (DESIGN §5).

What can be lost is taken from the services' descriptors. A schedule decides where nothing is sent:
a fault that nothing met is none, and leaves no receipt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import cast

import grpc

from chaos.client import Fate, InterposerClient
from chaos.network_faults import Action, Direction, Disturbance, Disturbed
from chaos.receipts import NetworkReceipt
from chaos.tracing import TraceRecord
from memqual.v1 import continuity_pb2, destination_pb2, interposer_pb2
from orchestrator.oracle.wire import METHODS
from orchestrator.session import CALL_SECONDS

__all__ = ["CUTS", "MESSAGE_FAULTS", "EdgeCuts", "LaneFaults", "receipts_of"]

_DELAY_MS = 600
_DONE_SECONDS = 2.0
_SHORT_SECONDS = 0.4
"""Deadline of calls that a fault may have silenced; what comes later is in the trace as well."""
_CUT_SECONDS = 0.2
"""The same of calls on an edge that is cut."""

_EVALUATOR = "orchestrator"
_PHASES = {
    "request": interposer_pb2.MESSAGE_PHASE_REQUEST,
    "response": interposer_pb2.MESSAGE_PHASE_RESPONSE,
}
_DIRECTIONS: dict[str, tuple[str, ...]] = {
    "requests": ("request",),
    "responses": ("response",),
    "both": ("request", "response"),
}
_ACTIONS: dict[str, tuple[interposer_pb2.RuleAction.ValueType, Action]] = {
    "hold": (interposer_pb2.RULE_ACTION_HOLD, "held"),
    "drop": (interposer_pb2.RULE_ACTION_DROP, "lost"),
    "delay": (interposer_pb2.RULE_ACTION_DELAY, "delayed"),
    "duplicate": (interposer_pb2.RULE_ACTION_DUPLICATE, "duplicated"),
    "reorder": (interposer_pb2.RULE_ACTION_REORDER, "reordered"),
    "fail": (interposer_pb2.RULE_ACTION_FAIL, "reset"),
}
_TIMED = ("delay", "reorder")
_SILENCING = ("hold", "drop", "delay", "reorder")


def _methods() -> dict[str, tuple[str, str]]:
    """Full name and target of each method whose messages can be met, by its short name.

    Of the memory's those that the oracle judges by.
    """
    found: dict[str, tuple[str, str]] = {}
    for file, service, target in (
        (continuity_pb2.DESCRIPTOR, "ContinuityService", "memory"),
        (destination_pb2.DESCRIPTOR, "DestinationService", "destination"),
    ):
        for method in file.services_by_name[service].methods:
            full = f"/{method.containing_service.full_name}/{method.name}"
            if target != "memory" or full in METHODS:
                found[method.name] = (full, target)
    return found


_METHODS = _methods()

MESSAGE_FAULTS = tuple(
    "/".join(parts)
    for parts in product(_METHODS, _PHASES, _ACTIONS)
    # A gRPC call of one request ends with its first response.
    if parts[1:] != ("response", "duplicate")
)
"""Every fault of one message: `method/phase/action`."""

CUTS = tuple(
    "/".join(parts)
    for parts in product(
        ("memory", "destination", "observer", "agent"), _DIRECTIONS, ("fail", "drop")
    )
    # A host that hears nothing waits for all of its deadlines: silence is the network's family.
    if (parts[0], parts[2]) != ("agent", "drop")
)
"""Every cut of a service's edges: `service/direction/action`."""


@dataclass(frozen=True)
class _Armed:
    """A rule, and what it does as its receipt tells it."""

    rule: interposer_pb2.Rule
    action: Action
    direction: Direction
    first_sequence: int
    until_lifted: bool = False


@dataclass
class LaneFaults:
    """The rules that one lane has armed.

    Attributes:
        interposer: Control of the interposer.
        workflow_id: The lane's workflow; only its messages are met.
        silencing: A fault was armed that can leave a caller without an answer.
        cut_off: An edge of the lane's is cut, silently.
        armed: What was armed.
    """

    interposer: InterposerClient
    workflow_id: str
    silencing: bool = False
    cut_off: bool = False
    armed: list[_Armed] = field(default_factory=list, init=False)
    _holding: list[str] = field(default_factory=list, init=False)

    @property
    def patience_seconds(self) -> float:
        """How long the lane's agents wait for an answer."""
        if self.cut_off:
            return _CUT_SECONDS
        return _SHORT_SECONDS if self.silencing else CALL_SECONDS

    def arm(self, fault: str) -> None:
        """Arm one fault, for one message.

        Args:
            fault: One of MESSAGE_FAULTS.

        Raises:
            RuleRefused, InterposerError: The interposer does not take it.
        """
        method, phase, action = fault.split("/")
        full, target = _METHODS[method]
        rule_id = f"x{len(self.armed)}-{self.workflow_id}"
        # A host that hears nothing waits for all of its deadlines; what is held it waits for less.
        source = _EVALUATOR if action == "drop" else ""
        rule = _rule(rule_id, (source, target), phase, action)
        rule.method = full
        rule.matches.add(key="memqual-workflow", values=[self.workflow_id])
        rule.max_hits_per_workflow = 1
        first = self.interposer.statistics().trace_head_sequence + 1
        self.interposer.arm(rule)
        direction: Direction = "requests" if phase == "request" else "responses"
        self.armed.append(_Armed(rule, _ACTIONS[action][1], direction, first))
        if action == "hold":
            self._holding.append(rule_id)
        self.silencing = self.silencing or action in _SILENCING

    def release(self, *, deliver: bool) -> None:
        """Let go what is held, and wait until it has arrived.

        Raises:
            InterposerError: The interposer does not do it.
        """
        self._release(Fate.DELIVER if deliver else Fate.DROP)

    def clear(self) -> None:
        """Take every rule away; who waits for what is held still is told that it is lost.

        Raises:
            InterposerError: The interposer does not do it.
        """
        self._release(Fate.DISCONNECT)
        if self.armed:
            self.interposer.clear(*(one.rule.rule_id for one in self.armed))

    def _release(self, fate: Fate) -> None:
        for rule_id in self._holding:
            self.interposer.release(rule_id, fate, await_done_seconds=_DONE_SECONDS)
        self._holding.clear()


@dataclass
class EdgeCuts:
    """Edges that are cut, one service's at a time.

    Attributes:
        interposer: Control of the interposer.
        batch_id: Makes rule ids the batch's own.
        lanes: The lanes' faults: a lane that a cut silences has less patience.
        armed: What was armed.
    """

    interposer: InterposerClient
    batch_id: str
    lanes: Sequence[LaneFaults]
    armed: list[_Armed] = field(default_factory=list, init=False)
    _present: list[str] = field(default_factory=list, init=False)

    def cut(self, variant: str) -> None:
        """Cut a service's edges. What the evaluator itself needs (clocks, audits) still passes.

        Args:
            variant: One of CUTS.

        Raises:
            RuleRefused, InterposerError: The interposer does not take it.
        """
        self.mend()
        service, direction, action = variant.split("/")
        first = self.interposer.statistics().trace_head_sequence + 1
        for source, target, method in _edges(service, action):
            for phase in _DIRECTIONS[direction]:
                rule_id = f"xc{len(self.armed)}-{self.batch_id}"
                rule = _rule(rule_id, (source, target), phase, action)
                rule.method = method
                self.interposer.arm(rule)
                self._present.append(rule_id)
                told = cast(Direction, direction)
                self.armed.append(_Armed(rule, _ACTIONS[action][1], told, first, True))
        for lane in self.lanes:
            lane.cut_off = action == "drop"

    def mend(self) -> None:
        """Messages pass again.

        Raises:
            InterposerError: The interposer does not do it.
        """
        if self._present:
            self.interposer.clear(*self._present)
        self._present.clear()
        for lane in self.lanes:
            lane.cut_off = False


def _edges(service: str, action: str) -> Iterator[tuple[str, str, str]]:
    """(source, target, method) of a service's edges; agents of the evaluator's count as hosts."""
    if service in ("observer", "agent"):
        yield "agent", "observer", ""
    if service in ("observer", "memory"):
        yield "memory", "observer", ""
    for target in ("memory", "destination"):
        if service in ("agent", target) and action != "drop":
            yield "agent", target, ""
        if service == target:
            for full, whose in _METHODS.values():
                if whose == target:
                    yield _EVALUATOR, target, full


def _rule(rule_id: str, edge: tuple[str, str], phase: str, action: str) -> interposer_pb2.Rule:
    return interposer_pb2.Rule(
        rule_id=rule_id,
        edge=interposer_pb2.Edge(source=edge[0], target=edge[1]),
        phase=_PHASES[phase],
        action=_ACTIONS[action][0],
        delay_ms=_DELAY_MS if action in _TIMED else 0,
        fail_code=grpc.StatusCode.UNAVAILABLE.value[0] if action == "fail" else 0,
    )


def receipts_of(
    interposer: InterposerClient, armed: Iterable[_Armed], trace: Sequence[TraceRecord]
) -> Iterator[NetworkReceipt]:
    """The proofs of what was armed, one for each thing that was done in each direction.

    Args:
        interposer: Control of the interposer, which has nothing of it armed any more.
        armed: Rules, and what they do.
        trace: The batch's records, after messages have had the time to pass again.
    """
    groups: dict[tuple[Action, Direction, bool], list[_Armed]] = {}
    for one in armed:
        groups.setdefault((one.action, one.direction, one.until_lifted), []).append(one)
    for (action, direction, until_lifted), group in groups.items():
        rules = tuple(one.rule for one in group)
        fault = Disturbance(interposer, action, direction, rules, until_lifted)
        first = min(one.first_sequence for one in group)
        receipt = Disturbed(fault, first, lifted_sequence=first).receipt(trace)
        if receipt.messages_affected and receipt.passed_after:
            yield receipt
