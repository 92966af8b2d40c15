"""Ways to answer a review; one of them is right."""

from pathlib import Path

import pytest

from memqual.v1 import common_pb2
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.search.moves import Manner
from orchestrator.suites.integrity.search.signing import Signers
from services.common.challenges import load_public_keys, signature_valid, signing_bytes

CHALLENGE = common_pb2.Challenge(
    challenge_id="c1",
    nonce="ab" * 32,
    subject_ids=["r1"],
    subject_digests=["cd" * 32],
    action="promote",
    principal="alder",
    expires_unix_ns=2**62,
    namespace="n",
)
OTHER = common_pb2.Challenge(challenge_id="c2", subject_ids=["r2"], principal="alder")


@pytest.mark.parametrize("approve", [True, False])
@pytest.mark.parametrize("manner", list(Manner))
def test_only_the_signed_answer_is_right(manner: Manner, approve: bool, tmp_path: Path) -> None:
    reviewer = Reviewer.generate()
    path = tmp_path / "keys.json"
    path.write_text(reviewer.public_keys_json())
    keys = load_public_keys(path)
    answer = Signers(reviewer).answer(CHALLENGE, manner, approve=approve, other=OTHER)
    assert answer is not None

    key = keys.get(answer.key_id)
    message = signing_bytes(CHALLENGE, "approve" if approve else "reject")
    right = (
        key is not None
        and key.speaks_for("alder")
        and signature_valid(key, answer.signature, message)
    )
    assert right is (manner is Manner.SIGNED)


def test_a_bystanders_signature_is_good_and_speaks_for_somebody_else(tmp_path: Path) -> None:
    reviewer = Reviewer.generate()
    path = tmp_path / "keys.json"
    path.write_text(reviewer.public_keys_json())
    answer = Signers(reviewer).answer(CHALLENGE, Manner.BYSTANDER, approve=True)
    assert answer is not None
    key = load_public_keys(path)[answer.key_id]
    assert signature_valid(key, answer.signature, signing_bytes(CHALLENGE, "approve"))
    assert not key.speaks_for("alder")


def test_the_own_challenge_in_place_of_another_is_no_attack() -> None:
    reviewer = Reviewer.generate()
    for other in (None, CHALLENGE):
        answer = Signers(reviewer).answer(
            CHALLENGE, Manner.OTHER_CHALLENGE, approve=True, other=other
        )
        assert answer is None
