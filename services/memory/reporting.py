"""The memory's own telemetry (DESIGN §4): opaque ids and a kind, sent by nobody's leave.

It is queued after the answer's state is durable, never waited for, and nothing is ever read back
from it: a decision cannot depend on it.
"""

import uuid

from memqual.v1 import observer_pb2
from services.common.telemetry import Emitter
from services.memory.model import Operation, OperationBinding

__all__ = ["Reporter"]


class Reporter:
    """Tells the observer what the memory decided and recorded."""

    def __init__(self, emitter: Emitter, run_id: str) -> None:
        """Reports through an emitter, for one run of the campaign."""
        self._emitter = emitter
        self._run_id = run_id

    def decided(self, binding: OperationBinding, attempt: int) -> None:
        """A decision was made; `attempt` is the one that it names, or 0."""
        self._emit(binding, attempt, observer_pb2.EVENT_KIND_MEMORY_DECIDED)

    def recorded(self, operation: Operation, attempt: int) -> None:
        """A receipt or a query's answer was recorded for this attempt of an operation."""
        self._emit(operation.binding, attempt, observer_pb2.EVENT_KIND_MEMORY_RECORDED)

    def send(self, event: observer_pb2.TelemetryEvent) -> None:
        """Hands an event over and returns at once."""
        self._emitter.emit(event)

    def close(self) -> None:
        """Sends what it can within a second."""
        self._emitter.close()

    def _emit(
        self, binding: OperationBinding, attempt: int, kind: observer_pb2.EventKind.ValueType
    ) -> None:
        self.send(
            observer_pb2.TelemetryEvent(
                event_id=uuid.uuid4().hex,
                run_id=self._run_id,
                workflow_id=binding.workflow_id,
                operation_id=binding.operation_id,
                attempt=attempt,
                kind=kind,
            )
        )
