"""Takes calls in and gives answers out: one listener's or the control port's side of a call.

The handler that gRPC runs for a call is cancelled when the client dies. It therefore only waits; a
task of its own carries the call (`carrier`), so that a request can be delivered after its client.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import grpc
import grpc.aio
import structlog

from chaos.interposer.calls import Call, Outcome
from chaos.interposer.carrier import Carrier
from chaos.interposer.config import service_of
from chaos.interposer.limits import CALLS_MAX, IN_FLIGHT_BYTES_MAX
from chaos.interposer.state import State
from chaos.interposer.trace import CallInfo
from memqual.v1 import interposer_pb2

__all__ = ["Context", "Proxy", "Route"]

PHASE_REQUEST = interposer_pb2.MESSAGE_PHASE_REQUEST
PHASE_RESPONSE = interposer_pb2.MESSAGE_PHASE_RESPONSE
STATUS_BY_NUMBER: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}

# Not the target's business: who called, and where to.
_KEPT_KEYS = frozenset({"memqual-token", "memqual-target"})
# Set by every client library for itself.
_LIBRARY_KEYS = frozenset({"user-agent"})
_TRACED_PREFIX = "memqual-"

_DEADLINE_MS_MAX = 2**32 - 1

_log = structlog.get_logger(__name__)

Context = grpc.aio.ServicerContext[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Route:
    """Who calls whom.

    Attributes:
        source: exact service name of the caller.
        role: source of the listener.
        target: target name.
    """

    source: str
    role: str
    target: str


class Proxy:
    """Admits calls, hands them to the carrier, and tells clients how they ended."""

    def __init__(self, state: State, carrier: Carrier) -> None:
        self._state = state
        self._carrier = carrier
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    async def unary(
        self,
        route: Route,
        method: str,
        metadata: Sequence[tuple[str, str | bytes]],
        request: bytes,
        context: Context,
    ) -> bytes:
        """Serves one call of one request and one response."""
        await self.refuse_if_full(context, len(request))
        call = self.open_call(route, method, metadata, request, context)
        self._state.trace.add(
            interposer_pb2.TRACE_KIND_REQUEST_RECEIVED,
            call.info,
            phase=PHASE_REQUEST,
            payload=request,
        )
        task = self._loop.create_task(self._carrier.carry(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            outcome = await call.outcome
        except asyncio.CancelledError:
            self.client_gone(call)
            raise
        finally:
            self._state.calls.client_ended(call)
        if outcome.initial_metadata:
            await context.send_initial_metadata(outcome.initial_metadata)
        await self.finish(call, outcome, context)
        return outcome.response

    def open_call(
        self,
        route: Route,
        method: str,
        metadata: Sequence[tuple[str, str | bytes]],
        request: bytes,
        context: Context,
    ) -> Call:
        """Makes a call and enters it in the table."""
        traced: dict[str, str] = {}
        forwarded: list[tuple[str, str | bytes]] = []
        metadata_bytes = 0
        for key, value in metadata:
            if key in _KEPT_KEYS or key in _LIBRARY_KEYS:
                continue
            forwarded.append((key, value))
            if key.startswith(_TRACED_PREFIX) and isinstance(value, str):
                traced.setdefault(key, value)
                metadata_bytes += len(key) + len(value)
        remaining_seconds = _remaining_seconds(context)
        info = CallInfo(
            call_id=self._state.calls.next_call_id(),
            source=route.source,
            role=route.role,
            target=route.target,
            service=service_of(route.target),
            method=method,
            metadata=traced,
            metadata_bytes=metadata_bytes,
            deadline_ms=_milliseconds(remaining_seconds),
        )
        call = Call(
            info,
            request,
            tuple(forwarded),
            None if remaining_seconds is None else self._loop.time() + remaining_seconds,
        )
        self._state.calls.add(call)
        return call

    async def refuse_if_full(self, context: Context, request_bytes: int) -> None:
        """Aborts a call that is one too many."""
        calls = self._state.calls
        if len(calls) < CALLS_MAX and calls.message_bytes + request_bytes <= IN_FLIGHT_BYTES_MAX:
            return
        _log.warning("call_refused", open_calls=len(calls), message_bytes=calls.message_bytes)
        await context.abort(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            f"interposer: {len(calls)} calls with {calls.message_bytes} bytes are open; at most "
            f"{CALLS_MAX} with {IN_FLIGHT_BYTES_MAX} may be",
        )

    def client_gone(self, call: Call) -> None:
        """Notes that a call has lost its client."""
        self._state.calls.client_lost(call)
        self._state.trace.add(interposer_pb2.TRACE_KIND_CLIENT_GONE, call.info)

    async def stop(self) -> None:
        """Ends what is still carried."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def finish(self, call: Call, outcome: Outcome, context: Context) -> None:
        """Sends what goes with a message: metadata, and a status that is not OK (by aborting)."""
        if not outcome.lost:
            self._state.trace.add(
                interposer_pb2.TRACE_KIND_RESPONSE_DELIVERED,
                call.info,
                phase=PHASE_RESPONSE,
                status_code=outcome.code,
            )
        if outcome.code:
            status = STATUS_BY_NUMBER.get(outcome.code, grpc.StatusCode.UNKNOWN)
            await context.abort(status, outcome.details, outcome.trailing_metadata)
        if outcome.trailing_metadata:
            context.set_trailing_metadata(outcome.trailing_metadata)


def _remaining_seconds(context: Context) -> float | None:
    # The library's types leave None out, which is what a call without a deadline has.
    return context.time_remaining()


def _milliseconds(seconds: float | None) -> int:
    return 0 if seconds is None else min(max(round(seconds * 1_000), 1), _DEADLINE_MS_MAX)
