"""Judges of `families.resolve`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import grpc

from memqual.v1 import agent_pb2, continuity_pb2
from orchestrator.oracle.judgement import CallJudgement
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.probes import (
    Probe,
    every,
    probes_of,
    refused_with,
)

__all__ = ["JUDGES"]

_PREFIX = "continuity.resolve"
_REFUSED = refused_with()
_NOTHING_TO_RESOLVE = refused_with(grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.NOT_FOUND)
_GOOD = "good word"


def _taken(probe: Probe) -> bool:
    return probe.status_code == 0


def _word_then(*kinds: str) -> Callable[[Probe], bool]:
    """The word is taken, and what is asked after it comes to one of these kinds."""
    return lambda probe: probe.kind in kinds if probe.name == "after" else _taken(probe)


def _refused_but(*good: str) -> Callable[[Probe], bool]:
    """Everything is refused but the words of these labels."""
    return lambda probe: _taken(probe) if probe.name in good else _REFUSED(probe)


def _refused(check: str, *labels: str) -> Judge:
    return every(
        f"{_PREFIX}.{check}",
        _refused_but(_GOOD),
        "a refusal; afterwards a good word is taken",
        (*labels, _GOOD),
    )


def _expired(probe: Probe) -> bool:
    """The challenge has an end; after it the word is refused, and a good one taken."""
    if probe.name != "asked":
        return _taken(probe) if probe.name == _GOOD else _REFUSED(probe)
    told = continuity_pb2.RequestResolveResponse.FromString(probe.payload)
    return probe.status_code != 0 or told.challenge.expires_unix_ns > 0


def _completed(probe: Probe) -> bool:
    return _REFUSED(probe) if probe.name == "answered" else _NOTHING_TO_RESOLVE(probe)


def _restart(probe: Probe) -> bool:
    if probe.name == "after the first kill":
        return _taken(probe)
    return probe.kind == "EXECUTE" if probe.name == "asked" else _REFUSED(probe)


def _ending(check: str, effects: int) -> Judge:
    """A word that is taken, and a number of effects that shows that the case's fault was met."""

    def judge(trial: CaseFacts) -> None:
        every(
            f"{_PREFIX}.{check}",
            lambda probe: _taken(probe) if probe.name == "word" else probe.kind == "REUSE",
            "the word is taken, and in the end REUSE",
            ("word", "in the end"),
        )(trial)
        found = trial.facts.effects.get(trial.member.workflow_id, EffectFacts()).applied
        explained = any(call.violates for call in trial.calls)
        trial.find.rig(
            "rig.effects",
            "MQ-C-10",
            explained or found == effects,
            f"{effects} effects",
            f"{found}",
        )

    return judge


def _hosted(trial: CaseFacts) -> None:
    """Left for confirmation, answered, and then complete with one effect."""
    asked = probes_of(trial.facts, trial.member.workflow_id)
    violated = [call for call in trial.calls if call.violates]
    trial.find.rig(
        "rig.probe",
        "MQ-C-10",
        bool(asked) or bool(violated),
        "the operator was asked",
        "the workflow was never left for confirmation",
    )
    if not asked:
        return
    status = trial.facts.final.get(trial.member.workflow_id)
    state = agent_pb2.WORKFLOW_STATE_UNSPECIFIED if status is None else status.state
    told = [one.words for one in asked if not _taken(one)]
    told += [] if state == agent_pb2.WORKFLOW_STATE_COMPLETED else [f"host: {_name(state)}"]
    trial.find.that(
        f"{_PREFIX}.hosted",
        trial.case.requirement_id,
        not told,
        "the word is taken and the workflow completes",
        "; ".join((*told, *map(_decision, violated))),
    )


def _name(state: agent_pb2.WorkflowState.ValueType) -> str:
    return agent_pb2.WorkflowState.Name(state).removeprefix("WORKFLOW_STATE_").lower()


def _decision(call: CallJudgement) -> str:
    return f"{call.method}: {call.observed}"


JUDGES: Mapping[str, Judge] = {
    "resolve.happened": every(
        f"{_PREFIX}.happened",
        _word_then("REUSE"),
        "the word is taken, and its result reused",
        ("word", "after"),
    ),
    "resolve.did_not_happen": every(
        f"{_PREFIX}.did_not_happen",
        _word_then("EXECUTE"),
        "the word is taken, and licenses an attempt",
        ("word", "after"),
    ),
    "resolve.abandon": every(
        f"{_PREFIX}.abandon",
        _word_then("CONFIRM", "REJECT"),
        "the word is taken, and nothing is dispatched",
        ("word", "after"),
    ),
    "resolve.wrong_key": _refused("wrong_key", "other_principal", "stranger"),
    "resolve.forged": _refused("forged", "stranger", "noise", "short", "nothing"),
    "resolve.changed": _refused("changed", "word", "word with result", "result", "result dropped"),
    "resolve.other_challenge": _refused(
        "other_challenge", "other operation's signature", "rewritten challenge", "never issued"
    ),
    "resolve.used": every(
        f"{_PREFIX}.used",
        _refused_but("first"),
        "the first is taken, and no other",
        ("first", "again", "another word", "after the next attempt"),
    ),
    "resolve.stale": every(
        f"{_PREFIX}.stale",
        _refused_but("current"),
        "the current attempt's is taken, and not the stale one's",
        ("current", "stale"),
    ),
    "resolve.completed": every(
        f"{_PREFIX}.completed",
        _completed,
        "a refusal, and no challenge for what is complete or unknown",
        ("answered", "asked", "unknown"),
    ),
    "resolve.expired": every(
        f"{_PREFIX}.expired",
        _expired,
        "a challenge with an end, a refusal after it; afterwards a good word is taken",
        ("asked", "expired", _GOOD),
    ),
    "resolve.restart": every(
        f"{_PREFIX}.restart",
        _restart,
        "challenge, word and its use outlive the process",
        ("after the first kill", "used, after the second kill", "asked"),
    ),
    "resolve.drained": _ending("drained", 1),
    "resolve.undrained": _ending("undrained", 2),
    "resolve.false_answer": _ending("false_answer", 2),
    "resolve.hosted_absent": _hosted,
    "resolve.hosted_present": _hosted,
}
