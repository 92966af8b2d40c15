"""What the workflow's other operations mean for one of them: forked pasts, and full workflows.

A host that was set back to before a call issues the same intent under a new identity. It tells the
operations whose results its own checkpoint holds; one of the same intent that the memory has
granted, and that is not among them, is of a past that this host does not have (DESIGN §6).

What another operation has come to is taken from its calls alone: `must` from answers that were seen
before the question, `may` from requests that can have been taken until its answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from orchestrator.oracle.messages import (
    Accepted,
    BeginAsked,
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
    ResolveAsked,
)
from orchestrator.oracle.view import Call, OperationView
from orchestrator.oracle.worlds import Completion

__all__ = ["NO_FORK", "SETTLED_MAX", "Fork", "Siblings", "operator_receipt"]

SETTLED_MAX = 200
"""Operations that a host tells of; a list as long as that may lack older ones."""

_FOREVER_NS = 2**63
_COMPLETING = frozenset({Disposition.COMPLETED, Disposition.ALREADY_RECORDED})


@dataclass(frozen=True)
class Fork:
    """What operations of the same intent, of a past that the host does not have, mean for one.

    Attributes:
        may: Some of them may be granted, so that a memory may ask a person, or reuse.
        must: Some of them surely is, and nobody said that it did not happen.
        uncertain: Some of them may be under way.
        completions: What REUSE may give back.
    """

    may: bool = False
    must: bool = False
    uncertain: bool = False
    completions: tuple[Completion, ...] = ()


NO_FORK = Fork()


@dataclass(frozen=True)
class Siblings:
    """The other operations of one operation's workflow.

    Attributes:
        others: Their calls.
    """

    others: tuple[OperationView, ...] = field(default=())

    @classmethod
    def of(cls, view: OperationView, workflow: Sequence[OperationView]) -> Self:
        """The siblings of one operation among its whole workflow."""
        return cls(tuple(one for one in workflow if one is not view))

    @cached_property
    def _first_asked_ns(self) -> list[int]:
        return sorted(
            min(call.forwarded_ns for call in begins)
            for other in self.others
            if (begins := [call for call in other.calls if _may_have_bound(call)])
        )

    def known_by(self, at_ns: int | None) -> int:
        """How many of them the memory may hold at an instant."""
        return bisect_right(self._first_asked_ns, _FOREVER_NS if at_ns is None else at_ns)

    @cached_property
    def _granted_ns(self) -> dict[str, list[int]]:
        """When each operation that was granted was seen to be, by the circle that counts it."""
        found: dict[str, list[int]] = {}
        for other in self.others:
            for call in other.calls:
                if _told(call) is DecisionKind.EXECUTE and call.last_ns is not None:
                    assert isinstance(call.request, BeginAsked)  # `_told` has seen it
                    found.setdefault(call.request.spec.circle, []).append(call.last_ns)
                    break
        return {circle: sorted(seen) for circle, seen in found.items()}

    def granted_before(self, circle: str, at_ns: int) -> int:
        """How many of a circle were seen to be granted by an instant: the memory holds them."""
        return bisect_right(self._granted_ns.get(circle, ()), at_ns)

    def fork(self, call: Call, asked: BeginAsked | PeekAsked) -> Fork:
        """What they mean for one question about the operation.

        Args:
            call: When it can have been taken.
            asked: The question, with what its host says of its own past.
        """
        settled = asked.settled
        if settled is None or len(settled) >= SETTLED_MAX:
            return NO_FORK
        found = [
            _past(other, call)
            for other in self.others
            if other.operation_id not in settled and _has_intent(other, asked.spec.intent)
        ]
        return Fork(
            may=any(one.may for one in found),
            must=any(one.must for one in found),
            uncertain=any(one.uncertain for one in found),
            completions=tuple(dict.fromkeys(had for one in found for had in one.completions)),
        )


def operator_receipt(operation_id: str, result: str) -> ReceiptKey:
    """What an operator's word leaves behind: only the result is bound."""
    return ReceiptKey(
        operation_id=operation_id,
        attempt=0,
        arguments_digest="",
        result=result,
        result_digest="",
        effect_id="",
        outcome="",
    )


def _has_intent(other: OperationView, intent: str) -> bool:
    return any(
        isinstance(call.request, BeginAsked) and call.request.spec.intent == intent
        for call in other.calls
    )


def _may_have_bound(call: Call) -> bool:
    return isinstance(call.request, BeginAsked) and not isinstance(call.answer, Refused)


def _past(other: OperationView, question: Call) -> Fork:
    """What one operation of the same intent, of another past, means for a question."""
    until_ns = _FOREVER_NS if question.last_ns is None else question.last_ns
    may = [
        call
        for call in other.calls
        if call.forwarded_ns <= until_ns and not isinstance(call.answer, Refused)
    ]
    if _is_ruled_out(may, question):
        return NO_FORK
    sure = [
        call
        for call in may
        if call.answered and call.last_ns is not None and call.last_ns <= question.forwarded_ns
    ]
    completions = tuple(had for call in may for had in _completions(other.operation_id, call))
    done = [had for call in sure if _is_told(call) for had in _completions("", call)]
    failed = any(had.receipt.outcome == "tool_error" for had in completions)
    released = any(_releases(call) for call in may)
    granted = any(_told(call) is DecisionKind.EXECUTE for call in sure)
    return Fork(
        may=any(_may_grant(call) for call in may),
        must=any(had.receipt.outcome != "tool_error" for had in done)
        or (granted and not released and not failed),
        uncertain=any(_may_grant(call) for call in may) and not done,
        completions=completions,
    )


def _is_ruled_out(calls: Sequence[Call], question: Call) -> bool:
    """Whether an operator's word stands that nothing happened, and nothing came after it."""
    words = [
        call
        for call in calls
        if isinstance(call.request, ResolveAsked)
        and call.request.word is OperatorWord.DID_NOT_HAPPEN
        and isinstance(call.answer, Accepted)
        and call.last_ns is not None
        and call.last_ns <= question.forwarded_ns
    ]
    if not words:
        return False
    since_ns = max(call.forwarded_ns for call in words)
    return not any(
        (call.forwarded_ns > since_ns and _may_grant(call))
        or (isinstance(call.request, ResolveAsked) and call.forwarded_ns > since_ns)
        or any(True for _ in _completions("", call))
        for call in calls
    )


def _told(call: Call) -> DecisionKind | None:
    if isinstance(call.request, BeginAsked) and isinstance(call.answer, DecisionTold):
        return call.answer.kind
    return None


def _may_grant(call: Call) -> bool:
    if not isinstance(call.request, BeginAsked):
        return False
    told = _told(call)
    return told is None or told in (DecisionKind.EXECUTE, DecisionKind.REUSE)


def _is_told(call: Call) -> bool:
    """Whether an answer says that the operation is complete."""
    if isinstance(call.answer, Accepted):
        disposition = call.answer.disposition
        return disposition is None or disposition in _COMPLETING
    return _told(call) is DecisionKind.REUSE


def _completions(operation_id: str, call: Call) -> Iterable[Completion]:
    """What a call may have completed its operation with."""
    asked, answer = call.request, call.answer
    if isinstance(asked, ReceiptAsked):
        if not (isinstance(answer, Accepted) and answer.disposition not in _COMPLETING):
            yield Completion(asked.receipt)
    elif isinstance(asked, QueryAsked):
        if asked.presence is Presence.PRESENT and asked.receipt is not None:
            yield Completion(asked.receipt)
    elif isinstance(asked, ResolveAsked):
        if asked.word is OperatorWord.HAPPENED:
            yield Completion(operator_receipt(operation_id, asked.result), by_operator=True)
    elif isinstance(answer, DecisionTold) and answer.receipt is not None:
        yield Completion(answer.receipt)


def _releases(call: Call) -> bool:
    """Whether a call may have said that the operation's dispatch did not take place."""
    asked = call.request
    if isinstance(asked, ResolveAsked):
        return asked.word in (OperatorWord.DID_NOT_HAPPEN, OperatorWord.ABANDON)
    return isinstance(asked, QueryAsked) and asked.presence is Presence.ABSENT_FINAL
