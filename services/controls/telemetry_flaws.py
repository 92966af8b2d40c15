"""Memories that depend on telemetry, or tell too much by it; each is the reference but for that."""

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import grpc

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.channels import CallMetadata, open_channel
from services.common.settings import env_or_none
from services.common.telemetry import Emitter
from services.controls.flaw import Flaw, named
from services.memory.answers import BeginCall, BeginStep, Refused, Wait
from services.memory.decisions import DecisionRules
from services.memory.model import LeaseClock, Operation, Policy, Reason
from services.memory.process import Composition
from services.memory.reporting import Reporter

__all__ = [
    "FLAWS",
    "AnswersByObserver",
    "AwaitingReporter",
    "ConcludesAbsence",
    "Reach",
    "TalkativeReporter",
    "UnlistedReporter",
]

_PATIENCE_SECONDS = 2.0
_TOLD_CHARACTERS = 80
# A field with the number 100, which no message of telemetry has, and one byte of content.
_UNLISTED_FIELD = bytes((0xA2, 0x06, 0x01, 0x78))


class AwaitingReporter(Reporter):
    """Sends each event itself and waits for the observer's answer, or for its own deadline."""

    def __init__(self, emitter: Emitter, run_id: str) -> None:
        super().__init__(emitter, run_id)
        address = env_or_none("MEMQUAL_OBSERVER_ADDRESS")
        self._token = env_or_none("MEMQUAL_EDGE_TOKEN")
        self._stub = (
            None
            if address is None
            else observer_pb2_grpc.ObserverServiceStub(open_channel(address))
        )

    def send(self, event: observer_pb2.TelemetryEvent) -> None:
        """Returns when the observer has answered."""
        if self._stub is None:
            return
        metadata = CallMetadata(
            workflow=event.workflow_id, operation=event.operation_id, token=self._token
        ).pairs()
        with contextlib.suppress(grpc.RpcError):
            request = observer_pb2.EmitRequest(events=[event])
            self._stub.Emit(request, timeout=_PATIENCE_SECONDS, metadata=metadata)


class TalkativeReporter(Reporter):
    """Names its events by the beginning of the result that was recorded."""

    def recorded(self, operation: Operation, attempt: int) -> None:
        """An event whose id holds content."""
        receipt, binding = operation.receipt, operation.binding
        result = "" if receipt is None else receipt.result_json[:_TOLD_CHARACTERS]
        self.send(
            observer_pb2.TelemetryEvent(
                event_id=f"{result}-{binding.operation_id[:8]}-{attempt}",
                run_id=self._run_id,
                workflow_id=binding.workflow_id,
                operation_id=binding.operation_id,
                attempt=attempt,
                kind=observer_pb2.EVENT_KIND_MEMORY_RECORDED,
            )
        )


class UnlistedReporter(Reporter):
    """Sends a field that the contract does not have."""

    def send(self, event: observer_pb2.TelemetryEvent) -> None:
        """The event, and one field more."""
        event.MergeFromString(_UNLISTED_FIELD)
        super().send(event)


class Reach:
    """What a memory learns of its own telemetry."""

    def __init__(self) -> None:
        self._emitter: Emitter | None = None

    @property
    def lost(self) -> bool:
        """Whether an event could not be sent."""
        return self._emitter is not None and self._emitter.dropped > 0

    def reporter(self, emitter: Emitter, run_id: str) -> Reporter:
        """The reference's reporter, whose emitter is watched."""
        self._emitter = emitter
        return Reporter(emitter, run_id)


@dataclass(frozen=True)
class AnswersByObserver(DecisionRules):
    """Gives another reason for WAIT when the observer cannot be reached."""

    reach: Reach = field(default_factory=Reach)

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The reference's decision, told otherwise without an observer."""
        step = super().begin(operation, clock, call)
        if isinstance(step, BeginStep) and isinstance(step.decision, Wait) and self.reach.lost:
            told = dataclasses.replace(step.decision, reason=Reason.CLOCK_BEHIND_MARK)
            return dataclasses.replace(step, decision=told)
        return step


@dataclass(frozen=True)
class ConcludesAbsence(DecisionRules):
    """Takes an attempt whose telemetry was lost for one that was never dispatched."""

    reach: Reach = field(default_factory=Reach)

    def expired_none(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The next attempt where only a person could tell."""
        if self.reach.lost:
            return self.grant(operation, clock, call, Reason.EXPIRED_CANNOT_TELL)
        return super().expired_none(operation, clock, call)


def _answers_by_observer() -> Composition:
    reach = Reach()

    def rules(policy: Policy) -> DecisionRules:
        return AnswersByObserver(policy, reach)

    return Composition(named("answers_by_observer"), decisions=rules, reporter=reach.reporter)


def _concludes_absence() -> Composition:
    reach = Reach()

    def rules(policy: Policy) -> DecisionRules:
        return ConcludesAbsence(policy, reach)

    return Composition(named("concludes_absence"), decisions=rules, reporter=reach.reporter)


FLAWS: Mapping[str, Flaw] = {
    "waits_for_observer": Flaw(
        Composition(named("waits_for_observer"), reporter=AwaitingReporter),
        "answers only when the observer has answered",
        "continuity.telemetry.waiting",
    ),
    "tells_results": Flaw(
        Composition(named("tells_results"), reporter=TalkativeReporter),
        "puts results into the ids of its events",
        "continuity.telemetry.content",
    ),
    "sends_unlisted": Flaw(
        Composition(named("sends_unlisted"), reporter=UnlistedReporter),
        "sends a field that telemetry does not have",
        "continuity.telemetry.allowed",
    ),
    "answers_by_observer": Flaw(
        _answers_by_observer(),
        "gives other reasons while the observer cannot be reached",
        "parity",
        "L",
    ),
    "concludes_absence": Flaw(
        _concludes_absence(),
        "EXECUTE after an expired lease when the attempt's telemetry was lost, capability none",
        "unsafe_decision",
        "X, none",
    ),
}
