"""Plays of `families.resolve` in which dispatches are really on their way, or a host takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from chaos.client import Fate
from chaos.windows import INVOKE, window
from memqual.v1 import agent_pb2, interposer_pb2
from orchestrator.suites.continuity.plays.asking import Held, asking, granted, label
from orchestrator.suites.continuity.plays.operator import dispatch, found_by_operator, said
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage, statuses_of

__all__ = ["OPERATING"]

_HELD_SECONDS = 20.0
_DONE_SECONDS = 10.0


def _ask(stage: Stage, held: Held, name: str) -> None:
    asking(stage, held.member, name).begin(held.spec)


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


OPERATING: Mapping[str, Callable[[Stage], None]] = {
    "resolve.drained": _held_back(Fate.DISCONNECT, drained=True),
    "resolve.undrained": _held_back(Fate.DELIVER, drained=False),
    "resolve.false_answer": _false_answer,
    "resolve.hosted_absent": _hosted("in_request"),
    "resolve.hosted_present": _hosted("after_commit"),
}
