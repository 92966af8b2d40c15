"""The play of `families.paper_pilot`: nothing goes wrong but what a model does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from memqual.v1 import agent_pb2, common_pb2, destination_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.paper.hands import Hands, number_of
from orchestrator.suites.continuity.paper.marks import PILOT_MESSAGE_MARK, PILOT_TASK_MARK
from orchestrator.suites.continuity.paper.pilot import PilotTask, conversation_of, pilot_task
from orchestrator.suites.continuity.rig import SETTLE_MS, NotSettled
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import settings_of, workflow_of
from services.common.canonical import sha256_hex

__all__ = ["PLAYS", "reference_state"]

_ROUNDS_MAX = 180
"""Half an hour: an endpoint may take a minute for each answer."""

_CALL_SECONDS = SETTLE_MS / 1_000 + 10
_TEXT_CHARACTERS = 8_192
_ID_CHARACTERS = 128


def _fresh(stage: Stage) -> None:
    store = stage.context.stack.spec.retail_store
    tasks = [pilot_task(number_of(one.trial_id), store) for one in stage.batch.members]
    stage.do("prepare", lambda: _prepare(stage, tasks))
    stage.do("start", lambda: stage.rig.start(_workflows(stage, tasks)))
    stage.do("converse", lambda: _await_ends(stage))
    stage.do("states", lambda: Hands(stage, guard=True).tell_states("final"))
    stage.do("messages", lambda: _tell_messages(stage))


def _prepare(stage: Stage, tasks: list[PilotTask]) -> None:
    """The tools keep their own preconditions; every trial's task is told."""
    settings = [settings_of(member) for member in stage.batch.members]
    for one in settings:
        one.guard = True
    stage.context.session.destination_audit.ConfigureWorkflow(
        destination_pb2.ConfigureWorkflowRequest(settings=settings)
    )
    for member, task in zip(stage.batch.members, tasks, strict=True):
        stage.interposer.mark(
            {
                "kind": PILOT_TASK_MARK,
                "workflow": member.workflow_id,
                "task": task.task_id,
                "wish": task.wish,
                "final": task.final_compact or reference_state(stage, member, task),
            }
        )


def reference_state(stage: Stage, member: Member, task: PilotTask) -> str:
    """State hash of the store after the task's own calls, in a workflow beside the trial's.

    Raises:
        grpc.RpcError: The destination does not take a call.
    """
    workflow = f"reference-{member.workflow_id}"[:_ID_CHARACTERS]
    session = stage.context.session
    session.destination_audit.ConfigureWorkflow(
        destination_pb2.ConfigureWorkflowRequest(
            settings=[
                destination_pb2.WorkflowSettings(
                    workflow_id=workflow, capability=common_pb2.EFFECT_CAPABILITY_NONE, guard=True
                )
            ]
        )
    )
    for number, call in enumerate(task.reference):
        operation = sha256_hex(f"{workflow}:{number}".encode())
        # A tool's own refusal is an answer; the task's other calls go on.
        session.destination_for(workflow, operation, 0).Invoke(
            destination_pb2.InvokeRequest(
                workflow_id=workflow,
                operation_id=operation,
                tool=call.tool,
                arguments_json=call.arguments_json,
            )
        )
    answer = session.destination_audit.ReadStateHash(
        destination_pb2.ReadStateHashRequest(workflow_id=workflow, with_retail_store=True),
        timeout=_CALL_SECONDS,
    )
    return answer.retail_compact_digest


def _workflows(stage: Stage, tasks: list[PilotTask]) -> list[agent_pb2.Workflow]:
    workflows = []
    for member, task in zip(stage.batch.members, tasks, strict=True):
        workflow = workflow_of(member, stage.context.run_id)
        workflow.ClearField("turns")
        workflow.fresh.CopyFrom(conversation_of(task))
        workflows.append(workflow)
    return workflows


def _await_ends(stage: Stage) -> None:
    """Wait for models, who take longer than hosts and memories do.

    Raises:
        NotSettled: Conversations still go on after half an hour.
    """
    request = agent_pb2.StatusRequest(
        workflow_ids=stage.rig.workflow_ids, await_settled_ms=SETTLE_MS
    )
    host = stage.context.session.active.agent
    for _ in range(_ROUNDS_MAX):
        answer = host.Status(request, timeout=_CALL_SECONDS)
        if all(one.state != agent_pb2.WORKFLOW_STATE_RUNNING for one in answer.workflows):
            stage.seen.snapshots.append(stage.rig.snapshot("live", answer.workflows))
            return
    raise NotSettled(f"conversations of batch {stage.batch.batch_id} do not end")


def _tell_messages(stage: Stage) -> None:
    """What was said and asked for, message by message; tools' answers by length only."""
    for member in stage.batch.members:
        answer = stage.context.session.active.audit.ReadCheckpoint(
            agent_pb2.ReadCheckpointRequest(workflow_id=member.workflow_id), timeout=_CALL_SECONDS
        )
        for number, message in enumerate(json.loads(answer.checkpoint_json)["messages"]):
            text = str(message.get("text", ""))
            stage.interposer.mark(
                {
                    "kind": PILOT_MESSAGE_MARK,
                    "workflow": member.workflow_id,
                    "number": number,
                    "type": message["type"],
                    "text": text[:_TEXT_CHARACTERS],
                    "characters": len(text or message.get("content", "")),
                    "tools": [call["tool"] for call in message.get("tool_calls", ())],
                }
            )


PLAYS: Mapping[str, Callable[[Stage], None]] = {"paper_pilot.fresh": _fresh}
