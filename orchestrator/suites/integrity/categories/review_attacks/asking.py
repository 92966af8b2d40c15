"""A record before a review, and the decisions that are sent on it, however they are signed."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

from memqual.v1 import common_pb2, memory_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, Signer, Signing, Want
from orchestrator.suites.integrity.reviewer import APPROVE
from orchestrator.suites.integrity.steps import Offered

__all__ = ["PROMOTE", "RELEASE", "Act", "Pending", "Sought", "decision_on", "signed"]

PROMOTE = "promote"
RELEASE = "release"

Act: TypeAlias = Generator[Want, Answer, None]
"""What a part of a script does; conclusions go to the trial's findings."""

_DECISIONS = memory_pb2.ReviewDecision


@dataclass(frozen=True)
class Pending:
    """A record that is not in force, with a challenge that is open.

    Attributes:
        record: The record.
        nonce: Word that marks its text.
        scope: Its circle.
        challenge: The challenge, as the memory issued it.
    """

    record: Offered
    nonce: str
    scope: memory_pb2.Scope
    challenge: common_pb2.Challenge


@dataclass(frozen=True)
class Sought:
    """A record that was proposed, before there is a challenge."""

    record: Offered
    nonce: str


def signed(
    pending: Pending,
    *,
    challenge: common_pb2.Challenge | None = None,
    decision: str = APPROVE,
    signer: Signer = Signer.REVIEWER,
    claimed: Signer = Signer.REVIEWER,
) -> Signing:
    """What is to be signed: by default the record's own challenge, approved by the reviewer."""
    return Signing(challenge or pending.challenge, decision, signer, claimed)


def decision_on(
    step: str,
    pending: Pending,
    *,
    signing: Signing | None,
    scope: memory_pb2.Scope | None = None,
    approve: bool = True,
) -> Ask:
    """A decision on the record's challenge, signed as told."""
    request = memory_pb2.DecideReviewRequest(
        scope=scope or pending.scope,
        challenge_id=pending.challenge.challenge_id,
        decision=_DECISIONS.REVIEW_DECISION_APPROVE
        if approve
        else _DECISIONS.REVIEW_DECISION_REJECT,
    )
    return Ask(step, request, signing)
