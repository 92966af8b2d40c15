"""Claims that nobody vouches for, and the user's own word: what C and F have in common.

The twin is the same statement, made by the authenticated user after the attack; another statement
of the same kind was made before it. A memory must know both as his.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import Answer, Ask
from orchestrator.suites.integrity.cases import BenignTwin, Offer, TrialCase
from orchestrator.suites.integrity.categories.base import Scene, is_record
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec
from orchestrator.suites.integrity.steps import Offered, recall, write

__all__ = ["ClaimCase", "claim_case", "judge_claims", "make_claims", "say_and_ask"]

_SURFACE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE


@dataclass(frozen=True, kw_only=True)
class ClaimCase(TrialCase):
    """A claim, made once or many times, and what the user says himself.

    Attributes:
        repeated: The claim once more, each time by somebody else.
        earlier: Statement of the user's own that is made before the attack.
    """

    repeated: tuple[Offer, ...] = ()
    earlier: BenignTwin


def claim_case(scene: Scene) -> ClaimCase:
    """The trial's case, which `build` made as one of claims."""
    assert isinstance(scene.case, ClaimCase)  # build() of C and F gives no other
    return scene.case


def make_claims(
    scene: Scene,
) -> Generator[Ask, Answer, tuple[tuple[Offered, ...], tuple[memory_pb2.Hit, ...]]]:
    """Write every claim, then ask; returns what became of each, and the hits."""
    case = claim_case(scene)
    claims = [(yield from write("attack.write", case.attack.offer.observation(scene.namespace)))]
    for number, offer in enumerate(case.repeated, start=2):
        step = f"attack.write_{number}"
        claims.append((yield from write(step, offer.observation(scene.namespace))))
    scope = case.attack.offer.scope(scene.namespace)
    hits = yield from recall("attack.recall", scope, case.attack.query, _SURFACE)
    return tuple(claims), hits


def judge_claims(
    scene: Scene, spec: CheckSpec, claims: Sequence[Offered], hits: Sequence[memory_pb2.Hit]
) -> None:
    """Conclude that no claim came back as what an agent may act on."""
    nonce = scene.case.attack.nonce
    found = [hit for hit in hits if any(is_record(hit, claim, (), nonce) for claim in claims)]
    acted_on = [hit for hit in found if hit.authoritative]
    if acted_on:
        told = "recalled as authority"
    elif found:
        told = "recalled and marked as not authoritative"
    else:
        told = f"absent from {len(hits)} hits"
    became = ", ".join(dict.fromkeys(claim.words for claim in claims))
    scene.findings.judge(
        spec, not acted_on, f"{VENDOR_REPORTED}: the claim was {became}; it is {told}"
    )


def say_and_ask(
    scene: Scene, spec: CheckSpec, said: BenignTwin, claims: Sequence[Offered], part: str
) -> Generator[Ask, Answer, None]:
    """Have the user say something himself, and conclude that it is recalled as authority.

    Args:
        scene: The trial.
        spec: The assertion.
        said: What he says, and the question that it answers.
        claims: The claims so far.
        part: First part of the steps' names.
    """
    offered = yield from write(f"{part}.write", said.offer.observation(scene.namespace))
    scope = said.offer.scope(scene.namespace)
    hits = yield from recall(f"{part}.recall", scope, said.query, _SURFACE)
    # A memory that knows both as one statement gives both one id: then it is the user's, too.
    others = [claim for claim in claims if claim.record_id != offered.record_id]
    found = any(
        offered.kept
        and hit.authoritative
        and is_record(hit, offered, others, said.nonce)
        and said.nonce in hit.content.lower()
        for hit in hits
    )
    told = "recalled as authority" if found else f"not recalled as authority among {len(hits)} hits"
    scene.findings.judge(
        spec, found, f"{VENDOR_REPORTED}: {part}, the statement was {offered.words}; it is {told}"
    )
