"""Plays of `families.resolve`: a person answers what the memory could not tell."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from chaos.client import Fate
from chaos.windows import INVOKE, window
from memqual.v1 import agent_pb2, common_pb2, interposer_pb2
from orchestrator.suites.continuity.clocks import read_memory_clock
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.plays.asking import (
    Held,
    asking,
    finish,
    granted,
    in_turn,
    label,
)
from orchestrator.suites.continuity.plays.operator import (
    challenge_for,
    dispatch,
    found_by_operator,
    said,
    say,
    signed_word,
)
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage, statuses_of
from orchestrator.suites.integrity.calls import Signer
from services.common.canonical import canonical_json

__all__ = ["PLAYS"]

_RESULT = canonical_json({"found_by": "operator"}).decode()
_OTHER_RESULT = canonical_json({"found_by": "somebody"}).decode()
_HELD_SECONDS = 20.0
_DONE_SECONDS = 10.0
_CHALLENGE_NS_MAX = 30 * 24 * 3_600 * NS


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
        say(stage, held, good.but(signature=signatures[name]))
    _still_uncertain(stage, held)


def _changed(stage: Stage, held: Held) -> None:
    changes: tuple[tuple[str, str, str, dict[str, str]], ...] = (
        ("word", "abandon", "", {"word": "did_not_happen"}),
        ("word with result", "did_not_happen", "", {"word": "happened", "result_json": _RESULT}),
        ("result", "happened", _RESULT, {"result_json": _OTHER_RESULT}),
        ("result dropped", "happened", _RESULT, {"word": "did_not_happen", "result_json": ""}),
    )
    for name, word, result, change in changes:
        challenge = challenge_for(stage, held)
        if challenge is None:
            return
        label(stage, held.member, name)
        say(stage, held, signed_word(stage, challenge, word, result).but(**change))
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
        say(stage, held, mixed.but(challenge_id=own.challenge_id))
        again = challenge_for(stage, held)
        if again is None:
            continue
        label(stage, held.member, "rewritten challenge")
        rewritten = common_pb2.Challenge()
        rewritten.CopyFrom(foreign)
        rewritten.challenge_id = again.challenge_id
        say(stage, held, signed_word(stage, rewritten, "did_not_happen"))
        label(stage, held.member, "never issued")
        say(stage, held, mixed.but(challenge_id="never-issued"))
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
    trials = [granted(stage, member) for member in stage.batch.members]
    stage.reach_lease_end()
    asked = [
        (held, challenge)
        for held in trials
        if held is not None and (challenge := challenge_for(stage, held)) is not None
    ]
    reading = read_memory_clock(stage.context.session).wall_unix_ns
    ends = max((one.expires_unix_ns for _, one in asked), default=0)
    if not 0 < ends - reading < _CHALLENGE_NS_MAX:
        for held, _ in asked:
            mark = {"kind": "endless_challenge", "workflow": held.member.workflow_id}
            stage.interposer.mark(mark)
        return
    stage.move_clock("memory", ends - reading + NS)
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


def _hold_first_dispatch(stage: Stage) -> str:
    """Keep each trial's first dispatch on its way; returns the rule."""
    rule_id = f"first-{stage.batch.batch_id}"
    workflows = [member.workflow_id for member in stage.batch.members]
    stage.interposer.arm(
        interposer_pb2.Rule(
            rule_id=rule_id,
            edge=interposer_pb2.Edge(target="destination"),
            method=INVOKE,
            phase=interposer_pb2.MESSAGE_PHASE_REQUEST,
            matches=[interposer_pb2.MetadataMatch(key="memqual-workflow", values=workflows)],
            action=interposer_pb2.RULE_ACTION_HOLD,
            max_hits_per_workflow=1,
        )
    )
    return rule_id


def _second_attempt(stage: Stage, held: Held) -> None:
    """After the operator's word: what it licenses is dispatched and recorded."""
    _ask(stage, held, "second")
    if not said(stage, held, "word", "did_not_happen"):
        return
    third = granted(stage, held.member, name="third")
    receipt = None if third is None else dispatch(stage, third)
    if third is not None and receipt is not None:
        third.record(receipt)


def _held_back(fate: Fate, *, drained: bool) -> Callable[[Stage], None]:
    """The first dispatch is on its way while the operator is asked, or was lost before."""

    def play(stage: Stage) -> None:
        rule_id = _hold_first_dispatch(stage)
        trials = [one for one in map(partial(granted, stage), stage.batch.members) if one]
        with ThreadPoolExecutor(max(1, len(trials))) as pool:
            on_their_way = [pool.submit(dispatch, stage, held) for held in trials]
            try:
                stage.interposer.await_held(rule_id, len(trials), _HELD_SECONDS)
                stage.reach_lease_end()
                if drained:
                    stage.interposer.release(rule_id, fate, await_done_seconds=_DONE_SECONDS)
                for held in trials:
                    if drained and found_by_operator(stage, held.spec.workflow_id) is not None:
                        continue
                    _second_attempt(stage, held)
                if not drained:
                    stage.interposer.release(rule_id, fate, await_done_seconds=_DONE_SECONDS)
            finally:
                stage.interposer.clear(rule_id)
            for one in on_their_way:
                one.result()
        for held in trials:
            label(stage, held.member, "in the end")
            _ask(stage, held, "last")

    return play


def _false_answer(stage: Stage) -> None:
    trials = [one for one in map(partial(granted, stage), stage.batch.members) if one]
    for held in trials:
        dispatch(stage, held)
    stage.reach_lease_end()
    for held in trials:
        _second_attempt(stage, held)
        label(stage, held.member, "in the end")
        _ask(stage, held, "last")


def _hosted(at: str) -> Callable[[Stage], None]:
    """The host loses what it waits for, is left for confirmation, and a person answers."""

    def play(stage: Stage) -> None:
        stage.rig.window = window(at)
        hold = stage.rig.arm()
        stage.rig.start()
        stage.rig.await_window(hold)
        hold.release(Fate.DISCONNECT, 0.0)
        stage.settle("live")
        stage.reach_lease_end()
        stage.wake_until_settled("expired")
        members = {member.workflow_id: member for member in stage.batch.members}
        for status in statuses_of(stage.settle("asked")):
            if status.state != agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION:
                continue
            spec = spec_of(members[status.workflow_id])
            spec.operation_id = status.operations[-1].operation_id
            held = Held(
                members[status.workflow_id],
                asking(stage, members[status.workflow_id], "operator"),
                spec,
                status.operations[-1].attempt,
                "",
            )
            result = found_by_operator(stage, status.workflow_id)
            word = "did_not_happen" if result is None else "happened"
            said(stage, held, "word", word, result or "")
        stage.wake_until_settled("resolved")

    return play


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
    "resolve.drained": _held_back(Fate.DISCONNECT, drained=True),
    "resolve.undrained": _held_back(Fate.DELIVER, drained=False),
    "resolve.false_answer": _false_answer,
    "resolve.hosted_absent": _hosted("in_request"),
    "resolve.hosted_present": _hosted("after_commit"),
}
