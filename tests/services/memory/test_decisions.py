"""Begin, replay, identity, limits and Renew, one rule a test."""

import dataclasses

import pytest

from services.memory.answers import (
    BeginStep,
    Confirm,
    Disposition,
    Execute,
    OperatorWord,
    Presence,
    Query,
    Refusal,
    Refused,
    Reject,
    RenewStep,
    ResolveCall,
    Reuse,
    Wait,
)
from services.memory.decisions import DecisionRules
from services.memory.model import Capability, OperationBinding, Policy, Reason
from tests.services.memory.samples import LEASE_NS, SECOND_NS, START_NS, Memory, binding, receipt

OTHER_DIGEST = "f" * 64


def test_a_transport_retry_gets_the_same_grant_with_less_lease() -> None:
    memory = Memory(binding())
    first = memory.execute(begin_id="same")
    memory.advance(30)
    again = memory.execute(begin_id="same")
    assert again == dataclasses.replace(first, remaining_ns=LEASE_NS - 30 * SECOND_NS)
    assert len(memory.kept.attempts) == 1


def test_a_wait_is_never_replayed() -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    memory.execute("life-1")
    assert isinstance(memory.begin("life-2", "asked-once"), Wait)
    memory.expire()
    decision = memory.begin("life-2", "asked-once")
    assert isinstance(decision, Execute)
    assert decision.attempt == 2


def test_a_begin_id_of_another_incarnation_is_a_fresh_call() -> None:
    memory = Memory(binding())
    memory.execute("life-1", "same")
    assert isinstance(memory.begin("life-2", "same"), Wait)


def test_a_superseded_or_expired_begin_id_is_decided_afresh() -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    memory.execute("life-1", "old")
    memory.expire()
    assert memory.execute("life-1", "old").attempt == 2
    memory.expire()
    assert memory.execute("life-2", "new").attempt == 3
    assert isinstance(memory.begin("life-1", "old"), Wait)


def test_a_replay_outlives_a_renewal() -> None:
    memory = Memory(binding())
    grant = memory.execute("life-1", "same")
    memory.advance(100)
    assert isinstance(memory.renew(1, grant.lease_token), RenewStep)
    memory.advance(100)
    again = memory.execute("life-1", "same")
    assert (again.attempt, again.remaining_ns) == (1, LEASE_NS - 100 * SECOND_NS)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"arguments_digest": OTHER_DIGEST}, Reason.ARGUMENTS_MISMATCH),
        ({"tool": "other"}, Reason.TOOL_MISMATCH),
        ({"destination": "other"}, Reason.DESTINATION_MISMATCH),
        ({"capability": Capability.NONE}, Reason.CAPABILITY_MISMATCH),
        ({"capability": Capability.QUERY}, Reason.CAPABILITY_MISMATCH),
        ({"idempotency_key": "other"}, Reason.KEY_MISMATCH),
        ({"retention_seconds": 1}, Reason.RETENTION_MISMATCH),
        ({"principal": "other"}, Reason.PRINCIPAL_MISMATCH),
        ({"workflow_id": "other"}, Reason.WORKFLOW_MISMATCH),
        ({"intent_digest": OTHER_DIGEST}, Reason.INTENT_MISMATCH),
        ({"namespace": "other"}, Reason.NAMESPACE_MISMATCH),
        ({"arguments_digest": OTHER_DIGEST, "tool": "other"}, Reason.ARGUMENTS_MISMATCH),
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_another_specification_of_the_same_identity_is_rejected(
    changes: dict[str, object], reason: Reason, complete: bool
) -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    grant = memory.execute()
    if complete:
        memory.record_for(grant)
    before = memory.kept
    asked = changed(memory.bound, changes)
    assert memory.begin(asked=asked) == Reject(reason)
    assert memory.kept == before
    # The bound one is not disturbed.
    assert isinstance(memory.begin("life-2"), Reuse if complete else Wait)


def changed(bound: OperationBinding, changes: dict[str, object]) -> OperationBinding:
    fields = {f.name: getattr(bound, f.name) for f in dataclasses.fields(bound)}
    return OperationBinding(**{**fields, **changes})


@pytest.mark.parametrize(
    ("capability", "changes"),
    [
        (Capability.IDEMPOTENT, {"idempotency_key": ""}),
        (Capability.NONE, {"idempotency_key": "key"}),
        (Capability.QUERY, {"idempotency_key": "key"}),
        (Capability.NONE, {"retention_seconds": 1}),
    ],
)
def test_a_key_goes_with_idempotent_and_only_with_it(
    capability: Capability, changes: dict[str, object]
) -> None:
    memory = Memory(changed(binding(capability), changes))
    step = memory.try_begin()
    assert isinstance(step, Refused)
    assert step.refusal is Refusal.MALFORMED
    assert memory.operation is None


def test_a_full_workflow_takes_no_further_operation() -> None:
    memory = Memory(binding(), DecisionRules(Policy(max_operations_per_workflow=0)))
    step = memory.try_begin()
    assert isinstance(step, Refused)
    assert step.refusal is Refusal.LIMIT


def test_attempts_end_in_resource_exhausted_and_the_last_stays_open() -> None:
    rules = DecisionRules(Policy(max_attempts=3))
    memory = Memory(binding(Capability.IDEMPOTENT, retention_seconds=86_400), rules)
    for attempt in (1, 2, 3):
        grant = memory.execute()
        assert grant.attempt == attempt
        memory.expire()
    step = memory.try_begin()
    assert isinstance(step, Refused)
    assert step.refusal is Refusal.LIMIT
    assert memory.record_for(grant) is Disposition.COMPLETED


def test_revisions_end_in_resource_exhausted_and_completion_is_exempt() -> None:
    memory = Memory(binding(Capability.QUERY), DecisionRules(Policy(max_revisions=1)))
    grant = memory.execute()
    memory.expire()
    step = memory.try_begin()
    assert isinstance(step, Refused)
    assert step.refusal is Refusal.LIMIT
    assert memory.record_for(grant) is Disposition.COMPLETED


def test_revisions_bound_retries_and_renewals_too() -> None:
    memory = Memory(binding(Capability.IDEMPOTENT), DecisionRules(Policy(max_revisions=1)))
    grant = memory.execute()
    renewed = memory.renew(1, grant.lease_token)
    assert isinstance(renewed, Refused)
    assert renewed.refusal is Refusal.LIMIT
    memory.expire()
    retried = memory.try_begin()
    assert isinstance(retried, Refused)
    assert retried.refusal is Refusal.LIMIT


def test_a_key_is_used_while_it_covers_the_whole_new_lease_from_the_first_grant() -> None:
    retention_seconds = 3 * 120 + 60
    memory = Memory(binding(Capability.IDEMPOTENT, retention_seconds=retention_seconds))
    deadline_ns = START_NS + retention_seconds * SECOND_NS
    assert memory.execute().key_deadline_ns == deadline_ns
    memory.now_ns = START_NS + LEASE_NS
    assert memory.execute().key_deadline_ns == deadline_ns
    memory.now_ns = deadline_ns - LEASE_NS
    decision = memory.execute()
    assert (decision.attempt, decision.reason) == (3, Reason.KEY_COVERS_LEASE)
    memory.now_ns = deadline_ns
    assert memory.begin() == Confirm(Reason.KEY_ENDS_TOO_SOON)


def test_a_margin_is_kept_before_the_keys_end() -> None:
    rules = DecisionRules(Policy(key_margin_seconds=1))
    memory = Memory(binding(Capability.IDEMPOTENT, retention_seconds=240), rules)
    memory.execute()
    memory.now_ns = START_NS + LEASE_NS
    assert memory.begin() == Confirm(Reason.KEY_ENDS_TOO_SOON)


def test_one_question_has_one_ticket_until_it_is_answered() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    asked = memory.ask("life-2")
    assert memory.ask("life-3") == asked
    memory.answer(asked, Presence.UNKNOWN)
    assert memory.ask("life-2") == asked
    memory.answer(asked, Presence.ABSENT_UNCERTAIN)
    assert memory.ask("life-2").ticket != asked.ticket


def test_doubt_ends_bounded_in_confirm_and_starts_anew_with_a_new_attempt() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    for _ in range(Policy().max_uncertain_queries):
        asked = memory.ask()
        memory.answer(asked, Presence.ABSENT_UNCERTAIN)
    assert memory.begin() == Confirm(Reason.ABSENCE_UNCERTAIN)
    # A fence that is heard of later still frees the way.
    memory.answer(asked, Presence.ABSENT_FINAL)
    assert memory.execute().attempt == 2
    memory.expire()
    assert memory.ask().attempt == 2


def test_final_absence_licenses_exactly_one_attempt() -> None:
    memory = Memory(binding(Capability.QUERY))
    memory.execute()
    memory.expire()
    memory.answer(memory.ask(), Presence.ABSENT_FINAL)
    assert memory.execute("life-2").reason is Reason.ABSENT_FINAL
    assert isinstance(memory.begin("life-3"), Wait)
    memory.expire()
    assert isinstance(memory.begin("life-3"), Query)


@pytest.mark.parametrize("capability", list(Capability))
def test_a_clock_set_back_hides_nothing_that_is_complete(capability: Capability) -> None:
    memory = Memory(binding(capability))
    memory.record_for(memory.execute())
    memory.advance(-86_400)
    decision = memory.begin("life-2")
    assert isinstance(decision, Reuse)
    assert memory.mark_ns == START_NS


def test_a_clock_set_back_retries_on_no_key_until_it_has_passed_the_mark() -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    memory.execute()
    memory.expire()
    mark_ns = memory.now_ns
    memory.begin(asked=dataclasses.replace(memory.bound, tool="other"))
    memory.advance(-1_000)
    assert memory.begin() == Wait(1_000 * SECOND_NS, Reason.CLOCK_BEHIND_MARK)
    memory.now_ns = mark_ns
    assert memory.execute().attempt == 2


def test_a_lease_does_not_become_younger_when_the_clock_is_set_back() -> None:
    memory = Memory(binding())
    memory.execute()
    memory.advance(119)
    assert memory.begin("life-2") == Wait(SECOND_NS, Reason.LEASE_LIVE)
    memory.advance(-100)
    assert memory.begin("life-2") == Wait(SECOND_NS, Reason.LEASE_LIVE)


def test_renewals_extend_from_now_and_end() -> None:
    memory = Memory(binding())
    grant = memory.execute()
    for left in range(Policy().max_renewals - 1, -1, -1):
        memory.advance(119)
        step = memory.renew(1, grant.lease_token)
        assert isinstance(step, RenewStep)
        assert (step.remaining_ns, step.remaining_renewals) == (LEASE_NS, left)
    memory.advance(119)
    refused = memory.renew(1, grant.lease_token)
    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.LIMIT


def test_a_retry_under_a_key_cannot_be_renewed_beyond_it() -> None:
    memory = Memory(binding(Capability.IDEMPOTENT, retention_seconds=300))
    first = memory.execute()
    memory.advance(119)
    step = memory.renew(1, first.lease_token)
    assert isinstance(step, RenewStep)  # the first dispatch leans on no key
    assert step.remaining_ns == LEASE_NS
    memory = Memory(binding(Capability.IDEMPOTENT, retention_seconds=300))
    memory.execute()
    memory.expire()
    second = memory.execute()
    memory.advance(119)
    step = memory.renew(2, second.lease_token)
    assert isinstance(step, RenewStep)
    # Granted at 121 s, renewed at 240 s: 60 s of the key are left, and not a whole lease.
    assert step.remaining_ns == 60 * SECOND_NS


@pytest.mark.parametrize("case", ["token", "incarnation", "attempt", "expired", "complete"])
def test_a_renewal_that_does_not_fit_changes_nothing(case: str) -> None:
    memory = Memory(binding(Capability.IDEMPOTENT))
    grant = memory.execute()
    attempt, token, incarnation = 1, grant.lease_token, "life-1"
    refusal = Refusal.STATE
    match case:
        case "token":
            token, refusal = "forged", Refusal.AUTHORITY
        case "incarnation":
            incarnation, refusal = "life-2", Refusal.AUTHORITY
        case "attempt":
            attempt = 2
        case "expired":
            memory.now_ns += LEASE_NS
        case "complete":
            memory.record_for(grant)
    before = memory.kept
    step = memory.renew(attempt, token, incarnation)
    assert isinstance(step, Refused)
    assert step.refusal is refusal
    assert memory.kept == before


def test_an_operators_word_ends_no_lease_but_abandoning_does() -> None:
    memory = Memory(binding())
    grant = memory.execute()
    memory.resolve(ResolveCall(1, OperatorWord.DID_NOT_HAPPEN))
    assert isinstance(memory.renew(1, grant.lease_token), RenewStep)
    memory.resolve(ResolveCall(1, OperatorWord.ABANDON))
    refused = memory.renew(1, grant.lease_token)
    assert isinstance(refused, Refused)
    assert refused.refusal is Refusal.STATE


def test_a_receipt_is_what_reuse_returns() -> None:
    memory = Memory(binding())
    memory.record_for(memory.execute())
    step = memory.try_begin("life-2")
    assert isinstance(step, BeginStep)
    assert step.decision == Reuse(receipt(memory.bound, 1), Reason.COMPLETE)
