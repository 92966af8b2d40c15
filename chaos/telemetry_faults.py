"""Faults of telemetry: messages lost, late, twice or out of order, and trouble with the observer.

An observer may keep its answers, answer errors, or not be there at all.

Nothing may depend on telemetry (DESIGN §6, P5), so that a trial must end the same with any of them.
The proof counts events in the interposer's trace: those of the messages that the fault met.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import grpc
from google.protobuf.message import DecodeError

from chaos.client import Fate, InterposerClient
from chaos.errors import FaultNotPossible
from chaos.faults import ActiveFault, Availability
from chaos.receipts import FaultReceipt, TelemetryReceipt
from chaos.targets import Target
from chaos.tracing import TraceKind, TraceRecord
from memqual.v1 import interposer_pb2 as pb
from memqual.v1 import observer_pb2

__all__ = ["ObserverDown", "TelemetryFault", "count_events"]

OBSERVER = "observer"
_LOOKS = 25
_LOOK_SECONDS = 0.2
_LOOK_BACK_RECORDS = 2_000
_SERVICE = observer_pb2.DESCRIPTOR.services_by_name["ObserverService"].full_name
EMIT = f"/{_SERVICE}/Emit"

TelemetryAction = Literal["drop", "delay", "duplicate", "reorder", "slow", "errors"]
_ACTIONS: dict[str, tuple[pb.RuleAction.ValueType, TraceKind]] = {
    "drop": (pb.RULE_ACTION_DROP, TraceKind.DROPPED),
    "delay": (pb.RULE_ACTION_DELAY, TraceKind.DELAYED),
    "duplicate": (pb.RULE_ACTION_DUPLICATE, TraceKind.DUPLICATED),
    "reorder": (pb.RULE_ACTION_REORDER, TraceKind.REORDERED),
    # The observer has taken the events and keeps its answer.
    "slow": (pb.RULE_ACTION_HOLD, TraceKind.HELD),
    "errors": (pb.RULE_ACTION_FAIL, TraceKind.FAILED),
}
_TIMED = frozenset({"delay", "reorder"})
_ANSWERS = frozenset({"slow", "errors"})


@dataclass(frozen=True, slots=True)
class TelemetryFault:
    """Does something to every message from any service to the observer, or to its answers.

    Attributes:
        client: control of the stack's interposer.
        action: what is done.
        rule_id: id of the rule; unique in the stack.
        delay_ms: with "delay" and "reorder": for how long at most.
        fail_code: with "errors": gRPC status number that the observer seems to answer.
    """

    client: InterposerClient
    action: TelemetryAction
    rule_id: str
    delay_ms: int = 0
    fail_code: int = grpc.StatusCode.INTERNAL.value[0]

    @property
    def name(self) -> str:
        """Name of the fault."""
        return f"telemetry_{self.action}"

    def available(self, target: Target) -> Availability:
        """Everywhere: the interposer does it."""
        return _if_observer(target)

    def inject(self, target: Target) -> ActiveFault:
        """Arms the rule.

        Raises:
            FaultNotPossible: the target is not the observer.
            RuleRefused: the id is in use, or `delay_ms` does not go with the action.
        """
        _require(self.name, _if_observer(target))
        action, _ = _ACTIONS[self.action]
        first_sequence = self.client.statistics().trace_head_sequence + 1
        self.client.arm(
            pb.Rule(
                rule_id=self.rule_id,
                edge=pb.Edge(target=OBSERVER),
                method=EMIT,
                phase=(
                    pb.MESSAGE_PHASE_RESPONSE
                    if self.action in _ANSWERS
                    else pb.MESSAGE_PHASE_REQUEST
                ),
                action=action,
                delay_ms=self.delay_ms if self.action in _TIMED else 0,
                fail_code=self.fail_code if self.action == "errors" else 0,
            )
        )
        return _Disturbed(self, first_sequence)


@dataclass(frozen=True, slots=True)
class _Disturbed:
    fault: TelemetryFault
    first_sequence: int

    def lift(self) -> FaultReceipt:
        client = self.fault.client
        if self.fault.action == "slow":
            # It answers at last, so that emitters that wait for it go on.
            client.release(self.fault.rule_id, Fate.DELIVER)
        client.clear(self.fault.rule_id)
        # An answer that the fault met may be to a request from before.
        oldest = client.statistics().trace_first_sequence
        records = tuple(client.trace(max(self.first_sequence - _LOOK_BACK_RECORDS, oldest)))
        _, kind = _ACTIONS[self.fault.action]
        met = {
            record.call_id
            for record in records
            if record.kind is kind and record.rule_id == self.fault.rule_id
        }
        return TelemetryReceipt(
            fault=self.fault.action,
            rule_id=self.fault.rule_id,
            events_affected=count_events(records, met),
            first_sequence=self.first_sequence,
            last_sequence=records[-1].sequence if records else self.first_sequence,
        )


@dataclass(frozen=True, slots=True)
class ObserverDown:
    """Kills the observer; it comes back when the fault is lifted.

    Attributes:
        client: control of the stack's interposer.
        exit_seconds: how long its end may take.
        healthy_seconds: how long its return may take.
    """

    client: InterposerClient
    exit_seconds: float = 10.0
    healthy_seconds: float = 30.0

    @property
    def name(self) -> str:
        """Name of the fault."""
        return "observer_down"

    def available(self, target: Target) -> Availability:
        """Where the observer runs."""
        found = _if_observer(target)
        if found.available and not target.running():
            return Availability(False, "the observer does not run")
        return found

    def inject(self, target: Target) -> ActiveFault:
        """Kills it and sees its end.

        Raises:
            FaultNotPossible: the target is not the observer, or does not run.
        """
        _require(self.name, self.available(target))
        first_sequence = self.client.statistics().trace_head_sequence + 1
        target.kill()
        target.wait_exit(self.exit_seconds)
        return _Down(self, target, first_sequence)


@dataclass(frozen=True, slots=True)
class _Down:
    fault: ObserverDown
    target: Target
    first_sequence: int

    def lift(self) -> FaultReceipt:
        client = self.fault.client
        records, failed = self._look()
        # Where nobody refuses a connection, an attempt fails only after its time.
        for _ in range(_LOOKS):
            if failed:
                break
            time.sleep(_LOOK_SECONDS)
            records, failed = self._look()
        self.target.start()
        for name in (OBSERVER, f"{OBSERVER}-audit"):
            client.refresh(name, self.fault.healthy_seconds)
        return TelemetryReceipt(
            fault="observer_down",
            rule_id="",
            events_affected=count_events(records, failed),
            first_sequence=self.first_sequence,
            last_sequence=records[-1].sequence if records else self.first_sequence,
        )

    def _look(self) -> tuple[tuple[TraceRecord, ...], set[int]]:
        """The trace since the kill, and the calls of Emit that found nobody."""
        records = tuple(self.fault.client.trace(self.first_sequence))
        failed = {
            record.call_id
            for record in records
            if record.kind is TraceKind.UPSTREAM_FAILED and record.method == EMIT
        }
        return records, failed


def count_events(records: Iterable[TraceRecord], call_ids: set[int]) -> int:
    """How many telemetry events the Emit requests of these calls hold."""
    count = 0
    for record in records:
        if (
            record.kind is TraceKind.REQUEST_RECEIVED
            and record.method == EMIT
            and record.call_id in call_ids
        ):
            try:
                count += len(observer_pb2.EmitRequest.FromString(record.payload).events)
            except DecodeError:
                # No event was in what was sent; the memory's own emitter may send anything.
                continue
    return count


def _if_observer(target: Target) -> Availability:
    if target.name != OBSERVER:
        return Availability(False, f"telemetry goes to the observer, not to {target.name}")
    return Availability(True)


def _require(fault: str, found: Availability) -> None:
    if not found.available:
        raise FaultNotPossible(fault, found.reason)
