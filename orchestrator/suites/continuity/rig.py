"""The steps of a batch that are the same for every fault: start, hold, wake, read (DESIGN §5).

The rig never helps: it starts workflows, holds them, wakes hosts and reads. What to do next is
decided by the agent host, which asks the memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from chaos.client import InterposerClient
from chaos.errors import ChaosError, NotInTime, WindowMissed
from chaos.holding import HeldByBarrier, HeldByRule, Hold
from chaos.windows import BarrierHold, Window
from memqual.v1 import agent_pb2, common_pb2, destination_pb2, interposer_pb2, interposer_pb2_grpc
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.evidence.records import StatusSnapshot, TraceSpan, message_to_json
from orchestrator.plan import Batch
from orchestrator.suites.continuity.workload import (
    canary_workflow,
    model_seed,
    settings_of,
    workflow_of,
)
from services.common.channels import CallMetadata

__all__ = ["SETTLE_MS", "NotSettled", "Rig", "span_of"]

SETTLE_MS = 10_000
_CALLS_AT_ONCE = 20
_HOLD_SECONDS = 20.0
_HOLD_LOOK_SECONDS = 0.5
_SETTLE_ROUNDS_MAX = 30
_STILL_ROUNDS_MAX = 6


class NotSettled(ChaosError):
    """Workflows still run long after their wake-up: the memory is slow or hangs, or the host does.

    Whose fault it is, the trace shows; it is no trouble of the infrastructure.
    """


class Rig:
    """One batch's hands on one stack.

    Args:
        context: The stack.
        batch: The operations.
        window: Where they are held; None: `arm`, `disarm` and `await_window` are not used.

    Attributes:
        started: Whether a host was given the workflows.
    """

    def __init__(self, context: StackContext, batch: Batch, window: Window | None) -> None:
        self.context = context
        self.batch = batch
        self.window = window
        self.started = False
        self.rule_id = f"hold-{batch.batch_id}"
        self.workflow_ids = [member.workflow_id for member in batch.members]
        self._life = 0

    @property
    def interposer(self) -> InterposerClient:
        """Control of the stack's interposer."""
        return self.context.interposer

    def configure(self) -> None:
        """Tell the destination how to behave for the batch's workflows."""
        settings = [settings_of(member) for member in self.batch.members]
        self.context.session.destination_audit.ConfigureWorkflow(
            destination_pb2.ConfigureWorkflowRequest(settings=settings)
        )

    def _window(self) -> Window:
        if self.window is None:
            raise ValueError(f"batch {self.batch.batch_id} has no window")
        return self.window

    def arm(self, skipped: int = 0) -> Hold:
        """Arm the window: a rule of the interposer, or the active host's barrier.

        Args:
            skipped: How many messages of each workflow pass a rule before one is held.
        """
        window = self._window()
        if isinstance(window.hold, BarrierHold):
            barrier = HeldByBarrier(self.context.session.active.audit, window.hold.barrier)
            barrier.arm(self.workflow_ids)
            return barrier
        rule = HeldByRule(self.interposer, self.rule_id)
        rule.arm(window, self.workflow_ids, skipped)
        return rule

    def disarm(self) -> None:
        """Take the hold away from operations that never came, so that the stack can go on."""
        window = self._window()
        if isinstance(window.hold, BarrierHold):
            self.context.session.active.audit.ReleaseBarrier(
                agent_pb2.ReleaseBarrierRequest(barrier=window.hold.barrier)
            )
        else:
            self.interposer.clear(self.rule_id)

    def await_window(self, hold: Hold) -> None:
        """Wait until every operation stands at the window.

        Raises:
            WindowMissed: Some cannot arrive any more (their workflow has settled), or did not in
                time; the memory's answers in the trace say why.
        """
        self._await_standing(hold, len(self.workflow_ids), all_of_them=True)

    def await_those_that_come(self, hold: Hold, wanted: int) -> tuple[str, ...]:
        """Wait until each of so many operations stands there, or has settled without it.

        For cases whose workflows do something before the window: one that a wrong answer stops on
        its way fails on that answer, and the others are killed all the same.

        Returns:
            The workflows that stand there.

        Raises:
            WindowMissed: None stands there, or some neither came nor settled in time.
        """
        return self._await_standing(hold, wanted, all_of_them=False)

    def _await_standing(self, hold: Hold, wanted: int, *, all_of_them: bool) -> tuple[str, ...]:
        deadline = time.monotonic() + _HOLD_SECONDS
        while True:
            try:
                return hold.await_held(wanted, _HOLD_LOOK_SECONDS)
            except NotInTime as error:
                settled = self._settled()
                held = hold.await_held(0, 0.0)
                if len(held) >= wanted:
                    return held
                nobody_else = len(held) + settled >= wanted
                if nobody_else and held and not all_of_them:
                    return held
                if nobody_else or time.monotonic() > deadline:
                    raise WindowMissed(
                        "held", f"{error.details}; {settled} workflows settled without it"
                    ) from error

    def _settled(self) -> int:
        request = agent_pb2.StatusRequest(workflow_ids=self.workflow_ids)
        answer = self.context.session.active.agent.Status(request)
        return sum(one.state != agent_pb2.WORKFLOW_STATE_RUNNING for one in answer.workflows)

    def start(self, workflows: Sequence[agent_pb2.Workflow] | None = None) -> None:
        """Start every workflow on the active host, side by side.

        Args:
            workflows: One for each member, in order; None: what `workload` gives.
        """
        self.started = True
        given = workflows or [
            workflow_of(member, self.context.run_id) for member in self.batch.members
        ]
        host = self.context.session.active.agent
        requests = [
            agent_pb2.StartRequest(workflow=workflow, model_seed=model_seed(self.batch, self._life))
            for workflow in given
        ]
        with ThreadPoolExecutor(_CALLS_AT_ONCE) as pool:
            list(pool.map(host.Start, requests))

    def wake(self, *, new_life: bool) -> None:
        """Wake the active host's workflows; a new life answers with new message ids."""
        self._life += 1 if new_life else 0
        self.context.session.active.agent.Resume(
            agent_pb2.ResumeRequest(
                workflow_ids=self.workflow_ids, model_seed=model_seed(self.batch, self._life)
            )
        )

    def settle(self, phase: str) -> StatusSnapshot:
        """Wait until no workflow runs any more; return where they stand.

        While messages pass, work goes on, however slowly, and is waited for.

        Raises:
            NotSettled: Some still run after a minute in which no message passed, or after five
                minutes in all; the host or the memory hangs.
        """
        host = self.context.session.active.agent
        request = agent_pb2.StatusRequest(
            workflow_ids=self.workflow_ids, await_settled_ms=SETTLE_MS
        )
        head, still = self.interposer.statistics().trace_head_sequence, 0
        for _ in range(_SETTLE_ROUNDS_MAX):
            answer = host.Status(request, timeout=SETTLE_MS / 1_000 + 10)
            if all(one.state != agent_pb2.WORKFLOW_STATE_RUNNING for one in answer.workflows):
                return self.snapshot(phase, answer.workflows)
            before, head = head, self.interposer.statistics().trace_head_sequence
            still = still + 1 if head == before else 0
            if still >= _STILL_ROUNDS_MAX:
                break
        raise NotSettled(
            f"workflows of batch {self.batch.batch_id} still run, "
            f"{still * SETTLE_MS / 1_000:.0f} s after the last message that passed; "
            "the agent host's log has the call that hangs"
        )

    def snapshot(self, phase: str, statuses: Sequence[agent_pb2.WorkflowStatus]) -> StatusSnapshot:
        """Keep statuses together with the trace's head."""
        return StatusSnapshot(
            phase=phase,
            trace_sequence=self.interposer.statistics().trace_head_sequence,
            status_json=tuple(message_to_json(one) for one in statuses),
        )

    def canary(self, number: int) -> None:
        """One operation without a memory, from start to end: the rig itself works.

        Raises:
            StackError: It did not complete.
        """
        workflow_id = f"canary-{self.batch.batch_id}-{number}"
        session = self.context.session
        session.destination_audit.ConfigureWorkflow(
            destination_pb2.ConfigureWorkflowRequest(
                settings=[
                    destination_pb2.WorkflowSettings(
                        workflow_id=workflow_id, capability=common_pb2.EFFECT_CAPABILITY_NONE
                    )
                ]
            )
        )
        host = session.active.agent
        host.Start(
            agent_pb2.StartRequest(
                workflow=canary_workflow(workflow_id, self.context.run_id),
                model_seed=workflow_id,
            )
        )
        request = agent_pb2.StatusRequest(workflow_ids=[workflow_id], await_settled_ms=SETTLE_MS)
        answer = host.Status(request, timeout=SETTLE_MS / 1_000 + 10)
        if answer.workflows[0].state != agent_pb2.WORKFLOW_STATE_COMPLETED:
            raise StackError(
                f"An operation without a memory did not complete: {answer.workflows[0].error}",
                next_step="The testbed itself is broken here; see the services' logs.",
            )

    def trace_from(self, first: int) -> list[interposer_pb2.TraceRecord]:
        """The interposer's records from a sequence on, as messages of the contract."""
        client = interposer_pb2_grpc.InterposerServiceStub(self.context.session.channel)
        metadata = CallMetadata(token=self.context.stack.control_token).pairs()
        request = interposer_pb2.TraceRequest(from_sequence=first)
        stream = client.Trace(request, timeout=60, metadata=metadata)
        return [answer.record for answer in stream]

    def journal_from(self, first: int) -> list[common_pb2.JournalRecord]:
        """The destination's journal from a sequence on."""
        request = destination_pb2.ReadJournalRequest(from_sequence=first)
        stream = self.context.session.destination_audit.ReadJournal(request, timeout=60)
        return [answer.record for answer in stream]

    def state_digests(self) -> dict[str, str]:
        """The destination's state hash of each workflow."""
        audit = self.context.session.destination_audit
        requests = [
            destination_pb2.ReadStateHashRequest(workflow_id=workflow)
            for workflow in self.workflow_ids
        ]
        with ThreadPoolExecutor(_CALLS_AT_ONCE) as pool:
            answers = pool.map(audit.ReadStateHash, requests)
            digests = [answer.digest for answer in answers]
        return dict(zip(self.workflow_ids, digests, strict=True))


def span_of(sequences: Iterable[int], first: int) -> TraceSpan:
    """The span that starts at `first` and holds these sequences."""
    return TraceSpan(first=first, last=max(sequences, default=first - 1))
