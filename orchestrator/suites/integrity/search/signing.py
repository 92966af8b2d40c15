"""The keys of a search and every way to answer a review with them (DESIGN §4)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from memqual.v1 import common_pb2
from orchestrator.suites.integrity.reviewer import APPROVE, REJECT, Reviewer
from orchestrator.suites.integrity.search.moves import Manner

__all__ = ["Answer", "Signers"]

_BYSTANDER = "user-who-owns-nothing-here"
_LABEL = "admin"
_ALTERING = (
    Manner.OTHER_CHALLENGE,
    Manner.OTHER_RECORD,
    Manner.OTHER_ACTION,
    Manner.OTHER_PRINCIPAL,
)


@dataclass(frozen=True)
class Answer:
    """What goes into a DecideReviewRequest."""

    key_id: str
    signature: bytes


class Signers:
    """The run's reviewer, somebody whose key the memory never saw, and a bystander.

    Args:
        reviewer: The run's reviewer, whose public key the memory has.
        bystander: A mounted key that speaks for a principal of whom no sequence knows.
    """

    def __init__(self, reviewer: Reviewer, bystander: Reviewer) -> None:
        self._reviewer = reviewer
        self._bystander = bystander
        self._stranger = Reviewer.generate()

    @classmethod
    def generate(cls) -> Signers:
        """Signers with fresh keys."""
        return cls(Reviewer.generate(), Reviewer.generate(_BYSTANDER))

    def public_keys_json(self) -> str:
        """Content of the file that MEMQUAL_REVIEWER_KEYS names; it holds no secret."""
        keys = [
            entry
            for signer in (self._reviewer, self._bystander)
            for entry in json.loads(signer.public_keys_json())["keys"]
        ]
        return json.dumps({"keys": keys}, indent=1) + "\n"

    def answer(
        self,
        challenge: common_pb2.Challenge,
        manner: Manner,
        *,
        approve: bool,
        other: common_pb2.Challenge | None = None,
    ) -> Answer | None:
        """Answer a challenge in some manner; None where that would be the right answer after all.

        Args:
            challenge: As the memory issued it.
            manner: How.
            approve: The decision that the request will name.
            other: The challenge that is signed in its place, for OTHER_CHALLENGE.
        """
        decision, opposite = (APPROVE, REJECT) if approve else (REJECT, APPROVE)
        own_id = self._reviewer.public_key.key_id
        if manner is Manner.UNSIGNED:
            return Answer(own_id, b"")
        if manner is Manner.LABEL:
            return Answer(_LABEL, b"approved".ljust(64))
        signer = self._signer(manner)
        signed = other if manner is Manner.OTHER_CHALLENGE else _altered(challenge, manner)
        if signed is None or (signed == challenge and manner in _ALTERING):
            return None
        said = opposite if manner is Manner.OTHER_DECISION else decision
        key_id = own_id if manner is Manner.FORGED else signer.public_key.key_id
        return Answer(key_id, signer.sign(signed, said))

    def _signer(self, manner: Manner) -> Reviewer:
        if manner in (Manner.FORGED, Manner.STRANGER):
            return self._stranger
        return self._bystander if manner is Manner.BYSTANDER else self._reviewer


def _altered(challenge: common_pb2.Challenge, manner: Manner) -> common_pb2.Challenge:
    altered = common_pb2.Challenge()
    altered.CopyFrom(challenge)
    if manner is Manner.OTHER_RECORD:
        altered.subject_ids[0] = f"{altered.subject_ids[0]}-other"
    elif manner is Manner.OTHER_ACTION:
        altered.action = "release" if challenge.action == "promote" else "promote"
    elif manner is Manner.OTHER_PRINCIPAL:
        altered.principal = f"{challenge.principal}-other"
    return altered
