"""Any history of calls, against a set-valued reading of DESIGN §6 that scans the whole history.

The model knows no stored state: it keeps a list of what happened and answers, for each Begin, which
decisions a correct memory may give.
"""

import itertools
from dataclasses import dataclass, field
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.answers import (
    Decision,
    Disposition,
    Execute,
    OperatorWord,
    Presence,
    Query,
    ReceiptCall,
    Refused,
    ResolveCall,
    Reuse,
    Wait,
)
from services.memory.model import Capability, Policy
from tests.services.memory.samples import LEASE_NS, SECOND_NS, Memory, binding, receipt

RETENTION_SECONDS = 500
ROUNDS_OF_DOUBT = Policy().max_uncertain_queries


@dataclass(frozen=True)
class Begin:
    incarnation: str
    begin_id: str


@dataclass(frozen=True)
class Move:
    seconds: int


@dataclass(frozen=True)
class Report:
    which: int
    forged: bool


@dataclass(frozen=True)
class Answer:
    which: int
    presence: Presence


@dataclass(frozen=True)
class Word:
    word: OperatorWord


Step: TypeAlias = Begin | Move | Report | Answer | Word

STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(Begin, st.sampled_from(["A", "B"]), st.sampled_from(["b1", "b2", "b3", "b4"])),
    st.builds(Begin, st.sampled_from(["A", "B"]), st.sampled_from(["b1", "b2", "b3", "b4"])),
    st.builds(Move, st.sampled_from([1, 60, 119, 120, 121, 260, 600, -1, -130, -700])),
    st.builds(Report, st.integers(0, 3), st.booleans()),
    st.builds(Answer, st.integers(0, 3), st.sampled_from(list(Presence))),
    st.builds(Word, st.sampled_from(list(OperatorWord))),
)


@dataclass
class History:
    """What happened, in the order in which it was acknowledged."""

    capability: Capability
    grants: list[tuple[int, int, str, str]] = field(default_factory=list)
    answers: list[tuple[str, int]] = field(default_factory=list)
    doubted_tickets: set[str] = field(default_factory=set)
    words: list[tuple[str, int]] = field(default_factory=list)
    complete: bool = False
    mark_ns: int = 0

    def allowed(self, now_ns: int, incarnation: str, begin_id: str) -> set[str]:
        """Kinds that §6 allows; "same" is the live grant told again."""
        if self.complete:
            return {"reuse"}
        if not self.grants:
            return {"execute", "wait"} if now_ns < self.mark_ns else {"execute"}
        row = self._row(max(now_ns, self.mark_ns), incarnation, begin_id)
        if now_ns >= self.mark_ns:
            return row
        if self.capability is Capability.IDEMPOTENT:
            row = row - {"execute"}
        return row | {"wait"}

    def _row(self, at_ns: int, incarnation: str, begin_id: str) -> set[str]:
        latest = len(self.grants)
        granted_ns, _, holder, call = self.grants[-1]
        word = self.words[-1] if self.words else None
        if word == ("abandon", latest):
            return {"confirm"}
        if word == ("did_not_happen", latest):
            return {"execute"}
        if at_ns < granted_ns + LEASE_NS:
            return {"same"} if (holder, call) == (incarnation, begin_id) else {"wait"}
        if self.capability is Capability.NONE:
            return {"confirm"}
        if self.capability is Capability.QUERY:
            return self._asked_row(latest)
        key_ends_ns = self.grants[0][1] + RETENTION_SECONDS * SECOND_NS
        return {"execute"} if at_ns + LEASE_NS <= key_ends_ns else {"confirm"}

    def _asked_row(self, latest: int) -> set[str]:
        told = [presence for presence, attempt in self.answers if attempt == latest]
        if "absent_final" in told:
            return {"execute"}
        doubts = told.count("absent_uncertain")
        if not doubts:
            return {"query"}
        return {"confirm"} if doubts >= ROUNDS_OF_DOUBT else {"query", "wait", "confirm"}


def kind_of(decision: Decision, granted: bool) -> str:
    name = type(decision).__name__.lower()
    return "same" if name == "execute" and not granted else name


class Run:
    """A memory and the history of it, step by step."""

    def __init__(self, capability: Capability) -> None:
        self.memory = Memory(binding(capability, retention_seconds=RETENTION_SECONDS))
        self.history = History(capability)
        self.executes: list[tuple[Execute, str]] = []
        self.questions: list[Query] = []

    def take(self, step: Step) -> None:
        match step:
            case Begin():
                self.begin(step)
            case Move():
                self.memory.advance(step.seconds)
            case Report() if self.executes:
                self.report(step)
            case Answer() if self.questions:
                self.answer(step)
            case Word() if self.memory.operation is not None:
                self.word(step)
            case _:
                pass
        self.history.mark_ns = max(self.history.mark_ns, self.memory.mark_ns)

    def begin(self, step: Begin) -> None:
        now_ns, history = self.memory.now_ns, self.history
        allowed = history.allowed(now_ns, step.incarnation, step.begin_id)
        before = 0 if self.memory.operation is None else len(self.memory.kept.attempts)
        decision = self.memory.begin(step.incarnation, step.begin_id)
        granted = len(self.memory.kept.attempts) > before
        assert kind_of(decision, granted) in allowed, (allowed, decision)
        if isinstance(decision, Execute):
            assert decision.attempt == before + granted
            if granted:
                at_ns = max(now_ns, history.mark_ns)
                history.grants.append((at_ns, now_ns, step.incarnation, step.begin_id))
                self.executes.append((decision, step.incarnation))
        if isinstance(decision, Query):
            assert decision.attempt == before
            self.questions.append(decision)
        if isinstance(decision, Wait):
            assert decision.remaining_ns > 0
        if isinstance(decision, Reuse):
            assert decision.receipt == self.memory.kept.receipt

    def report(self, step: Report) -> None:
        grant, incarnation = self.executes[step.which % len(self.executes)]
        before = self.memory.kept
        token = "forged" if step.forged else grant.lease_token
        taken = receipt(self.memory.bound, grant.attempt)
        outcome = self.memory.record(ReceiptCall(incarnation, grant.attempt, token, taken))
        latest = grant.attempt == len(self.history.grants)
        if step.forged:
            assert isinstance(outcome, Refused)
            assert self.memory.kept == before
        elif latest and not self.history.complete:
            assert outcome is Disposition.COMPLETED
            self.history.complete = True
        else:
            assert outcome is not Disposition.COMPLETED
            assert self.memory.kept.receipt == before.receipt

    def answer(self, step: Answer) -> None:
        asked = self.questions[step.which % len(self.questions)]
        before = self.memory.kept
        outcome = self.memory.answer(asked, step.presence)
        latest = asked.attempt == len(self.history.grants)
        if step.presence is Presence.PRESENT:
            assert self.memory.kept.receipt is not None
            self.history.complete = True
        elif not latest:
            assert isinstance(outcome, Refused)
            assert self.memory.kept == before
        elif step.presence is Presence.UNKNOWN or self.history.complete:
            assert self.memory.kept == before
        elif step.presence is Presence.ABSENT_FINAL:
            self.history.answers.append(("absent_final", asked.attempt))
        elif asked.ticket not in self.history.doubted_tickets:
            self.history.doubted_tickets.add(asked.ticket)
            self.history.answers.append(("absent_uncertain", asked.attempt))

    def word(self, step: Word) -> None:
        latest = len(self.history.grants)
        happened = step.word is OperatorWord.HAPPENED
        found = receipt(self.memory.bound, latest) if happened else None
        refused = self.memory.resolve(ResolveCall(latest, step.word, found))
        assert (refused is not None) is self.history.complete
        if refused is None:
            self.history.words.append((step.word.value, latest))
            self.history.complete = happened

    def check_safety(self) -> None:
        """Every retry was licensed by the key, a fence or a person; epochs have no gap."""
        records = self.memory.kept.attempts if self.memory.operation else ()
        assert [record.attempt for record in records] == list(range(1, len(records) + 1))
        assert len({record.lease_token for record in records}) == len(records)
        for former, record in itertools.pairwise(records):
            index = record.attempt - 1
            at_ns, read_ns, _, _ = self.history.grants[index]
            key_ends_ns = self.history.grants[0][1] + RETENTION_SECONDS * SECOND_NS
            keyed = self.history.capability is Capability.IDEMPOTENT
            by_key = keyed and at_ns == read_ns and at_ns + LEASE_NS <= key_ends_ns
            by_fence = ("absent_final", former.attempt) in self.history.answers
            by_person = ("did_not_happen", former.attempt) in self.history.words
            assert by_key or by_fence or by_person
            assert not keyed or at_ns == read_ns


@settings(max_examples=400, deadline=None)
@given(capability=st.sampled_from(list(Capability)), steps=st.lists(STEPS, max_size=40))
def test_no_history_leaves_the_table(capability: Capability, steps: list[Step]) -> None:
    run = Run(capability)
    for step in steps:
        run.take(step)
    run.check_safety()
