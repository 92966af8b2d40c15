"""Known-good histories are accepted, known-bad ones rejected, and both within bounded work."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.errors import OracleLimitError
from orchestrator.oracle.history import HistoryResult, Verdict, check_history
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.messages import (
    Accepted,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Disposition,
    PeekAsked,
    QueryAsked,
    ReceiptAsked,
    Unanswered,
)
from orchestrator.oracle.view import Call, OperationView
from tests.orchestrator.oracle.history.simulated import (
    LEASE_NS,
    Memory,
    clock,
    receipt,
    simulate,
    spec,
    with_answer,
)

CAPABILITIES = tuple(Capability)
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check(view: OperationView, states_max: int = 100_000) -> HistoryResult:
    return check_history(view, clock(), DeclaredMemory(), states_max)


def begin(
    number: int,
    answer: DecisionTold | Unanswered,
    first: int,
    last: int | None,
    *,
    capability: Capability = Capability.NONE,
) -> Call:
    asked = BeginAsked(spec(capability), f"c{number}", f"b{number}")
    return Call(number, number, "agent", asked, answer, first, last)


def execute(attempt: int, token: str = "") -> DecisionTold:
    told = token or f"t{attempt}"
    return DecisionTold(DecisionKind.EXECUTE, "r", attempt, told, LEASE_NS // 1_000_000, 0)


REUSE = DecisionTold(DecisionKind.REUSE, "r")
REJECT = DecisionTold(DecisionKind.REJECT, "r")
WAIT = DecisionTold(DecisionKind.WAIT, "r", remaining_ms=1)


def view_of(*calls: Call) -> OperationView:
    return OperationView("op", calls)


def test_waits_may_be_seen_before_the_grant_that_they_wait_for() -> None:
    result = check(view_of(begin(1, execute(1), 0, 100), begin(2, WAIT, 1, 50)))
    assert (result.verdict, result.overlapping) == (Verdict.ACCEPTED, 2)


def test_two_live_leases_are_told_with_both_grants_and_nothing_else() -> None:
    result = check(
        view_of(
            begin(1, WAIT, 0, 90),
            begin(2, execute(1), 1, 100),
            begin(3, WAIT, 2, 100),
            begin(4, execute(2), 3, 120),
            begin(5, WAIT, 200, 300),
        )
    )
    assert result.verdict is Verdict.REJECTED
    assert [words.split(":")[0] for words in result.contradiction] == ["record 2", "record 4"]
    assert "EXECUTE of attempt 2" in result.contradiction[1]


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_second_grant_after_the_lease_is_right_under_a_key_only(capability: Capability) -> None:
    late = LEASE_NS + 1_000
    result = check(
        view_of(
            begin(1, execute(1), 0, 100, capability=capability),
            begin(2, execute(2), late, late + 5, capability=capability),
        )
    )
    right = capability is Capability.IDEMPOTENT
    assert result.verdict is (Verdict.ACCEPTED if right else Verdict.REJECTED)


def test_an_unanswered_call_may_have_been_taken_at_any_time() -> None:
    lost = begin(1, Unanswered(), 0, None)
    held = ReceiptAsked("c1", 1, "t1", receipt(1))
    retried = Call(3, 3, "agent", BeginAsked(spec(), "c1", "b1"), execute(1), 300, 310)
    taken = Call(4, 4, "agent", held, Accepted(Disposition.COMPLETED), 320, 330)
    assert check(view_of(lost, begin(2, WAIT, 100, 200), retried, taken)).verdict is (
        Verdict.ACCEPTED
    )


def test_a_memory_that_was_dead_took_nothing_afterwards() -> None:
    # Taken before its memory died, the lost call is attempt 1 and the second grant a third hand's.
    lost = begin(1, Unanswered(), 0, 50)
    first = begin(2, execute(1), 100, 200)
    again = Call(3, 3, "agent", BeginAsked(spec(), "c1", "b1"), execute(1, "t9"), 300, 310)
    assert check(view_of(lost, first, again)).verdict is Verdict.REJECTED


def test_a_receipt_that_reached_a_memory_before_it_died_may_have_completed() -> None:
    """Whatever is asked of the next life, and changes nothing, comes after it."""
    lost = Call(2, 2, "agent", ReceiptAsked("c1", 1, "t1", receipt(1)), Unanswered(), 200, 300)
    looked = Call(3, 3, "agent", PeekAsked(spec(), "c2"), REUSE, 400, 500)
    refused = Call(4, 4, "agent", BeginAsked(spec(core="other"), "c2", "b2"), REJECT, 510, 520)
    reused = begin(5, DecisionTold(DecisionKind.REUSE, "r", receipt=receipt(1)), 600, 700)
    for between in ((), (looked,), (refused,), (looked, refused)):
        history = view_of(begin(1, execute(1), 0, 100), lost, *between, reused)
        assert check(history).verdict is Verdict.ACCEPTED
        assert not judge_operation(history, clock(), DeclaredMemory()).violations


def test_a_contradiction_keeps_the_grant_whose_token_an_unanswered_receipt_brings() -> None:
    """Without the token the receipt could have done nothing, and another story would be told."""
    lost = Call(2, 2, "agent", ReceiptAsked("c1", 1, "t1", receipt(1)), Unanswered(), 200, None)
    reused = begin(3, DecisionTold(DecisionKind.REUSE, "r", receipt=receipt(1)), 300, 400)
    result = check(view_of(begin(1, execute(1), 0, 100), lost, reused, begin(4, WAIT, 500, 600)))
    assert [words.split(":")[0] for words in result.contradiction] == [
        "record 1",
        "record 3",
        "record 4",
    ]


def test_what_is_complete_stays_complete() -> None:
    asked = ReceiptAsked("c1", 1, "t1", receipt(1))
    done = Call(2, 2, "agent", asked, Accepted(Disposition.COMPLETED), 200, 300)
    result = check(view_of(begin(1, execute(1), 0, 100), done, begin(3, WAIT, 400, 500)))
    assert result.verdict is Verdict.REJECTED
    assert len(result.contradiction) == 3


def test_all_agree_on_the_result() -> None:
    asked = ReceiptAsked("c1", 1, "t1", receipt(1))
    done = Call(2, 2, "agent", asked, Accepted(Disposition.COMPLETED), 200, 300)
    other = DecisionTold(DecisionKind.REUSE, "r", receipt=receipt(1, "another"))
    history = view_of(begin(1, execute(1), 0, 100), done, begin(3, other, 400, 500))
    assert check(history).verdict is Verdict.REJECTED
    same = DecisionTold(DecisionKind.REUSE, "r", receipt=receipt(1))
    assert check(with_answer(history, 2, same)).verdict is Verdict.ACCEPTED


@SLOW
@given(st.integers(0, 2**32), st.integers(2, 16), st.integers(1, 6), st.sampled_from(CAPABILITIES))
def test_a_memory_that_is_right_is_accepted(
    seed: int, clients: int, calls: int, capability: Capability
) -> None:
    assert check(simulate(seed, clients, calls, capability)).verdict is Verdict.ACCEPTED


@SLOW
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 6), st.sampled_from(CAPABILITIES))
def test_a_memory_that_dies_and_loses_nothing_is_accepted_by_both(
    seed: int, clients: int, calls: int, capability: Capability
) -> None:
    view = simulate(seed, clients, calls, capability, deaths=3)
    result = check(view)
    assert result.verdict is Verdict.ACCEPTED, result.contradiction
    assert not judge_operation(view, clock(), DeclaredMemory()).violations


@SLOW
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(1, 5), st.sampled_from(CAPABILITIES))
def test_what_the_checker_rejects_the_judge_blames(
    seed: int, clients: int, calls: int, capability: Capability
) -> None:
    """Whatever one answer is replaced by: the coarser of the two never blames alone."""
    right = simulate(seed, clients, calls, capability)
    position = seed % len(right.calls)
    for answer in _other_answers(right.calls[position]):
        wrong = with_answer(right, position, answer)
        if check(wrong).verdict is Verdict.REJECTED:
            judged = judge_operation(wrong, clock(), DeclaredMemory())
            assert judged.violations, check(wrong).contradiction


def _other_answers(call: Call) -> list[DecisionTold | Accepted]:
    if isinstance(call.request, BeginAsked):
        return [execute(7), execute(1, "t8"), WAIT, DecisionTold(DecisionKind.CONFIRM, "r")]
    if isinstance(call.request, QueryAsked):
        return [Accepted()]
    return [Accepted(Disposition.COMPLETED), Accepted(Disposition.EVIDENCE_ONLY)]


class GrantsTwice(Memory):
    """Looks, and grants later: two that ask at once are both told to go."""

    def _begin(self, asked: BeginAsked, now_ns: int) -> DecisionTold:
        if self.attempt == 1 and self.done is None:
            return self._grant(asked, now_ns)
        return super()._begin(asked, now_ns)


class ForgetsReceipts(Memory):
    """Acknowledges, and keeps nothing."""

    def _receipt(self, asked: ReceiptAsked) -> Accepted:
        return Accepted(Disposition.COMPLETED)


@pytest.mark.parametrize("memory", [GrantsTwice, ForgetsReceipts])
def test_a_memory_that_is_wrong_is_rejected(memory: type[Memory]) -> None:
    rejected = [
        check(simulate(seed, 4, 6, Capability.NONE, memory)).verdict is Verdict.REJECTED
        for seed in range(30)
    ]
    assert sum(rejected) >= 10


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_sixteen_agents_with_fifty_calls_are_decided_within_bounded_work(
    capability: Capability,
) -> None:
    for seed in range(3):
        view = simulate(seed, 16, 50, capability)
        result = check(view)
        assert (result.verdict, len(view.calls)) == (Verdict.ACCEPTED, 800)
        assert result.states < 20_000


def test_what_needs_more_states_than_the_bound_is_undecided() -> None:
    view = simulate(1, 16, 20, Capability.IDEMPOTENT)
    assert check(view, states_max=3).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("order", [1, -1])
def test_the_judge_follows_sixteen_that_ask_at_once(order: int) -> None:
    """The judge's own bound holds when every answer comes late, whichever comes first."""
    begins = [begin(1, execute(1), 0, 1_000)] + [
        begin(number, WAIT, number, 1_000 + order * number) for number in range(2, 17)
    ]
    granted = replace(begins[0], answer=replace(execute(1), granted_at_ns=500))
    judged = judge_operation(view_of(granted, *begins[1:]), clock(), DeclaredMemory())
    assert not judged.violations


def test_the_judge_follows_a_crowd_or_says_that_it_cannot() -> None:
    for seed in range(4):
        view = simulate(seed, 8, 4)
        try:
            assert not judge_operation(view, clock(), DeclaredMemory()).violations
        except OracleLimitError:
            pytest.fail("eight agents are too many for the judge")


def test_a_receipt_of_another_operation_says_nothing_of_this_one() -> None:
    """Intents are matched across operations: the judge looks at those, this history cannot."""
    sibling = replace(receipt(1), operation_id="another")
    reused = DecisionTold(DecisionKind.REUSE, "intent_complete", receipt=sibling)
    assert check(view_of(begin(1, reused, 0, 10))).verdict is Verdict.ACCEPTED
    own = DecisionTold(DecisionKind.REUSE, "complete", receipt=receipt(1))
    assert check(view_of(begin(1, own, 0, 10))).verdict is Verdict.REJECTED


def test_a_race_that_everybody_wins_is_blamed_within_the_bound() -> None:
    """Sixteen grants and their receipts, all at once: what is proven stays proven."""
    begins = [
        begin(number, execute(number), number, 1_000 - number, capability=Capability.NONE)
        for number in range(1, 17)
    ]
    receipts = [
        Call(
            100 + number,
            100 + number,
            "agent",
            ReceiptAsked(f"c{number}", number, f"t{number}", receipt(number)),
            Accepted(Disposition.COMPLETED),
            2_000 + number,
            3_000 - number,
        )
        for number in range(1, 17)
    ]
    judged = judge_operation(view_of(*begins, *receipts), clock(), DeclaredMemory())
    assert judged.grant_outside
    assert check(view_of(*begins, *receipts)).verdict is Verdict.REJECTED
