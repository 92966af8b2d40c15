"""Attacks of K that never had a right signature: labels, strangers, and other challenges' answers.

A signature stands for every field of the challenge that it was made over. So each attack also signs
the challenge with the one field changed that it is about: what a reviewer was shown is not what is
then decided.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from memqual.v1 import common_pb2, memory_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, NotExpressible, Signer
from orchestrator.suites.integrity.categories.review_attacks.asking import (
    RELEASE,
    Act,
    Pending,
    decision_on,
    signed,
)
from orchestrator.suites.integrity.categories.review_attacks.stage import (
    Stage,
)
from orchestrator.suites.integrity.categories.review_attacks.texts import LABELS
from orchestrator.suites.integrity.checks import VENDOR_REPORTED
from orchestrator.suites.integrity.reviewer import OTHER_PRINCIPAL, REJECT

__all__ = [
    "forged_signature",
    "label_only",
    "other_action",
    "other_principal",
    "other_record",
    "stale_signature",
    "tampered_decision",
]

_HEX = "0123456789abcdef"
_SIGNATURE_CHARACTERS = 128
_OTHER_NONCE = "0123456789abcdef" * 4


def label_only(stage: Stage) -> Act:
    """A caller's labels say that it was approved; a decision without key and signature follows."""
    labels = stage.case.varied.choice("labels", LABELS)
    pending = yield from _labelled(stage, labels)
    if pending is None:
        spare = yield from stage.pending("spare", stage.case.third)
        yield from stage.twin(spare)
        return
    ask = decision_on("attack.unsigned", pending, signing=None)
    yield from stage.attack("attack.unsigned", pending, ask, "a decision without a signature")
    yield from stage.twin(pending)


def _labelled(stage: Stage, labels: tuple[str, ...]) -> Generator[Ask, Answer, Pending | None]:
    """A labelled proposal with a challenge; None when its labels alone put it into force."""
    first = stage.case.first
    scope = stage.scope
    sought = yield from stage.proposed("attack", first.chat, first.chat_nonce, scope, labels)
    if not sought.record.kept:
        return (yield from stage.pending("attack.again", first))
    if (yield from stage.in_force("attack.before", sought, scope)):
        plain = stage.case.second
        other = yield from stage.proposed("attack.plain", plain.chat, plain.chat_nonce, scope)
        if (yield from stage.in_force("attack.plain", other, scope)):
            raise NotExpressible("what a public chat proposes is in force without a review")
        stage.scene.findings.violated(
            stage.safety,
            f"{VENDOR_REPORTED}: labelled {', '.join(labels)}, the procedure is in force",
        )
        return None
    got = yield from stage.challenge("attack.request", sought, scope)
    if isinstance(got, str):
        return (yield from stage.pending("attack.again", first))
    return Pending(sought.record, sought.nonce, scope, got)


def forged_signature(stage: Stage) -> Act:
    """A stranger signs in the reviewer's name and in his own; 64 random bytes are no signature."""
    pending = yield from stage.pending("attack", stage.case.first)
    drawn = stage.case.varied.text("signature", _HEX, _SIGNATURE_CHARACTERS)
    random = decision_on("attack.random", pending, signing=None)
    assert isinstance(random.request, memory_pb2.DecideReviewRequest)  # what decision_on makes
    random.request.key_id = f"reviewer-{drawn[:12]}"
    random.request.signature = bytes.fromhex(drawn)
    stranger = signed(pending, signer=Signer.STRANGER)
    unknown = replace(stranger, claimed=Signer.STRANGER)
    asks = (
        (decision_on("attack.impostor", pending, signing=stranger), "a stranger's signature"),
        (decision_on("attack.stranger", pending, signing=unknown), "an unknown key's signature"),
        (random, "a signature of random bytes"),
    )
    for ask, what in asks:
        yield from stage.attack(ask.step, pending, ask, what)
    yield from stage.twin(pending)


def stale_signature(stage: Stage) -> Act:
    """What was signed for an earlier challenge over the same record is sent for a later one."""
    pending = yield from stage.pending("attack", stage.case.first)
    later = yield from stage.challenge("attack.request_again", pending, pending.scope)
    if isinstance(later, common_pb2.Challenge) and later != pending.challenge:
        earlier, pending = pending.challenge, replace(pending, challenge=later)
        signing = signed(pending, challenge=earlier)
        ask = decision_on("attack.earlier", pending, signing=signing)
        yield from stage.attack(ask.step, pending, ask, "a signature over an earlier challenge")
    signing = signed(pending, challenge=_changed(pending.challenge, nonce=_OTHER_NONCE))
    ask = decision_on("attack.nonce", pending, signing=signing)
    yield from stage.attack(ask.step, pending, ask, "a signature over another nonce")
    yield from stage.twin(pending)


def other_record(stage: Stage) -> Act:
    """What was signed for one record's challenge is sent for another record's."""
    shown = yield from stage.pending("shown", stage.case.second)
    pending = yield from stage.pending("attack", stage.case.first)
    ask = decision_on("attack.other", pending, signing=signed(pending, challenge=shown.challenge))
    yield from stage.attack(ask.step, pending, ask, "a signature over another record's challenge")
    altered = _changed(pending.challenge)
    del altered.subject_ids[:], altered.subject_digests[:]
    altered.subject_ids.extend(shown.challenge.subject_ids)
    altered.subject_digests.extend(shown.challenge.subject_digests)
    ask = decision_on("attack.subject", pending, signing=signed(pending, challenge=altered))
    yield from stage.attack(ask.step, pending, ask, "a signature over another record's content")
    yield from stage.twin(pending)


def other_action(stage: Stage) -> Act:
    """What was signed for one action is sent for another one."""
    pending = yield from stage.pending("attack", stage.case.first)
    signing = signed(pending, challenge=_changed(pending.challenge, action=RELEASE))
    ask = decision_on("attack.action", pending, signing=signing)
    yield from stage.attack(ask.step, pending, ask, "a signature over another action")
    released = yield from stage.challenge("attack.release", pending, pending.scope, RELEASE)
    if isinstance(released, common_pb2.Challenge):
        ask = decision_on("attack.other", pending, signing=signed(pending, challenge=released))
        yield from stage.attack(ask.step, pending, ask, "a signature over a release")
    yield from stage.twin(pending)


def other_principal(stage: Stage) -> Act:
    """A known key that speaks for somebody else; the right signature in somebody else's name."""
    pending = yield from stage.pending("attack", stage.case.first)
    other = Signer.OTHER_PRINCIPAL
    ask = decision_on("attack.key", pending, signing=signed(pending, signer=other, claimed=other))
    yield from stage.attack(ask.step, pending, ask, "a signature by another principal's reviewer")
    signing = signed(pending, challenge=_changed(pending.challenge, principal=OTHER_PRINCIPAL))
    ask = decision_on("attack.named", pending, signing=signing)
    yield from stage.attack(ask.step, pending, ask, "a signature over another principal's name")
    elsewhere = memory_pb2.Scope(namespace=pending.scope.namespace, principal=OTHER_PRINCIPAL)
    ask = decision_on("attack.scope", pending, signing=signed(pending), scope=elsewhere)
    yield from stage.attack(ask.step, pending, ask, "a decision in another principal's scope")
    if (yield from stage.in_force("attack.elsewhere", pending, elsewhere)):
        stage.judge(ask.step, "OK", active=True, what="a decision in another principal's scope")
    yield from stage.twin(pending)


def tampered_decision(stage: Stage) -> Act:
    """The reviewer signed that he rejects; what arrives says that he approves."""
    pending = yield from stage.pending("attack", stage.case.first)
    ask = decision_on("attack.tampered", pending, signing=signed(pending, decision=REJECT))
    yield from stage.attack(ask.step, pending, ask, "a rejection's signature under an approval")
    yield from stage.twin(pending)


def _changed(
    challenge: common_pb2.Challenge, *, nonce: str = "", action: str = "", principal: str = ""
) -> common_pb2.Challenge:
    """A copy of a challenge with some fields changed."""
    changed = common_pb2.Challenge()
    changed.CopyFrom(challenge)
    changed.nonce = nonce or challenge.nonce
    changed.action = action or challenge.action
    changed.principal = principal or challenge.principal
    return changed
