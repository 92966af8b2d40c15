"""Carries one unary call from request to answer, with whatever a rule or a freeze does to it."""

import asyncio
from dataclasses import dataclass

import grpc
import structlog

from chaos.interposer.calls import Call, Outcome, set_outcome
from chaos.interposer.limits import HOLD_SECONDS_MAX, IN_FLIGHT_BYTES_MAX, LOST_SECONDS
from chaos.interposer.rules import Message, Rule
from chaos.interposer.state import State
from memqual.v1 import interposer_pb2

__all__ = ["Carrier"]

PHASE_REQUEST = interposer_pb2.MESSAGE_PHASE_REQUEST
PHASE_RESPONSE = interposer_pb2.MESSAGE_PHASE_RESPONSE
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE.value[0]
RESOURCE_EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
INTERNAL = grpc.StatusCode.INTERNAL.value[0]
MILLISECONDS_PER_SECOND = 1_000

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Passage:
    """What became of a message that wanted to pass.

    Attributes:
        passes: it goes on.
        copies: how often it goes on.
    """

    passes: bool
    copies: int = 1


_STOPPED = _Passage(passes=False)
_PASSES = _Passage(passes=True)
_TWICE = _Passage(passes=True, copies=2)


class Carrier:
    """Moves calls; one for the whole process."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._loop = asyncio.get_running_loop()
        # Reordered messages wait here for the next one of their edge and phase.
        self._overtaken: dict[tuple[str, str, int], list[asyncio.Future[None]]] = {}

    async def carry(self, call: Call) -> None:
        """Takes a received request to its end. Never raises but when the process stops."""
        try:
            passage = await self._pass(call, PHASE_REQUEST)
            if passage.passes:
                await self._exchange(call, passage.copies)
        except Exception as error:
            _log.error("call_failed", method=call.info.method, exc_info=error)
            call.answer(Outcome(INTERNAL, "interposer: internal error; see its log"))
        finally:
            self._state.calls.carrier_ended(call)

    def lose(self, call: Call) -> None:
        """The client hears nothing until its own deadline (60 s when it set none)."""
        seconds = LOST_SECONDS
        if call.deadline_seconds is not None:
            seconds = max(call.deadline_seconds - self._loop.time(), 0.0)
        outcome = Outcome(UNAVAILABLE, "interposer: the message was lost", lost=True)
        if not call.client_gone:
            # The timer may outlive the client by far: it must not keep the call's messages.
            self._loop.call_later(
                min(seconds, HOLD_SECONDS_MAX), set_outcome, call.outcome, outcome
            )

    async def _pass(self, call: Call, phase: int) -> _Passage:
        state = self._state
        if state.gate.blocks(call, phase) and not await self._wait_for_thaw(call, phase):
            return _STOPPED
        rule = self._match(call, phase)
        if rule is None:
            return _PASSES
        passage = await self._act(rule, call, phase)
        if (
            passage.passes
            and state.gate.blocks(call, phase, released=True)
            and not await state.gate.keep_back(call, phase, released=True)
        ):
            self._drop(call, phase, rule.rule_id)
            return _STOPPED
        return passage

    async def _wait_for_thaw(self, call: Call, phase: int) -> bool:
        gate = self._state.gate
        if gate.sender_frozen(call, phase):
            self._state.trace.add(interposer_pb2.TRACE_KIND_STRAY, call.info, phase=phase)
        passes = await gate.keep_back(call, phase)
        if not passes:
            self._drop(call, phase, "")
        return passes

    def _match(self, call: Call, phase: int) -> Rule | None:
        if not self._state.rules:
            return None
        info = call.info
        return self._state.rules.match(
            Message(info.source, info.role, info.target, info.method, phase, info.metadata)
        )

    async def _act(self, rule: Rule, call: Call, phase: int) -> _Passage:
        action = rule.action
        if action == interposer_pb2.RULE_ACTION_HOLD:
            return await self._hold(rule, call, phase)
        if action == interposer_pb2.RULE_ACTION_DROP:
            self._drop(call, phase, rule.rule_id)
            return _STOPPED
        if action == interposer_pb2.RULE_ACTION_FAIL:
            self._fail(rule, call, phase)
            return _STOPPED
        if action == interposer_pb2.RULE_ACTION_DUPLICATE:
            self._note(interposer_pb2.TRACE_KIND_DUPLICATED, rule, call, phase)
            return _TWICE
        if action == interposer_pb2.RULE_ACTION_REORDER:
            self._note(interposer_pb2.TRACE_KIND_REORDERED, rule, call, phase)
            await self._wait_until_overtaken(call, phase, rule.delay_ms)
        else:
            self._note(interposer_pb2.TRACE_KIND_DELAYED, rule, call, phase)
            await asyncio.sleep(rule.delay_ms / MILLISECONDS_PER_SECOND)
        return _PASSES

    async def _hold(self, rule: Rule, call: Call, phase: int) -> _Passage:
        self._note(interposer_pb2.TRACE_KIND_HELD, rule, call, phase)
        fate = await self._state.holds.keep(rule.rule_id, call)
        if fate == interposer_pb2.FATE_DELIVER:
            self._note(interposer_pb2.TRACE_KIND_RELEASED, rule, call, phase)
            return _PASSES
        self._drop(call, phase, rule.rule_id)
        if fate == interposer_pb2.FATE_DISCONNECT:
            # Before the silence that a drop means: what a broken connection tells its client.
            call.answer(Outcome(UNAVAILABLE, "interposer: the connection was lost", lost=True))
        return _STOPPED

    def _drop(self, call: Call, phase: int, rule_id: str) -> None:
        self._state.trace.add(
            interposer_pb2.TRACE_KIND_DROPPED, call.info, phase=phase, rule_id=rule_id
        )
        self.lose(call)

    def _fail(self, rule: Rule, call: Call, phase: int) -> None:
        self._state.trace.add(
            interposer_pb2.TRACE_KIND_FAILED,
            call.info,
            phase=phase,
            rule_id=rule.rule_id,
            status_code=rule.fail_code,
        )
        call.answer(Outcome(rule.fail_code, f"interposer: failed by rule {rule.rule_id}"))

    def _note(self, kind: int, rule: Rule, call: Call, phase: int) -> None:
        self._state.trace.add(kind, call.info, phase=phase, rule_id=rule.rule_id)

    async def _wait_until_overtaken(self, call: Call, phase: int, delay_ms: int) -> None:
        edge = (call.info.source, call.info.target, phase)
        overtaken = self._loop.create_future()
        waiting = self._overtaken.setdefault(edge, [])
        waiting.append(overtaken)
        await asyncio.wait({overtaken}, timeout=delay_ms / MILLISECONDS_PER_SECOND)
        if overtaken in waiting:
            waiting.remove(overtaken)

    def _passed(self, call: Call, phase: int) -> None:
        if not self._overtaken:
            return
        for waiting in self._overtaken.pop((call.info.source, call.info.target, phase), ()):
            if not waiting.done():
                waiting.set_result(None)

    async def _exchange(self, call: Call, copies: int) -> None:
        if copies == 1:
            outcome = await self._call_upstream(call)
            call.exchanged = True
            await self._respond(call, outcome)
        else:
            await self._exchange_copies(call, copies)

    async def _exchange_copies(self, call: Call, copies: int) -> None:
        """Sends copies side by side; the client gets the first answer, or the last failure."""
        responding: asyncio.Task[None] | None = None
        outcome: Outcome | None = None
        sent = [asyncio.create_task(self._call_upstream(call)) for _ in range(copies)]
        for ended in asyncio.as_completed(sent):
            outcome = await ended
            if outcome.answered and responding is None:
                responding = asyncio.create_task(self._respond(call, outcome))
        call.exchanged = True
        self._state.calls.changes.notify()
        if responding is not None:
            await responding
        elif outcome is not None:
            await self._respond(call, outcome)

    async def _call_upstream(self, call: Call) -> Outcome:
        state, info = self._state, call.info
        state.trace.add(interposer_pb2.TRACE_KIND_REQUEST_FORWARDED, info, phase=PHASE_REQUEST)
        state.calls.upstream_started(call)
        self._passed(call, PHASE_REQUEST)
        try:
            outcome = await state.upstreams[info.target].call(
                info.method,
                call.request,
                call.forwarded_metadata,
                call.upstream_timeout_seconds(self._loop.time()),
            )
        finally:
            state.calls.upstream_ended(call)
        if not state.calls.keep_response(call, len(outcome.response)):
            outcome = Outcome(
                RESOURCE_EXHAUSTED,
                f"interposer: {info.target} answered {info.method}, and open calls hold "
                f"{state.calls.message_bytes} bytes already; at most {IN_FLIGHT_BYTES_MAX} may be",
            )
        answered = outcome.answered
        state.trace.add(
            interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED
            if answered
            else interposer_pb2.TRACE_KIND_UPSTREAM_FAILED,
            info,
            phase=PHASE_RESPONSE,
            payload=outcome.response if answered else None,
            status_code=outcome.code,
        )
        return outcome

    async def _respond(self, call: Call, outcome: Outcome) -> None:
        # A response whose client is gone has nobody to go to, and is no hit of any rule.
        if call.client_gone:
            return
        if outcome.answered:
            passage = await self._pass(call, PHASE_RESPONSE)
        else:
            # The news that a target is dead must not pass while it is frozen: hosts would retry.
            blocked = self._state.gate.blocks(call, PHASE_RESPONSE)
            goes_on = not blocked or await self._state.gate.keep_back(call, PHASE_RESPONSE)
            passage = _PASSES if goes_on else _STOPPED
        if passage.passes:
            call.answer(outcome)
            self._passed(call, PHASE_RESPONSE)
