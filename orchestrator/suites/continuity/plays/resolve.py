"""Plays of `families.resolve`: a person answers what the memory could not tell."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace

from chaos.clock import OFFSET_MAX_NS
from memqual.v1 import common_pb2
from orchestrator.suites.continuity.clocks import read_memory_clock
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.families.resolve import BEYOND_CLOCKS
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.plays.asking import (
    Held,
    asking,
    finish,
    granted,
    in_turn,
    label,
)
from orchestrator.suites.continuity.plays.operating import OPERATING
from orchestrator.suites.continuity.plays.operator import (
    challenge_for,
    said,
    say,
    signed_word,
)
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.integrity.calls import Signer
from services.common.canonical import canonical_json

__all__ = ["PLAYS"]

_RESULT = canonical_json({"found_by": "operator"}).decode()
_OTHER_RESULT = canonical_json({"found_by": "somebody"}).decode()
_JUMP_NS_MAX = OFFSET_MAX_NS - 24 * 3_600 * NS
"""A day less than a clock can be set off by: some of it is used for the lease's end."""


def _ask(stage: Stage, held: Held, name: str) -> None:
    asking(stage, held.member, name).begin(held.spec)


def _happened(stage: Stage, held: Held) -> None:
    _ask(stage, held, "second")
    said(stage, held, "word", "happened", _RESULT)
    label(stage, held.member, "after")
    _ask(stage, held, "third")


def _did_not_happen(stage: Stage, held: Held) -> None:
    _ask(stage, held, "second")
    said(stage, held, "word", "did_not_happen")
    label(stage, held.member, "after")
    third = granted(stage, held.member, name="third")
    if third is not None:
        # The word supersedes nothing, and licenses one attempt.
        _ask(stage, held, "fourth")
        finish(stage, third)


def _abandon(stage: Stage, held: Held) -> None:
    said(stage, held, "word", "abandon")
    label(stage, held.member, "after")
    _ask(stage, held, "second")


def _still_uncertain(stage: Stage, held: Held) -> None:
    """A word that was refused changes nothing; a good one is taken all the same."""
    _ask(stage, held, "second")
    if said(stage, held, "good word", "did_not_happen"):
        third = granted(stage, held.member, name="third")
        if third is not None:
            finish(stage, third)


def _wrong_key(stage: Stage, held: Held) -> None:
    for signer in (Signer.OTHER_PRINCIPAL, Signer.STRANGER):
        challenge = challenge_for(stage, held)
        if challenge is None:
            return
        label(stage, held.member, signer.value)
        say(stage, held, signed_word(stage, challenge, "did_not_happen", signer=signer))
    _still_uncertain(stage, held)


def _forged(stage: Stage, held: Held) -> None:
    noise = hashlib.sha512(held.spec.operation_id.encode()).digest()
    for name in ("stranger", "noise", "short", "nothing"):
        challenge = challenge_for(stage, held)
        if challenge is None:
            return
        good = signed_word(stage, challenge, "did_not_happen")
        strangers = signed_word(stage, challenge, "did_not_happen", signer=Signer.STRANGER)
        signatures = {
            "stranger": strangers.signature,
            "noise": noise,
            "short": good.signature[:-1],
            "nothing": b"",
        }
        label(stage, held.member, name)
        say(stage, held, replace(good, signature=signatures[name]))
    _still_uncertain(stage, held)


def _changed(stage: Stage, held: Held) -> None:
    # What is signed, and what is handed in: a word and its result each.
    changes = (
        ("word", ("abandon", ""), ("did_not_happen", "")),
        ("word with result", ("did_not_happen", ""), ("happened", _RESULT)),
        ("result", ("happened", _RESULT), ("happened", _OTHER_RESULT)),
        ("result dropped", ("happened", _RESULT), ("did_not_happen", "")),
    )
    for name, (word, result), (other_word, other_result) in changes:
        challenge = challenge_for(stage, held)
        if challenge is None:
            return
        label(stage, held.member, name)
        signed = signed_word(stage, challenge, word, result)
        say(stage, held, replace(signed, word=other_word, result_json=other_result))
    _still_uncertain(stage, held)


def _other_challenge(stage: Stage) -> None:
    pairs: list[tuple[Held, Held]] = []
    for member in stage.batch.members:
        held = granted(stage, member)
        other = granted(stage, member, spec=spec_of(member, "other"), name="other")
        if held is not None and other is not None:
            pairs.append((held, other))
    stage.reach_lease_end()
    for held, other in pairs:
        own, foreign = challenge_for(stage, held), challenge_for(stage, other)
        if own is None or foreign is None:
            continue
        label(stage, held.member, "other operation's signature")
        mixed = signed_word(stage, foreign, "did_not_happen")
        say(stage, held, replace(mixed, challenge_id=own.challenge_id))
        again = challenge_for(stage, held)
        if again is None:
            continue
        label(stage, held.member, "rewritten challenge")
        rewritten = common_pb2.Challenge()
        rewritten.CopyFrom(foreign)
        rewritten.challenge_id = again.challenge_id
        say(stage, held, signed_word(stage, rewritten, "did_not_happen"))
        label(stage, held.member, "never issued")
        say(stage, held, replace(mixed, challenge_id="never-issued"))
        _still_uncertain(stage, held)
        # The other operation is as uncertain as before.
        _ask(stage, other, "second")


def _used(stage: Stage, held: Held) -> None:
    challenge = challenge_for(stage, held)
    if challenge is None:
        return
    label(stage, held.member, "first")
    word = signed_word(stage, challenge, "did_not_happen")
    say(stage, held, word)
    label(stage, held.member, "again")
    say(stage, held, word)
    label(stage, held.member, "another word")
    say(stage, held, signed_word(stage, challenge, "happened", _RESULT))
    third = granted(stage, held.member, name="third")
    if third is None:
        return
    label(stage, held.member, "after the next attempt")
    say(stage, held, word)
    _ask(stage, held, "fourth")
    finish(stage, third)


def _stale(stage: Stage, held: Held) -> None:
    old, new = challenge_for(stage, held), challenge_for(stage, held)
    if old is None or new is None:
        return
    label(stage, held.member, "current")
    say(stage, held, signed_word(stage, new, "did_not_happen"))
    second = granted(stage, held.member, name="second")
    if second is None:
        return
    label(stage, held.member, "stale")
    say(stage, held, signed_word(stage, old, "happened", _RESULT))
    _ask(stage, held, "third")
    finish(stage, second)


def _completed(stage: Stage, held: Held) -> None:
    challenge = challenge_for(stage, held)
    if challenge is None:
        return
    finish(stage, held)
    label(stage, held.member, "answered")
    say(stage, held, signed_word(stage, challenge, "did_not_happen"))
    _ask(stage, held, "reader")
    label(stage, held.member, "asked")
    challenge_for(stage, held)
    unknown = spec_of(held.member, "never begun")
    label(stage, held.member, "unknown")
    asking(stage, held.member, "operator").request_resolve(unknown)


def _expired(stage: Stage) -> None:
    """Each challenge is answered after its own end, however far it is, where a clock gets there."""
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    stage.reach_lease_end()
    asked: list[tuple[Held, common_pb2.Challenge]] = []
    for held in trials:
        label(stage, held.member, "asked")
        challenge = challenge_for(stage, held)
        # The judge sees one that has no end.
        if challenge is not None and challenge.expires_unix_ns > 0:
            asked.append((held, challenge))
    if not asked:
        return
    reading = read_memory_clock(stage.context.session).wall_unix_ns
    jump_ns = max(one.expires_unix_ns for _, one in asked) - reading + NS
    if jump_ns > _JUMP_NS_MAX:
        for held, _ in asked:
            stage.interposer.mark({"kind": BEYOND_CLOCKS, "workflow": held.member.workflow_id})
        return
    if jump_ns > 0:
        stage.move_clock("memory", jump_ns)
    for held, challenge in asked:
        label(stage, held.member, "expired")
        say(stage, held, signed_word(stage, challenge, "did_not_happen"))
        _still_uncertain(stage, held)


def _restart(stage: Stage) -> None:
    trials = [granted(stage, member) for member in stage.batch.members]
    stage.reach_lease_end()
    asked = [
        (held, challenge)
        for held in trials
        if held is not None and (challenge := challenge_for(stage, held)) is not None
    ]
    kill_and_restart(stage, "memory")
    words = [(held, signed_word(stage, one, "did_not_happen")) for held, one in asked]
    for held, word in words:
        label(stage, held.member, "after the first kill")
        say(stage, held, word)
    kill_and_restart(stage, "memory")
    for held, word in words:
        label(stage, held.member, "used, after the second kill")
        say(stage, held, word)
        label(stage, held.member, "asked")
        third = granted(stage, held.member, name="third")
        if third is not None:
            finish(stage, third)


def _late(part: Callable[[Stage, Held], None]) -> Callable[[Stage], None]:
    return in_turn(None, part)


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "resolve.happened": _late(_happened),
    "resolve.did_not_happen": _late(_did_not_happen),
    "resolve.abandon": _late(_abandon),
    "resolve.wrong_key": _late(_wrong_key),
    "resolve.forged": _late(_forged),
    "resolve.changed": _late(_changed),
    "resolve.other_challenge": _other_challenge,
    "resolve.used": _late(_used),
    "resolve.stale": _late(_stale),
    "resolve.completed": _late(_completed),
    "resolve.expired": _expired,
    "resolve.restart": _restart,
    **OPERATING,
}
