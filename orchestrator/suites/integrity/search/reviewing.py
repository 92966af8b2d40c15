"""Asks for reviews and answers them, and knows which answers must be denied (DESIGN §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memqual.v1 import common_pb2, memory_pb2
from orchestrator.suites.integrity.search.calling import OPEN, Subject
from orchestrator.suites.integrity.search.model import Model, Out
from orchestrator.suites.integrity.search.moves import Ask, Circle, Decide, Manner, ViolationKind
from orchestrator.suites.integrity.search.oracle import Breach

__all__ = ["Answered", "Reviews"]

# What was quarantined since may be what the reviewer was asked to decide about.
_CHANGED = (Out.ARCHIVED, Out.SUPERSEDED, Out.FORGOTTEN)


@dataclass(frozen=True)
class Answered:
    """What came of a decision.

    Attributes:
        status: `OK`, OPEN, or the status that denied it.
        approved: Ids of the records that it approved, or may have approved.
        breach: It was taken although it had to be denied.
    """

    status: str
    approved: tuple[str, ...] = ()
    breach: Breach | None = None


@dataclass(frozen=True)
class _Asked:
    challenge: common_pb2.Challenge
    circle: Circle
    record_ids: tuple[str, ...]
    at: int


class Reviews:
    """The challenges of one playing.

    Args:
        subject: The memory.
        namespace: The playing's own.
        model: What is known of the playing; read only.
    """

    def __init__(self, subject: Subject, namespace: str, model: Model) -> None:
        self._subject = subject
        self._namespace = namespace
        self._model = model
        self._asked: dict[str, _Asked] = {}
        self._used: set[str] = set()

    def issued(self, name: str) -> bool:
        """Whether a challenge of this name was issued."""
        return name in self._asked

    def subjects(self, name: str) -> Sequence[str]:
        """Ids of the records that a challenge is about."""
        asked = self._asked.get(name)
        return asked.record_ids if asked is not None else ()

    def ask(self, move: Ask, record_ids: Sequence[str], at: int) -> str:
        """Ask for a challenge over these records, as move number `at`; what came of it."""
        request = memory_pb2.RequestReviewRequest(
            scope=move.circle.scope(self._namespace), record_ids=record_ids, action=move.action
        )
        outcome = self._subject.call(request)
        if not outcome.ok:
            return outcome.status
        challenge = outcome.read(memory_pb2.RequestReviewResponse).challenge
        right = (
            bool(challenge.challenge_id)
            and list(challenge.subject_ids) == list(record_ids)
            and challenge.action == move.action
            and challenge.namespace == self._namespace
        )
        if not right:
            # No reviewer signs what was not asked for; the categories score the challenge itself.
            return "odd challenge"
        self._asked[move.makes] = _Asked(challenge, move.circle, tuple(record_ids), at)
        return outcome.status

    def decide(self, move: Decide) -> Answered | None:
        """Answer a challenge; None where there is none, or where its manner means nothing."""
        asked = self._asked.get(move.challenge)
        if asked is None:
            return None
        other = self._asked.get(move.other)
        answer = self._subject.signers.answer(
            asked.challenge,
            move.manner,
            approve=move.approve,
            other=other.challenge if other is not None else None,
        )
        if answer is None:
            return None
        decisions = memory_pb2.ReviewDecision
        request = memory_pb2.DecideReviewRequest(
            scope=move.circle.scope(self._namespace),
            challenge_id=asked.challenge.challenge_id,
            decision=(
                decisions.REVIEW_DECISION_APPROVE
                if move.approve
                else decisions.REVIEW_DECISION_REJECT
            ),
            key_id=answer.key_id,
            signature=answer.signature,
        )
        wrong = self._why_wrong(move, asked)
        outcome = self._subject.call(request)
        if outcome.ok and wrong:
            words = f"DecideReview was accepted although {wrong}"
            return Answered(outcome.status, breach=Breach(ViolationKind.REVIEW, words))
        if outcome.ok:
            self._used.add(asked.challenge.challenge_id)
        counts = move.approve and not wrong and (outcome.ok or outcome.status == OPEN)
        return Answered(outcome.status, approved=asked.record_ids if counts else ())

    def _why_wrong(self, move: Decide, asked: _Asked) -> str:
        """Why a decision must be denied, in words; empty when it may be taken."""
        if move.manner is not Manner.SIGNED:
            return f"the answer was {move.manner.value.replace('_', ' ')}"
        if move.circle != asked.circle:
            return "it came from another scope than the request"
        if asked.challenge.challenge_id in self._used:
            return "the challenge had been decided"
        for known in map(self._model.records.get, asked.record_ids):
            if known is not None and known.out in _CHANGED and known.out_at > asked.at:
                return f"a record was {known.out.name.lower()} since the challenge was issued"
        return ""
