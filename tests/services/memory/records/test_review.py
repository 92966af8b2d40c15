import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from memqual.v1 import common_pb2
from services.common import clock
from services.common.challenges import ANY_PRINCIPAL, PublicKey, signing_bytes
from services.common.errors import ServiceError
from services.memory.records import places
from services.memory.records.model import Kind, Reason, Scope, State, Surface, Taint, Trust
from services.memory.records.policy_review import CHALLENGE_SECONDS
from services.memory.records.review import APPROVE, OPEN_MAX, REJECT, Decision
from tests.services.memory.records.rig import (
    AGENT,
    ALICE,
    REVIEWER,
    WEB,
    Memory,
    signed,
)

STEPS = "Open the zanzibar valve, then close the pump"
SECOND_NS = 1_000_000_000


@pytest.fixture
def proposed(memory: Memory) -> str:
    return memory.write(STEPS, WEB, kind=Kind.PROCEDURE).record_id


def active(memory: Memory) -> list[str]:
    return [viewed.stored.record.record_id for viewed in memory.recalling.procedures(ALICE)]


def refused(memory: Memory, decision: Decision, match: str) -> None:
    with pytest.raises(ServiceError, match=match):
        memory.review.decide(decision)
    assert active(memory) == []
    assert memory.said(STEPS) == []


def test_a_signed_approval_makes_exactly_the_named_record_authoritative(
    memory: Memory, proposed: str
) -> None:
    child = memory.derive(f"Summary: {STEPS}", proposed, kind=Kind.PROCEDURE).record_id
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    decided = memory.review.decide(signed(challenge))
    assert [viewed.stored.record.record_id for viewed in decided] == [proposed]
    standing = decided[0].stored.standing
    assert (standing.state, standing.trust, standing.taints) == (State.ACTIVE, Trust.REVIEWED, ())
    assert standing.reasons[-1] == Reason.REVIEW_APPROVED
    assert active(memory) == [proposed]
    assert Taint.UNTRUSTED_SOURCE in memory.look(child).stored.standing.taints
    assert not memory.look(child).stored.authoritative


def test_a_challenge_names_what_it_is_about(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    record = memory.look(proposed).stored.record
    assert list(challenge.subject_ids) == [proposed]
    assert list(challenge.subject_digests) == [record.content_digest]
    assert (challenge.action, challenge.principal, challenge.namespace) == ("promote", "alice", "n")
    assert len(bytes.fromhex(challenge.nonce)) == 32
    again = memory.review.request(ALICE, (proposed,), "promote")
    assert (again.challenge_id, again.nonce) != (challenge.challenge_id, challenge.nonce)


def test_a_rejection_uses_the_challenge_up_and_gives_nothing(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    decided = memory.review.decide(signed(challenge, decision=REJECT))
    assert decided[0].stored.standing.reasons[-1] == Reason.REVIEW_REJECTED
    assert decided[0].stored.standing.state is State.QUARANTINED
    refused(memory, signed(challenge), "decided or void")


def test_a_label_or_an_empty_signature_decides_nothing(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    answer = Decision(ALICE, challenge.challenge_id, APPROVE, REVIEWER.key_id, b"")
    refused(memory, answer, "signature")
    refused(memory, Decision(ALICE, challenge.challenge_id, APPROVE, "", b""), "key")


def test_another_key_decides_nothing(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    refused(memory, signed(challenge, key=Ed25519PrivateKey.generate()), "signature")
    refused(memory, signed(challenge, key_id="k-unknown"), "key")


def test_another_principals_key_decides_nothing(memory: Memory, proposed: str) -> None:
    memory.keys["k-bob"] = PublicKey("k-bob", "bob", REVIEWER.public_key)
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    refused(memory, signed(challenge, key_id="k-bob"), "does not speak")


def test_a_reviewer_for_everybody_decides(memory: Memory, proposed: str) -> None:
    memory.keys["k-all"] = PublicKey("k-all", ANY_PRINCIPAL, REVIEWER.public_key)
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    memory.review.decide(signed(challenge, key_id="k-all"))
    assert active(memory) == [proposed]


@pytest.mark.parametrize(
    "changes",
    [
        {"action": "release"},
        {"principal": "bob"},
        {"namespace": "m"},
        {"nonce": "00" * 32},
        {"expires_unix_ns": 2**62},
        {"subject_ids": ["rec_other"]},
        {"subject_digests": ["0" * 64]},
    ],
)
def test_a_signature_over_anything_else_decides_nothing(
    memory: Memory, proposed: str, changes: dict[str, object]
) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    other = common_pb2.Challenge.FromString(challenge.SerializeToString())
    for name, value in changes.items():
        if isinstance(value, list):
            other.ClearField(name)  # type: ignore[arg-type] # a name out of the table above
            getattr(other, name).extend(value)
        else:
            setattr(other, name, value)
    refused(memory, signed(other), "signature")


def test_a_signature_over_the_other_decision_decides_nothing(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    answer = signed(challenge, decision=REJECT)
    swapped = Decision(ALICE, answer.challenge_id, APPROVE, answer.key_id, answer.signature)
    refused(memory, swapped, "signature")


def test_the_scope_of_a_decision_is_the_scope_of_the_request(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    for scope in (
        Scope("n", "bob"),
        Scope("m", "alice"),
        Scope("n", "alice", agent="a"),
        Scope("n", "alice", purpose="p"),
    ):
        refused(memory, signed(challenge, scope), "no such challenge")
    unknown = Decision(ALICE, "chl_unknown", APPROVE, REVIEWER.key_id, b"\0" * 64)
    refused(memory, unknown, "no such challenge")


def test_a_used_challenge_stays_used(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    memory.review.decide(signed(challenge))
    memory.lifecycle.quarantine(ALICE, proposed, "suspected")
    refused(memory, signed(challenge), "decided or void")
    memory.restart()
    refused(memory, signed(challenge), "decided or void")


def test_an_open_challenge_survives_a_restart(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    memory.restart()
    memory.review.decide(signed(challenge))
    memory.restart()
    assert active(memory) == [proposed]


def test_a_failed_decision_does_not_use_the_challenge_up(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    refused(memory, signed(challenge, key_id="k-unknown"), "key")
    memory.review.decide(signed(challenge))
    assert active(memory) == [proposed]


def move_clock(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    base = clock.wall_ns()
    monkeypatch.setattr(places, "wall_ns", lambda: base + seconds * SECOND_NS)


def test_an_expired_challenge_decides_nothing(
    memory: Memory, proposed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    move_clock(monkeypatch, CHALLENGE_SECONDS + 1)
    refused(memory, signed(challenge), "expired")


def test_a_clock_set_back_does_not_revive_a_challenge(
    memory: Memory, proposed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    move_clock(monkeypatch, CHALLENGE_SECONDS + 1)
    memory.write("Anything moves the mark")
    move_clock(monkeypatch, -2 * CHALLENGE_SECONDS)
    refused(memory, signed(challenge), "expired")


@pytest.mark.parametrize("change", ["quarantine", "forget", "other_review"])
def test_a_record_that_changed_in_between_is_not_approved(
    memory: Memory, proposed: str, change: str
) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    if change == "quarantine":
        memory.lifecycle.quarantine(ALICE, proposed, "worse than thought")
    elif change == "forget":
        memory.lifecycle.forget(ALICE, proposed)
    else:
        other = memory.review.request(ALICE, (proposed,), "promote")
        memory.review.decide(signed(other, decision=REJECT))
    refused(memory, signed(challenge), "changed|void")


def test_one_changed_record_of_many_spoils_the_whole(memory: Memory, proposed: str) -> None:
    other = memory.write("Another step of theirs", WEB).record_id
    challenge = memory.review.request(ALICE, (proposed, other), "promote")
    memory.lifecycle.quarantine(ALICE, other, "suspected")
    refused(memory, signed(challenge), "changed")


def test_two_clients_use_a_challenge_once(memory: Memory, proposed: str) -> None:
    for _ in range(5):
        challenge = memory.review.request(ALICE, (proposed,), "promote")
        start = threading.Barrier(8)

        def decide(answer: Decision, start: threading.Barrier = start) -> bool:
            start.wait(timeout=10)
            try:
                memory.review.decide(answer)
            except ServiceError:
                return False
            return True

        answers = [signed(challenge, decision=REJECT)] * 8
        with ThreadPoolExecutor(8) as pool:
            assert sorted(pool.map(decide, answers)) == [False] * 7 + [True]


def test_release_lifts_the_quarantine_of_what_was_trusted(memory: Memory) -> None:
    parent = memory.write(STEPS).record_id
    child = memory.derive(f"Summary: {STEPS}", parent).record_id
    memory.lifecycle.quarantine(ALICE, parent, "suspected")
    memory.approve(parent, action="release")
    assert memory.said("zanzibar valve") == [STEPS]
    assert not memory.look(child).stored.authoritative
    memory.approve(child, action="release")
    assert len(memory.said("zanzibar valve")) == 2


@pytest.mark.parametrize("action", ["promote", "release"])
def test_nothing_to_decide(memory: Memory, proposed: str, action: str) -> None:
    reviewed = memory.write("A plain fact of the user").record_id
    memory.approve(reviewed)
    rejected = memory.write("my password is hunter22").record_id
    forgotten = memory.write("Something to forget soon").record_id
    memory.lifecycle.forget(ALICE, forgotten)
    for record_id in (reviewed, rejected, forgotten):
        with pytest.raises(ServiceError, match="nothing to"):
            memory.review.request(ALICE, (proposed, record_id), action)


def test_erased_content_cannot_be_approved(memory: Memory) -> None:
    parent = memory.write(STEPS).record_id
    child = memory.derive(f"Summary: {STEPS}", parent).record_id
    memory.lifecycle.forget(ALICE, parent)
    with pytest.raises(ServiceError, match="nothing to"):
        memory.review.request(ALICE, (child,), "promote")


def test_records_of_other_scopes_cannot_be_named(memory: Memory) -> None:
    record_id = memory.write(STEPS, WEB, scope=Scope("n", "bob")).record_id
    with pytest.raises(ServiceError, match="no such record"):
        memory.review.request(ALICE, (record_id,), "promote")


def test_what_a_reviewer_signed_can_be_quarantined_again(memory: Memory, proposed: str) -> None:
    memory.approve(proposed)
    memory.lifecycle.quarantine(ALICE, proposed, "suspected")
    assert active(memory) == []


def test_an_approved_episode_speaks(memory: Memory) -> None:
    record_id = memory.write("The agent paid the zanzibar bill", AGENT, kind=Kind.EPISODE).record_id
    assert memory.said("zanzibar bill") == []
    memory.approve(record_id)
    assert len(memory.said("zanzibar bill")) == 1
    assert len(memory.said("zanzibar bill", Surface.EVIDENCE)) == 1


def test_open_challenges_are_bounded(memory: Memory, proposed: str) -> None:
    with memory.database.transaction() as conn:
        conn.executemany(
            "INSERT INTO mem_challenges SELECT ?, namespace_id, x'', '{}', '{}', ?, '', ''"
            " FROM mem_records LIMIT 1",
            [(f"chl_{number}", 2**62) for number in range(OPEN_MAX)],
        )
    with pytest.raises(ServiceError, match="are open"):
        memory.review.request(ALICE, (proposed,), "promote")


def test_expired_challenges_are_cleared_away(
    memory: Memory, proposed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.review.request(ALICE, (proposed,), "promote")
    move_clock(monkeypatch, CHALLENGE_SECONDS + 1)
    memory.review.request(ALICE, (proposed,), "promote")
    with memory.database.read() as conn:
        assert conn.execute("SELECT count(*) FROM mem_challenges").fetchone() == (1,)


def test_the_signed_bytes_are_the_shared_ones(memory: Memory, proposed: str) -> None:
    challenge = memory.review.request(ALICE, (proposed,), "promote")
    assert challenge.nonce.encode() in signing_bytes(challenge, APPROVE)
