"""Notes sent answers in the journal, later and together (DESIGN §10).

A commit of its own for every sent answer would double the cost of an Invoke; the records wait in a
bounded queue instead. A crash loses what waits, and a missing record means nothing.
"""

import collections
import threading
import time

import structlog

from services.common.database import DatabaseError
from services.common.errors import ServiceError
from services.destination.engine import Engine
from services.destination.model import Invocation

__all__ = ["SentRecorder"]

QUEUE_ANSWERS = 10_000
BATCH_ANSWERS = 500
# Long enough that answers of calls in parallel share a commit.
LINGER_SECONDS = 0.02
CLOSE_SECONDS = 2.0

_log = structlog.get_logger(__name__)


class SentRecorder:
    """Takes sent answers and records them from a thread of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: collections.deque[tuple[Invocation, int]] = collections.deque()
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._closed = False
        self.dropped = 0
        self._thread = threading.Thread(target=self._run, name="sent", daemon=True)
        self._thread.start()

    def add(self, call: Invocation, call_sequence: int) -> None:
        """Queues an answer that was handed to the transport; a full queue drops and counts it."""
        with self._changed:
            if self._closed or len(self._waiting) >= QUEUE_ANSWERS:
                self.dropped += 1
                return
            self._waiting.append((call, call_sequence))
            self._changed.notify()

    def flush(self) -> None:
        """Records everything that was added before."""
        # Whoever holds the lock has taken a batch that must be in the journal before we return.
        with self._writing:
            while batch := self._take():
                self._write(batch)

    def close(self) -> None:
        """Records what waits and ends the thread. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(CLOSE_SECONDS)
        self.flush()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
            time.sleep(LINGER_SECONDS)
            self.flush()

    def _take(self) -> list[tuple[Invocation, int]]:
        with self._changed:
            count = min(len(self._waiting), BATCH_ANSWERS)
            return [self._waiting.popleft() for _ in range(count)]

    def _write(self, batch: list[tuple[Invocation, int]]) -> None:
        try:
            self._engine.record_sent(batch)
        except (DatabaseError, ServiceError) as error:
            with self._changed:
                self.dropped += len(batch)
            _log.error("sent_not_recorded", answers=len(batch), cause=str(error))
