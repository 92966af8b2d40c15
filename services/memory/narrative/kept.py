"""What is made of texts, each once: the latest stay within a bound, some are made ahead.

A value follows from its text alone, so it is equal whoever makes it and when; nothing here has to
be kept across a restart.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["Kept"]

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by text; safe for several threads.

    Two threads that want one text at the same moment may both make it, to equal values.
    """

    def __init__(
        self,
        make: Callable[[str], Value],
        size_bytes: Callable[[Value], int],
        *,
        bytes_max: int,
        ahead_max: int,
    ) -> None:
        """Keeps nothing yet.

        Args:
            make: text → value; slow.
            size_bytes: about what a value takes in memory.
            bytes_max: what the values may take together; the one last asked for stays in any case.
            ahead_max: so many texts may wait to be made ahead; more are left to who asks for them.
        """
        self._make = make
        self._size_bytes = size_bytes
        self._bytes_max = bytes_max
        self._ahead_max = ahead_max
        self._lock = threading.Lock()
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._bytes = 0
        self._begun: dict[str, Future[None]] = {}
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="ahead")

    @property
    def size_bytes(self) -> int:
        """What all kept values take, bytes."""
        with self._lock:
            return self._bytes

    def get(self, text: str) -> Value:
        """The value of a text: kept, under way, or made now; raises what `make` raises."""
        with self._lock:
            begun = self._begun.get(text)
            if begun is not None and begun.cancel():
                # It still waited behind others: made here, at once.
                del self._begun[text]
                begun = None
        if begun is not None:
            begun.result()
        with self._lock:
            if text in self._values:
                self._values.move_to_end(text)
                return self._values[text]
        value = self._make(text)
        self._keep(text, value)
        return value

    def ahead(self, texts: Iterable[str]) -> None:
        """Begins to make values, one after the other, while the caller does other things."""
        with self._lock:
            for text in texts:
                if len(self._begun) >= self._ahead_max:
                    return
                if text in self._values or text in self._begun:
                    continue
                try:
                    self._begun[text] = self._aside.submit(self._made, text)
                except RuntimeError:
                    # The process is ending: who still asks makes its own.
                    return

    def done_with(self, texts: Iterable[str]) -> None:
        """The values of these texts make room first when room is wanted."""
        with self._lock:
            for text in texts:
                if text in self._values:
                    self._values.move_to_end(text, last=False)

    def _made(self, text: str) -> None:
        try:
            self._keep(text, self._make(text))
        finally:
            with self._lock:
                self._begun.pop(text, None)

    def _keep(self, text: str, value: Value) -> None:
        with self._lock:
            if text in self._values:
                return
            self._values[text] = value
            self._bytes += self._size_bytes(value)
            while self._bytes > self._bytes_max and len(self._values) > 1:
                _, dropped = self._values.popitem(last=False)
                self._bytes -= self._size_bytes(dropped)
