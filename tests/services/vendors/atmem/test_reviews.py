"""A decision counts once, in time, signed by who may, over exactly what stands there."""

from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from memqual.v1 import common_pb2, memory_pb2
from services.common.canonical import sha256_hex
from services.common.errors import ServiceError
from services.vendors.atmem.finding import Found, Shelf, find
from services.vendors.atmem.reviews import Desk, check_request
from tests.services.vendors.atmem.conftest import ReviewerOfTest
from tests.services.vendors.atmem.samples import proposal, record, scope

APPROVE = memory_pb2.REVIEW_DECISION_APPROVE
SUBJECTS = [("prop_1", "How it is done.")]
START_NS = 1_700_000_000_000_000_000


class _Now:
    ns = START_NS

    def read(self) -> int:
        return self.ns


def _answer(
    reviewer: ReviewerOfTest, challenge: common_pb2.Challenge, decision: str = "approve"
) -> memory_pb2.DecideReviewRequest:
    return memory_pb2.DecideReviewRequest(
        scope=scope(),
        challenge_id=challenge.challenge_id,
        decision=APPROVE,
        key_id=reviewer.key_id,
        signature=reviewer.sign(challenge, decision),
    )


def test_a_signed_decision_counts_until_it_is_used(
    tmp_path: Path, reviewer: ReviewerOfTest
) -> None:
    issuing = Desk({})
    challenge = issuing.issue(tmp_path, scope(), SUBJECTS, "promote")
    assert list(challenge.subject_digests) == [sha256_hex(b"How it is done.")]
    # Another process, after a restart.
    desk = Desk({reviewer.key_id: reviewer.public_key()})
    request = _answer(reviewer, challenge)
    for _ in range(2):
        assert desk.take(tmp_path, request) == (challenge, "approve")
    desk.close(tmp_path, challenge.challenge_id)
    with pytest.raises(ServiceError) as refused:
        desk.take(tmp_path, request)
    assert refused.value.code is grpc.StatusCode.PERMISSION_DENIED


def _other_scope(request: memory_pb2.DecideReviewRequest) -> None:
    request.scope.agent = "another"


def _other_key(request: memory_pb2.DecideReviewRequest) -> None:
    request.key_id = "another"


def _other_decision(request: memory_pb2.DecideReviewRequest) -> None:
    request.decision = memory_pb2.REVIEW_DECISION_REJECT


def _other_challenge(request: memory_pb2.DecideReviewRequest) -> None:
    request.challenge_id = "chl_another"


def _no_signature(request: memory_pb2.DecideReviewRequest) -> None:
    request.signature = b""


@pytest.mark.parametrize(
    "spoil", [_other_scope, _other_key, _other_decision, _other_challenge, _no_signature]
)
def test_any_other_decision_is_denied(
    tmp_path: Path,
    reviewer: ReviewerOfTest,
    spoil: Callable[[memory_pb2.DecideReviewRequest], None],
) -> None:
    desk = Desk({reviewer.key_id: reviewer.public_key()})
    challenge = desk.issue(tmp_path, scope(), SUBJECTS, "promote")
    request = _answer(reviewer, challenge)
    spoil(request)
    with pytest.raises(ServiceError) as refused:
        desk.take(tmp_path, request)
    assert refused.value.code is grpc.StatusCode.PERMISSION_DENIED
    assert desk.take(tmp_path, _answer(reviewer, challenge)) == (challenge, "approve")


def test_a_key_speaks_for_its_principal_only(tmp_path: Path, reviewer: ReviewerOfTest) -> None:
    desk = Desk({reviewer.key_id: reviewer.public_key("bob")})
    challenge = desk.issue(tmp_path, scope(), SUBJECTS, "promote")
    with pytest.raises(ServiceError, match="does not speak"):
        desk.take(tmp_path, _answer(reviewer, challenge))


def test_a_challenge_expires(tmp_path: Path, reviewer: ReviewerOfTest) -> None:
    now = _Now()
    desk = Desk({reviewer.key_id: reviewer.public_key()}, now.read)
    challenge = desk.issue(tmp_path, scope(), SUBJECTS, "promote")
    now.ns = challenge.expires_unix_ns
    with pytest.raises(ServiceError, match="expired"):
        desk.take(tmp_path, _answer(reviewer, challenge))
    # For good, wherever the clock is set to.
    now.ns = START_NS
    with pytest.raises(ServiceError, match="no such open challenge"):
        desk.take(tmp_path, _answer(reviewer, challenge))


def test_a_clock_set_back_does_not_lengthen_a_challenge(
    tmp_path: Path, reviewer: ReviewerOfTest
) -> None:
    now = _Now()
    desk = Desk({reviewer.key_id: reviewer.public_key()}, now.read)
    challenge = desk.issue(tmp_path, scope(), SUBJECTS, "promote")
    now.ns = START_NS - 1
    with pytest.raises(ServiceError, match="before the challenge was issued"):
        desk.take(tmp_path, _answer(reviewer, challenge))
    now.ns = START_NS
    assert desk.take(tmp_path, _answer(reviewer, challenge)) == (challenge, "approve")


def test_open_challenges_are_bounded_and_expired_ones_swept(tmp_path: Path) -> None:
    now = _Now()
    desk = Desk({}, now.read)
    (tmp_path / "torn.json").write_text("half of a ")
    desk.issue(tmp_path, scope(), SUBJECTS, "promote")
    assert len(list(tmp_path.glob("*.json"))) == 1
    now.ns += 3_600 * 1_000_000_000
    desk.issue(tmp_path, scope(), SUBJECTS, "promote")
    assert len(list(tmp_path.glob("*.json"))) == 1


def _found(contract_id: str, **changes: object) -> Found:
    if contract_id.startswith("prop"):
        return find(Shelf.of([]), [proposal(contract_id, **changes)], contract_id)
    return find(Shelf.of([record(contract_id, **changes)]), [], contract_id)


@pytest.mark.parametrize(
    ("found", "action"),
    [
        (_found("prop_1"), "promote"),
        (_found("rec_1", status="quarantined"), "promote"),
        (_found("rec_1", excluded=True), "release"),
    ],
)
def test_what_atmem_holds_back_can_be_decided(found: Found, action: str) -> None:
    found.check_decidable(action)
    found.check_unchanged(action, sha256_hex(found.content.encode()))
    with pytest.raises(ServiceError) as refused:
        found.check_unchanged(action, sha256_hex(b"another text"))
    assert refused.value.code is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("found", "action"),
    [
        (_found("prop_1"), "release"),
        (_found("prop_1", review_state="committed"), "promote"),
        (_found("rec_1"), "promote"),
        (_found("rec_1"), "release"),
        (_found("rec_1", status="tombstoned"), "promote"),
        (_found("rec_1", status="quarantined"), "release"),
    ],
)
def test_anything_else_has_nothing_to_decide(found: Found, action: str) -> None:
    with pytest.raises(ServiceError) as refused:
        found.check_decidable(action)
    assert refused.value.code is grpc.StatusCode.FAILED_PRECONDITION


@pytest.mark.parametrize(
    ("ids", "action"),
    [
        ([], "promote"),
        (["a", "a"], "promote"),
        ([f"r{number}" for number in range(101)], "promote"),
        (["a"], "burn"),
    ],
)
def test_a_malformed_request_is_refused(ids: list[str], action: str) -> None:
    request = memory_pb2.RequestReviewRequest(scope=scope(), record_ids=ids, action=action)
    with pytest.raises(ServiceError) as refused:
        check_request(request)
    assert refused.value.code is grpc.StatusCode.INVALID_ARGUMENT
