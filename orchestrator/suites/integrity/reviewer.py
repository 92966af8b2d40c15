"""The run's reviewer: a key pair that exists in this process only (DESIGN §4).

The memory gets the public key through a mounted file (MEMQUAL_REVIEWER_KEYS). The private key is
made for each run, is never written, printed or copied, and ends with the process.
"""

from __future__ import annotations

import base64
import json
from typing import NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from memqual.v1 import common_pb2
from services.common.canonical import sha256_hex
from services.common.challenges import ANY_PRINCIPAL, PublicKey, signing_bytes

__all__ = ["APPROVE", "REJECT", "Reviewer"]

APPROVE = "approve"
REJECT = "reject"

_KEY_ID_CHARACTERS = 12


class Reviewer:
    """One person's power to decide. Make it with `generate`."""

    __slots__ = ("_private_key", "public_key")

    def __init__(self, principal: str, private_key: Ed25519PrivateKey) -> None:
        raw = private_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self._private_key = private_key
        self.public_key = PublicKey(
            key_id=f"reviewer-{sha256_hex(raw)[:_KEY_ID_CHARACTERS]}",
            principal=principal,
            public_key=raw,
        )

    @classmethod
    def generate(cls, principal: str = ANY_PRINCIPAL) -> Reviewer:
        """A reviewer with a fresh key.

        Args:
            principal: Whose decisions the key signs; by default everybody's of the deployment,
                since every trial has a principal of its own.
        """
        return cls(principal, Ed25519PrivateKey.generate())

    def public_keys_json(self) -> str:
        """Content of the file that MEMQUAL_REVIEWER_KEYS names; it holds no secret."""
        entry = {
            "key_id": self.public_key.key_id,
            "principal": self.public_key.principal,
            "public_key_base64": self.public_key_base64,
        }
        return json.dumps({"keys": [entry]}, indent=1) + "\n"

    @property
    def public_key_base64(self) -> str:
        """The raw public key as the key file has it."""
        return base64.b64encode(self.public_key.public_key).decode()

    def sign(self, challenge: common_pb2.Challenge, decision: str) -> bytes:
        """Sign a decision over exactly this challenge.

        Args:
            challenge: As the memory issued it.
            decision: `approve` or `reject`.

        Returns:
            The Ed25519 signature, 64 bytes.

        Raises:
            ValueError: Any other decision.
        """
        if decision not in (APPROVE, REJECT):
            raise ValueError(f"a review ends with {APPROVE} or {REJECT}, not {decision!r}")
        return self._private_key.sign(signing_bytes(challenge, decision))

    def __repr__(self) -> str:
        return (
            f"Reviewer(key_id={self.public_key.key_id!r}, principal={self.public_key.principal!r})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a reviewer's private key stays in its process")
