"""The InterposerService: what an evaluator can ask of the proxy (interposer.proto)."""

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import grpc
import grpc.aio
import structlog
from google.protobuf.message import Message

from chaos.interposer.control_checks import (
    ControlError,
    armed_or_holding,
    checked_fate,
    checked_json,
    checked_services,
    invalid,
    wait_seconds,
)
from chaos.interposer.holds import Hold
from chaos.interposer.limits import FOLLOW_INTERVAL_SECONDS
from chaos.interposer.rules import RuleError, compile_rule
from chaos.interposer.state import State
from chaos.interposer.trace import TraceGap
from chaos.interposer.upstream import NotHealthy
from memqual.v1 import interposer_pb2 as pb
from memqual.v1 import interposer_pb2_grpc
from services.common import clock

__all__ = ["Control"]

OPERATION_KEY = "memqual-operation"
ATTEMPT_KEY = "memqual-attempt"
ATTEMPT_MAX = 2**64 - 1

_log = structlog.get_logger(__name__)

_Request = TypeVar("_Request", bound=Message)
_Answer = TypeVar("_Answer", bound=Message)
_Context = grpc.aio.ServicerContext[_Request, _Answer]


def _refusing(
    serve: Callable[["Control", _Request], Awaitable[_Answer]],
) -> Callable[["Control", _Request, _Context[_Request, _Answer]], Awaitable[_Answer]]:
    """Turns what a handler raises into the status that it names."""

    @functools.wraps(serve)
    async def served(
        self: "Control", request: _Request, context: _Context[_Request, _Answer]
    ) -> _Answer:
        try:
            return await serve(self, request)
        except ControlError as error:
            await context.abort(error.code, f"interposer: {error.message}")

    return served


class Control(interposer_pb2_grpc.InterposerServiceServicer):
    """Answers the control port; the token was checked before (`handlers`)."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._edges = state.config.edges
        self._services = state.config.services

    @_refusing
    async def Arm(self, request: pb.ArmRequest) -> pb.ArmResponse:
        """Adds a rule."""
        rule_id = request.rule.rule_id
        if rule_id in self._state.rules or rule_id in self._state.holds:
            raise ControlError(
                grpc.StatusCode.ALREADY_EXISTS, f"rule {rule_id!r} is armed or still holds messages"
            )
        try:
            self._state.rules.arm(compile_rule(request.rule, self._edges))
        except RuleError as error:
            raise invalid(str(error)) from error
        return pb.ArmResponse()

    @_refusing
    async def AwaitHeld(self, request: pb.AwaitHeldRequest) -> pb.AwaitHeldResponse:
        """Waits until enough messages are held."""
        state, rule_id = self._state, request.rule_id
        seconds = wait_seconds("timeout_ms", request.timeout_ms)
        armed_or_holding(rule_id, state.rules, rule_id in state.holds)
        if not await state.holds.changes.wait_until(
            lambda: state.holds.count(rule_id) >= request.count, seconds
        ):
            raise ControlError(
                grpc.StatusCode.DEADLINE_EXCEEDED,
                f"rule {rule_id!r} holds {state.holds.count(rule_id)} of {request.count} messages "
                f"after {request.timeout_ms} ms",
            )
        return pb.AwaitHeldResponse(held=[_held_message(hold) for hold in state.holds.of(rule_id)])

    @_refusing
    async def Release(self, request: pb.ReleaseRequest) -> pb.ReleaseResponse:
        """Ends the holding of a rule's messages with a fate."""
        state, rule_id = self._state, request.rule_id
        fate = checked_fate(request)
        seconds = wait_seconds("await_done_ms", request.await_done_ms)
        armed_or_holding(rule_id, state.rules, rule_id in state.holds)
        if not request.keep_armed:
            state.rules.disarm(rule_id)
        ended = state.holds.end(rule_id, fate, frozenset(request.workflow_ids))
        if seconds and fate == pb.FATE_DELIVER:
            await state.calls.changes.wait_until(
                lambda: all(hold.call.exchanged or not hold.call.carried for hold in ended), seconds
            )
        return pb.ReleaseResponse(released=len(ended))

    @_refusing
    async def Clear(self, request: pb.ClearRequest) -> pb.ClearResponse:
        """Removes rules and drops what they hold; ids that are not armed are no error."""
        state = self._state
        rule_ids = tuple(request.rule_ids) or state.holds.rule_ids()
        if request.rule_ids:
            for rule_id in request.rule_ids:
                state.rules.disarm(rule_id)
        else:
            state.rules.disarm_all()
        dropped = sum(len(state.holds.end(rule_id, pb.FATE_DROP)) for rule_id in rule_ids)
        return pb.ClearResponse(dropped=dropped)

    async def Trace(
        self, request: pb.TraceRequest, context: _Context[pb.TraceRequest, pb.TraceResponse]
    ) -> AsyncIterator[pb.TraceResponse]:
        """Streams the trace from a sequence on."""
        trace = self._state.trace
        sequence = max(request.from_sequence, 1)
        try:
            if sequence < trace.first_sequence:
                raise TraceGap(sequence, trace.first_sequence)
            while True:
                head_sequence = trace.head_sequence
                while sequence <= head_sequence:
                    yield pb.TraceResponse(record=trace.get(sequence).to_proto())
                    sequence += 1
                if not request.follow:
                    return
                # Looking now and then costs less than a bell on the path of every call.
                await asyncio.sleep(FOLLOW_INTERVAL_SECONDS)
        except TraceGap as error:
            await context.abort(grpc.StatusCode.OUT_OF_RANGE, f"interposer: {error}")

    @_refusing
    async def Mark(self, request: pb.MarkRequest) -> pb.MarkResponse:
        """Puts a record of the evaluator's into the trace."""
        entry = self._state.trace.add(pb.TRACE_KIND_MARK, mark_json=checked_json(request.mark_json))
        return pb.MarkResponse(sequence=entry.sequence, monotonic_ns=entry.monotonic_ns)

    @_refusing
    async def Freeze(self, request: pb.FreezeRequest) -> pb.FreezeResponse:
        """Stops everything from and to services."""
        state = self._state
        services = checked_services(request.services, self._services)
        state.calls.forget_gone_clients(services)
        frozen_ns = clock.monotonic_ns()
        for service in state.gate.freeze(services):
            state.trace.add(pb.TRACE_KIND_FROZEN, service=service)
        return pb.FreezeResponse(monotonic_ns=frozen_ns)

    @_refusing
    async def Thaw(self, request: pb.ThawRequest) -> pb.ThawResponse:
        """Ends a freeze."""
        services = checked_services(request.services, self._services)
        opened, strays = self._state.gate.thaw(services)
        for service in opened:
            self._state.trace.add(pb.TRACE_KIND_THAWED, service=service)
        return pb.ThawResponse(strays=strays)

    @_refusing
    async def AwaitEof(self, request: pb.AwaitEofRequest) -> pb.AwaitEofResponse:
        """Waits until services have neither a waiting client nor a call open to them."""
        calls = self._state.calls
        services = checked_services(request.services, self._services)
        seconds = wait_seconds("timeout_ms", request.timeout_ms)
        if not await calls.await_eof(services, seconds):
            clients, upstream = calls.connected(services)
            raise ControlError(
                grpc.StatusCode.DEADLINE_EXCEEDED,
                f"{sorted(services)}: {clients} calls still have their client and {upstream} calls "
                f"to them are still open after {request.timeout_ms} ms",
            )
        return pb.AwaitEofResponse(clients_gone=calls.gone_clients(services))

    @_refusing
    async def Refresh(self, request: pb.RefreshRequest) -> pb.RefreshResponse:
        """Opens a fresh channel to a target's new incarnation and waits until it is healthy."""
        upstream = self._state.upstreams.get(request.target)
        if upstream is None:
            raise invalid(
                f"no target {request.target!r}; there are {sorted(self._state.upstreams)}"
            )
        seconds = wait_seconds("timeout_ms", request.timeout_ms)
        started_ns = clock.monotonic_ns()
        try:
            proof = await upstream.refresh(seconds)
        except NotHealthy as error:
            raise ControlError(
                grpc.StatusCode.UNAVAILABLE,
                f"{request.target} was not healthy within {request.timeout_ms} ms; {error}",
            ) from error
        healthy_after_ms = (clock.monotonic_ns() - started_ns) // clock.NANOSECONDS_PER_MILLISECOND
        note = {"health": "serving" if proof.serving else "not served; connected"}
        if not proof.serving:
            _log.warning("health_not_served", target=request.target)
        self._state.trace.add(
            pb.TRACE_KIND_REFRESHED, service=request.target, mark_json=json.dumps(note)
        )
        return pb.RefreshResponse(healthy_after_ms=healthy_after_ms)

    @_refusing
    async def ReadStatistics(self, request: pb.ReadStatisticsRequest) -> pb.ReadStatisticsResponse:
        """Counters and the interposer's clock."""
        state = self._state
        return pb.ReadStatisticsResponse(
            clock=clock.reading(),
            trace_head_sequence=state.trace.head_sequence,
            trace_first_sequence=state.trace.first_sequence,
            in_flight_calls=len(state.calls),
            held_messages=len(state.holds),
        )


def _held_message(hold: Hold) -> pb.HeldMessage:
    metadata = hold.call.info.metadata
    attempt = metadata.get(ATTEMPT_KEY, "")
    return pb.HeldMessage(
        call_id=hold.call.info.call_id,
        workflow_id=hold.workflow_id,
        operation_id=metadata.get(OPERATION_KEY, ""),
        # Text that no attempt can be is told as 0, like an attempt that was not granted.
        attempt=int(attempt) if attempt.isdecimal() and int(attempt) <= ATTEMPT_MAX else 0,
        held_monotonic_ns=hold.held_monotonic_ns,
        client_gone=hold.call.client_gone,
    )
