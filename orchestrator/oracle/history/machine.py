"""The state of one operation and what each call can do to it, as far as safety is concerned.

States: new, granted (an attempt that is the latest, with the time before which its lease cannot be
over), licensed (somebody said for certain that nothing happened), abandoned, complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestrator.oracle.messages import (
    Accepted,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Disposition,
    OperatorWord,
    PeekAsked,
    Presence,
    QueryAsked,
    ReceiptAsked,
    ReceiptKey,
    Refused,
    RenewAsked,
    Renewed,
    ResolveAsked,
    Spec,
)
from orchestrator.oracle.view import Call

__all__ = ["NEW", "Granted", "State", "Timed", "idle_by_nature", "next_states"]


@dataclass(frozen=True)
class Timed:
    """A call with what the memory's clock can have shown while it was taken.

    Attributes:
        call: The call.
        earliest_ns: The clock showed this or more.
        latest_ns: No time later than this had ever been shown; None without a bound.
        operation_id: The operation that its history is of.
    """

    call: Call
    earliest_ns: int
    latest_ns: int | None
    operation_id: str


@dataclass(frozen=True)
class Granted:
    """One EXECUTE.

    Attributes:
        attempt: Its attempt, or the least that it can be.
        exact: An answer told the attempt.
        token: The lease token; empty while no answer told it.
        incarnation_id: Who asked.
        begin_id: What it asked with.
        live_until_ns: The lease cannot be over before, on the memory's clock.
    """

    attempt: int
    exact: bool
    token: str
    incarnation_id: str
    begin_id: str
    live_until_ns: int


@dataclass(frozen=True)
class State:
    """One operation.

    Attributes:
        spec: What is bound; None while nothing is.
        latest: The grant that only the next one supersedes.
        superseded: Grants before it whose tokens are known.
        tickets: Every query ticket that was told, with its attempt.
        licensed: A new attempt may be granted whatever the lease.
        abandoned: By an operator.
        receipt: What completed it.
        by_operator: Only the result of the receipt is known.
    """

    spec: Spec | None = None
    latest: Granted | None = None
    superseded: frozenset[Granted] = frozenset()
    tickets: frozenset[tuple[int, str]] = frozenset()
    licensed: bool = False
    abandoned: bool = False
    receipt: ReceiptKey | None = None
    by_operator: bool = False


NEW = State()

_INVALID_ARGUMENT = 3
"""The status of a message that breaks a format, which is the judge's to look at."""

_TAKEN = (DecisionKind.WAIT, DecisionKind.CONFIRM, DecisionKind.QUERY)


def idle_by_nature(call: Call) -> bool:
    """Whether a call with this answer changes nothing, in whatever state it is taken."""
    answer = call.answer
    if isinstance(answer, DecisionTold):
        asks = isinstance(call.request, BeginAsked)
        return not asks or answer.kind not in (DecisionKind.EXECUTE, DecisionKind.QUERY)
    return isinstance(answer, Refused)


def next_states(state: State, timed: Timed, lease_ns: int) -> Iterator[State]:
    """Every state after a call with its answer; nothing when it cannot be taken here.

    A call whose answer was not seen, or is none, can have done whatever it may have done.

    Args:
        state: The state before.
        timed: The call.
        lease_ns: Length of a lease, as declared.
    """
    asked = timed.call.request
    match asked:
        case BeginAsked():
            yield from _begun(state, timed, asked, lease_ns)
        case PeekAsked():
            yield state
        case ReceiptAsked():
            yield from _receipt(state, timed, asked)
        case QueryAsked():
            yield from _query(state, timed, asked)
        case RenewAsked():
            yield from _renewed(state, timed, asked)
        case ResolveAsked():
            yield from _resolved(state, timed.call, asked)


def _begun(state: State, timed: Timed, asked: BeginAsked, lease_ns: int) -> Iterator[State]:
    told = timed.call.answer
    bound = state if state.spec is not None else replace(state, spec=asked.spec)
    other = state.spec is not None and state.spec.core != asked.spec.core
    if isinstance(told, Refused):
        yield state
        return
    if not isinstance(told, DecisionTold):
        yield bound
        if not other and _may_grant(bound, timed):
            yield _granted(bound, timed, asked, lease_ns, None)
        return
    if told.kind is DecisionKind.REJECT:
        yield state
    elif other:
        return
    elif told.kind is DecisionKind.EXECUTE:
        yield from _executed(bound, timed, asked, told, lease_ns)
    elif told.kind is DecisionKind.REUSE:
        if told.receipt is not None and told.receipt.operation_id != timed.operation_id:
            # Of another operation with the same intent, which this history is not of.
            yield bound
        elif state.receipt is not None and told.receipt is not None and _gives_back(state, told):
            yield bound
    elif told.kind in _TAKEN and state.receipt is None:
        asks = told.kind is DecisionKind.QUERY
        tickets = bound.tickets | {(told.attempt, told.token)} if asks else bound.tickets
        yield replace(bound, tickets=tickets)


def _executed(
    state: State, timed: Timed, asked: BeginAsked, told: DecisionTold, lease_ns: int
) -> Iterator[State]:
    latest = state.latest
    if latest is not None and state.receipt is None:
        same = (latest.incarnation_id, latest.begin_id) == (asked.incarnation_id, asked.begin_id)
        fits = told.attempt == latest.attempt if latest.exact else told.attempt >= latest.attempt
        if same and fits and latest.token in ("", told.token):
            known = replace(latest, attempt=told.attempt, exact=True, token=told.token)
            yield replace(state, latest=known)
    above = 0 if latest is None else latest.attempt
    fresh = all(one.token != told.token for one in _grants(state))
    if _may_grant(state, timed) and told.attempt > above and fresh:
        yield _granted(state, timed, asked, lease_ns, told)


def _may_grant(state: State, timed: Timed) -> bool:
    """Whether a new attempt may be granted: one live lease at a time, and no blind retry."""
    if state.receipt is not None or state.abandoned:
        return False
    if state.latest is None or state.licensed:
        return True
    over = timed.latest_ns is None or timed.latest_ns >= state.latest.live_until_ns
    return over and state.spec is not None and state.spec.capability is Capability.IDEMPOTENT


def _granted(
    state: State, timed: Timed, asked: BeginAsked, lease_ns: int, told: DecisionTold | None
) -> State:
    latest = state.latest
    next_attempt = 1 if latest is None else latest.attempt + 1
    grant = Granted(
        attempt=next_attempt if told is None else told.attempt,
        exact=told is not None,
        token="" if told is None else told.token,
        incarnation_id=asked.incarnation_id,
        begin_id=asked.begin_id,
        live_until_ns=timed.earliest_ns + lease_ns,
    )
    known = latest is not None and latest.token
    superseded = state.superseded | {latest} if latest is not None and known else state.superseded
    return replace(state, latest=grant, superseded=superseded, licensed=False)


def _grants(state: State) -> Iterator[Granted]:
    if state.latest is not None:
        yield state.latest
    yield from state.superseded


def _gives_back(state: State, told: DecisionTold) -> bool:
    given, kept = told.receipt, state.receipt
    if given is None or kept is None:
        return False
    return given.result == kept.result if state.by_operator else given == kept


def _receipt(state: State, timed: Timed, asked: ReceiptAsked) -> Iterator[State]:
    holder = next((one for one in _grants(state) if _holds(one, asked)), None)
    fits = holder is not None and _about_this(state, timed, asked.receipt)
    completes = fits and holder == state.latest and state.receipt is None
    answer = timed.call.answer
    if isinstance(answer, Refused):
        malformed = not asked.receipt.well_formed or answer.status_code == _INVALID_ARGUMENT
        if not completes or state.abandoned or malformed:
            yield state
        return
    done = replace(state, receipt=asked.receipt, by_operator=False)
    if not isinstance(answer, Accepted):
        yield state
        if completes:
            yield done
    elif answer.disposition is Disposition.COMPLETED:
        if completes:
            yield done
        elif fits and state.receipt == asked.receipt:
            yield state
    elif fits and (state.receipt is not None or holder != state.latest or state.abandoned):
        yield state


def _holds(grant: Granted, asked: ReceiptAsked) -> bool:
    return grant.token == asked.lease_token and (
        grant.attempt == asked.attempt == asked.receipt.attempt
        and grant.incarnation_id == asked.incarnation_id
    )


def _about_this(state: State, timed: Timed, receipt: ReceiptKey) -> bool:
    digest = None if state.spec is None else state.spec.arguments_digest
    return (receipt.operation_id, receipt.arguments_digest) == (timed.operation_id, digest)


def _query(state: State, timed: Timed, asked: QueryAsked) -> Iterator[State]:
    known = (asked.attempt, asked.query_ticket) in state.tickets
    latest = state.latest
    current = latest is not None and (
        asked.attempt == latest.attempt if latest.exact else asked.attempt >= latest.attempt
    )
    accepted = isinstance(timed.call.answer, Accepted)
    if not accepted or state.receipt is not None:
        yield state
    if isinstance(timed.call.answer, Refused) or not known or state.receipt is not None:
        return
    match asked.presence:
        case Presence.PRESENT if asked.receipt is not None:
            if _about_this(state, timed, asked.receipt):
                yield replace(state, receipt=asked.receipt)
        case Presence.ABSENT_FINAL if current:
            yield replace(state, licensed=True)
            yield state
        case Presence.ABSENT_UNCERTAIN if current:
            yield state
        case Presence.UNKNOWN:
            yield state


def _renewed(state: State, timed: Timed, asked: RenewAsked) -> Iterator[State]:
    latest, answer = state.latest, timed.call.answer
    holds = latest is not None and (
        (latest.attempt, latest.token, latest.incarnation_id)
        == (asked.attempt, asked.lease_token, asked.incarnation_id)
    )
    if not isinstance(answer, Renewed):
        yield state
        return
    if latest is None or not holds or state.receipt is not None or state.abandoned:
        return
    told_ns = timed.earliest_ns + answer.remaining_ms * 1_000_000
    # A renewal is counted only where the lease that it tells of is surely the longer one.
    yield replace(state, latest=replace(latest, live_until_ns=max(latest.live_until_ns, told_ns)))


def _resolved(state: State, call: Call, asked: ResolveAsked) -> Iterator[State]:
    accepted = isinstance(call.answer, Accepted)
    if not accepted:
        yield state
    if isinstance(call.answer, Refused) or state.receipt is not None or state.latest is None:
        return
    match asked.word:
        case OperatorWord.DID_NOT_HAPPEN:
            yield replace(state, licensed=True, abandoned=False)
        case OperatorWord.ABANDON:
            yield replace(state, licensed=False, abandoned=True)
        case OperatorWord.HAPPENED:
            # The memory makes the rest of the receipt; only the result is bound.
            kept = ReceiptKey("", 0, "", asked.result, "", "", "")
            yield replace(state, receipt=kept, by_operator=True)
