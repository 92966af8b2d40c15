"""Tells the oracle the histories that the brute-force model is asked about."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.oracle.clockmap import ClockMap, ClockSegment
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.frame import Frame
from orchestrator.oracle.linearize import Explorer, in_order_of_answers
from orchestrator.oracle.messages import (
    Accepted,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Disposition,
    Malformed,
    OperatorWord,
    Presence,
    QueryAsked,
    ReceiptAsked,
    ReceiptKey,
    Refused,
    Request,
    ResolveAsked,
    Spec,
    Unanswered,
)
from orchestrator.oracle.messages import Answer as OracleAnswer
from orchestrator.oracle.outcomes import label
from orchestrator.oracle.view import Call
from orchestrator.oracle.zone import UNBOUNDED
from tests.orchestrator.oracle.brute_force import Answer, Ask, Clock, Rules

OPERATION = "op"


def clock_map(clock: Clock) -> ClockMap:
    """The same clock, known exactly."""
    starts = [since for since, _ in clock.offsets]
    ends = [*(since - 1 for since in starts[1:]), UNBOUNDED]
    firsts = [-UNBOUNDED, *starts[1:]]
    return ClockMap(
        tuple(
            ClockSegment(first, last, offset, offset)
            for first, last, (_, offset) in zip(firsts, ends, clock.offsets, strict=True)
        )
    )


def declared(rules: Rules) -> DeclaredMemory:
    """The same declaration; one tick is one nanosecond."""
    return DeclaredMemory(
        lease_ns=rules.lease,
        begin_replay=rules.replay,
        final_absence=rules.final,
        max_uncertain=rules.max_uncertain,
        key_margin_ns=rules.margin,
        question_ns=rules.question,
    )


def receipt_key(attempt: int, variant: int, result: str) -> ReceiptKey:
    """A receipt."""
    return ReceiptKey(OPERATION, attempt, f"args{variant}", result, result, "e", "succeeded")


def request(ask: Ask, rules: Rules) -> Request:
    """The same request."""
    if ask.what == "begin":
        spec = Spec(
            core=f"core{ask.variant}",
            rest="rest",
            capability=Capability(rules.capability),
            arguments_digest=f"args{ask.variant}",
            has_key=rules.capability == "idempotent",
            retention_ns=rules.retention,
        )
        return BeginAsked(spec, ask.life, ask.begin)
    if ask.what == "receipt":
        receipt = receipt_key(ask.attempt, ask.variant, ask.result)
        return ReceiptAsked(ask.life, ask.attempt, ask.token, receipt)
    if ask.what == "query":
        present = ask.presence == "PRESENT"
        return QueryAsked(
            ask.life,
            ask.attempt,
            ask.token,
            Presence(ask.presence),
            receipt_key(ask.attempt, ask.variant, ask.result) if present else None,
        )
    return ResolveAsked(OperatorWord(ask.word), ask.result)


def told(answer: Answer) -> OracleAnswer:
    """The same answer."""
    if answer[0] == "REFUSED":
        return Refused(7)
    if answer[0] == "OK":
        return Accepted(Disposition(answer[1]) if answer[1] else None)
    kind = DecisionKind(answer[0])
    if kind in (DecisionKind.EXECUTE, DecisionKind.QUERY):
        return DecisionTold(kind, "r", attempt=answer[1], token=answer[2])
    if kind is DecisionKind.REUSE:
        done = answer[1]
        if done[0] == "operator":
            receipt = ReceiptKey("", 0, "", done[1], "", "", "")
        else:
            receipt = receipt_key(*done)
        return DecisionTold(kind, "r", receipt=receipt)
    return DecisionTold(kind, "r")


def call(index: int, ask: Ask, rules: Rules, probe: bool = False) -> Call:
    """The same call; the probe's answer tells nothing."""
    answer: OracleAnswer = Malformed("probe")
    if not probe:
        answer = Unanswered() if ask.answer is None else told(ask.answer)
    return Call(index, index + 1, "agent", request(ask, rules), answer, ask.start, ask.stop)


def uncertain_map(offset: int, later: int, first: int, last: int) -> ClockMap:
    """A clock that is known to be set once, at one of the ticks from `first` to `last`."""
    before = ClockSegment(-UNBOUNDED, last - 1, offset, offset)
    return ClockMap((before, ClockSegment(first, UNBOUNDED, later, later)))


def allowed(
    asks: Sequence[Ask], probe: Ask, clock: Clock | ClockMap, rules: Rules
) -> frozenset[str]:
    """What the oracle allows as the answer to the probe, in the words of the brute-force model."""
    known = clock_map(clock) if isinstance(clock, Clock) else clock
    calls = [call(index, ask, rules) for index, ask in enumerate(asks)]
    calls.append(call(len(asks), probe, rules, probe=True))
    explorer = Explorer(calls, Frame(OPERATION, known, declared(rules)))
    words: set[str] = set()
    for position in in_order_of_answers(calls):
        step = explorer.step(position)
        fits = [item for item in step.candidates if item.matched is not None]
        explorer.follow(position, [(item.before, item.matched) for item in fits if item.matched])
        if position == len(asks):
            for item in fits:
                words |= _words(label(item.outcome.pattern))
    return frozenset(words)


def _words(name: str) -> set[str]:
    if not name.startswith("OK("):
        return {name}
    return {f"OK({one})" for one in name[3:-1].split("|")}
