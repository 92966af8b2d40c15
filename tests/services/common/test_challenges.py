import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import common_pb2
from services.common import challenges
from services.common.challenges import KeyFileError, PublicKey


def challenge(**changes: object) -> common_pb2.Challenge:
    value = common_pb2.Challenge(
        challenge_id="chl_1",
        nonce="00" * 32,
        subject_ids=["rec_1", "rec_2"],
        subject_digests=["a" * 64, "b" * 64],
        action="promote",
        principal="alice",
        expires_unix_ns=1_790_000_000_000_000_001,
        namespace="n",
    )
    value.MergeFrom(common_pb2.Challenge(**changes))  # type: ignore[arg-type] # one field a test
    return value


def test_the_signed_bytes_are_these() -> None:
    assert challenges.signing_bytes(challenge(), "approve") == (
        b'{"challenge":{"action":"promote","challenge_id":"chl_1",'
        b'"expires_unix_ns":"1790000000000000001","namespace":"n","nonce":"' + b"00" * 32 + b'",'
        b'"principal":"alice","subject_digests":["' + b"a" * 64 + b'","' + b"b" * 64 + b'"],'
        b'"subject_ids":["rec_1","rec_2"]},"decision":"approve"}'
    )


def test_an_operation_signs_its_result_too() -> None:
    with_result = challenges.signing_bytes(challenge(), "happened", result_digest="c" * 64)
    assert with_result.endswith(b'"decision":"happened","result_digest":"' + b"c" * 64 + b'"}')
    without = challenges.signing_bytes(challenge(), "happened", result_digest="")
    assert without != challenges.signing_bytes(challenge(), "happened")


@pytest.mark.parametrize(
    "changes",
    [
        {"challenge_id": "chl_2"},
        {"nonce": "01" * 32},
        {"subject_ids": ["rec_3"]},
        {"subject_digests": ["c" * 64]},
        {"action": "release"},
        {"principal": "bob"},
        {"expires_unix_ns": 1_790_000_000_000_000_002},
        {"namespace": "m"},
    ],
)
def test_a_signature_covers_every_field(changes: dict[str, object]) -> None:
    private = Ed25519PrivateKey.generate()
    key = PublicKey("k", "alice", private.public_key().public_bytes_raw())
    signature = private.sign(challenges.signing_bytes(challenge(), "approve"))
    assert challenges.signature_valid(
        key, signature, challenges.signing_bytes(challenge(), "approve")
    )
    assert not challenges.signature_valid(
        key, signature, challenges.signing_bytes(challenge(**changes), "approve")
    )
    assert not challenges.signature_valid(
        key, signature, challenges.signing_bytes(challenge(), "reject")
    )


@given(st.binary(max_size=80))
def test_no_bytes_pass_for_a_signature(signature: bytes) -> None:
    key = PublicKey("k", "alice", Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    assert not challenges.signature_valid(key, signature, b"message")


def test_a_public_key_that_is_no_point_checks_nothing() -> None:
    assert not challenges.signature_valid(PublicKey("k", "alice", b"\xff" * 32), b"\0" * 64, b"m")


def test_a_key_speaks_for_its_principal_or_for_all() -> None:
    assert PublicKey("k", "alice", b"").speaks_for("alice")
    assert not PublicKey("k", "alice", b"").speaks_for("bob")
    assert PublicKey("k", challenges.ANY_PRINCIPAL, b"").speaks_for("bob")


def entry(key_id: str = "k", public_key: bytes = b"\1" * 32) -> dict[str, str]:
    return {
        "key_id": key_id,
        "principal": "alice",
        "public_key_base64": base64.b64encode(public_key).decode(),
    }


def test_keys_are_read_by_id(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [entry("k1"), entry("k2", b"\2" * 32)]}))
    assert challenges.load_public_keys(path) == {
        "k1": PublicKey("k1", "alice", b"\1" * 32),
        "k2": PublicKey("k2", "alice", b"\2" * 32),
    }


def test_without_a_file_nobody_can_decide(tmp_path: Path) -> None:
    assert challenges.load_public_keys(None) == {}
    assert challenges.load_public_keys(tmp_path / "absent.json") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"keys": {}}',
        '{"keys": ["k"]}',
        json.dumps({"keys": [{**entry(), "note": "x"}]}),
        json.dumps({"keys": [{"key_id": "k"}]}),
        json.dumps({"keys": [{**entry(), "key_id": ""}]}),
        json.dumps({"keys": [{**entry(), "principal": 7}]}),
        json.dumps({"keys": [{**entry(), "public_key_base64": "not base64!"}]}),
        json.dumps({"keys": [entry("k", b"short")]}),
        json.dumps({"keys": [entry("k"), entry("k")]}),
        "[" * 100_000,
    ],
)
def test_a_malformed_key_file_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(KeyFileError, match=r"keys\.json"):
        challenges.load_public_keys(path)


def test_a_key_file_has_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text(" " * (challenges.KEY_FILE_BYTES + 1))
    with pytest.raises(KeyFileError, match="larger"):
        challenges.load_public_keys(path)
