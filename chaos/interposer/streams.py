"""Carries a call with a stream on either side.

Streams are the evaluator's reads (journals, exports, reflection) and health watches. No rule acts
on them and they end with their client; a freeze keeps them back like everything else. The trace has
each request and, at the end, one RESPONSE_RECEIVED with no payload, whose digest is over all
messages in their order: what an evaluator reads is in its bundle anyway.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence

import grpc.aio

from chaos.interposer.calls import Call, Outcome
from chaos.interposer.carrier import Carrier
from chaos.interposer.limits import STREAM_SECONDS_MAX
from chaos.interposer.proxy import Context, Proxy, Route
from chaos.interposer.state import State
from chaos.interposer.upstream import pairs
from memqual.v1 import interposer_pb2

__all__ = ["StreamProxy"]

PHASE_REQUEST = interposer_pb2.MESSAGE_PHASE_REQUEST
PHASE_RESPONSE = interposer_pb2.MESSAGE_PHASE_RESPONSE


class StreamProxy:
    """Serves calls that are not of one request and one response, and calls of unknown methods."""

    def __init__(self, state: State, carrier: Carrier, proxy: Proxy) -> None:
        self._state = state
        self._carrier = carrier
        self._proxy = proxy

    async def stream(
        self,
        route: Route,
        method: str,
        metadata: Sequence[tuple[str, str | bytes]],
        requests: AsyncIterator[bytes],
        context: Context,
    ) -> None:
        """Serves one call."""
        await self._proxy.refuse_if_full(context, 0)
        call = self._proxy.open_call(route, method, metadata, b"", context)
        try:
            if not await self._wait_for_thaw(call):
                self._carrier.lose(call)
                outcome = await call.outcome
            else:
                outcome = await self._exchange(call, requests, context)
            await self._proxy.finish(call, outcome, context)
        except asyncio.CancelledError:
            self._proxy.client_gone(call)
            raise
        finally:
            self._state.calls.carrier_ended(call)
            self._state.calls.client_ended(call)

    async def _wait_for_thaw(self, call: Call) -> bool:
        gate, trace = self._state.gate, self._state.trace
        if not gate.blocks(call, PHASE_REQUEST):
            return True
        if gate.sender_frozen(call, PHASE_REQUEST):
            trace.add(interposer_pb2.TRACE_KIND_STRAY, call.info, phase=PHASE_REQUEST)
        passes = await gate.keep_back(call, PHASE_REQUEST)
        if not passes:
            trace.add(interposer_pb2.TRACE_KIND_DROPPED, call.info, phase=PHASE_REQUEST)
        return passes

    async def _exchange(
        self, call: Call, requests: AsyncIterator[bytes], context: Context
    ) -> Outcome:
        state, info = self._state, call.info
        upstream = state.upstreams[info.target]
        digest = hashlib.sha256()
        start: grpc.aio.StreamStreamMultiCallable[bytes, bytes]
        start = upstream.channel().stream_stream(info.method)
        answer = start(
            self._recorded(call, requests),
            timeout=self._timeout_seconds(call),
            metadata=call.forwarded_metadata,
        )
        state.calls.upstream_started(call)
        started = False
        try:
            async for message in answer:
                if not started:
                    started = True
                    initial = pairs(await answer.initial_metadata())
                    if initial:
                        await context.send_initial_metadata(initial)
                digest.update(message)
                await context.write(message)
            outcome = Outcome(
                0, trailing_metadata=pairs(await answer.trailing_metadata()), answered=True
            )
        except grpc.aio.AioRpcError as error:
            outcome = upstream.outcome_of(info.method, error)
        finally:
            # Ends the call upstream when the client is gone; nothing after the answer's end.
            answer.cancel()
            state.calls.upstream_ended(call)
        state.trace.add(
            interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED
            if outcome.answered
            else interposer_pb2.TRACE_KIND_UPSTREAM_FAILED,
            info,
            phase=PHASE_RESPONSE,
            digest=digest.hexdigest() if outcome.answered else "",
            status_code=outcome.code,
        )
        return outcome

    async def _recorded(self, call: Call, requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        trace, info = self._state.trace, call.info
        async for request in requests:
            trace.add(
                interposer_pb2.TRACE_KIND_REQUEST_RECEIVED,
                info,
                phase=PHASE_REQUEST,
                payload=request,
            )
            trace.add(interposer_pb2.TRACE_KIND_REQUEST_FORWARDED, info, phase=PHASE_REQUEST)
            yield request

    def _timeout_seconds(self, call: Call) -> float:
        if call.deadline_seconds is None:
            return STREAM_SECONDS_MAX
        return max(call.deadline_seconds - asyncio.get_running_loop().time(), 0.0)
