"""The host's telemetry: opaque ids and a kind of event, sent and forgotten (DESIGN §4).

Only the arms with an observer emit. Nothing here returns anything that control flow could use.
"""

import itertools

from memqual.v1 import agent_pb2, observer_pb2
from services.common.telemetry import Emitter

__all__ = ["HostEvents"]

_OBSERVED_ARMS = frozenset({agent_pb2.ARM_OBSERVER, agent_pb2.ARM_BOTH})


class HostEvents:
    """Events of one life of the host."""

    def __init__(self, emitter: Emitter, incarnation_id: str) -> None:
        self._emitter = emitter
        self._incarnation_id = incarnation_id
        self._numbers = itertools.count(1)

    @property
    def dropped(self) -> int:
        """Events that could not be sent, since start."""
        return self._emitter.dropped

    def emit(
        self,
        workflow: agent_pb2.Workflow,
        kind: "observer_pb2.EventKind.ValueType",
        *,
        operation_id: str = "",
        attempt: int = 0,
        usage: observer_pb2.Usage | None = None,
    ) -> None:
        """Queues one event, in the arms that are observed; never waits."""
        if workflow.arm not in _OBSERVED_ARMS:
            return
        self._emitter.emit(
            observer_pb2.TelemetryEvent(
                event_id=f"{self._incarnation_id}-{next(self._numbers)}",
                run_id=workflow.run_id,
                workflow_id=workflow.workflow_id,
                operation_id=operation_id,
                attempt=attempt,
                kind=kind,
                usage=usage,
            )
        )

    def close(self) -> None:
        """Sends what it can within a second. Idempotent."""
        self._emitter.close()
