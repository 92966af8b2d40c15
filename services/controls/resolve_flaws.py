"""Memories that take the wrong word of a person, or make the wrong thing of a right one."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from memqual.v1 import common_pb2
from services.common.challenges import PublicKey, signature_valid, signing_bytes
from services.controls.flaw import Flaw, named
from services.memory.answers import (
    Disposition,
    OperatorWord,
    RecordStep,
    Refused,
    ResolveCall,
)
from services.memory.model import Change, LeaseClock, Operation
from services.memory.process import Composition
from services.memory.recordings import RecordingRules
from services.memory.resolutions import Resolutions, SignedAnswer

__all__ = ["FLAWS"]

_PREFIX = "continuity.resolve"
_DECISIONS = ("unsafe_decision", "needless_decision", "malformed_answer")


class LosesResults(RecordingRules):
    """Acknowledges HAPPENED and keeps no result."""

    def resolve(self, operation: Operation, call: ResolveCall) -> RecordStep | Refused:
        """The word is taken, and the operation stays as it is."""
        step = super().resolve(operation, call)
        latest = operation.latest
        if call.word is OperatorWord.HAPPENED and isinstance(step, RecordStep) and latest:
            return RecordStep(
                operation.revised(latest), Disposition.COMPLETED, Change.COMPLETED_BY_OPERATOR
            )
        return step


class LosesReleases(RecordingRules):
    """Acknowledges DID_NOT_HAPPEN and goes on asking for confirmation."""

    def resolve(self, operation: Operation, call: ResolveCall) -> RecordStep | Refused:
        """The word is taken, and releases nothing."""
        step = super().resolve(operation, call)
        latest = operation.latest
        if call.word is OperatorWord.DID_NOT_HAPPEN and isinstance(step, RecordStep) and latest:
            return RecordStep(operation.revised(latest), change=Change.RELEASED_BY_OPERATOR)
        return step


class AbandonReleases(RecordingRules):
    """Takes ABANDON for DID_NOT_HAPPEN."""

    def resolve(self, operation: Operation, call: ResolveCall) -> RecordStep | Refused:
        """A new attempt is free where nobody will try again."""
        if call.word is OperatorWord.ABANDON:
            call = dataclasses.replace(call, word=OperatorWord.DID_NOT_HAPPEN)
        return super().resolve(operation, call)


class StaleWordsCount(RecordingRules):
    """Takes a challenge's answer for whichever attempt is the latest by then."""

    def resolve(self, operation: Operation, call: ResolveCall) -> RecordStep | Refused:
        """The word, about the latest attempt."""
        latest = operation.latest
        if operation.receipt is None and latest is not None:
            receipt = call.receipt
            if receipt is not None:
                receipt = dataclasses.replace(receipt, attempt=latest.attempt)
            call = dataclasses.replace(call, attempt=latest.attempt, receipt=receipt)
        return super().resolve(operation, call)


class UndoesCompletion(RecordingRules):
    """Believes an operator even against a receipt."""

    def resolve(self, operation: Operation, call: ResolveCall) -> RecordStep | Refused:
        """DID_NOT_HAPPEN takes a completion back."""
        latest = operation.latest
        if operation.receipt is None or latest is None or latest.attempt != call.attempt:
            return super().resolve(operation, call)
        return super().resolve(dataclasses.replace(operation, receipt=None), call)


class AnyMountedKey(Resolutions):
    """Every key that is mounted speaks for everybody."""

    def key_for(self, challenge: common_pb2.Challenge, key_id: str) -> PublicKey | None:
        """The named key."""
        return self._keys.get(key_id)


class NothingSigns(Resolutions):
    """A word without a signature counts as signed."""

    def is_signed(
        self, key: PublicKey, answer: SignedAnswer, challenge: common_pb2.Challenge
    ) -> bool:
        """Whether the signature holds, if there is one."""
        return not answer.signature or super().is_signed(key, answer, challenge)


class SignsAnyWord(Resolutions):
    """Checks that the challenge was signed, and not with which word."""

    def is_signed(
        self, key: PublicKey, answer: SignedAnswer, challenge: common_pb2.Challenge
    ) -> bool:
        """Whether the signature holds over the challenge with any of the words."""
        return any(
            signature_valid(
                key,
                answer.signature,
                signing_bytes(challenge, word.value, result_digest=answer.result_digest),
            )
            for word in OperatorWord
        )


class SignsAnyChallenge(Resolutions):
    """Takes a signature over any challenge that it has issued."""

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._issued: list[common_pb2.Challenge] = []

    def request(self, namespace: str, operation_id: str, principal: str) -> common_pb2.Challenge:
        """Issues a challenge, and remembers it."""
        challenge = super().request(namespace, operation_id, principal)
        self._issued.append(challenge)
        return challenge

    def is_signed(
        self, key: PublicKey, answer: SignedAnswer, challenge: common_pb2.Challenge
    ) -> bool:
        """Whether the signature holds over one of them."""
        return any(
            super(SignsAnyChallenge, self).is_signed(key, answer, one)
            for one in (challenge, *self._issued)
        )


class AnswersAgain(Resolutions):
    """Lets a challenge be answered as often as somebody likes."""

    def is_used(self, challenge: common_pb2.Challenge, *, used: bool) -> bool:
        """False."""
        return False


class NeverEnds(Resolutions):
    """Lets a challenge be answered after its end."""

    def is_over(self, challenge: common_pb2.Challenge, clock: LeaseClock) -> bool:
        """False."""
        return False


class WithoutEnd(NeverEnds):
    """Issues challenges that say no end, and have none."""

    def ends_at_ns(self, clock: LeaseClock) -> int:
        """Never."""
        return 0


class KnowsOwnChallenges(Resolutions):
    """Keeps in RAM which challenges are open."""

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._open: set[str] = set()

    def request(self, namespace: str, operation_id: str, principal: str) -> common_pb2.Challenge:
        """Issues a challenge, and remembers it."""
        challenge = super().request(namespace, operation_id, principal)
        self._open.add(challenge.challenge_id)
        return challenge

    def is_used(self, challenge: common_pb2.Challenge, *, used: bool) -> bool:
        """Whether it was answered, or issued by another process."""
        return used or challenge.challenge_id not in self._open


def _rules(name: str, rules: RecordingRules, wrong: str, check: str, *more: str) -> Flaw:
    composition = Composition(named(name), recordings=rules)
    return Flaw(composition, wrong, f"{_PREFIX}.{check}", "O", consequences=(*_DECISIONS, *more))


def _desk(name: str, desk: type[Resolutions], wrong: str, check: str, *more: str) -> Flaw:
    composition = Composition(named(name), resolutions=desk)
    return Flaw(composition, wrong, f"{_PREFIX}.{check}", "O", consequences=(*_DECISIONS, *more))


FLAWS: Mapping[str, Flaw] = {
    "loses_results": _rules(
        "loses_results",
        LosesResults(),
        "acknowledges what happened and keeps no result",
        "happened",
        f"{_PREFIX}.hosted",
    ),
    "loses_releases": _rules(
        "loses_releases",
        LosesReleases(),
        "acknowledges that nothing happened and licenses no attempt",
        "did_not_happen",
        f"{_PREFIX}.hosted",
        f"{_PREFIX}.restart",
    ),
    "abandon_releases": _rules(
        "abandon_releases",
        AbandonReleases(),
        "dispatches what was given up",
        "abandon",
    ),
    "any_mounted_key": _desk(
        "any_mounted_key",
        AnyMountedKey,
        "takes the word of somebody who speaks for others",
        "wrong_key",
    ),
    "nothing_signs": _desk(
        "nothing_signs", NothingSigns, "takes a word without a signature", "forged"
    ),
    "signs_any_word": _desk(
        "signs_any_word", SignsAnyWord, "takes another word than the signed one", "changed"
    ),
    "signs_any_challenge": _desk(
        "signs_any_challenge",
        SignsAnyChallenge,
        "takes a word that was signed over another operation's challenge",
        "other_challenge",
    ),
    "answers_again": _desk(
        "answers_again", AnswersAgain, "takes an answer to a used challenge", "used"
    ),
    "stale_words_count": _rules(
        "stale_words_count",
        StaleWordsCount(),
        "takes a word about a superseded attempt",
        "stale",
    ),
    "undoes_completion": _rules(
        "undoes_completion",
        UndoesCompletion(),
        "takes a completion back on an operator's word",
        "completed",
    ),
    "endless_challenges": _desk(
        "endless_challenges", NeverEnds, "takes an answer after the challenge's end", "expired"
    ),
    "challenges_without_end": _desk(
        "challenges_without_end", WithoutEnd, "issues challenges without an end", "expired"
    ),
    "knows_own_challenges": _desk(
        "knows_own_challenges",
        KnowsOwnChallenges,
        "a restart voids every challenge",
        "restart",
    ),
}
