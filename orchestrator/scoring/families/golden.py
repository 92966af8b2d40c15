"""Judges of `families.golden`: the store's state at the end, and that the kill met the write."""

from __future__ import annotations

from collections.abc import Mapping

from memqual.v1 import agent_pb2
from orchestrator.model import WindowName
from orchestrator.scoring.asked import first_specs
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.suites.continuity.families.golden import WINDOW_OF
from orchestrator.suites.continuity.golden_marks import GoldenState, GoldenTask, state_of, task_of

__all__ = ["JUDGES"]

_COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
_CONFIRM = agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION


def _golden(trial: CaseFacts) -> None:
    if not trial.proven:
        return
    workflow_id = trial.member.workflow_id
    task = task_of(trial.facts.trace, workflow_id)
    state = state_of(trial.facts.trace, workflow_id)
    trial.find.rig(
        "rig.golden",
        "MQ-C-08",
        task is not None and state is not None,
        "the trial's task and its end are told",
        "a mark is missing",
    )
    if task is None or state is None:
        return
    at_write = _write_begun(trial, task)
    trial.find.rig(
        "rig.window",
        "MQ-C-08",
        at_write == "",
        f"the host died at call {task.at} of the task",
        at_write,
    )
    _check_state(trial, task, state)


def _write_begun(trial: CaseFacts, task: GoldenTask) -> str:
    """What is wrong with the operations that were begun before the kill; empty when nothing is."""
    kill = trial.facts.kill
    assert kill is not None
    workflow_id = trial.member.workflow_id
    if kill.held_workflows.count(workflow_id) != 1:
        return "it did not stand at the window once"
    frozen_ns = kill.frozen_monotonic_ns or 0
    begun = first_specs(trial.facts.trace, workflow_id, frozen_ns)
    name = WINDOW_OF[trial.case.name]
    wanted = task.at + (0 if name is WindowName.BEFORE_INTENT_CHECKPOINT else 1)
    if len(begun) != wanted:
        return f"{len(begun)} calls were begun"
    if wanted <= task.at:
        return ""
    last = list(begun.values())[-1]
    met = (last.tool, last.arguments_digest) == (task.tool, task.arguments_digest)
    return "" if met else f"{last.tool} stood there"


def _check_state(trial: CaseFacts, task: GoldenTask, state: GoldenState) -> None:
    """The state is the task's, or that of the write's moment where the memory left it open."""
    workflow_id = trial.member.workflow_id
    status = trial.facts.final.get(workflow_id)
    if status is None or status.state not in (_COMPLETED, _CONFIRM):
        return
    if status.state == _COMPLETED:
        wanted = task.digest
        failed = tuple(at for at, one in enumerate(status.operations) if one.tool_error_code)
        _blame(
            trial,
            "continuity.golden.failures",
            held=failed == task.failing and len(status.operations) == task.calls,
            wanted=f"of {task.calls} calls those that fail: {list(task.failing)}",
            told=f"of {len(status.operations)} calls: {list(failed)}",
        )
    else:
        effects = trial.facts.effects.get(workflow_id, EffectFacts())
        last = status.operations[-1].operation_id if status.operations else ""
        wanted = state.with_write if effects.of_operation(last).applied else state.without
    _blame(
        trial,
        "continuity.golden.state",
        held=state.digest == wanted,
        wanted=f"the state of task {task.task}: {wanted[:16]}",
        told=state.digest[:16],
    )


def _blame(trial: CaseFacts, check_id: str, *, held: bool, wanted: str, told: str) -> None:
    """A state that no wrong answer explains is the testbed's own."""
    requirement = trial.case.requirement_id
    if held or any(one.violations for one in trial.judgements):
        trial.find.that(check_id, requirement, held, wanted, told)
    else:
        trial.find.open(check_id, requirement, f"{told}, and every answer was allowed")


JUDGES: Mapping[str, Judge] = dict.fromkeys(WINDOW_OF, _golden)
