"""The calls that this issue's hosts do not make are judged, too: Peek, Renew, Resolve."""

import pytest

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle.declared import DeclaredMemory
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import (
    CONTINUITY,
    confirm,
    receipt,
    record_receipt,
    reject,
    reuse,
    spec,
    wait,
)

LEASE = 121
KINDS = {
    "EXECUTE": continuity_pb2.DECISION_KIND_EXECUTE,
    "WAIT": continuity_pb2.DECISION_KIND_WAIT,
    "CONFIRM": continuity_pb2.DECISION_KIND_CONFIRM,
    "REUSE": continuity_pb2.DECISION_KIND_REUSE,
    "REJECT": continuity_pb2.DECISION_KIND_REJECT,
}
HAPPENED = continuity_pb2.OPERATOR_DECISION_HAPPENED
DID_NOT_HAPPEN = continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN
ABANDON = continuity_pb2.OPERATOR_DECISION_ABANDON


def granted(story: Story | None = None) -> Story:
    made = story or Story()
    made.grants()
    return made


def peeks(story: Story, kind: str, status: int = 0) -> None:
    request = continuity_pb2.PeekRequest(spec=story.spec, incarnation_id="P")
    answer = continuity_pb2.PeekResponse(kind=KINDS[kind], reason_code="r")
    method = CONTINUITY + "Peek"
    story.trace.called(method, request, None if status else answer, status=status)


def renews(story: Story, remaining_ms: int = 120_000, status: int = 0, token: str = "t1") -> None:
    request = continuity_pb2.RenewRequest(
        operation_id="op", incarnation_id="A", attempt=1, lease_token=token
    )
    answer = continuity_pb2.RenewResponse(remaining_lease_ms=remaining_ms)
    method = CONTINUITY + "Renew"
    story.trace.called(method, request, None if status else answer, status=status)


def resolves(
    story: Story, word: continuity_pb2.OperatorDecision.ValueType, status: int = 0
) -> None:
    story.trace.called(
        CONTINUITY + "RequestResolve",
        continuity_pb2.RequestResolveRequest(operation_id="op"),
        continuity_pb2.RequestResolveResponse(challenge=common_pb2.Challenge(challenge_id="c")),
    )
    request = continuity_pb2.ResolveRequest(
        challenge_id="c", decision=word, result_json='{"ok":true}' if word == HAPPENED else ""
    )
    answer = None if status else continuity_pb2.ResolveResponse()
    story.trace.called(CONTINUITY + "Resolve", request, answer, status=status)


# -- peek --------------------------------------------------------------------------------------


def test_a_peek_is_equal_to_begins_kind_and_changes_nothing() -> None:
    story = Story()
    peeks(story, "EXECUTE")
    peeks(story, "EXECUTE")
    story.grants()
    peeks(story, "WAIT")
    story.jumps(LEASE)
    peeks(story, "CONFIRM")
    story.records(record_receipt())
    peeks(story, "REUSE")
    assert story.classes() == ["ok"] * 7
    assert story.rows() == ["N"]


def test_a_wrong_peek_is_a_fault_and_still_changes_nothing() -> None:
    story = Story()
    peeks(story, "WAIT")
    peeks(story, "EXECUTE")
    story.grants()
    peeks(story, "EXECUTE")
    story.begins(wait())
    assert story.classes() == ["needless", "ok", "ok", "unsafe", "ok"]


def test_a_refused_peek_is_malformed_unless_begin_would_be_refused() -> None:
    story = Story()
    peeks(story, "WAIT", status=12)
    limited = granted(
        Story(
            spec(capability=common_pb2.EFFECT_CAPABILITY_IDEMPOTENT, retention=600),
            DeclaredMemory(max_attempts=1),
        )
    )
    limited.jumps(LEASE)
    peeks(limited, "WAIT", status=8)
    assert (story.classes(), limited.classes()) == (["malformed"], ["ok", "ok"])


# -- renew -------------------------------------------------------------------------------------


def test_a_renewed_lease_lives_on() -> None:
    story = granted()
    story.passes(60)
    renews(story)
    story.passes(100)
    story.begins(wait())
    story.passes(30)
    story.begins(confirm())
    assert story.classes() == ["ok"] * 4


def test_a_replay_after_a_renewal_keeps_token_and_attempt() -> None:
    story = granted()
    date = story.wall
    story.passes(60)
    renews(story)
    story.grants(at=date, remaining_ms=119_000)
    assert story.classes() == ["ok"] * 3


def test_a_renewal_may_be_shorter_than_a_lease_but_not_longer() -> None:
    shorter = granted()
    renews(shorter, 60_000)
    shorter.passes(70)
    shorter.begins(confirm())
    longer = granted()
    renews(longer, 130_000)
    assert (shorter.classes(), longer.classes()) == (["ok"] * 3, ["ok", "unsafe"])


def test_a_live_lease_may_not_be_refused_a_declared_renewal() -> None:
    for declared, found in ((1, "needless"), (0, "ok")):
        story = granted(Story(declared=DeclaredMemory(max_renewals=declared)))
        renews(story, status=9)
        assert story.classes() == ["ok", found]


def test_only_the_holder_renews_and_only_while_the_lease_lives() -> None:
    stranger = granted()
    renews(stranger, status=7, token="other")
    late = granted()
    late.jumps(LEASE)
    renews(late, status=9)
    complete = granted()
    complete.records(record_receipt())
    renews(complete, status=9)
    never = Story()
    renews(never, status=5)
    for story in (stranger, late, complete, never):
        assert set(story.classes()) == {"ok"}


def test_a_renewal_of_an_expired_lease_is_unsafe() -> None:
    story = granted()
    story.jumps(LEASE)
    renews(story)
    assert story.classes() == ["ok", "unsafe"]


def test_renewals_end_with_their_declared_number() -> None:
    story = granted(Story(declared=DeclaredMemory(max_renewals=1)))
    renews(story)
    renews(story, status=8)
    renews(story)
    assert story.classes() == ["ok", "ok", "ok", "unsafe"]


def test_behind_the_mark_a_renewal_may_go_either_way() -> None:
    for status in (0, 9):
        story = granted()
        story.jumps(-300)
        renews(story, status=status)
        assert story.classes() == ["ok", "ok"]


# -- resolve -----------------------------------------------------------------------------------


def test_what_an_operator_says_did_not_happen_may_be_done_again() -> None:
    story = granted()
    story.jumps(LEASE)
    resolves(story, DID_NOT_HAPPEN)
    story.grants("B", "b2", 2, "t2")
    assert (story.classes(), story.rows()) == (["ok"] * 3, ["N", "O"])


def test_after_did_not_happen_execute_is_owed() -> None:
    story = granted()
    story.jumps(LEASE)
    resolves(story, DID_NOT_HAPPEN)
    story.begins(confirm())
    assert story.classes() == ["ok", "ok", "needless"]


@pytest.mark.parametrize("live", [wait(), None])
def test_while_the_lease_lives_the_word_may_be_used_or_not(
    live: continuity_pb2.BeginResponse | None,
) -> None:
    story = granted()
    resolves(story, DID_NOT_HAPPEN)
    if live is None:
        story.grants("B", "b2", 2, "t2")
    else:
        story.begins(live)
    assert story.classes() == ["ok"] * 3


def test_what_an_operator_says_happened_is_reused() -> None:
    story = granted()
    resolves(story, HAPPENED)
    story.begins(reuse(receipt(operation="made", attempt=0)))
    story.begins(reuse(receipt(result="{}")))
    assert (story.classes(), story.rows()[:2]) == (["ok", "ok", "ok", "unsafe"], ["N", "C"])


def test_a_receipt_beside_an_operators_word_may_go_either_way() -> None:
    kept = granted()
    resolves(kept, HAPPENED)
    evidence = continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
    answer = continuity_pb2.RecordReceiptResponse(disposition=evidence)
    kept.records(record_receipt(), answer)
    refused = granted()
    resolves(refused, HAPPENED)
    refused.records(record_receipt(), status=9)
    assert (kept.classes(), refused.classes()) == (["ok"] * 3, ["ok"] * 3)


@pytest.mark.parametrize("answer", [confirm(), reject()])
def test_what_is_abandoned_is_not_tried_again(answer: continuity_pb2.BeginResponse) -> None:
    story = granted()
    resolves(story, ABANDON)
    story.begins(answer)
    story.begins(wait())
    assert (story.classes(), story.rows()[1]) == (["ok", "ok", "ok", "needless"], "A")


def test_a_receipt_after_abandonment_may_complete_or_not() -> None:
    for status in (0, 9):
        story = granted()
        resolves(story, ABANDON)
        story.records(record_receipt(), status=status)
        assert story.classes() == ["ok"] * 3


def test_an_operator_may_always_be_refused_but_not_once_complete_be_heard() -> None:
    refused = granted()
    resolves(refused, DID_NOT_HAPPEN, status=7)
    refused.begins(wait())
    complete = granted()
    complete.records(record_receipt())
    resolves(complete, DID_NOT_HAPPEN)
    assert refused.classes() == ["ok"] * 3
    assert complete.classes() == ["ok", "ok", "unsafe"]
