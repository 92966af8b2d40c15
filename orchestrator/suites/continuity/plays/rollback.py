"""Plays of `families.rollback`: hosts that are set back and issue an intent again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from memqual.v1 import continuity_pb2
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.plays.asking import Held, asking, granted, label
from orchestrator.suites.continuity.plays.operator import said
from orchestrator.suites.continuity.plays.resurrection import RESURRECTION
from orchestrator.suites.continuity.plays.setting_back import lose_answers, replay, set_back
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import workflow_of
from services.common.canonical import sha256_hex

__all__ = ["PLAYS"]


def _start(stage: Stage, times: int) -> None:
    """Start workflows in which the model asks for the same call so many times, on purpose."""
    workflows = [workflow_of(one, stage.context.run_id) for one in stage.batch.members]
    for workflow in workflows:
        for _ in range(times - 1):
            workflow.turns.add().CopyFrom(workflow.turns[0])
    stage.rig.start(workflows)


def _complete(stage: Stage, *, fork: bool = False) -> None:
    stage.rig.start()
    stage.settle("complete")
    set_back(stage, fork=fork)
    replay(stage)


def _uncertain(stage: Stage, *, fork: bool = False) -> None:
    lose_answers(stage, "after_commit")
    set_back(stage, fork=fork)
    replay(stage)
    stage.reach_lease_end()
    stage.wake_until_settled("expired")


def _after_restart(stage: Stage) -> None:
    stage.rig.start()
    stage.settle("complete")
    set_back(stage)
    kill_and_restart(stage, "memory")
    replay(stage)


def _second_of_two(stage: Stage) -> None:
    _start(stage, 2)
    stage.settle("complete")
    set_back(stage)
    replay(stage)


def _second_obligation(stage: Stage) -> None:
    _start(stage, 2)
    stage.settle("complete")


def _ask(
    stage: Stage, held: Held, call: str, settled: Sequence[str]
) -> continuity_pb2.OperationSpec:
    """Begin one more operation of the intent, by a host whose past holds what it says."""
    spec = spec_of(held.member, call)
    asking(stage, held.member, f"host-{call}").begin(spec, settled=settled)
    return spec


def _intent(stage: Stage) -> None:
    """The first is live, expired, complete; each time another identity asks from another past."""
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    for held in trials:
        label(stage, held.member, "live")
        _ask(stage, held, "live", ())
    stage.reach_lease_end()
    for held in trials:
        label(stage, held.member, "expired")
        _ask(stage, held, "expired", ())
        held.record()
        label(stage, held.member, "complete")
        forked = _ask(stage, held, "complete", ())
        label(stage, held.member, "complete, again")
        asking(stage, held.member, "another").begin(forked, settled=())
        label(stage, held.member, "complete, of an older past")
        _ask(stage, held, "older", (sha256_hex(b"another operation"),))


def _obligations(stage: Stage) -> None:
    """New ones, one after the other; another intent, another workflow, and a silent host."""
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    stage.reach_lease_end()
    for held in trials:
        held.record()
        past = [held.spec.operation_id]
        for name in ("second", "third"):
            label(stage, held.member, name)
            spec = spec_of(held.member, name)
            host = asking(stage, held.member, f"host-{name}")
            decision = host.begin(spec, settled=past).answer
            if decision is None or not decision.HasField("execute"):
                break
            told = decision.execute
            Held(held.member, host, spec, told.attempt, told.lease_token).record()
            past.append(spec.operation_id)
        for name, change in _UNLIKE.items():
            label(stage, held.member, name)
            spec = spec_of(held.member, name)
            change(spec)
            asking(stage, held.member, f"host-{name}").begin(spec, settled=())
        label(stage, held.member, "silent host")
        asking(stage, held.member, "silent").begin(spec_of(held.member, "silent"))


def _of_another_intent(spec: continuity_pb2.OperationSpec) -> None:
    spec.arguments_digest = sha256_hex(b"other arguments")
    spec.intent_digest = sha256_hex(b"other intent")


def _of_another_workflow(spec: continuity_pb2.OperationSpec) -> None:
    spec.workflow_id += "-other"


_UNLIKE: Mapping[str, Callable[[continuity_pb2.OperationSpec], None]] = {
    "another intent": _of_another_intent,
    "another workflow": _of_another_workflow,
}


def _ruled_out(stage: Stage) -> None:
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    stage.reach_lease_end()
    for held in trials:
        label(stage, held.member, "uncertain")
        spec = _ask(stage, held, "forked", ())
        if said(stage, held, "word", "did_not_happen"):
            label(stage, held.member, "ruled out")
            asking(stage, held.member, "host-forked").begin(spec, settled=())


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "rollback.complete": _complete,
    "rollback.uncertain": _uncertain,
    "rollback.after_restart": _after_restart,
    "rollback.second_of_two": _second_of_two,
    "rollback.second_obligation": _second_obligation,
    "rollback.intent": _intent,
    "rollback.obligations": _obligations,
    "rollback.ruled_out": _ruled_out,
    **RESURRECTION,
    "rollback.forked": partial(_complete, fork=True),
    "rollback.forked_uncertain": partial(_uncertain, fork=True),
}
