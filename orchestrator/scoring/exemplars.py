"""One short history for each row of the oracle's table: what a flaw is tried on (DESIGN §9).

A control table that is written by hand would repeat the oracle, and drift from it. Here a flawed
answer is put at the end of a history that leads to the row, and the oracle says what it is.
"""

from __future__ import annotations

from dataclasses import replace

from orchestrator.model import CapabilityVariant
from orchestrator.oracle.clockmap import ClockMap, ClockReading
from orchestrator.oracle.declared import NANOSECONDS, DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.judgement import CallJudgement
from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Disposition,
    ReceiptAsked,
    ReceiptKey,
    Request,
    Spec,
)
from orchestrator.oracle.view import Call, OperationView
from orchestrator.oracle.worlds import Row
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS, SHORT_RETENTION_SECONDS

__all__ = ["judged_in_row"]

_DECLARED = DeclaredMemory()
_OPERATION = "exemplar"
_ARGUMENTS = "arguments"
_RECEIPT = ReceiptKey(_OPERATION, 1, _ARGUMENTS, "{}", "digest", "effect", "succeeded")
_GRANTED_NS = 10 * NANOSECONDS
_ASKED_SOON_NS = 20 * NANOSECONDS
_ASKED_LATE_NS = _GRANTED_NS + _DECLARED.lease_ns + NANOSECONDS
_BEHIND_NS = -3_600 * NANOSECONDS


def judged_in_row(row: Row, capability: CapabilityVariant, answer: Answer) -> CallJudgement:
    """What an answer to Begin is, in a row and for a capability.

    Args:
        row: One of N, L, S, X, C, B.
        capability: What the destination allows.
        answer: What the memory says; an EXECUTE is dated as if it were granted then. Attempt 1 and
            token "first" are those of the grant before, where there was one.

    Raises:
        ValueError: No history leads to that row.
    """
    if row not in _ROWS:
        raise ValueError(f"no history leads to row {row.value}")
    asked = BeginAsked(_spec(capability), "new life", "second")
    if row is Row.SAME_BEGIN:
        asked = BeginAsked(_spec(capability), "life", "first")
    calls = [] if row is Row.NEVER_GRANTED else [_granted(capability)]
    if row is Row.COMPLETE:
        received = ReceiptAsked("life", 1, "first", _RECEIPT)
        calls.append(_call(received, Accepted(Disposition.COMPLETED), _GRANTED_NS + 1))
    at_ns = _ASKED_LATE_NS if row is Row.EXPIRED else _ASKED_SOON_NS
    if isinstance(answer, DecisionTold):
        answer = replace(answer, granted_at_ns=at_ns)
    calls.append(_call(asked, answer, at_ns))
    view = OperationView(_OPERATION, tuple(calls))
    return judge_operation(view, _clock(row), _DECLARED).decisions[-1]


_ROWS = frozenset(
    {
        Row.NEVER_GRANTED,
        Row.LEASE_LIVE,
        Row.SAME_BEGIN,
        Row.EXPIRED,
        Row.COMPLETE,
        Row.CLOCK_BEHIND,
    }
)


def _clock(row: Row) -> ClockMap:
    """The interposer's own clock, set back an hour before the question in row B."""
    readings = [ClockReading(at_ns, at_ns, at_ns) for at_ns in (0, _GRANTED_NS + 2)]
    if row is Row.CLOCK_BEHIND:
        at_ns = _ASKED_SOON_NS - 1
        readings.append(ClockReading(at_ns, at_ns, at_ns + _BEHIND_NS))
    return ClockMap.from_readings(readings)


def _granted(capability: CapabilityVariant) -> Call:
    told = DecisionTold(
        DecisionKind.EXECUTE,
        "granted",
        attempt=1,
        token="first",
        remaining_ms=_DECLARED.lease_ns // 1_000_000,
        granted_at_ns=_GRANTED_NS,
    )
    return _call(BeginAsked(_spec(capability), "life", "first"), told, _GRANTED_NS)


def _call(request: Request, answer: Answer, at_ns: int) -> Call:
    return Call(at_ns, at_ns, "agent", request, answer, at_ns, at_ns)


def _spec(capability: CapabilityVariant) -> Spec:
    keyed = {
        CapabilityVariant.IDEMPOTENT: LONG_RETENTION_SECONDS,
        CapabilityVariant.IDEMPOTENT_EXPIRED: SHORT_RETENTION_SECONDS,
    }
    kind = Capability.NONE
    if capability in keyed:
        kind = Capability.IDEMPOTENT
    elif capability is not CapabilityVariant.NONE:
        kind = Capability.QUERY
    return Spec(
        core="core",
        rest="rest",
        capability=kind,
        arguments_digest=_ARGUMENTS,
        has_key=capability in keyed,
        retention_ns=keyed.get(capability, 0) * NANOSECONDS,
    )
