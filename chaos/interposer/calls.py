"""One call on its way, and the table of all that are open."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from chaos.interposer.changes import Changes
from chaos.interposer.limits import (
    EOF_QUIET_SECONDS,
    IN_FLIGHT_BYTES_MAX,
    UPSTREAM_SECONDS,
)
from chaos.interposer.trace import CallInfo

__all__ = ["Call", "CallTable", "MetadataPairs", "Outcome", "set_outcome"]

MetadataPairs = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a client is told.

    Attributes:
        code: gRPC status number; 0 is OK.
        details: status message.
        response: the message, with code 0.
        initial_metadata: as the target sent it.
        trailing_metadata: as the target sent it.
        answered: the target itself answered; otherwise the status comes from the way to it.
        lost: stands for a message that was dropped; its delivery is no event.
    """

    code: int
    details: str = ""
    response: bytes = b""
    initial_metadata: MetadataPairs = ()
    trailing_metadata: MetadataPairs = ()
    answered: bool = False
    lost: bool = False


class Call:
    """A call's mutable state, owned by the event loop.

    Attributes:
        info: what its trace records share.
        request: the request's bytes.
        forwarded_metadata: what goes on to the target.
        deadline_seconds: the client's deadline on the loop's clock, or None.
        outcome: what the handler waits for; cancelled with the handler.
        client_waiting: a handler still waits for an outcome.
        client_gone: the client cancelled, died, or gave up at its deadline.
        carried: the detached task that carries the call is still at work.
        exchanged: the request has been delivered and everything it caused upstream has ended.
        upstream_calls: calls to the target that have not ended.
        message_bytes: size of the messages that the call keeps.
    """

    __slots__ = (
        "carried",
        "client_gone",
        "client_waiting",
        "deadline_seconds",
        "exchanged",
        "forwarded_metadata",
        "info",
        "message_bytes",
        "outcome",
        "request",
        "upstream_calls",
    )

    def __init__(
        self,
        info: CallInfo,
        request: bytes,
        forwarded_metadata: MetadataPairs,
        deadline_seconds: float | None,
    ) -> None:
        self.info = info
        self.request = request
        self.forwarded_metadata = forwarded_metadata
        self.deadline_seconds = deadline_seconds
        self.outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.client_waiting = True
        self.client_gone = False
        self.carried = True
        self.exchanged = False
        self.upstream_calls = 0
        self.message_bytes = len(request)

    def upstream_timeout_seconds(self, now_seconds: float) -> float:
        """What the call upstream may take: the client's rest, or 60 s when there is no client."""
        if self.client_gone or self.deadline_seconds is None:
            return UPSTREAM_SECONDS
        return max(self.deadline_seconds - now_seconds, 0.0)

    def answer(self, outcome: Outcome) -> None:
        """Gives the handler its outcome, unless it is gone or was given one."""
        set_outcome(self.outcome, outcome)


def set_outcome(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    """Sets an outcome that may have been set, or cancelled with its handler."""
    if not future.done():
        future.set_result(outcome)


class CallTable:
    """The open calls: what is in flight, and who has lost its peer."""

    def __init__(self) -> None:
        self.changes = Changes()
        # Of the requests and answers that open calls keep.
        self.message_bytes = 0
        self._calls: dict[int, Call] = {}
        self._last_call_id = 0
        self._gone_clients: Counter[str] = Counter()
        self._arrived: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._calls)

    def next_call_id(self) -> int:
        """A fresh id, from 1."""
        self._last_call_id += 1
        return self._last_call_id

    def add(self, call: Call) -> None:
        """Takes a call in."""
        self._calls[call.info.call_id] = call
        self._arrived[call.info.source] += 1
        self.message_bytes += call.message_bytes

    def client_ended(self, call: Call) -> None:
        """Its handler has ended; drops the call from the table when nothing else is at work."""
        call.client_waiting = False
        self._retire(call)

    def client_lost(self, call: Call) -> None:
        """Its client is gone."""
        call.client_gone = True
        self._gone_clients[call.info.source] += 1

    def carrier_ended(self, call: Call) -> None:
        """Its detached task has ended."""
        call.carried = False
        self._retire(call)

    def upstream_started(self, call: Call) -> None:
        """A call to the target began."""
        call.upstream_calls += 1

    def upstream_ended(self, call: Call) -> None:
        """A call to the target ended."""
        call.upstream_calls -= 1
        self.changes.notify()

    def keep_response(self, call: Call, response_bytes: int) -> bool:
        """Counts an answer's bytes for its call; False when open calls keep too many already."""
        if self.message_bytes + response_bytes > IN_FLIGHT_BYTES_MAX:
            return False
        call.message_bytes += response_bytes
        self.message_bytes += response_bytes
        return True

    def forget_gone_clients(self, services: Iterable[str]) -> None:
        """Starts the count of gone clients anew: a freeze begins."""
        for service in services:
            self._gone_clients.pop(service, None)

    def gone_clients(self, services: Iterable[str]) -> int:
        """Calls whose client was seen to be gone since the service was last frozen."""
        return sum(self._gone_clients[service] for service in set(services))

    def connected(self, services: frozenset[str]) -> tuple[int, int]:
        """Open ends: clients of these services that still wait, and calls to them still open."""
        clients = upstream = 0
        for call in self._calls.values():
            if call.client_waiting and call.info.source in services:
                clients += 1
            if call.upstream_calls and call.info.service in services:
                upstream += 1
        return clients, upstream

    async def await_eof(self, services: frozenset[str], timeout_seconds: float) -> bool:
        """Waits until no end is open and nothing comes any more; False when time was over first.

        What a dead process sent last may still be on its way through the system when its exit is
        seen. Ends that stay closed for a while, without a new call, mean that all of it was read.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                while True:
                    while any(self.connected(services)):
                        await self.changes.wait()
                    arrived = self._count_arrived(services)
                    await asyncio.sleep(EOF_QUIET_SECONDS)
                    quiet = self._count_arrived(services) == arrived
                    if quiet and not any(self.connected(services)):
                        return True
        except TimeoutError:
            return False

    def _count_arrived(self, services: frozenset[str]) -> int:
        return sum(self._arrived[service] for service in services)

    def _retire(self, call: Call) -> None:
        ended = not (call.client_waiting or call.carried)
        if ended and self._calls.pop(call.info.call_id, None) is not None:
            self.message_bytes -= call.message_bytes
        self.changes.notify()
