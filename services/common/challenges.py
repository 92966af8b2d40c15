"""What a person signs to decide a challenge, and the keys that such signatures are checked with.

DESIGN §4: a decision is an Ed25519 signature over the canonical challenge. Signer (orchestrator)
and checker (a memory) take the exact bytes from here. Canonical JSON has no 64-bit integers, so the
expiry goes in as a decimal string.

Exception
└── KeyFileError    the mounted file of public keys cannot be used
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memqual.v1 import common_pb2
from services.common.canonical import JsonObject, JsonValue, canonical_json

__all__ = [
    "ANY_PRINCIPAL",
    "KEY_BYTES",
    "SIGNATURE_BYTES",
    "KeyFileError",
    "PublicKey",
    "challenge_document",
    "load_public_keys",
    "signature_valid",
    "signing_bytes",
]

KEY_BYTES = 32
SIGNATURE_BYTES = 64
KEY_FILE_BYTES = 1024 * 1024
KEYS_MAX = 1_000
# A key whose file entry names this principal speaks for every principal of the deployment.
ANY_PRINCIPAL = "*"

_ENTRY_FIELDS = frozenset({"key_id", "principal", "public_key_base64"})


class KeyFileError(Exception):
    """The file of public keys is unreadable or malformed; says which and what is wrong."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """One person's key.

    Attributes:
        key_id: how a decision names it.
        principal: whose decisions it signs; ANY_PRINCIPAL for everybody's.
        public_key: raw Ed25519 public key, 32 bytes.
    """

    key_id: str
    principal: str
    public_key: bytes

    def speaks_for(self, principal: str) -> bool:
        """True when a decision wanted from this principal may be signed with this key."""
        return self.principal in (principal, ANY_PRINCIPAL)


def challenge_document(challenge: common_pb2.Challenge) -> JsonObject:
    """The challenge as it stands in what is signed: every field by its proto name."""
    return {
        "action": challenge.action,
        "challenge_id": challenge.challenge_id,
        "expires_unix_ns": str(challenge.expires_unix_ns),
        "namespace": challenge.namespace,
        "nonce": challenge.nonce,
        "principal": challenge.principal,
        "subject_digests": list(challenge.subject_digests),
        "subject_ids": list(challenge.subject_ids),
    }


def signing_bytes(
    challenge: common_pb2.Challenge, decision: str, *, result_digest: str | None = None
) -> bytes:
    """The exact bytes under a decision's signature.

    Args:
        challenge: as the memory issued it.
        decision: "approve" or "reject" of a review; "happened", "did_not_happen" or "abandon" of an
            operation.
        result_digest: only with an operation: SHA-256 of the result's canonical JSON, or "" without
            a result. A review has none, and then the key is absent.
    """
    document: dict[str, JsonValue] = {
        "challenge": challenge_document(challenge),
        "decision": decision,
    }
    if result_digest is not None:
        document["result_digest"] = result_digest
    return canonical_json(document)


def load_public_keys(path: Path | None) -> Mapping[str, PublicKey]:
    """Keys by id from {"keys": [{"key_id", "principal", "public_key_base64"}]}.

    No path, or no file there, means that nobody can decide: an empty mapping.

    Raises:
        KeyFileError: unreadable, larger than 1 MiB, malformed, a key id twice, or over 1,000 keys.
    """
    if path is None or not path.exists():
        return {}
    try:
        if path.stat().st_size > KEY_FILE_BYTES:
            raise KeyFileError(f"{path.name} is larger than {KEY_FILE_BYTES} bytes")
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise KeyFileError(f"{path.name} cannot be read as JSON: {error}") from error
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list) or len(entries) > KEYS_MAX:
        raise KeyFileError(f'{path.name} needs {{"keys": [...]}} with at most {KEYS_MAX} entries')
    keys: dict[str, PublicKey] = {}
    for position, entry in enumerate(entries):
        key = _key(path.name, position, entry)
        if key.key_id in keys:
            raise KeyFileError(f"{path.name}: key_id of entry {position} stands there twice")
        keys[key.key_id] = key
    return keys


def _key(file_name: str, position: int, entry: object) -> PublicKey:
    if not isinstance(entry, dict) or set(entry) != _ENTRY_FIELDS:
        raise KeyFileError(
            f"{file_name}: entry {position} needs exactly {', '.join(sorted(_ENTRY_FIELDS))}"
        )
    if not all(isinstance(value, str) and value for value in entry.values()):
        raise KeyFileError(f"{file_name}: every field of entry {position} is a text, not empty")
    try:
        public_key = base64.b64decode(entry["public_key_base64"], validate=True)
    except binascii.Error as error:
        raise KeyFileError(f"{file_name}: key of entry {position} is no base64") from error
    if len(public_key) != KEY_BYTES:
        raise KeyFileError(
            f"{file_name}: key of entry {position} has {len(public_key)} bytes, not {KEY_BYTES}"
        )
    return PublicKey(entry["key_id"], entry["principal"], public_key)


def signature_valid(key: PublicKey, signature: bytes, message: bytes) -> bool:
    """True when the key's owner signed exactly these bytes."""
    # Imported on the first decision: a memory that is restarted a thousand times must start fast.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 (start time)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 (as above)
        Ed25519PublicKey,
    )

    if len(signature) != SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
