"""The changes that a memory is killed within, each ready to be made as one call."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from google.protobuf.message import Message

from memqual.v1 import common_pb2, memory_pb2
from orchestrator.suites.integrity.calls import (
    REFUSALS,
    UNIMPLEMENTED,
    Answer,
    Ask,
    NotExpressible,
    NotPossible,
    NotServed,
    Signing,
    method_of,
)
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.categories.fire.texts import (
    CLAIM,
    EXTRACT,
    ROUTINE,
    STATEMENT,
    FireCase,
    Subject,
)
from orchestrator.suites.integrity.categories.fire.views import Known
from orchestrator.suites.integrity.reviewer import APPROVE
from orchestrator.suites.integrity.steps import Offered, call, derive, request_review, write

__all__ = ["CHANGES", "Change", "Ready", "Unkept", "approved_anew", "fire_case", "make"]

PROMOTE = "promote"
_REPEAT_REFUSALS = REFUSALS | {"NOT_FOUND"}


class Unkept(Exception):
    """The memory keeps nothing that could be changed: the trial has nothing to look at."""


@dataclass(frozen=True)
class Ready:
    """A change that can be made now.

    Attributes:
        known: The subject, with what the memory told of it.
        request: The call.
        signing: What is signed for it; None for nothing.
        target: Id of the record that is changed; empty for a new one.
    """

    known: Known
    request: Message
    signing: Signing | None = None
    target: str = ""

    def ask(self, step: str) -> Ask:
        """The call, at a step."""
        return Ask(step, self.request, self.signing)


Prepare: TypeAlias = Callable[[str, Scene, Subject], Generator[Ask, Answer, Ready]]


@dataclass(frozen=True)
class Change:
    """One kind of change.

    Attributes:
        name: Its name in a case's variant.
        prepare: Says to the memory what there has to be, and makes the call ready.
        shows: A memory that makes the change shows it; a new text of doubtful origin may be
            refused, and then there is nothing to see.
    """

    name: str
    prepare: Prepare
    shows: bool = True


def fire_case(scene: Scene) -> FireCase:
    """The trial's case."""
    assert isinstance(scene.case, FireCase)  # what these cases build
    return scene.case


def make(step: str, ready: Ready, *, again: bool = False) -> Generator[Ask, Answer, str]:
    """Make a change undisturbed; returns OK, or the status that refused it.

    Args:
        step: Where in the script.
        ready: The change.
        again: It was asked for before, and may have been made.

    Raises:
        NotServed: The memory lacks the method.
        ContractBreach: It answers otherwise.
    """
    refusals = (_REPEAT_REFUSALS if again else REFUSALS) | {UNIMPLEMENTED}
    answer = yield from call(step, ready.request, refusals=refusals, signing=ready.signing)
    if answer.status == UNIMPLEMENTED:
        raise NotServed(method_of(ready.request).name)
    return answer.status


def _write(step: str, scene: Scene, subject: Subject) -> Generator[Ask, Answer, Ready]:
    """A new text: the user's own, or an assistant's."""
    offer = subject.statement if fire_case(scene).from_user else subject.claim
    yield from ()
    request = memory_pb2.WriteRequest(observation=offer.observation(scene.namespace))
    return Ready(Known(subject, {}), request)


def _derive(step: str, scene: Scene, subject: Subject) -> Generator[Ask, Answer, Ready]:
    """A summary of a trusted and an untrusted text."""
    said = yield from _said(step, scene, subject)
    claim = yield from write(f"{step}.claim", subject.claim.observation(scene.namespace))
    parents = [offered.record_id for offered in (said, claim) if offered.kept]
    request = memory_pb2.DeriveRequest(
        scope=_scope(scene, subject),
        kind=memory_pb2.RECORD_KIND_FACT,
        parent_ids=parents,
        content=subject.summary,
        method="summary",
    )
    return Ready(Known(subject, _roles({STATEMENT: said, CLAIM: claim})), request)


def _supersede(step: str, scene: Scene, subject: Subject) -> Generator[Ask, Answer, Ready]:
    """The user's statement, replaced by his newer one."""
    said = yield from _said(step, scene, subject)
    request = memory_pb2.SupersedeRequest(
        scope=_scope(scene, subject),
        record_id=said.record_id,
        observation=subject.update.observation(scene.namespace),
    )
    return Ready(Known(subject, _roles({STATEMENT: said})), request, target=said.record_id)


def _quarantine(step: str, scene: Scene, subject: Subject) -> Generator[Ask, Answer, Ready]:
    """The user's statement and what was made of it, taken out of authority."""
    known, target = yield from _with_child(step, scene, subject)
    request = memory_pb2.QuarantineRequest(
        scope=_scope(scene, subject), record_id=target, reason="reported_wrong"
    )
    return Ready(known, request, target=target)


def _forget(step: str, scene: Scene, subject: Subject) -> Generator[Ask, Answer, Ready]:
    """The user's statement and what was made of it, removed for good."""
    known, target = yield from _with_child(step, scene, subject)
    request = memory_pb2.ForgetRequest(scope=_scope(scene, subject), record_id=target)
    return Ready(known, request, target=target)


def _decide(step: str, scene: Scene, subject: Subject) -> Generator[Ask, Answer, Ready]:
    """A procedure's approval, signed by the reviewer over the memory's own challenge."""
    if not scene.reviewed:
        raise NotPossible("the run has no reviewer")
    refused = "no procedure is kept"
    for number, offer in enumerate((subject.routine, subject.own_routine)):
        where = f"{step}.routine.{number}"
        proposed = yield from write(where, offer.observation(scene.namespace))
        if not proposed.kept:
            continue
        challenge = yield from request_review(
            f"{where}.review",
            _scope(scene, subject),
            proposed.record_id,
            PROMOTE,
            refusals=REFUSALS | {UNIMPLEMENTED},
        )
        if challenge == UNIMPLEMENTED:
            raise NotServed("RequestReview")
        if isinstance(challenge, common_pb2.Challenge):
            known = Known(subject, _roles({ROUTINE: proposed}))
            return _decision(known, scene, challenge, proposed.record_id)
        refused = f"RequestReview answers {challenge}"
    raise NotExpressible(f"nothing can be approved: {refused}")


def _decision(known: Known, scene: Scene, challenge: common_pb2.Challenge, target: str) -> Ready:
    request = memory_pb2.DecideReviewRequest(
        scope=_scope(scene, known.subject),
        challenge_id=challenge.challenge_id,
        decision=memory_pb2.REVIEW_DECISION_APPROVE,
    )
    return Ready(known, request, Signing(challenge, APPROVE), target)


def approved_anew(
    step: str, scene: Scene, ready: Ready
) -> Generator[Ask, Answer, tuple[Ready, str] | None]:
    """Have an approval made over a fresh challenge; None where the memory offers none.

    A memory may use a challenge up before it carries the decision out: after a kill in between
    the approval is not made, and whoever reviews is asked once more.
    """
    scope = _scope(scene, ready.known.subject)
    challenge = yield from request_review(
        f"{step}.review", scope, ready.target, PROMOTE, refusals=_REPEAT_REFUSALS
    )
    if isinstance(challenge, str):
        return None
    fresh = _decision(ready.known, scene, challenge, ready.target)
    status = yield from make(f"{step}.decide", fresh, again=True)
    return fresh, status


def _with_child(
    step: str, scene: Scene, subject: Subject
) -> Generator[Ask, Answer, tuple[Known, str]]:
    """The statement and, where the memory can derive, an extract of it."""
    said = yield from _said(step, scene, subject)
    scope, parents = _scope(scene, subject), [said.record_id]
    child = yield from derive(f"{step}.extract", scope, parents, subject.extract, "extraction")
    roles = _roles({EXTRACT: child, STATEMENT: said})
    return Known(subject, roles), said.record_id


def _said(step: str, scene: Scene, subject: Subject) -> Generator[Ask, Answer, Offered]:
    said = yield from write(f"{step}.statement", subject.statement.observation(scene.namespace))
    if not said.kept:
        raise Unkept(f"the user's statement was {said.words}")
    return said


def _roles(offered: Mapping[str, Offered]) -> dict[str, str]:
    """Role of each record; two texts that the memory keeps as one have the latter's."""
    return {one.record_id: role for role, one in offered.items() if one.kept}


def _scope(scene: Scene, subject: Subject) -> memory_pb2.Scope:
    return subject.statement.scope(scene.namespace)


CHANGES: Mapping[str, Change] = {
    change.name: change
    for change in (
        Change("write", _write, shows=False),
        Change("derive", _derive, shows=False),
        Change("supersede", _supersede),
        Change("quarantine", _quarantine),
        Change("forget", _forget),
        Change("decide", _decide),
    )
}
"""Every kind of change, by name."""
