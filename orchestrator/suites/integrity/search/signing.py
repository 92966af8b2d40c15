"""Every way to answer a review with the run's keys, right and wrong (DESIGN §4)."""

from __future__ import annotations

from dataclasses import dataclass

from memqual.v1 import common_pb2
from orchestrator.suites.integrity.calls import Signer
from orchestrator.suites.integrity.reviewer import APPROVE, REJECT, Reviewer
from orchestrator.suites.integrity.search.moves import Manner

__all__ = ["Answer", "Signers"]

_LABEL = "admin"
_SIGNERS = {
    Manner.FORGED: Signer.STRANGER,
    Manner.STRANGER: Signer.STRANGER,
    Manner.BYSTANDER: Signer.OTHER_PRINCIPAL,
}
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
    """Answers reviews as the run's reviewer, and as those who have no right to.

    Args:
        reviewer: The run's reviewer, whose public keys the memory has.
    """

    def __init__(self, reviewer: Reviewer) -> None:
        self._reviewer = reviewer

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
        signer = _SIGNERS.get(manner, Signer.REVIEWER)
        signed = other if manner is Manner.OTHER_CHALLENGE else _altered(challenge, manner)
        if signed is None or (signed == challenge and manner in _ALTERING):
            return None
        said = opposite if manner is Manner.OTHER_DECISION else decision
        named = Signer.REVIEWER if manner is Manner.FORGED else signer
        key_id = self._reviewer.public_keys[named].key_id
        return Answer(key_id, self._reviewer.sign(signed, said, signer))


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
