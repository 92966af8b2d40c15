"""Typed calls to the interposer's control port; every call has a deadline (interposer.proto)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn, TypeVar

import grpc

from chaos.errors import InterposerError, NotInTime, RuleRefused, TraceLost
from chaos.tracing import TraceRecord, from_proto
from memqual.v1 import interposer_pb2 as pb
from memqual.v1.interposer_pb2_grpc import InterposerServiceStub
from services.common.canonical import JsonValue, canonical_json
from services.common.channels import CallMetadata

__all__ = [
    "Fate",
    "HeldMessage",
    "InterposerClient",
    "MarkPosition",
    "Statistics",
]

# Answered at once.
CALL_SECONDS = 10.0
# What a waiting call gets on top of the time that it may wait.
MARGIN_SECONDS = 5.0
MILLISECONDS_PER_SECOND = 1_000
TRACE_SECONDS = 120.0

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


class Fate(Enum):
    """What becomes of held messages."""

    DELIVER = pb.FATE_DELIVER
    DROP = pb.FATE_DROP
    DISCONNECT = pb.FATE_DISCONNECT


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """One message that a rule holds.

    Attributes:
        call_id: id of its call in the trace.
        workflow_id: its memqual-workflow; empty without one.
        operation_id: its memqual-operation; empty without one.
        attempt: its memqual-attempt; 0 before a grant.
        held_monotonic_ns: since when, on the interposer's monotonic clock.
        client_gone: its client is gone already.
    """

    call_id: int
    workflow_id: str
    operation_id: str
    attempt: int
    held_monotonic_ns: int
    client_gone: bool


@dataclass(frozen=True, slots=True)
class MarkPosition:
    """Where a mark stands in the trace.

    Attributes:
        sequence: its sequence.
        monotonic_ns: its time on the interposer's monotonic clock.
    """

    sequence: int
    monotonic_ns: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counters and clocks of the interposer.

    Attributes:
        wall_unix_ns: wall clock.
        monotonic_ns: monotonic clock: the time base of every trace record.
        trace_head_sequence: newest record; 0 without one.
        trace_first_sequence: oldest record that is kept.
        in_flight_calls: calls that are open.
        held_messages: messages that rules hold.
    """

    wall_unix_ns: int
    monotonic_ns: int
    trace_head_sequence: int
    trace_first_sequence: int
    in_flight_calls: int
    held_messages: int


class InterposerClient:
    """One evaluator's view of one interposer. The channel stays its owner's."""

    def __init__(self, channel: grpc.Channel, token: str) -> None:
        """Uses a channel to the control port.

        Args:
            channel: open channel; the caller closes it.
            token: the run's control token.
        """
        self._stub = InterposerServiceStub(channel)
        self._metadata = CallMetadata(token=token).pairs()

    def arm(self, rule: pb.Rule) -> None:
        """Adds a rule after all others.

        Raises:
            RuleRefused: malformed, could never match, or its id is in use.
            InterposerError: the call failed.
        """
        self._call("Arm", self._stub.Arm, pb.ArmRequest(rule=rule))

    def await_held(
        self, rule_id: str, count: int, timeout_seconds: float
    ) -> tuple[HeldMessage, ...]:
        """Waits until a rule holds so many messages; returns all that it holds.

        Raises:
            NotInTime: it holds fewer; the message says how many.
            InterposerError: no such rule, or the call failed.
        """
        request = pb.AwaitHeldRequest(
            rule_id=rule_id, count=count, timeout_ms=_milliseconds(timeout_seconds)
        )
        answer = self._call("AwaitHeld", self._stub.AwaitHeld, request, timeout_seconds)
        return tuple(
            HeldMessage(
                call_id=held.call_id,
                workflow_id=held.workflow_id,
                operation_id=held.operation_id,
                attempt=held.attempt,
                held_monotonic_ns=held.held_monotonic_ns,
                client_gone=held.client_gone,
            )
            for held in answer.held
        )

    def release(
        self,
        rule_id: str,
        fate: Fate,
        *,
        workflow_ids: Sequence[str] = (),
        keep_armed: bool = False,
        await_done_seconds: float = 0.0,
    ) -> int:
        """Ends the holding of a rule's messages; returns how many got the fate.

        Args:
            rule_id: the rule.
            fate: what becomes of them.
            workflow_ids: only these workflows' messages; empty: all.
            keep_armed: leave the rule armed.
            await_done_seconds: return when every delivered request has ended at its target, at the
                latest after this time.

        Raises:
            InterposerError: the rule is neither armed nor holds anything, or the call failed.
        """
        request = pb.ReleaseRequest(
            rule_id=rule_id,
            fate=fate.value,
            workflow_ids=workflow_ids,
            keep_armed=keep_armed,
            await_done_ms=_milliseconds(await_done_seconds),
        )
        return self._call("Release", self._stub.Release, request, await_done_seconds).released

    def clear(self, *rule_ids: str) -> int:
        """Removes rules (none named: all); returns how many held messages are dropped by it."""
        return self._call("Clear", self._stub.Clear, pb.ClearRequest(rule_ids=rule_ids)).dropped

    def mark(self, mark: Mapping[str, JsonValue]) -> MarkPosition:
        """Puts a record of the evaluator's into the trace, as canonical JSON."""
        text = canonical_json(dict(mark)).decode()
        answer = self._call("Mark", self._stub.Mark, pb.MarkRequest(mark_json=text))
        return MarkPosition(answer.sequence, answer.monotonic_ns)

    def freeze(self, *services: str) -> int:
        """Keeps back everything from and to services; returns since when (monotonic, ns)."""
        request = pb.FreezeRequest(services=services)
        return self._call("Freeze", self._stub.Freeze, request).monotonic_ns

    def thaw(self, *services: str) -> int:
        """Ends a freeze; returns how many requests of dead clients are dropped."""
        return self._call("Thaw", self._stub.Thaw, pb.ThawRequest(services=services)).strays

    def await_eof(self, *services: str, timeout_seconds: float) -> int:
        """Waits until services have lost every connection that a call uses.

        Returns:
            Calls whose client was seen to be gone since the services were frozen.

        Raises:
            NotInTime: some have not; the message says how many.
        """
        request = pb.AwaitEofRequest(services=services, timeout_ms=_milliseconds(timeout_seconds))
        answer = self._call("AwaitEof", self._stub.AwaitEof, request, timeout_seconds)
        return answer.clients_gone

    def refresh(self, target: str, timeout_seconds: float) -> int:
        """Waits until a target is healthy on a fresh channel; returns after how many milliseconds.

        Raises:
            InterposerError: UNAVAILABLE when it is not in time; the message says what it answers.
        """
        request = pb.RefreshRequest(target=target, timeout_ms=_milliseconds(timeout_seconds))
        return self._call("Refresh", self._stub.Refresh, request, timeout_seconds).healthy_after_ms

    def statistics(self) -> Statistics:
        """Counters and clocks, as of now."""
        answer = self._call("ReadStatistics", self._stub.ReadStatistics, pb.ReadStatisticsRequest())
        return Statistics(
            wall_unix_ns=answer.clock.wall_unix_ns,
            monotonic_ns=answer.clock.monotonic_ns,
            trace_head_sequence=answer.trace_head_sequence,
            trace_first_sequence=answer.trace_first_sequence,
            in_flight_calls=answer.in_flight_calls,
            held_messages=answer.held_messages,
        )

    def trace(
        self,
        from_sequence: int = 1,
        *,
        follow: bool = False,
        timeout_seconds: float = TRACE_SECONDS,
    ) -> Iterator[TraceRecord]:
        """The trace from a sequence on, up to the head at the time of the call.

        Args:
            from_sequence: first record wanted, from 1.
            follow: go on with what comes later, until the time is over (then NotInTime).
            timeout_seconds: how long the reading may take.

        Raises:
            TraceLost: older records were given up.
            NotInTime: the time is over.
            InterposerError: the call failed.
        """
        request = pb.TraceRequest(from_sequence=from_sequence, follow=follow)
        call = self._stub.Trace(request, timeout=timeout_seconds, metadata=self._metadata)
        try:
            for answer in call:
                yield from_proto(answer.record)
        except grpc.RpcError as error:
            _raise("Trace", error)
        finally:
            # A reader that has enough leaves the stream before its end.
            call.cancel()

    def _call(
        self,
        name: str,
        call: grpc.UnaryUnaryMultiCallable[_Request, _Answer],
        request: _Request,
        wait_seconds: float | None = None,
    ) -> _Answer:
        timeout = CALL_SECONDS if not wait_seconds else wait_seconds + MARGIN_SECONDS
        try:
            return call(request, timeout=timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            _raise(name, error)


_ERRORS: dict[tuple[str, grpc.StatusCode], Callable[[str, str, str], InterposerError]] = {
    ("Arm", grpc.StatusCode.INVALID_ARGUMENT): RuleRefused,
    ("Arm", grpc.StatusCode.ALREADY_EXISTS): RuleRefused,
    ("Trace", grpc.StatusCode.OUT_OF_RANGE): TraceLost,
}


def _raise(call: str, error: grpc.RpcError) -> NoReturn:
    code = error.code()
    details = error.details() or ""
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        raise NotInTime(call, code.name, details) from error
    raise _ERRORS.get((call, code), InterposerError)(call, code.name, details) from error


def _milliseconds(seconds: float) -> int:
    return round(seconds * MILLISECONDS_PER_SECOND)
