"""The run's reviewer: key pairs that exist in this process only (DESIGN §4).

The memory gets public keys through a mounted file (MEMQUAL_REVIEWER_KEYS): the reviewer's, and one
that speaks for a principal whom no trial has. A third pair is nobody's: its signatures are forged.
Private keys are made for each run, are never written, printed or copied, and end with the process.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from memqual.v1 import common_pb2
from orchestrator.suites.integrity.calls import Signer
from services.common.canonical import sha256_hex
from services.common.challenges import ANY_PRINCIPAL, PublicKey, signing_bytes

__all__ = ["APPROVE", "OTHER_PRINCIPAL", "REJECT", "RESOLUTIONS", "Reviewer"]

APPROVE = "approve"
REJECT = "reject"
RESOLUTIONS = ("happened", "did_not_happen", "abandon")

OTHER_PRINCIPAL = "memqual-other-principal"
"""Whom the second mounted key speaks for; no trial has this principal."""

_KEY_ID_CHARACTERS = 12


class Reviewer:
    """The power to decide, and keys of those who have none. Make it with `generate`."""

    __slots__ = ("_private_keys", "public_key", "public_keys")

    def __init__(self, principal: str, private_keys: Mapping[Signer, Ed25519PrivateKey]) -> None:
        principals = {
            Signer.REVIEWER: principal,
            Signer.OTHER_PRINCIPAL: OTHER_PRINCIPAL,
            Signer.STRANGER: ANY_PRINCIPAL,
        }
        self._private_keys = dict(private_keys)
        self.public_keys: Mapping[Signer, PublicKey] = {
            signer: _public(key, principals[signer]) for signer, key in private_keys.items()
        }
        self.public_key = self.public_keys[Signer.REVIEWER]

    @classmethod
    def generate(cls, principal: str = ANY_PRINCIPAL) -> Reviewer:
        """A reviewer with fresh keys.

        Args:
            principal: Whose decisions the key signs; by default everybody's of the deployment,
                since every trial has a principal of its own.
        """
        return cls(principal, {signer: Ed25519PrivateKey.generate() for signer in Signer})

    def public_keys_json(self) -> str:
        """Content of the file that MEMQUAL_REVIEWER_KEYS names; it holds no secret.

        The stranger's key is not in it.
        """
        entries = [
            {
                "key_id": key.key_id,
                "principal": key.principal,
                "public_key_base64": base64.b64encode(key.public_key).decode(),
            }
            for signer, key in self.public_keys.items()
            if signer is not Signer.STRANGER
        ]
        return json.dumps({"keys": entries}, indent=1) + "\n"

    def sign(
        self, challenge: common_pb2.Challenge, decision: str, signer: Signer = Signer.REVIEWER
    ) -> bytes:
        """Sign a decision over exactly this challenge.

        Args:
            challenge: As the memory issued it.
            decision: `approve` or `reject`.
            signer: Whose key signs.

        Returns:
            The Ed25519 signature, 64 bytes.

        Raises:
            ValueError: Any other decision.
        """
        if decision not in (APPROVE, REJECT):
            raise ValueError(f"a review ends with {APPROVE} or {REJECT}, not {decision!r}")
        return self._private_keys[signer].sign(signing_bytes(challenge, decision))

    def sign_operation(
        self,
        challenge: common_pb2.Challenge,
        word: str,
        result_digest: str,
        signer: Signer = Signer.REVIEWER,
    ) -> bytes:
        """Sign an operator's word on an operation, over exactly this challenge (continuity.proto).

        Args:
            challenge: As the memory issued it.
            word: `happened`, `did_not_happen` or `abandon`.
            result_digest: SHA-256 of the result's JSON; empty without one.
            signer: Whose key signs.

        Returns:
            The Ed25519 signature, 64 bytes.
        """
        message = signing_bytes(challenge, word, result_digest=result_digest)
        return self._private_keys[signer].sign(message)

    def sign_resolution(
        self,
        challenge: common_pb2.Challenge,
        word: str,
        result_json: str = "",
        signer: Signer = Signer.REVIEWER,
    ) -> bytes:
        """Sign what an operator found of an operation, over exactly this challenge.

        Args:
            challenge: As the memory issued it.
            word: `happened`, `did_not_happen` or `abandon`.
            result_json: With `happened`: canonical JSON of the result.
            signer: Whose key signs.

        Returns:
            The Ed25519 signature, 64 bytes.

        Raises:
            ValueError: Any other word.
        """
        if word not in RESOLUTIONS:
            raise ValueError(f"an operation is resolved with one of {RESOLUTIONS}, not {word!r}")
        digest = sha256_hex(result_json.encode()) if result_json else ""
        message = signing_bytes(challenge, word, result_digest=digest)
        return self._private_keys[signer].sign(message)

    def __repr__(self) -> str:
        return (
            f"Reviewer(key_id={self.public_key.key_id!r}, principal={self.public_key.principal!r})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a reviewer's private keys stay in their process")


def _public(key: Ed25519PrivateKey, principal: str) -> PublicKey:
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    key_id = f"reviewer-{sha256_hex(raw)[:_KEY_ID_CHARACTERS]}"
    return PublicKey(key_id=key_id, principal=principal, public_key=raw)
