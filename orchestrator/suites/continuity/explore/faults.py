"""Faults of the network that meet one lane's next message (DESIGN §5)."""

from __future__ import annotations

from dataclasses import dataclass, field

import grpc

from chaos.client import Fate, InterposerClient
from memqual.v1 import interposer_pb2

__all__ = ["LaneFaults"]

_DELAY_MS = 600
_DONE_SECONDS = 2.0

_DESTINATION = ("/memqual.v1.DestinationService/", "destination")
_SERVICES = {"Invoke": _DESTINATION, "QueryEffect": _DESTINATION}
_MEMORY = ("/memqual.v1.ContinuityService/", "memory")
_PHASES = {
    "request": interposer_pb2.MESSAGE_PHASE_REQUEST,
    "response": interposer_pb2.MESSAGE_PHASE_RESPONSE,
}
_ACTIONS = {
    "hold": interposer_pb2.RULE_ACTION_HOLD,
    "drop": interposer_pb2.RULE_ACTION_DROP,
    "delay": interposer_pb2.RULE_ACTION_DELAY,
    "duplicate": interposer_pb2.RULE_ACTION_DUPLICATE,
    "reorder": interposer_pb2.RULE_ACTION_REORDER,
    "fail": interposer_pb2.RULE_ACTION_FAIL,
}
_TIMED = ("delay", "reorder")
_SILENCING = ("hold", "drop", "delay", "reorder")


@dataclass
class LaneFaults:
    """The rules that one lane has armed.

    Attributes:
        interposer: Control of the interposer.
        workflow_id: The lane's workflow; only its messages are met.
        silencing: A fault was armed that can leave a caller without an answer.
    """

    interposer: InterposerClient
    workflow_id: str
    silencing: bool = False
    _armed: list[str] = field(default_factory=list, init=False)
    _holding: list[str] = field(default_factory=list, init=False)

    def arm(self, fault: str) -> None:
        """Arm one fault, for one message.

        Args:
            fault: `method/phase/action`.

        Raises:
            RuleRefused, InterposerError: The interposer does not take it.
        """
        method, phase, action = fault.split("/")
        prefix, target = _SERVICES.get(method, _MEMORY)
        rule_id = f"x{len(self._armed)}-{self.workflow_id}"
        rule = interposer_pb2.Rule(
            rule_id=rule_id,
            edge=interposer_pb2.Edge(target=target),
            method=prefix + method,
            phase=_PHASES[phase],
            matches=[
                interposer_pb2.MetadataMatch(key="memqual-workflow", values=[self.workflow_id])
            ],
            action=_ACTIONS[action],
            max_hits_per_workflow=1,
        )
        if action in _TIMED:
            rule.delay_ms = _DELAY_MS
        if action == "fail":
            rule.fail_code = grpc.StatusCode.UNAVAILABLE.value[0]
        self.interposer.arm(rule)
        self._armed.append(rule_id)
        if action == "hold":
            self._holding.append(rule_id)
        self.silencing = self.silencing or action in _SILENCING

    def release(self, *, deliver: bool) -> None:
        """Let go what is held, and wait until it has arrived.

        Raises:
            InterposerError: The interposer does not do it.
        """
        fate = Fate.DELIVER if deliver else Fate.DROP
        for rule_id in self._holding:
            self.interposer.release(rule_id, fate, await_done_seconds=_DONE_SECONDS)
        self._holding.clear()

    def clear(self) -> None:
        """Take every rule away; what is held still is dropped."""
        if self._armed:
            self.interposer.clear(*self._armed)
