"""Plays of `families.golden`: the host dies with one write of each task at the window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from chaos.client import Fate
from chaos.held_together import HeldTogether, Share
from chaos.holding import HeldByBarrier, HeldByRule, Hold
from chaos.injection import Injection
from chaos.plans import KillPlan
from chaos.receipts import JournalPrecondition
from chaos.windows import BarrierHold, window
from memqual.v1 import agent_pb2
from orchestrator.model import ExpiryMode, WindowName
from orchestrator.suites.continuity.families.golden import WINDOW_OF
from orchestrator.suites.continuity.golden_marks import GoldenState, GoldenTask
from orchestrator.suites.continuity.plays.golden_store import Store
from orchestrator.suites.continuity.preconditions import applied_by_workflow
from orchestrator.suites.continuity.retail_tasks import WritePoint, tasks_for, write_points
from orchestrator.suites.continuity.stage import Stage, statuses_of
from orchestrator.suites.continuity.workload import workflow_of
from services.common.canonical import sha256_hex

__all__ = ["PLAYS"]

_GATE = window(WindowName.BEFORE_INTENT.value)


class _Golden:
    """One batch: each member's write, at one window."""

    def __init__(self, stage: Stage, name: WindowName) -> None:
        self._stage = stage
        self._window = window(name.value)
        self._store = Store(stage)
        points = write_points(tasks_for(stage.context.stack.spec.retail_store))
        self._points: Mapping[str, WritePoint] = {
            member.workflow_id: points[_number_of(member.trial_id) % len(points)]
            for member in stage.batch.members
        }
        self._standing: frozenset[str] = frozenset()

    def play(self) -> None:
        """Everything between the stage's begin and its end."""
        stage = self._stage
        stage.do("prepare", self._prepare)
        hold = self._start_and_hold()
        self._standing = frozenset(
            stage.do("window", lambda: stage.rig.await_those_that_come(hold, len(self._points)))
        )
        if isinstance(hold, HeldTogether):
            hold = hold.as_it_stands()
        stage.do("standby", stage.await_standby)
        killed = stage.do("kill", lambda: self._kill(hold))
        stage.do("take_over", lambda: stage.take_over(killed))
        stage.do("live", lambda: stage.settle("live"))
        if stage.cell.expiry is not ExpiryMode.NONE:
            stage.do("expire", stage.reach_lease_end)
            stage.do("resume", lambda: stage.wake_until_settled("expired"))
        stage.do("states", self._tell_states)

    def _prepare(self) -> None:
        """Put the tools' guards on, as the tasks want them, and tell each trial's task."""
        self._store.guard(self._stage.batch.members)
        for workflow_id, point in self._points.items():
            mark = GoldenTask(
                workflow=workflow_id,
                task=point.task.task_id,
                at=point.at,
                tool=point.action.tool,
                arguments_digest=sha256_hex(point.action.arguments_json.encode()),
                writes=not point.action.fails,
                failing=tuple(at for at, one in enumerate(point.task.actions) if one.fails),
                calls=len(point.task.actions),
                digest=point.task.digest,
            )
            self._stage.interposer.mark(mark.model_dump(mode="json"))

    def _start_and_hold(self) -> Hold:
        """Hold every workflow at its write: by rules that let the calls before it through.

        A barrier stops each workflow once, at its next passing; so the workflow stands at a gate
        right before its write while the barrier is armed.
        """
        stage = self._stage
        self._stage.rig.window = self._window
        if not isinstance(self._window.hold, BarrierHold):
            hold = stage.do("hold", lambda: self._rules("hold", self._grouped(0)))
            stage.do("start", lambda: stage.rig.start(self._workflows()))
            return hold
        before_message = self._window.name == WindowName.BEFORE_INTENT_CHECKPOINT.value
        gates = self._grouped(1 if before_message else 0)
        barrier = HeldByBarrier(stage.context.session.active.audit, self._window.hold.barrier)
        if first := gates.pop(-1, ()):
            stage.do("hold", lambda: barrier.arm(first))
        gate = stage.do("hold", lambda: self._rules("gate", gates)) if gates else None
        stage.do("start", lambda: stage.rig.start(self._workflows()))
        if gate is not None:
            at_gate = [workflow for of in gates.values() for workflow in of]
            barrier.arm(
                stage.do("gate", lambda: stage.rig.await_those_that_come(gate, len(at_gate)))
            )
            gate.release(Fate.DELIVER, 0.0)
        return barrier

    def _grouped(self, earlier: int) -> dict[int, list[str]]:
        """Workflows by how many calls pass before the one that is held, `earlier` ones less."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        for workflow_id, point in self._points.items():
            found[point.at - earlier].append(workflow_id)
        return dict(found)

    def _rules(self, name: str, groups: Mapping[int, Sequence[str]]) -> HeldTogether:
        at = self._window if name == "hold" else _GATE
        shares = []
        for skipped, workflow_ids in sorted(groups.items()):
            rule_id = f"{name}-{self._stage.batch.batch_id}-{skipped}"
            rule = HeldByRule(self._stage.interposer, rule_id)
            rule.arm(at, workflow_ids, skipped)
            shares.append(Share(rule, len(workflow_ids)))
        return HeldTogether(tuple(shares))

    def _workflows(self) -> list[agent_pb2.Workflow]:
        """Each trial's task as a script: one message for each call."""
        workflows = []
        for member in self._stage.batch.members:
            workflow = workflow_of(member, self._stage.context.run_id)
            workflow.ClearField("turns")
            for action in self._points[member.workflow_id].task.actions:
                call = agent_pb2.ToolCall(tool=action.tool, arguments_json=action.arguments_json)
                workflow.turns.add(calls=[call])
            workflows.append(workflow)
        return workflows

    def _kill(self, hold: Hold) -> str:
        stage = self._stage
        service = stage.context.session.active.service
        plan = KillPlan(
            injection_id=stage.batch.batch_id,
            window=self._window.name,
            targets=(stage.context.stack.service(service),),
            hold=hold,
            expected_held=len(self._standing),
            fate=Fate.DELIVER if isinstance(self._window.hold, BarrierHold) else Fate.DROP,
        )
        stage.context.progress.spoiled = "a kill was not carried out to its end"
        stage.keep(Injection(plan, stage.interposer, self._precondition).run())
        stage.context.progress.spoiled = ""
        return service

    def _precondition(self) -> JournalPrecondition:
        """Each workflow there has exactly the effects of the writes up to the window."""
        journal = self._stage.rig.journal_from(self._stage.journal_first)
        applied = applied_by_workflow(journal)
        passed = 1 if self._window.effect else 0
        right = sum(
            applied[workflow_id] == point.task.applied_before(point.at + passed)
            for workflow_id, point in self._points.items()
            if workflow_id in self._standing
        )
        return JournalPrecondition(
            name="the effects of the writes so far",
            expected=len(self._standing),
            seen=right,
            journal_sequence=journal[-1].sequence if journal else 0,
        )

    def _tell_states(self) -> None:
        """Tell what the store is at the end; where the host stopped, what it may be."""
        completed = {
            status.workflow_id
            for status in statuses_of(self._stage.settle("states"))
            if status.state == agent_pb2.WORKFLOW_STATE_COMPLETED
        }
        for workflow_id, point in self._points.items():
            state = GoldenState(workflow=workflow_id, digest=self._store.digest(workflow_id))
            if workflow_id not in completed:
                without, with_write = self._store.undisturbed(workflow_id, point)
                state = state.model_copy(update={"without": without, "with_write": with_write})
            self._stage.interposer.mark(state.model_dump(mode="json"))


def _number_of(trial_id: str) -> int:
    return int(trial_id.rpartition("#")[2])


def _play(stage: Stage, name: WindowName) -> None:
    _Golden(stage, name).play()


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    name: partial(_play, name=at) for name, at in WINDOW_OF.items()
}
