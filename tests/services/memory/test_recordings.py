"""Receipts, answers and operators' words: what completes, what is kept, what changes nothing."""

import dataclasses

import pytest

from services.memory.answers import (
    Confirm,
    Disposition,
    Execute,
    OperatorWord,
    Presence,
    Query,
    QueryCall,
    ReceiptCall,
    RecordStep,
    Refusal,
    Refused,
    ResolveCall,
    Reuse,
    Wait,
)
from services.memory.model import Capability, Change, Reason, Receipt, ReceiptOutcome
from tests.services.memory.samples import Memory, binding, receipt


def call_for(memory: Memory, grant: Execute, taken: Receipt | None = None) -> ReceiptCall:
    return ReceiptCall(
        "life-1", grant.attempt, grant.lease_token, taken or receipt(memory.bound, grant.attempt)
    )


def superseded(memory: Memory) -> tuple[Execute, Execute]:
    """Two grants, the second over the first's head."""
    first = memory.execute()
    memory.expire()
    return first, memory.execute()


@pytest.mark.parametrize("capability", list(Capability))
def test_a_receipt_completes_after_expiry_and_after_every_answer_to_it(
    capability: Capability,
) -> None:
    memory = Memory(binding(capability, retention_seconds=1))
    grant = memory.execute()
    memory.expire()
    assert isinstance(memory.begin("life-2"), Confirm | Query)
    assert memory.record_for(grant) is Disposition.COMPLETED
    assert isinstance(memory.begin("life-2"), Reuse)


@pytest.mark.parametrize("word", [OperatorWord.DID_NOT_HAPPEN, OperatorWord.ABANDON])
def test_a_receipt_completes_after_an_operators_word(word: OperatorWord) -> None:
    memory = Memory(binding())
    grant = memory.execute()
    memory.resolve(ResolveCall(1, word))
    assert memory.record_for(grant) is Disposition.COMPLETED
    assert isinstance(memory.begin(), Reuse)


def test_a_receipt_completes_after_a_fence_as_long_as_nothing_was_granted() -> None:
    memory = Memory(binding(Capability.QUERY))
    grant = memory.execute()
    memory.expire()
    memory.answer(memory.ask(), Presence.ABSENT_FINAL)
    assert memory.record_for(grant) is Disposition.COMPLETED


def test_a_superseded_receipt_is_evidence_and_completes_nothing() -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    first, second = superseded(memory)
    assert memory.record_for(first) is Disposition.EVIDENCE_ONLY
    assert memory.kept.attempts[0].evidence == receipt(memory.bound, 1)
    assert memory.kept.receipt is None
    # The second's lease is untouched by it.
    assert isinstance(memory.begin("life-2"), Wait)
    assert memory.record_for(first) is Disposition.ALREADY_RECORDED
    other = memory.record_for(first, result_json="{}")
    assert isinstance(other, Refused)
    assert other.refusal is Refusal.STATE
    assert memory.record_for(second) is Disposition.COMPLETED
    decision = memory.begin("life-2")
    assert isinstance(decision, Reuse)
    assert decision.receipt.attempt == 2


def test_a_superseded_receipt_stays_evidence_when_the_operation_is_complete() -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    first, second = superseded(memory)
    memory.record_for(second)
    assert memory.record_for(first) is Disposition.EVIDENCE_ONLY
    assert memory.kept.receipt == receipt(memory.bound, 2)


def test_a_repeat_is_acknowledged_and_another_receipt_is_refused() -> None:
    memory = Memory(binding())
    grant = memory.execute()
    assert memory.record_for(grant) is Disposition.COMPLETED
    before = memory.kept
    memory.advance(10_000)
    assert memory.record_for(grant) is Disposition.ALREADY_RECORDED
    for other in (
        memory.record_for(grant, result_json='{"document":"d2"}'),
        memory.record_for(grant, effect_id="e2"),
    ):
        assert isinstance(other, Refused)
        assert other.refusal is Refusal.STATE
    assert memory.kept == before


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"lease_token": "forged"}, Refusal.AUTHORITY),
        ({"lease_token": "förged"}, Refusal.AUTHORITY),
        ({"incarnation_id": "life-2"}, Refusal.AUTHORITY),
        ({"attempt": 0}, Refusal.STATE),
        ({"attempt": 3}, Refusal.STATE),
        ({"attempt": 1}, Refusal.AUTHORITY),
    ],
)
def test_a_call_that_is_not_bound_changes_nothing_and_frees_no_lease(
    changes: dict[str, str | int], refusal: Refusal
) -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    _, second = superseded(memory)
    good = call_for(memory, second)
    fields = {f.name: getattr(good, f.name) for f in dataclasses.fields(good)}
    before = memory.kept
    outcome = memory.record(ReceiptCall(**{**fields, **changes}))
    assert isinstance(outcome, Refused)
    assert outcome.refusal is refusal
    assert memory.kept == before
    assert isinstance(memory.begin("life-2"), Wait)
    assert memory.record(good) is Disposition.COMPLETED


@pytest.mark.parametrize(
    "foreign", [{"operation_id": "e" * 64}, {"arguments_digest": "e" * 64}, {"attempt": 2}]
)
@pytest.mark.parametrize("through_query", [False, True])
def test_a_receipt_of_something_else_changes_nothing(
    foreign: dict[str, str | int], through_query: bool
) -> None:
    memory = Memory(binding(Capability.QUERY))
    grant = memory.execute()
    good = receipt(memory.bound, 1)
    fields = {f.name: getattr(good, f.name) for f in dataclasses.fields(good)}
    bad = Receipt(**{**fields, **foreign})
    memory.expire()
    asked = memory.ask()
    before = memory.kept
    outcome: object
    if through_query:
        call = QueryCall(1, asked.ticket, Presence.PRESENT, bad)
        outcome = memory.recordings.query(before, call)
    else:
        outcome = memory.record(call_for(memory, grant, bad))
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.STATE
    assert memory.kept == before


def test_a_tool_error_completes_and_is_reused() -> None:
    memory = Memory(binding())
    grant = memory.execute()
    refusal = dataclasses.replace(
        receipt(memory.bound, 1), outcome=ReceiptOutcome.TOOL_ERROR, effect_id=""
    )
    assert memory.record(call_for(memory, grant, refusal)) is Disposition.COMPLETED
    assert memory.begin("life-2") == Reuse(refusal, Reason.COMPLETE)


def test_presence_completes_from_a_superseded_attempt_too() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    asked = memory.ask()
    memory.answer(asked, Presence.ABSENT_FINAL)
    memory.execute()
    assert memory.answer(asked, Presence.PRESENT) is Disposition.COMPLETED
    decision = memory.begin("life-3")
    assert isinstance(decision, Reuse)
    assert decision.receipt.attempt == 1


@pytest.mark.parametrize(
    "presence", [Presence.ABSENT_FINAL, Presence.ABSENT_UNCERTAIN, Presence.UNKNOWN]
)
def test_an_absence_of_a_superseded_attempt_is_refused(presence: Presence) -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    asked = memory.ask()
    memory.answer(asked, Presence.ABSENT_FINAL)
    memory.execute()
    before = memory.kept
    outcome = memory.answer(asked, presence)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.STATE
    assert memory.kept == before


def test_presence_after_completion_is_acknowledged_or_refused_by_its_content() -> None:
    memory = Memory(binding(Capability.QUERY))
    grant = memory.execute()
    memory.expire()
    asked = memory.ask()
    memory.record_for(grant)
    before = memory.kept
    assert memory.answer(asked, Presence.PRESENT) is Disposition.ALREADY_RECORDED
    other = QueryCall(1, asked.ticket, Presence.PRESENT, receipt(memory.bound, 1, effect_id="e2"))
    outcome = memory.recordings.query(memory.kept, other)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.STATE
    for presence in (Presence.ABSENT_FINAL, Presence.ABSENT_UNCERTAIN, Presence.UNKNOWN):
        assert memory.answer(asked, presence) is None
    assert memory.kept == before


def test_unknown_changes_nothing() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    asked = memory.ask()
    before = memory.kept
    for _ in range(10):
        assert memory.answer(asked, Presence.UNKNOWN) is None
    assert memory.kept == before
    assert memory.ask() == asked


def test_a_repeated_doubt_counts_once_and_a_fence_is_kept() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    asked = memory.ask()
    for _ in range(10):
        memory.answer(asked, Presence.ABSENT_UNCERTAIN)
    assert memory.kept.attempts[0].uncertain_answers == 1
    memory.answer(asked, Presence.ABSENT_FINAL)
    before = memory.kept
    memory.answer(asked, Presence.ABSENT_FINAL)
    memory.answer(asked, Presence.ABSENT_UNCERTAIN)
    assert memory.kept == before
    assert isinstance(memory.begin(), Execute)


def test_a_forged_ticket_is_refused() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    memory.ask()
    before = memory.kept
    for attempt, refusal in ((1, Refusal.AUTHORITY), (0, Refusal.STATE), (2, Refusal.STATE)):
        outcome = memory.answer(
            Query(attempt, "forged", Reason.EXPIRED_ASK_DESTINATION), Presence.ABSENT_FINAL
        )
        assert isinstance(outcome, Refused)
        assert outcome.refusal is refusal
    assert memory.kept == before


@pytest.mark.parametrize("capability", [Capability.NONE, Capability.IDEMPOTENT])
def test_nobody_was_asked_so_no_answer_counts(capability: Capability) -> None:
    memory = Memory(binding(capability, retention_seconds=1))
    memory.execute()
    memory.expire()
    memory.begin()
    outcome = memory.answer(
        Query(1, "secret-1", Reason.EXPIRED_ASK_DESTINATION), Presence.ABSENT_FINAL
    )
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.AUTHORITY


def test_presence_without_a_receipt_is_malformed() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    asked = memory.ask()
    outcome = memory.recordings.query(
        memory.kept, QueryCall(1, asked.ticket, Presence.PRESENT, None)
    )
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.MALFORMED


def test_an_operators_words() -> None:
    memory = Memory(binding())
    memory.execute()
    memory.expire()
    assert memory.resolve(ResolveCall(1, OperatorWord.ABANDON)) is None
    assert memory.begin() == Confirm(Reason.OPERATOR_ABANDONED)
    assert memory.resolve(ResolveCall(1, OperatorWord.DID_NOT_HAPPEN)) is None
    assert memory.execute().attempt == 2
    stale = memory.resolve(ResolveCall(1, OperatorWord.DID_NOT_HAPPEN))
    assert isinstance(stale, Refused)
    assert stale.refusal is Refusal.AUTHORITY
    # The license was for attempt 1 and is spent.
    assert isinstance(memory.begin("life-2"), Wait)
    found = receipt(memory.bound, 2, effect_id="")
    assert memory.resolve(ResolveCall(2, OperatorWord.HAPPENED, found)) is None
    assert memory.begin() == Reuse(found, Reason.COMPLETE)
    late = memory.resolve(ResolveCall(2, OperatorWord.ABANDON))
    assert isinstance(late, Refused)


def test_an_operator_frees_a_live_lease_for_a_new_attempt_only() -> None:
    memory = Memory(binding())
    memory.execute("life-1", "same")
    memory.resolve(ResolveCall(1, OperatorWord.DID_NOT_HAPPEN))
    # Not the same attempt again: the operator said that its dispatch is over.
    assert memory.execute("life-1", "same").attempt == 2


def test_what_happened_comes_with_its_result() -> None:
    memory = Memory(binding())
    memory.execute()
    step = memory.recordings.resolve(memory.kept, ResolveCall(1, OperatorWord.HAPPENED))
    assert isinstance(step, Refused)
    assert step.refusal is Refusal.MALFORMED


def test_each_change_has_its_name_for_the_audit() -> None:
    memory = Memory(binding(Capability.QUERY))
    grant = memory.execute()
    memory.expire()
    asked = memory.ask()
    step = memory.recordings.query(memory.kept, QueryCall(1, asked.ticket, Presence.ABSENT_FINAL))
    assert isinstance(step, RecordStep)
    assert step.change is Change.FOUND_ABSENT
    step = memory.recordings.receipt(memory.kept, call_for(memory, grant))
    assert isinstance(step, RecordStep)
    assert step.change is Change.COMPLETED_BY_RECEIPT
