"""The host's own windows: a workflow stands still at a named place until the evaluator releases it.

DESIGN §5. Nothing here is durable; a process that dies forgets its barriers.
"""

import threading
import time
from collections.abc import Iterable

import grpc

from memqual.v1 import agent_pb2
from services.agent.stops import Failed

__all__ = ["BARRIER_SECONDS", "Barriers", "TooFewStanding"]

BARRIER_SECONDS = 60.0


class TooFewStanding(Exception):
    """Fewer workflows than wanted stood at the barrier in time.

    Attributes:
        standing: how many did.
    """

    def __init__(self, standing: int) -> None:
        super().__init__(f"{standing} workflows stand at the barrier")
        self.standing = standing


class Barriers:
    """All barriers of this process."""

    def __init__(self, *, hold_seconds: float = BARRIER_SECONDS) -> None:
        """Args: hold_seconds: a workflow that is held longer fails."""
        self._hold_seconds = hold_seconds
        self._changed = threading.Condition()
        self._armed: dict[agent_pb2.Barrier.ValueType, set[str]] = {}
        self._standing: dict[agent_pb2.Barrier.ValueType, dict[str, threading.Event]] = {}
        self._closed = False

    def arm(self, barrier: "agent_pb2.Barrier.ValueType", workflow_ids: Iterable[str]) -> None:
        """From now on these workflows stop here, once each."""
        with self._changed:
            self._armed.setdefault(barrier, set()).update(workflow_ids)

    def stand(self, barrier: "agent_pb2.Barrier.ValueType", workflow_id: str) -> None:
        """Called by a workflow that is at the barrier; returns at once when it is not armed.

        Raises:
            Failed: held for longer than allowed, or the host stops.
        """
        with self._changed:
            armed = self._armed.get(barrier, set())
            if workflow_id not in armed:
                return
            armed.remove(workflow_id)
            released = threading.Event()
            standing = self._standing.setdefault(barrier, {})
            standing[workflow_id] = released
            self._changed.notify_all()
        if not released.wait(self._hold_seconds):
            with self._changed:
                standing.pop(workflow_id, None)
            name = agent_pb2.Barrier.Name(barrier).removeprefix("BARRIER_").lower()
            raise Failed(
                grpc.StatusCode.DEADLINE_EXCEEDED,
                f"held at {name} for more than {self._hold_seconds:.0f} s; release the barrier",
            )
        if self._closed:
            raise Failed(grpc.StatusCode.CANCELLED, "the host stops")

    def await_standing(
        self, barrier: "agent_pb2.Barrier.ValueType", count: int, timeout_seconds: float
    ) -> tuple[str, ...]:
        """Waits until `count` workflows stand at the barrier; returns those that do.

        Raises:
            TooFewStanding: they did not in time.
        """
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while len(standing := self._standing.get(barrier, {})) < count and not self._closed:
                left_seconds = deadline - time.monotonic()
                if left_seconds <= 0 or not self._changed.wait(left_seconds):
                    break
            standing = self._standing.get(barrier, {})
            if len(standing) < count:
                raise TooFewStanding(len(standing))
            return tuple(standing)

    def release(self, barrier: "agent_pb2.Barrier.ValueType") -> None:
        """Lets everything at the barrier go on and disarms it."""
        with self._changed:
            self._armed.pop(barrier, None)
            for released in self._standing.pop(barrier, {}).values():
                released.set()

    def close(self) -> None:
        """Releases everything; held workflows fail. Idempotent."""
        with self._changed:
            self._closed = True
            barriers = list(self._standing)
            self._changed.notify_all()
        for barrier in barriers:
            self.release(barrier)
