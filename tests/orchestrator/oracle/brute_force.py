"""A second opinion on what a correct memory may answer, for histories small enough to try all.

Nothing here is shared with the oracle. Time is a small whole number that is counted up tick by
tick; at each tick any call whose time it is may be taken by a memory that really runs; a memory
that may choose is run once for each choice. What can be answered to the probe at the end of some
run is what a correct memory may answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.orchestrator.oracle.histories import Answer, Ask, Clock, Rules

__all__ = ["Answer", "Ask", "Clock", "Memory", "Rules", "reachable"]

Taken = Iterator[tuple[Answer, "Memory"]]
"""Everything that a memory may do with a request: its answer, and the memory afterwards."""


class Memory:
    """A memory that runs; `fork` before each call."""

    def __init__(self) -> None:
        self.variant: int | None = None
        self.attempts: list[list[Any]] = []  # [number, lowest?, token, life, begin]
        self.end = 0
        self.first = 0
        self.mark = -(10**6)
        self.done: tuple[Any, ...] | None = None
        self.absent = False
        self.doubts = 0
        self.ticket: str | None = None
        self.question_end: int | None = None
        self.tickets: set[tuple[int, str]] = set()
        self.reported: dict[int, tuple[Any, ...]] = {}
        self.operator = ""

    def fork(self) -> Memory:
        """An independent copy."""
        other = Memory()
        other.__dict__.update(self.__dict__)
        other.attempts = [list(entry) for entry in self.attempts]
        other.tickets = set(self.tickets)
        other.reported = dict(self.reported)
        return other

    def key(self) -> tuple[Any, ...]:
        """Equal for memories that behave equally."""
        return (
            self.variant,
            tuple(tuple(entry) for entry in self.attempts),
            self.end,
            self.first,
            self.mark,
            self.done,
            self.absent,
            self.doubts,
            self.ticket,
            self.question_end,
            frozenset(self.tickets),
            frozenset(self.reported.items()),
            self.operator,
        )

    # -- Begin ------------------------------------------------------------------------------

    def begin(self, ask: Ask, clock: int, highest: int, rules: Rules) -> Taken:
        """Every answer; EXECUTE and QUERY with None for what is freely chosen."""
        if self.variant not in (None, ask.variant):
            yield ("REJECT",), self.fork()
            return
        memory = self.fork()
        memory.variant = ask.variant
        if memory.done is not None:
            yield ("REUSE", memory.done), memory
            return
        if memory.operator == "abandon":
            yield ("CONFIRM",), memory
            yield ("REJECT",), memory
            return
        if memory.mark <= clock:
            yield from memory.decide(ask, clock, False, rules)
        for mark in range(max(memory.mark, clock + 1), highest + 1):
            marked = memory.fork()
            marked.mark = mark
            yield ("WAIT",), marked
            yield from marked.decide(ask, mark, True, rules)

    def decide(self, ask: Ask, now: int, behind: bool, rules: Rules) -> Taken:
        """The decision at the memory's own time `now`."""
        if not self.attempts:
            yield self.grant(ask, now, rules)
            return
        number, _, token, life, begin = self.attempts[-1]
        licensed = self.operator == "did_not_happen" or self.absent
        if licensed:
            yield self.grant(ask, now, rules)
        if now < self.end:
            if (life, begin) == (ask.life, ask.begin):
                yield ("EXECUTE same", number, token), self.fork()
                if not rules.replay:
                    yield ("WAIT",), self.fork()
            else:
                yield ("WAIT",), self.fork()
            return
        if self.operator == "did_not_happen" or (self.absent and rules.final):
            return
        yield from self.expired(ask, now, behind, rules)

    def expired(self, ask: Ask, now: int, behind: bool, rules: Rules) -> Taken:
        """The decision after the lease's end, without anybody's word that nothing happened."""
        if rules.capability == "none" or (rules.capability == "query" and self.doubts > 0):
            yield ("CONFIRM",), self.fork()
        if rules.capability == "query" and self.doubts < rules.max_uncertain:
            number = self.attempts[-1][0]
            asked = self.fork()
            asked.spend_ticket(number)
            asked.question_end = now + rules.question
            yield ("QUERY", number, None), asked
            if self.doubts > 0 or (self.question_end is not None and now < self.question_end):
                yield ("WAIT",), self.fork()
        if rules.capability == "idempotent":
            key_end = self.first + rules.retention
            if now + rules.lease <= key_end and not behind:
                yield self.grant(ask, now, rules)
            if behind or now + rules.lease > key_end - rules.margin:
                yield ("CONFIRM",), self.fork()

    def grant(self, ask: Ask, now: int, rules: Rules) -> tuple[Answer, Memory]:
        """EXECUTE anew."""
        memory = self.fork()
        above = memory.attempts[-1][0] if memory.attempts else 0
        if not memory.attempts:
            memory.first = now
        memory.attempts.append([above + 1, True, None, ask.life, ask.begin])
        memory.end = now + rules.lease
        memory.mark = max(memory.mark, now)
        memory.absent, memory.doubts, memory.operator = False, 0, ""
        memory.question_end = None
        memory.spend_ticket(above)
        return ("EXECUTE new", above + 1, None), memory

    def spend_ticket(self, attempt: int) -> None:
        """The ticket that was issued last is not the current one any more."""
        if self.ticket is not None:
            self.tickets.add((attempt, self.ticket))
            self.ticket = None

    # -- recordings -------------------------------------------------------------------------

    def receipt(self, ask: Ask) -> Taken:
        """RecordReceipt."""
        position = None
        for index, (number, free, token, life, _) in enumerate(self.attempts):
            if not free and (number, token, life) == (ask.attempt, ask.token, ask.life):
                position = index
        same_arguments = self.variant == ask.variant
        told = (ask.attempt, ask.variant, ask.result)
        if position is None or not same_arguments:
            yield ("REFUSED",), self.fork()
        elif self.done is not None:
            if self.done == told:
                yield ("OK", "ALREADY_RECORDED"), self.fork()
                yield ("OK", "COMPLETED"), self.fork()
            else:
                yield ("OK", "ALREADY_RECORDED"), self.fork()
                yield ("OK", "EVIDENCE_ONLY"), self.fork()
                yield ("REFUSED",), self.fork()
        elif position == len(self.attempts) - 1:
            memory = self.fork()
            memory.done = told
            yield ("OK", "COMPLETED"), memory
            if self.operator == "abandon":
                yield ("OK", "EVIDENCE_ONLY"), self.fork()
                yield ("REFUSED",), self.fork()
        elif ask.attempt not in self.reported:
            memory = self.fork()
            memory.reported[ask.attempt] = told
            yield ("OK", "EVIDENCE_ONLY"), memory
        else:
            yield ("OK", "EVIDENCE_ONLY"), self.fork()
            if self.reported[ask.attempt] == told:
                yield ("OK", "ALREADY_RECORDED"), self.fork()
            else:
                yield ("REFUSED",), self.fork()

    def query(self, ask: Ask, rules: Rules) -> Taken:
        """RecordQuery."""
        if not self.attempts:
            yield ("REFUSED",), self.fork()
            return
        number, free = self.attempts[-1][:2]
        is_latest = ask.attempt == number or (free and ask.attempt > number)
        current = is_latest and self.ticket is not None and self.ticket == ask.token
        spent = (ask.attempt, ask.token) in self.tickets
        if ask.presence == "PRESENT" and ask.variant != self.variant:
            current = spent = False
        if not current and not spent:
            yield ("REFUSED",), self.fork()
            return
        if self.done is not None:
            yield ("OK", ""), self.fork()
            yield ("REFUSED",), self.fork()
            return
        memory = self.fork()
        if ask.presence == "PRESENT":
            memory.done = (ask.attempt, ask.variant, ask.result)
        elif ask.presence == "ABSENT_FINAL":
            memory.absent = True
            memory.doubts += 0 if rules.final else 1
        elif ask.presence == "ABSENT_UNCERTAIN":
            memory.doubts += 1
        if current:
            memory.spend_ticket(ask.attempt)
            memory.question_end = None
            yield ("OK", ""), memory
            return
        yield ("REFUSED",), self.fork()
        if is_latest:
            yield ("OK", ""), memory
            yield ("OK", ""), self.fork()
        elif ask.presence == "PRESENT":
            yield ("OK", ""), memory
        elif ask.presence == "UNKNOWN":
            yield ("OK", ""), self.fork()

    def resolve(self, ask: Ask) -> Taken:
        """Resolve; whether the signature is good is anyone's guess."""
        yield ("REFUSED",), self.fork()
        if self.done is None and self.attempts:
            memory = self.fork()
            if ask.word == "happened":
                memory.done = ("operator", ask.result)
            else:
                memory.operator = ask.word
            yield ("OK", ""), memory

    def take(self, ask: Ask, clock: int, highest: int, rules: Rules) -> Taken:
        """Everything that the memory may do with one request."""
        if ask.what == "begin":
            yield from self.begin(ask, clock, highest, rules)
        elif ask.what == "receipt":
            yield from self.receipt(ask)
        elif ask.what == "query":
            yield from self.query(ask, rules)
        else:
            yield from self.resolve(ask)


def settle(made: Answer, memory: Memory, seen: Answer) -> Memory | None:
    """The memory after it turned out to have answered `seen`; None: it answered something else."""
    kind = made[0].split()[0]
    if kind not in ("EXECUTE", "QUERY"):
        return memory if made == seen else None
    number, free, token = memory.attempts[-1][:3]
    if seen[0] != kind or seen[1] < number or (not free and seen[1] != number):
        return None
    settled = memory.fork()
    settled.attempts[-1][:2] = [seen[1], False]
    if kind == "QUERY":
        settled.ticket = seen[2]
    elif token in (None, seen[2]):
        settled.attempts[-1][2] = seen[2]
    else:
        return None
    return settled


def word(made: Answer) -> str:
    """An answer without what is freely chosen."""
    if made[0] in ("EXECUTE new", "EXECUTE same"):
        return f"EXECUTE({made[0].split()[1]})"
    if made[0] == "OK" and made[1]:
        return f"OK({made[1]})"
    return str(made[0]) if made[0] != "OK" else "OK()"


def reachable(asks: tuple[Ask, ...], probe: Ask, clock: Clock, rules: Rules) -> frozenset[str]:
    """Every word that can be answered to the probe where all other answers are as seen."""
    everything = (*asks, probe)
    last_tick = max(ask.stop for ask in everything if ask is probe or ask.answer is not None)
    found: set[str] = set()
    seen: set[tuple[Any, ...]] = set()
    todo: list[tuple[int, Memory, frozenset[int], str]] = [
        (0, Memory(), frozenset(range(len(everything))), "")
    ]
    while todo:
        tick, memory, left, told = todo.pop()
        state = (tick, memory.key(), left, told)
        if state in seen:
            continue
        seen.add(state)
        answered_left = [
            i for i in left if everything[i] is probe or everything[i].answer is not None
        ]
        if not answered_left:
            found.add(told)
            continue
        if any(everything[i].stop < tick for i in answered_left) or tick > last_tick:
            continue
        todo.append((tick + 1, memory, left, told))
        for index in left:
            ask = everything[index]
            if not ask.start <= tick <= ask.stop:
                continue
            for made, after in memory.take(ask, clock.at(tick), clock.highest(tick), rules):
                rest = left - {index}
                if ask is probe:
                    todo.append((tick, after, rest, word(made)))
                elif ask.answer is None:
                    todo.append((tick, after, rest, told))
                else:
                    settled = settle(made, after, ask.answer)
                    if settled is not None:
                        todo.append((tick, settled, rest, told))
    return frozenset(found)
