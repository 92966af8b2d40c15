"""The run's reviewer: what a memory can check, and what never leaves the process."""

import copy
import json
import pickle
from pathlib import Path

import pytest

from memqual.v1 import common_pb2
from orchestrator.suites.integrity.calls import Signer
from orchestrator.suites.integrity.reviewer import APPROVE, REJECT, Reviewer
from services.common.canonical import sha256_hex
from services.common.challenges import (
    ANY_PRINCIPAL,
    load_public_keys,
    signature_valid,
    signing_bytes,
)

CHALLENGE = common_pb2.Challenge(
    challenge_id="c-1",
    nonce="0" * 64,
    subject_ids=["r-1"],
    subject_digests=["1" * 64],
    action="promote",
    principal="ada",
    expires_unix_ns=2**62,
    namespace="n",
)


def test_a_memory_can_load_the_key_file_and_check_signatures(tmp_path: Path) -> None:
    reviewer = Reviewer.generate("ada")
    path = tmp_path / "keys.json"
    path.write_text(reviewer.public_keys_json())

    keys = load_public_keys(path)
    signature = reviewer.sign(CHALLENGE, APPROVE)

    given = (Signer.REVIEWER, Signer.OTHER_PRINCIPAL)
    assert keys == {reviewer.public_keys[s].key_id: reviewer.public_keys[s] for s in given}
    assert reviewer.public_key.speaks_for("ada")
    assert not reviewer.public_key.speaks_for("bob")
    assert signature_valid(reviewer.public_key, signature, signing_bytes(CHALLENGE, "approve"))
    assert not signature_valid(reviewer.public_key, signature, signing_bytes(CHALLENGE, "reject"))


def test_a_runs_reviewer_speaks_for_every_principal() -> None:
    assert Reviewer.generate().public_key.principal == ANY_PRINCIPAL
    assert Reviewer.generate().public_key.speaks_for("anybody")


def test_two_reviewers_share_nothing() -> None:
    first, second = Reviewer.generate(), Reviewer.generate()

    assert first.public_key.key_id != second.public_key.key_id
    signature = first.sign(CHALLENGE, REJECT)
    assert not signature_valid(second.public_key, signature, signing_bytes(CHALLENGE, "reject"))


def test_each_signer_signs_with_a_key_of_its_own() -> None:
    reviewer = Reviewer.generate()
    message = signing_bytes(CHALLENGE, APPROVE)

    signatures = {signer: reviewer.sign(CHALLENGE, APPROVE, signer) for signer in Signer}

    for signer, key in reviewer.public_keys.items():
        valid = {of for of, one in signatures.items() if signature_valid(key, one, message)}
        assert valid == {signer}
    assert not reviewer.public_keys[Signer.OTHER_PRINCIPAL].speaks_for("user-1")


def test_a_decision_has_two_values() -> None:
    with pytest.raises(ValueError, match="approve or reject"):
        Reviewer.generate().sign(CHALLENGE, "promote")


def test_the_private_key_is_in_no_text_and_no_copy() -> None:
    reviewer = Reviewer.generate()
    privates = [key.private_bytes_raw() for key in reviewer._private_keys.values()]

    document = json.loads(reviewer.public_keys_json())

    assert set(document["keys"][0]) == {"key_id", "principal", "public_key_base64"}
    for text in (repr(reviewer), str(reviewer), reviewer.public_keys_json()):
        assert not any(private.hex() in text for private in privates)
    with pytest.raises(TypeError, match="stay in their process"):
        pickle.dumps(reviewer)
    with pytest.raises(TypeError, match="stay in their process"):
        copy.deepcopy(reviewer)


@pytest.mark.parametrize(
    ("word", "result", "digest"),
    [
        ("happened", '{"ok":true}', sha256_hex(b'{"ok":true}')),
        ("did_not_happen", "", ""),
        ("abandon", "", ""),
    ],
)
def test_an_operators_word_is_signed_with_its_result(word: str, result: str, digest: str) -> None:
    reviewer = Reviewer.generate("ada")
    signature = reviewer.sign_resolution(CHALLENGE, word, result)
    key = reviewer.public_key
    assert signature_valid(key, signature, signing_bytes(CHALLENGE, word, result_digest=digest))
    assert not signature_valid(key, signature, signing_bytes(CHALLENGE, word))


def test_no_other_word_is_signed() -> None:
    with pytest.raises(ValueError, match="one of"):
        Reviewer.generate("ada").sign_resolution(CHALLENGE, APPROVE)
