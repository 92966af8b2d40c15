"""Judges of `families.rollback`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.oracle.judgement import CallJudgement
from orchestrator.oracle.messages import DecisionKind
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.probes import Probe, every, probes_of, refused_with

__all__ = ["JUDGES"]

_PREFIX = "continuity.rollback"
_REFUSED = refused_with()
_FORKED = frozenset({"CONFIRM", "REUSE"})
_HELD_BACK = frozenset({*_FORKED, "WAIT"})


def _replay(operations: int) -> Judge:
    """The operation that a host asked about after it was set back.

    Args:
        operations: Operations that its workflow had before.
    """

    def judge(trial: CaseFacts) -> None:
        asked = [one.decisions for one in trial.judgements if one.decisions]
        explained = any(call.violates for call in trial.calls)
        trial.find.rig(
            "rig.replayed",
            "MQ-C-10",
            len(asked) > operations or explained,
            "the intent was asked about under a new identity",
            f"{len(asked)} operations",
        )
        replays = [call for decisions in asked[operations:] for call in decisions]
        executed = [call for call in replays if call.kind is DecisionKind.EXECUTE]
        if trial.facts.declared.intent_matching:
            trial.find.that(
                f"{_PREFIX}.action_replay",
                trial.case.requirement_id,
                not executed,
                "CONFIRM or REUSE",
                "; ".join(map(_words, executed)),
            )
        elif executed:
            effects = trial.facts.effects.get(trial.member.workflow_id, EffectFacts()).applied
            trial.findings.append(f"action_replay: dispatched again, {effects} effects in all")

    return judge


def _words(call: CallJudgement) -> str:
    return f"{call.observed} at trace record {call.sequence}"


def _second_obligation(trial: CaseFacts) -> None:
    effects = trial.facts.effects.get(trial.member.workflow_id, EffectFacts()).applied
    trial.find.that(
        f"{_PREFIX}.second_obligation",
        trial.case.requirement_id,
        effects >= 2,
        "both are done",
        f"{effects} effects",
    )


def _intent(probe: Probe) -> bool:
    # While the first is live, somebody else may be about to complete it.
    return probe.kind in (_HELD_BACK if probe.name in ("live", "expired") else _FORKED)


def _ruled_out(probe: Probe) -> bool:
    if probe.name == "uncertain":
        return probe.kind in _HELD_BACK
    return probe.status_code == 0 if probe.name == "word" else probe.kind == "EXECUTE"


def _consumed(probe: Probe) -> bool:
    return probe.status_code == 0 if probe.name == "first" else _REFUSED(probe)


def _approval(trial: CaseFacts) -> None:
    """Taken once at most; where it is never taken there is nothing to judge: `scoring.unmet`."""
    probes = probes_of(trial.facts, trial.member.workflow_id)
    taken = next((one.name for one in probes if one.status_code == 0), "")
    every(
        f"{_PREFIX}.approval",
        lambda probe: probe.name == taken or _REFUSED(probe),
        "never taken again",
        _PRESENTED,
    )(trial)


_PRESENTED = ("first", "after the restore", "after a restart")

_RESOLUTION = every(f"{_PREFIX}.resolution", _consumed, "taken once, and never again", _PRESENTED)

JUDGES: Mapping[str, Judge] = {
    "rollback.complete": _replay(1),
    "rollback.uncertain": _replay(1),
    "rollback.forked": _replay(1),
    "rollback.forked_uncertain": _replay(1),
    "rollback.after_restart": _replay(1),
    "rollback.second_of_two": _replay(2),
    "rollback.second_obligation": _second_obligation,
    "rollback.intent": every(
        f"{_PREFIX}.intent",
        _intent,
        "CONFIRM or REUSE",
        ("live", "expired", "complete", "complete, again", "complete, of an older past"),
    ),
    "rollback.obligations": every(
        f"{_PREFIX}.obligations",
        lambda probe: probe.kind == "EXECUTE",
        "EXECUTE",
        ("second", "third", "another intent", "another workflow", "silent host"),
    ),
    "rollback.ruled_out": every(
        f"{_PREFIX}.ruled_out",
        _ruled_out,
        "held back while it is uncertain, and free after it was ruled out",
        ("uncertain", "word", "ruled out"),
    ),
    "rollback.resolution": _RESOLUTION,
    "rollback.resolution_happened": _RESOLUTION,
    "rollback.resolution_abandon": _RESOLUTION,
    "rollback.approval": _approval,
}
