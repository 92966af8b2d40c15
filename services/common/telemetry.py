"""Telemetry that nothing waits for (DESIGN §4: emitters never wait, failures raise a counter)."""

import contextlib
import queue
import threading
import time

import grpc
import structlog
import tenacity

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.channels import CallMetadata, open_channel
from services.common.settings import env_or_none

__all__ = ["INGEST_VARIABLE", "Emitter"]

# This sender's own token where the observer wants one (services.observer.senders).
INGEST_VARIABLE = "MEMQUAL_INGEST_TOKEN"

QUEUE_EVENTS = 1_000
EMIT_DEADLINE_SECONDS = 2.0
EMIT_TRIES = 2
CLOSE_SECONDS = 1.0
DROP_LOG_INTERVAL_SECONDS = 5.0
RETRIED_CODES = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})

_log = structlog.get_logger(__name__)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, grpc.RpcError) and error.code() in RETRIED_CODES


class Emitter:
    """Sends events to the observer from a thread of its own; drops what it cannot send.

    One Emit an event, with the event's own workflow and operation as metadata, so that telemetry
    faults can match single operations.
    """

    def __init__(self, address: str | None, token: str | None = None) -> None:
        """Starts the thread; without an address every event is discarded and not counted.

        Args:
            address: `name:port` of the observer, or None for no telemetry.
            token: sent as memqual-token.
        """
        self._token = token
        ingest = env_or_none(INGEST_VARIABLE)
        self._proof = (("authorization", f"Bearer {ingest}"),) if ingest else ()
        # None wakes the thread to stop.
        self._queue: queue.Queue[observer_pb2.TelemetryEvent | None] = queue.Queue(QUEUE_EVENTS)
        self._lock = threading.Lock()
        self._dropped = 0
        self._logged_at = float("-inf")
        self._stop_at = float("inf")
        self._thread: threading.Thread | None = None
        if address:
            self._thread = threading.Thread(
                target=self._run, args=(address,), name="telemetry", daemon=True
            )
            self._thread.start()

    @property
    def dropped(self) -> int:
        """Events that were not delivered since the start."""
        with self._lock:
            return self._dropped

    def emit(self, event: observer_pb2.TelemetryEvent) -> None:
        """Queues an event and returns at once; a full queue drops it."""
        if self._thread is None:
            return
        if self._stopping:
            self._count_drop("closed")
            return
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self._count_drop("queue_full")

    def close(self) -> None:
        """Sends what it can within a second, drops and counts the rest. Idempotent."""
        if self._thread is None:
            return
        self._stop_at = min(self._stop_at, time.monotonic() + CLOSE_SECONDS)
        # Where the queue is full there is no need to wake anyone.
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)
        self._thread.join(CLOSE_SECONDS)

    def _run(self, address: str) -> None:
        channel = open_channel(address)
        try:
            stub = observer_pb2_grpc.ObserverServiceStub(channel)
            while not (self._stopping and self._queue.empty()):
                event = self._queue.get()
                if event is None:
                    continue
                if time.monotonic() < self._stop_at:
                    self._send(stub, event)
                else:
                    self._count_drop("closed")
        finally:
            channel.close()

    @property
    def _stopping(self) -> bool:
        return self._stop_at != float("inf")

    def _send(
        self, stub: observer_pb2_grpc.ObserverServiceStub, event: observer_pb2.TelemetryEvent
    ) -> None:
        request = observer_pb2.EmitRequest(events=[event])
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(EMIT_TRIES),
            retry=tenacity.retry_if_exception(_may_pass),
            before_sleep=lambda state: _log.info("emit_retried", attempt=state.attempt_number),
            reraise=True,
        )
        try:
            metadata = (
                CallMetadata(
                    workflow=event.workflow_id, operation=event.operation_id, token=self._token
                ).pairs()
                + self._proof
            )
            retrying(stub.Emit, request, timeout=self._deadline_seconds(), metadata=metadata)
        except grpc.RpcError as error:
            self._count_drop(error.code().name)
        except ValueError:
            self._count_drop("metadata_not_ascii")

    def _deadline_seconds(self) -> float:
        return max(min(EMIT_DEADLINE_SECONDS, self._stop_at - time.monotonic()), 0.001)

    def _count_drop(self, cause: str) -> None:
        with self._lock:
            self._dropped += 1
            dropped = self._dropped
            now = time.monotonic()
            quiet = now - self._logged_at < DROP_LOG_INTERVAL_SECONDS
            if not quiet:
                self._logged_at = now
        if not quiet:
            _log.warning("telemetry_dropped", cause=cause, dropped=dropped)
