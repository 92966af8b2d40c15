"""The view that a correct memory can have of one operation: its calls, and when (DESIGN §6).

Built from the interposer's trace alone. A request that was held and dropped before it was forwarded
is not in the view. One that was forwarded and never answered leaves both branches open: it may have
been taken at any instant until the memory's process was seen to be dead, or never. A duplicated
request is two calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import grpc

from memqual.v1 import interposer_pb2
from orchestrator.oracle.errors import ViewError
from orchestrator.oracle.messages import (
    Answer,
    BeginAsked,
    DecisionKind,
    DecisionTold,
    Malformed,
    PeekAsked,
    Refused,
    Request,
    Unanswered,
)
from orchestrator.oracle.wire import METHODS, challenge_issued, read_answer, read_request

__all__ = ["PATIENCE_NS", "Call", "OperationView", "Outage", "build_views"]

PATIENCE_NS = 10_000_000_000
"""The host's deadline (DESIGN §4): a memory that is up and silent for longer gave no answer."""
_DEADLINE_SLACK_NS = 1_000_000_000
"""A deadline is told as what is left of it when the message arrives."""

_INDEFINITE = frozenset(
    code.value[0]
    for code in (
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    )
)
"""Status codes after which a request may have been taken: the channel makes them up, too."""

_UNAVAILABLE = grpc.StatusCode.UNAVAILABLE.value[0]
_DEADLINE_EXCEEDED = grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
_CANCELLED = grpc.StatusCode.CANCELLED.value[0]
_RESOURCE_EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
_ENDS = frozenset(
    (interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED, interposer_pb2.TRACE_KIND_UPSTREAM_FAILED)
)


@dataclass(frozen=True)
class Outage:
    """A time in which the memory's process was killed and started again; interposer times.

    Attributes:
        began_ns: The kill (or the freeze before it) was begun: answers may be missing from here on.
        dead_ns: The exit was seen: no request is taken from here on.
        restarted_ns: The next start was asked for: no request is taken before; None when it never
            was.
        healthy_ns: It served again: from here on a missing answer is the memory's; None when it
            never did.
    """

    began_ns: int
    dead_ns: int
    restarted_ns: int | None = None
    healthy_ns: int | None = None


@dataclass(frozen=True)
class Call:
    """One request that reached the memory, or may have.

    Attributes:
        call_id: The interposer's id; equal for both copies of a duplicate.
        sequence: Trace sequence of the record that ended the call, of its forwarding when nothing
            did.
        source: Service that asked ("agent", "standby", "orchestrator").
        request: What was asked.
        answer: What was answered.
        forwarded_ns: The memory cannot have taken the request before.
        last_ns: The memory cannot have taken the request later; None without a bound.
        mark_ns: The least that the high-water mark of the memory's clock is then; None: not known.
    """

    call_id: int
    sequence: int
    source: str
    request: Request
    answer: Answer
    forwarded_ns: int
    last_ns: int | None
    mark_ns: int | None = None

    @property
    def answered(self) -> bool:
        """Whether an answer was seen: the request was taken, or definitely refused."""
        return not isinstance(self.answer, Unanswered)


@dataclass(frozen=True)
class OperationView:
    """All calls that concern one operation in one namespace, in order of forwarding.

    Attributes:
        operation_id: The operation.
        calls: The calls.
        apart: Another namespace may have bound the same operation before.
        challenged_ns: When each challenge of its operator's was asked for.
    """

    operation_id: str
    calls: tuple[Call, ...]
    apart: bool = False
    challenged_ns: tuple[int, ...] = ()


@dataclass
class _Open:
    """One call of the trace while it is being read."""

    source: str
    method: str
    payload: bytes | None = None
    deadline_ms: int = 0
    forwarded: list[interposer_pb2.TraceRecord] = field(default_factory=list)
    ends: list[interposer_pb2.TraceRecord] = field(default_factory=list)


def build_views(
    records: Sequence[interposer_pb2.TraceRecord], outages: Iterable[Outage] = ()
) -> tuple[OperationView, ...]:
    """Builds the view of every operation that a trace shows, in order of first sight.

    An operation that is asked about in several namespaces has a view for each: a memory may keep
    them apart.

    Args:
        records: Trace records in order of sequence; records of other edges are passed over.
        outages: Every time in which the memory's process was killed.

    Raises:
        ViewError: Records are out of order, or a forwarded request's content is missing.
    """
    opened, end_ns = _collect(records)
    known_outages = tuple(sorted(outages, key=lambda outage: outage.began_ns))
    challenges: dict[str, tuple[str, str]] = {}
    challenged: dict[tuple[str, str], list[int]] = {}
    calls: dict[tuple[str, str], list[Call]] = {}
    first: dict[str, tuple[str, str]] = {}
    for call_id, trace_call in opened.items():
        if not trace_call.forwarded:
            continue
        if trace_call.payload is None:
            raise ViewError(f"the trace holds no content of call {call_id} to {trace_call.method}")
        asked = read_request(trace_call.method, trace_call.payload)
        where = (asked.operation_id, asked.namespace)
        if asked.request is None:
            at_ns = trace_call.forwarded[0].monotonic_ns
            challenged.setdefault(where, []).append(at_ns)
            for end in trace_call.ends:
                challenges[challenge_issued(end.payload)] = where
            continue
        if not asked.operation_id:
            where = challenges.get(asked.challenge_id, where)
        first.setdefault(where[0], where)
        if where not in calls and not isinstance(asked.request, BeginAsked | PeekAsked):
            # Only a question opens a namespace: anything else there is about what is bound.
            where = first[where[0]]
        made = _calls(call_id, trace_call, asked.request, known_outages, end_ns)
        calls.setdefault(where, []).extend(made)
    return tuple(
        OperationView(
            where[0],
            _forgive_retried(found),
            apart=_is_apart(where, calls),
            challenged_ns=tuple(challenged.get(where, ())),
        )
        for where, found in calls.items()
        if where[0] and found
    )


def _is_apart(where: tuple[str, str], calls: Mapping[tuple[str, str], Sequence[Call]]) -> bool:
    """Whether another namespace may have bound the operation before this one was granted it.

    A Peek binds nothing, and neither does what was refused.
    """
    granted_ns = min(
        (
            call.last_ns
            for call in calls[where]
            if isinstance(call.request, BeginAsked)
            and isinstance(call.answer, DecisionTold)
            and call.answer.kind is DecisionKind.EXECUTE
            and call.last_ns is not None
        ),
        default=None,
    )
    return any(
        isinstance(call.request, BeginAsked)
        and not isinstance(call.answer, Refused)
        and (granted_ns is None or call.forwarded_ns < granted_ns)
        for other, asked in calls.items()
        if other[0] == where[0] and other != where
        for call in asked
    )


def _collect(
    records: Sequence[interposer_pb2.TraceRecord],
) -> tuple[dict[int, _Open], int]:
    """Groups the records of the memory's edge by call; also returns the time of the last record."""
    opened: dict[int, _Open] = {}
    last_sequence, end_ns = 0, 0
    for record in records:
        if record.sequence <= last_sequence:
            raise ViewError(f"trace record {record.sequence} is out of order")
        last_sequence, end_ns = record.sequence, max(end_ns, record.monotonic_ns)
        if record.method not in METHODS or record.edge.target != "memory":
            continue
        call = opened.setdefault(record.call_id, _Open(record.edge.source, record.method))
        if record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED:
            call.payload = record.payload
            call.deadline_ms = record.deadline_ms
        elif record.kind == interposer_pb2.TRACE_KIND_REQUEST_FORWARDED:
            call.forwarded.append(record)
        elif record.kind in _ENDS:
            call.ends.append(record)
    return opened, end_ns


def _calls(
    call_id: int,
    trace_call: _Open,
    request: Request,
    outages: Sequence[Outage],
    end_ns: int,
) -> Iterable[Call]:
    """One call for each time that the request was forwarded.

    Which answer belongs to which copy of a duplicate is not told, so every copy may have been taken
    from the first forwarding on: that allows both pairings.
    """
    first = trace_call.forwarded[0]
    ends: list[interposer_pb2.TraceRecord | None] = [*trace_call.ends]
    ends += [None] * (len(trace_call.forwarded) - len(ends))
    for end in ends:
        answer = _answer(trace_call.method, end)
        if (
            end is not None
            and answer == Refused(_RESOURCE_EXHAUSTED)
            and _excused(first.monotonic_ns, end.monotonic_ns, outages)
        ):
            # A memory without room says so; what it did of the request, it does not say.
            answer = Unanswered(_RESOURCE_EXHAUSTED)
        call = Call(
            call_id=call_id,
            sequence=(first if end is None else end).sequence,
            source=trace_call.source,
            request=request,
            answer=answer,
            forwarded_ns=first.monotonic_ns,
            last_ns=None if end is None else end.monotonic_ns,
        )
        if not isinstance(answer, Unanswered):
            yield call
            continue
        silent_ns = end_ns if end is None else end.monotonic_ns
        in_time = end is None and silent_ns - first.monotonic_ns < PATIENCE_NS
        bounds = _bounds(first.monotonic_ns, silent_ns, outages)
        if bounds is not None:
            excused = _excused(first.monotonic_ns, silent_ns, outages)
            blamed = not (in_time or excused or _impatient(trace_call, answer))
            yield replace(
                call,
                answer=replace(answer, blamed=blamed),
                forwarded_ns=bounds[0],
                last_ns=bounds[1],
            )


def _answer(method: str, end: interposer_pb2.TraceRecord | None) -> Answer:
    if end is None:
        return Unanswered()
    status = end.status_code
    if end.kind == interposer_pb2.TRACE_KIND_UPSTREAM_FAILED:
        too_long = status == _RESOURCE_EXHAUSTED
        return Malformed("longer than a message may be") if too_long else Unanswered(status)
    if status in _INDEFINITE:
        return Unanswered(status)
    return Refused(status) if status else read_answer(method, end.payload)


def _bounds(
    forwarded_ns: int, silent_ns: int, outages: Sequence[Outage]
) -> tuple[int, int | None] | None:
    """First and last instant at which an unanswered request may have been taken, if any."""
    for outage in outages:
        if forwarded_ns <= outage.dead_ns:
            return forwarded_ns, outage.dead_ns
        if outage.restarted_ns is None or silent_ns < outage.restarted_ns:
            return None
        forwarded_ns = max(forwarded_ns, outage.restarted_ns)
    return forwarded_ns, None


def _impatient(trace_call: _Open, answer: Unanswered) -> bool:
    """Whether the caller gave up before the deadline that hosts give a memory."""
    gave_up_early = 0 < trace_call.deadline_ms * 1_000_000 < PATIENCE_NS - _DEADLINE_SLACK_NS
    return gave_up_early and answer.status_code in (_DEADLINE_EXCEEDED, _CANCELLED)


def _excused(forwarded_ns: int, silent_ns: int, outages: Sequence[Outage]) -> bool:
    """Whether the memory was down, or going down, at some time of an unanswered call."""
    return any(
        silent_ns >= outage.began_ns
        and (outage.healthy_ns is None or forwarded_ns <= outage.healthy_ns)
        for outage in outages
    )


def _forgive_retried(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Sorts by forwarding; excuses an answer that was missing or late where a repeat had one.

    UNAVAILABLE says "try again". Of a deadline that passed once, a busy machine may be the cause: a
    host tries again, and a memory that then answers has kept to the protocol.
    """
    ordered = sorted(calls, key=lambda call: (call.forwarded_ns, call.sequence))
    forgiven = []
    for index, call in enumerate(ordered):
        answer = call.answer
        if (
            isinstance(answer, Unanswered)
            and answer.blamed
            and answer.status_code in (_UNAVAILABLE, _DEADLINE_EXCEEDED)
            and any(later.answered and later.request == call.request for later in ordered[index:])
        ):
            forgiven.append(replace(call, answer=replace(answer, blamed=False)))
        else:
            forgiven.append(call)
    return tuple(forgiven)
