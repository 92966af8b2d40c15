"""Every combination of what can be stored, against DESIGN §6's table read row by row."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from services.memory.answers import (
    BeginCall,
    BeginStep,
    Confirm,
    Decision,
    Execute,
    Query,
    Reuse,
    Wait,
)
from services.memory.decisions import DecisionRules
from services.memory.model import (
    AttemptRecord,
    Capability,
    Change,
    LeaseClock,
    Operation,
    Policy,
    Question,
    Reason,
)
from tests.services.memory.samples import LEASE_NS, SECOND_NS, START_NS, binding, receipt

POLICY = Policy()
ATTEMPT = 2
FIRST_GRANT_NS = START_NS - 1_000 * SECOND_NS
# Nanoseconds from the latest grant to the lease clock's reading.
AGES_NS = (0, 1, LEASE_NS - 1, LEASE_NS, LEASE_NS + 1, 10 * LEASE_NS)
# Nanoseconds by which the key outlives the lease that would be granted.
KEY_SLACKS_NS = (-1, 0, 1)
# Nanoseconds by which the clock stands behind its mark.
LAGS_NS = (0, 1, 3_600 * SECOND_NS)
DOUBTS = ((0, False), (0, True), (1, False), (2, True), (POLICY.max_uncertain_queries, False))
EVERYWHERE = {
    Reason.COMPLETE,
    Reason.OPERATOR_ABANDONED,
    Reason.OPERATOR_DID_NOT_HAPPEN,
    Reason.KEY_COVERS_LEASE,  # a replay tells the reason of the grant, which is this one here
    Reason.LEASE_LIVE,
}
REASONS = {
    Capability.NONE: EVERYWHERE | {Reason.EXPIRED_CANNOT_TELL},
    Capability.QUERY: EVERYWHERE
    | {Reason.ABSENT_FINAL, Reason.ABSENCE_UNCERTAIN, Reason.EXPIRED_ASK_DESTINATION},
    Capability.IDEMPOTENT: EVERYWHERE | {Reason.KEY_ENDS_TOO_SOON, Reason.CLOCK_BEHIND_MARK},
}
CALLERS = (("life-1", "begin-1"), ("life-1", "begin-2"), ("life-2", "begin-1"))


@dataclass(frozen=True)
class State:
    """One combination."""

    capability: Capability
    age_ns: int
    key_slack_ns: int
    lag_ns: int
    absent_final: bool
    uncertain: int
    open_question: bool
    released: bool
    abandoned: bool
    complete: bool
    caller: tuple[str, str]

    @property
    def operation(self) -> Operation:
        bound = binding(self.capability)
        questions = tuple(Question(f"asked-{n}", True) for n in range(self.uncertain))
        if self.open_question:
            questions = (*questions, Question("asked-open"))
        first = AttemptRecord(
            attempt=1,
            incarnation_id="life-0",
            begin_id="begin-0",
            lease_token="token-1",
            reason=Reason.FIRST_GRANT,
            granted_at_ns=FIRST_GRANT_NS,
            lease_ends_at_ns=FIRST_GRANT_NS + LEASE_NS,
            absent_final=True,
        )
        latest = AttemptRecord(
            attempt=ATTEMPT,
            incarnation_id="life-1",
            begin_id="begin-1",
            lease_token="token-2",
            reason=Reason.KEY_COVERS_LEASE,
            granted_at_ns=START_NS,
            lease_ends_at_ns=START_NS + LEASE_NS,
            questions=questions,
            absent_final=self.absent_final,
            released=self.released,
        )
        keyed = self.capability is Capability.IDEMPOTENT
        return Operation(
            binding=bound,
            revision=7,
            attempts=(first, latest),
            key_deadline_ns=self.effective_ns + LEASE_NS + self.key_slack_ns if keyed else 0,
            abandoned=self.abandoned,
            receipt=receipt(bound, ATTEMPT) if self.complete else None,
        )

    @property
    def effective_ns(self) -> int:
        return START_NS + self.age_ns

    @property
    def clock(self) -> LeaseClock:
        # Not behind: the mark is the latest grant's time, as the grant itself left it.
        if not self.lag_ns:
            return LeaseClock(self.effective_ns, START_NS)
        return LeaseClock(self.effective_ns - self.lag_ns, self.effective_ns)


def states_of(capability: Capability) -> Iterator[State]:
    keyed, asked = capability is Capability.IDEMPOTENT, capability is Capability.QUERY
    flags = (False, True)
    for age_ns, lag_ns, released, abandoned, complete, caller in itertools.product(
        AGES_NS, LAGS_NS, flags, flags, flags, CALLERS
    ):
        # Slack is a matter of keys, what was asked a matter of QUERY.
        for slack_ns in KEY_SLACKS_NS if keyed else (0,):
            for absent_final in flags if asked else (False,):
                for uncertain, open_question in DOUBTS if asked else ((0, False),):
                    yield State(
                        capability=capability,
                        age_ns=age_ns,
                        key_slack_ns=slack_ns,
                        lag_ns=lag_ns,
                        absent_final=absent_final,
                        uncertain=uncertain,
                        open_question=open_question,
                        released=released,
                        abandoned=abandoned,
                        complete=complete,
                        caller=caller,
                    )


def expected(state: State) -> tuple[type[Decision], Reason]:
    """DESIGN §6: the first line that holds; C, abandoned, O, L, then X and F by column."""
    column = state.capability
    keyed = column is Capability.IDEMPOTENT
    # Row B, idempotent: never a retry on the key.
    held_back = keyed and state.lag_ns > 0
    live = state.age_ns < LEASE_NS
    granted_call = state.caller == ("life-1", "begin-1")
    doubted = state.uncertain == POLICY.max_uncertain_queries
    lines: tuple[tuple[bool, type[Decision], Reason], ...] = (
        (state.complete, Reuse, Reason.COMPLETE),
        (state.abandoned, Confirm, Reason.OPERATOR_ABANDONED),
        (state.released and held_back, Wait, Reason.CLOCK_BEHIND_MARK),
        (state.released, Execute, Reason.OPERATOR_DID_NOT_HAPPEN),
        (live and granted_call, Execute, Reason.KEY_COVERS_LEASE),
        (live, Wait, Reason.LEASE_LIVE),
        (column is Capability.NONE, Confirm, Reason.EXPIRED_CANNOT_TELL),
        (column is Capability.QUERY and state.absent_final, Execute, Reason.ABSENT_FINAL),
        (column is Capability.QUERY and doubted, Confirm, Reason.ABSENCE_UNCERTAIN),
        (column is Capability.QUERY, Query, Reason.EXPIRED_ASK_DESTINATION),
        (state.key_slack_ns < 0, Confirm, Reason.KEY_ENDS_TOO_SOON),
        (held_back, Wait, Reason.CLOCK_BEHIND_MARK),
        (keyed, Execute, Reason.KEY_COVERS_LEASE),
    )
    return next((kind, reason) for holds, kind, reason in lines if holds)


def decide(state: State) -> BeginStep:
    incarnation, begin_id = state.caller
    call = BeginCall(state.operation.binding, incarnation, begin_id, "fresh", 0)
    step = DecisionRules(POLICY).begin(state.operation, state.clock, call)
    assert isinstance(step, BeginStep)
    return step


def check_content(state: State, step: BeginStep) -> None:
    """What a decision carries, and what is kept for it."""
    before = state.operation
    decision = step.decision
    replayed = isinstance(decision, Execute) and decision.attempt == ATTEMPT and step.change is None
    if isinstance(decision, Execute) and not replayed:
        assert decision == Execute(
            attempt=ATTEMPT + 1,
            lease_token="fresh",
            remaining_ns=LEASE_NS,
            granted_at_ns=state.effective_ns,
            key_deadline_ns=before.key_deadline_ns,
            reason=decision.reason,
        )
        assert step.change is Change.GRANTED
        assert step.operation.attempts[:ATTEMPT] == before.attempts
        assert step.operation.revision == before.revision + 1
        return
    if replayed:
        assert isinstance(decision, Execute)
        assert decision.lease_token == "token-2"
        assert decision.granted_at_ns == START_NS
        assert decision.remaining_ns == LEASE_NS - state.age_ns
    if isinstance(decision, Query):
        assert decision.attempt == ATTEMPT
        assert decision.ticket == ("asked-open" if state.open_question else "fresh")
        assert step.operation.attempts[0] == before.attempts[0]
        assert (step.change is Change.ASKED) is not state.open_question
        return
    if isinstance(decision, Wait):
        ends = LEASE_NS - state.age_ns
        behind = decision.reason is Reason.CLOCK_BEHIND_MARK
        assert decision.remaining_ns == (state.lag_ns if behind else ends)
        assert decision.remaining_ns > 0
    if isinstance(decision, Reuse):
        assert decision.receipt == before.receipt
    assert step.change is None
    assert step.operation == before


@pytest.mark.parametrize("capability", list(Capability))
def test_every_state_has_its_row(capability: Capability) -> None:
    seen = set()
    for state in states_of(capability):
        step = decide(state)
        assert (type(step.decision), step.decision.reason) == expected(state), state
        check_content(state, step)
        seen.add(step.decision.reason)
    assert seen == REASONS[capability]


@pytest.mark.parametrize("capability", list(Capability))
@pytest.mark.parametrize("lag_ns", LAGS_NS)
def test_first_sight_is_granted_unless_a_key_needs_a_clock(
    capability: Capability, lag_ns: int
) -> None:
    bound = binding(capability, retention_seconds=500)
    clock = LeaseClock(START_NS - lag_ns, START_NS)
    call = BeginCall(bound, "life-1", "b", "fresh", 0)
    step = DecisionRules(POLICY).begin(None, clock, call)
    assert isinstance(step, BeginStep)
    assert step.operation.binding == bound
    assert step.operation.revision == 1
    keyed = capability is Capability.IDEMPOTENT
    if keyed and lag_ns:
        assert step.decision == Wait(lag_ns, Reason.CLOCK_BEHIND_MARK)
        assert (step.change, step.operation.attempts) == (Change.BOUND, ())
        # It is bound, so asking again changes nothing, and something else is rejected.
        again = DecisionRules(POLICY).begin(step.operation, clock, call)
        assert again == BeginStep(step.decision, step.operation)
        passed = DecisionRules(POLICY).begin(step.operation, LeaseClock(START_NS, START_NS), call)
        assert isinstance(passed, BeginStep)
        assert isinstance(passed.decision, Execute)
        return
    assert step.decision == Execute(
        attempt=1,
        lease_token="fresh",
        remaining_ns=LEASE_NS,
        granted_at_ns=START_NS,
        key_deadline_ns=START_NS + 500 * SECOND_NS if keyed else 0,
        reason=Reason.FIRST_GRANT,
    )
    assert step.change is Change.GRANTED
