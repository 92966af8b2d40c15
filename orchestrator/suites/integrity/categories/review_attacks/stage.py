"""What every attack of K does: bring a record before a review, decide, and look what came of it.

An attack fails when the record is in force afterwards. A refusal by any status of the contract is
fine; an OK to a decision that does not count, and that changed nothing, is a breach of the contract
(memory.proto: PERMISSION_DENIED), since whoever sent it believes that it was taken.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from memqual.v1 import common_pb2, memory_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    REFUSALS,
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    NotExpressible,
    NotServed,
)
from orchestrator.suites.integrity.cases import Offer
from orchestrator.suites.integrity.categories.base import Scene, contract_check, is_record
from orchestrator.suites.integrity.categories.review_attacks.asking import (
    PROMOTE,
    RELEASE,
    Act,
    Pending,
    Sought,
    decision_on,
    signed,
)
from orchestrator.suites.integrity.categories.review_attacks.texts import (
    LETTER,
    Proposal,
    ReviewCase,
)
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec
from orchestrator.suites.integrity.lifecycle_steps import inspect
from orchestrator.suites.integrity.steps import (
    call,
    list_procedures,
    request_review,
    response_of,
    write,
)

__all__ = ["CONTRACT", "REFUSED", "Stage", "Unreviewable"]

CONTRACT = contract_check(LETTER)

REFUSED = REFUSALS | {"NOT_FOUND", "RESOURCE_EXHAUSTED"}
"""Statuses with which a memory may refuse a decision that does not count, or a review."""


class Unreviewable(Exception):
    """The memory gives no challenge over anything that is not active; `cause` says what it did."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass(frozen=True)
class Stage:
    """One trial of K, with the checks of its variant.

    Attributes:
        scene: The trial.
        case: What it says.
        safety: No authority came of the attack.
        utility: A proper approval works.
    """

    scene: Scene
    case: ReviewCase
    safety: CheckSpec
    utility: CheckSpec

    @property
    def scope(self) -> memory_pb2.Scope:
        """The principal's whole circle."""
        return self.case.first.own.scope(self.scene.namespace)

    # Before the attack

    def pending(
        self,
        name: str,
        proposal: Proposal,
        *,
        scope: memory_pb2.Scope | None = None,
    ) -> Generator[Ask, Answer, Pending]:
        """Propose a procedure, and have a challenge issued over it.

        Args:
            name: Begins the names of the steps.
            proposal: What is proposed: by a public chat, else by the operator himself.
            scope: Circle of the record; None for the principal's whole.

        Raises:
            Unreviewable: No challenge is to be had over a record that is not in force.
            NotServed: The memory has no RequestReview.
            NotExpressible: What could be proposed is in force without a review, or is not kept.
        """
        circle = self.scope if scope is None else scope
        told: list[str] = []
        needless = False
        for way, offer, nonce in (
            ("chat", proposal.chat, proposal.chat_nonce),
            ("own", proposal.own, proposal.own_nonce),
        ):
            sought = yield from self.proposed(f"{name}.{way}", offer, nonce, circle)
            if not sought.record.kept:
                told.append(f"the {way} proposal was {sought.record.words}")
                continue
            active = yield from self.in_force(f"{name}.{way}.before", sought, circle)
            if active:
                needless = True
                told.append(f"the {way} proposal is active without a review")
                continue
            challenge = yield from self.challenge(f"{name}.{way}.request", sought, circle)
            if not isinstance(challenge, str):
                return Pending(sought.record, nonce, circle, challenge)
            told.append(f"RequestReview over the {way} proposal ended with {challenge}")
        if needless:
            raise NotExpressible("; ".join(told))
        raise Unreviewable("; ".join(told))

    def proposed(
        self,
        step: str,
        offer: Offer,
        nonce: str,
        scope: memory_pb2.Scope,
        labels: tuple[str, ...] = (),
    ) -> Generator[Ask, Answer, Sought]:
        """Propose a procedure in a circle."""
        observation = offer.observation(self.scene.namespace)
        observation.scope.CopyFrom(scope)
        observation.labels.extend(labels)
        record = yield from write(f"{step}.write", observation)
        return Sought(record, nonce)

    def challenge(
        self,
        step: str,
        sought: Sought | Pending,
        scope: memory_pb2.Scope,
        action: str = PROMOTE,
    ) -> Generator[Ask, Answer, common_pb2.Challenge | str]:
        """A challenge over one record, or the status that refused it; raises NotServed."""
        got = yield from request_review(
            step, scope, sought.record.record_id, action, refusals=REFUSED | {UNIMPLEMENTED}
        )
        if got == UNIMPLEMENTED:
            raise NotServed("RequestReview")
        return got

    def challenge_over(
        self, step: str, scope: memory_pb2.Scope, record_ids: Sequence[str]
    ) -> Generator[Ask, Answer, common_pb2.Challenge | None]:
        """A challenge over several records; None when it is refused or not for exactly them."""
        request = memory_pb2.RequestReviewRequest(
            scope=scope, record_ids=record_ids, action=PROMOTE
        )
        answer = yield from call(step, request, refusals=REFUSED)
        if answer.status != OK:
            return None
        challenge = response_of(step, answer, memory_pb2.RequestReviewResponse).challenge
        return challenge if sorted(challenge.subject_ids) == sorted(record_ids) else None

    # The attack

    def attack(self, name: str, pending: Pending, ask: Ask, what: str) -> Act:
        """Send a decision that must not count, and look at the record."""
        status = yield from self.decided(ask)
        active = yield from self.in_force(name, pending, pending.scope)
        self.judge(ask.step, status, active, what)

    def decided(self, ask: Ask) -> Generator[Ask, Answer, str]:
        """Send a decision; returns OK or the status that refused it."""
        answer = yield ask
        return self.taken(ask.step, answer)

    def taken(self, step: str, answer: Answer) -> str:
        """Status of an answer to DecideReview; raises ContractBreach for an impossible one."""
        if answer.status == UNIMPLEMENTED:
            raise NotServed("DecideReview")
        if answer.status != OK and answer.status not in REFUSED:
            raise ContractBreach(step, f"{answer.status} to a decision")
        return answer.status

    def judge(self, step: str, status: str, active: bool, what: str) -> None:
        """Conclude from one attempt."""
        told = f"{VENDOR_REPORTED}: {what} was answered with {status}"
        if active:
            self.scene.findings.violated(self.safety, f"{told}; the record is in force")
            return
        self.scene.findings.held(self.safety, f"{told}; the record is not in force")
        if status == OK:
            self.scene.findings.violated(
                CONTRACT, f"{step}: OK to {what}, which does not count; nothing came of it"
            )

    def in_force(
        self, name: str, sought: Sought | Pending, scope: memory_pb2.Scope
    ) -> Generator[Ask, Answer, bool]:
        """Whether the memory lists the procedure as active, or shows it as authoritative."""
        listed = yield from list_procedures(f"{name}.list", scope)
        if any(is_record(entry, sought.record, (), sought.nonce) for entry in listed):
            return True
        try:
            shown = yield from inspect(f"{name}.inspect", scope, sought.record.record_id)
        except NotServed:
            return False
        return shown.authoritative

    # The twin

    def twin(self, pending: Pending) -> Act:
        """A proper approval of a fresh challenge: of the attacked record, else of a spare one."""
        told: list[str] = []
        for action in (PROMOTE, RELEASE):
            if (yield from self._approved(f"twin.{action}", pending, action, told)):
                return
        try:
            other = yield from self.pending("twin.other", self.case.spare)
        except (Unreviewable, NotExpressible) as error:
            told.append(error.cause)
        else:
            if (yield from self._decided_properly("twin.other", other, told)):
                return
        self.scene.findings.violated(self.utility, f"{VENDOR_REPORTED}: {'; '.join(told)}")

    def approved(self, name: str, pending: Pending) -> Generator[Ask, Answer, bool]:
        """Whether the proper approval of an open challenge puts the record into force."""
        yield from self.decided(decision_on(f"{name}.decide", pending, signing=signed(pending)))
        return (yield from self.in_force(name, pending, pending.scope))

    def _approved(
        self, name: str, pending: Pending, action: str, told: list[str]
    ) -> Generator[Ask, Answer, bool]:
        if (yield from self.in_force(f"{name}.before", pending, pending.scope)):
            told.append("the attacked record is in force")
            return False
        got = yield from self.challenge(f"{name}.request", pending, pending.scope, action)
        if isinstance(got, str):
            told.append(f"RequestReview to {action} ended with {got}")
            return False
        fresh = Pending(pending.record, pending.nonce, pending.scope, got)
        return (yield from self._decided_properly(name, fresh, told))

    def _decided_properly(
        self, name: str, pending: Pending, told: list[str]
    ) -> Generator[Ask, Answer, bool]:
        active = yield from self.approved(name, pending)
        if active:
            self.scene.findings.held(
                self.utility, f"{VENDOR_REPORTED}: properly approved, the procedure is in force"
            )
        else:
            told.append("properly approved, the procedure is not in force")
        return active

    def give_up(self, error: Unreviewable) -> None:
        """Conclude that there is nothing to attack, although reviews are declared."""
        self.scene.findings.open(self.safety, error.cause, required=False)
        self.scene.findings.violated(self.utility, f"{VENDOR_REPORTED}: {error.cause}")
