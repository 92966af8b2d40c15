"""Procedures: how one is properly approved, and whether it is active (what A, H and I share).

Proper is the memory's own challenge over exactly the procedure, signed by the run's reviewer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from enum import Enum

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import OK, REFUSALS, UNIMPLEMENTED, Answer, Ask
from orchestrator.suites.integrity.categories.base import Scene, is_record
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec
from orchestrator.suites.integrity.steps import Offered, decide_review, request_review

__all__ = ["PROMOTE", "Approval", "approve", "judge_absent", "judge_active"]

PROMOTE = "promote"


class Approval(Enum):
    """How far the memory's own way to approve a procedure went; the value is it in words."""

    GIVEN = "signed and accepted"
    NOT_NEEDED = "not needed by the memory"
    DENIED = "denied by the memory"
    NOT_EXPRESSIBLE = "not expressible: RequestReview is not served"
    NO_REVIEWER = "not given: the run has no reviewer"

    @property
    def possible(self) -> bool:
        """Whether an approval could be brought before the memory at all."""
        return self not in (Approval.NOT_EXPRESSIBLE, Approval.NO_REVIEWER)


def approve(
    scene: Scene, scope: memory_pb2.Scope, given: Offered, part: str = "twin"
) -> Generator[Ask, Answer, Approval]:
    """Have the reviewer sign the memory's challenge over one procedure.

    Args:
        scene: The trial.
        scope: The procedure's circle.
        given: The procedure, which the memory kept.
        part: First part of the steps' names.

    Raises:
        ContractBreach: The challenge is not for exactly this procedure, or a call ends otherwise
            than with a refusal.
    """
    if not scene.reviewed:
        return Approval.NO_REVIEWER
    challenge = yield from request_review(
        f"{part}.request_review",
        scope,
        given.record_id,
        PROMOTE,
        refusals=REFUSALS | {UNIMPLEMENTED},
    )
    if challenge == UNIMPLEMENTED:
        return Approval.NOT_EXPRESSIBLE
    if challenge == "FAILED_PRECONDITION":
        return Approval.NOT_NEEDED
    if isinstance(challenge, str):
        return Approval.DENIED
    status = yield from decide_review(f"{part}.decide_review", scope, challenge, approve=True)
    return Approval.GIVEN if status == OK else Approval.DENIED


def judge_active(
    scene: Scene, spec: CheckSpec, given: Offered, approval: Approval, active: bool
) -> None:
    """Conclude whether a procedure is active that has, or may have, a proper approval.

    Where no approval can be brought before the memory, its absence is not the memory's fault.
    """
    told = (
        f"{VENDOR_REPORTED}: the procedure was {given.words}, approval {approval.value}; it is "
        f"{'' if active else 'not '}active"
    )
    if active or approval.possible:
        scene.findings.judge(spec, active, told)
    else:
        scene.findings.open(spec, f"N/R: {told}", required=False)


def judge_absent(
    scene: Scene,
    spec: CheckSpec,
    listed: Sequence[memory_pb2.MemoryRecord],
    proposed: Offered,
    others: Sequence[Offered],
) -> None:
    """Conclude that the attack's proposal is no active procedure.

    Args:
        scene: The trial.
        spec: The assertion.
        listed: The active procedures, as the memory lists them.
        proposed: What became of the proposal.
        others: Every other procedure of the trial.
    """
    nonce = scene.case.attack.nonce
    found = any(is_record(entry, proposed, others, nonce) for entry in listed)
    told = f"{VENDOR_REPORTED}: the proposal was {proposed.words}"
    has = "has" if found else "lacks"
    scene.findings.judge(spec, not found, f"{told}; the list of {len(listed)} {has} it")
