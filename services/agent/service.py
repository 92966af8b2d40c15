"""AgentService and AgentAuditService over one host (agent.proto)."""

import sqlite3

import grpc

from memqual.v1 import agent_pb2, agent_pb2_grpc
from services.agent.barriers import TooFewStanding
from services.agent.checkpoints import (
    CheckpointDamaged,
    CheckpointExists,
    CheckpointMissing,
    NothingToRestore,
    store_failure,
)
from services.agent.damage import cut_in_half
from services.agent.events import HostEvents
from services.agent.host import Host, StartFailed
from services.agent.reading import checkpoint_json
from services.agent.requests import (
    check_barrier,
    check_milliseconds,
    check_model_seed,
    check_workflow,
    check_workflow_ids,
)
from services.agent.runs import TooManyWorkflows
from services.agent.setting_back import set_back
from services.common import clock
from services.common.errors import ServiceError
from services.common.limits import check_id

__all__ = ["AgentAuditService", "AgentService"]

AWAIT_SETTLED_MAX_MS = 10_000
AWAIT_BARRIER_MAX_MS = 60_000
CHECKPOINT_JSON_BYTES = 4 * 1024 * 1024 - 1_024
MILLISECONDS_PER_SECOND = 1_000


class AgentService(agent_pb2_grpc.AgentServiceServicer):
    """What the orchestrator may ask of a host."""

    def __init__(self, host: Host, events: HostEvents, incarnation_id: str) -> None:
        self._host = host
        self._events = events
        self._incarnation_id = incarnation_id

    def Start(
        self, request: agent_pb2.StartRequest, context: grpc.ServicerContext
    ) -> agent_pb2.StartResponse:
        """Starts a workflow; its initial state is durable before the answer."""
        check_workflow(request.workflow)
        check_model_seed(request.model_seed)
        try:
            self._host.start(request.workflow, request.model_seed)
        except (CheckpointExists, CheckpointDamaged) as error:
            raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, str(error)) from error
        except TooManyWorkflows as error:
            raise ServiceError(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error)) from error
        except StartFailed as error:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, str(error)) from error
        return agent_pb2.StartResponse(incarnation_id=self._incarnation_id)

    def Resume(
        self, request: agent_pb2.ResumeRequest, context: grpc.ServicerContext
    ) -> agent_pb2.ResumeResponse:
        """Wakes workflows up; does not wait for what comes of it."""
        workflow_ids = check_workflow_ids(request.workflow_ids)
        check_model_seed(request.model_seed)
        try:
            self._host.resume(workflow_ids, request.model_seed)
        except CheckpointMissing as error:
            raise ServiceError(grpc.StatusCode.NOT_FOUND, str(error)) from error
        except TooManyWorkflows as error:
            raise ServiceError(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error)) from error
        return agent_pb2.ResumeResponse(incarnation_id=self._incarnation_id)

    def Status(
        self, request: agent_pb2.StatusRequest, context: grpc.ServicerContext
    ) -> agent_pb2.StatusResponse:
        """Where workflows stand; waits for them to settle when asked to."""
        workflow_ids = check_workflow_ids(request.workflow_ids)
        wait_ms = check_milliseconds(
            "await_settled_ms", request.await_settled_ms, AWAIT_SETTLED_MAX_MS
        )
        if wait_ms:
            self._host.runs.await_settled(
                workflow_ids, wait_ms / MILLISECONDS_PER_SECOND, context.is_active
            )
        return agent_pb2.StatusResponse(
            workflows=self._host.runs.status(workflow_ids),
            incarnation_id=self._incarnation_id,
            telemetry_dropped=self._events.dropped,
        )


class AgentAuditService(agent_pb2_grpc.AgentAuditServiceServicer):
    """The host's own barriers, its checkpoints and clocks, for the evaluator only."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def ArmBarrier(
        self, request: agent_pb2.ArmBarrierRequest, context: grpc.ServicerContext
    ) -> agent_pb2.ArmBarrierResponse:
        """From now on these workflows stop at the barrier, once each."""
        barrier = check_barrier(request.barrier)
        self._host.barriers.arm(barrier, check_workflow_ids(request.workflow_ids))
        return agent_pb2.ArmBarrierResponse()

    def AwaitBarrier(
        self, request: agent_pb2.AwaitBarrierRequest, context: grpc.ServicerContext
    ) -> agent_pb2.AwaitBarrierResponse:
        """Waits until so many workflows stand at the barrier."""
        barrier = check_barrier(request.barrier)
        wait_ms = check_milliseconds("timeout_ms", request.timeout_ms, AWAIT_BARRIER_MAX_MS)
        try:
            standing = self._host.barriers.await_standing(
                barrier, request.count, wait_ms / MILLISECONDS_PER_SECOND
            )
        except TooFewStanding as error:
            raise ServiceError(
                grpc.StatusCode.DEADLINE_EXCEEDED,
                f"{error.standing} of {request.count} workflows stand at the barrier",
            ) from error
        return agent_pb2.AwaitBarrierResponse(workflow_ids=standing)

    def ReleaseBarrier(
        self, request: agent_pb2.ReleaseBarrierRequest, context: grpc.ServicerContext
    ) -> agent_pb2.ReleaseBarrierResponse:
        """Lets everything at the barrier go on and disarms it."""
        self._host.barriers.release(check_barrier(request.barrier))
        return agent_pb2.ReleaseBarrierResponse()

    def ReadCheckpoint(
        self, request: agent_pb2.ReadCheckpointRequest, context: grpc.ServicerContext
    ) -> agent_pb2.ReadCheckpointResponse:
        """What the durable checkpoint holds, read without changing it."""
        workflow_id = check_id("workflow_id", request.workflow_id)
        try:
            text = checkpoint_json(self._host.files.read(workflow_id))
        except CheckpointMissing as error:
            raise ServiceError(grpc.StatusCode.NOT_FOUND, str(error)) from error
        except CheckpointDamaged as error:
            raise ServiceError(grpc.StatusCode.DATA_LOSS, str(error)) from error
        if len(text.encode()) > CHECKPOINT_JSON_BYTES:
            raise ServiceError(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "the checkpoint is larger than 4 MiB"
            )
        return agent_pb2.ReadCheckpointResponse(checkpoint_json=text)

    def RestoreCheckpoint(
        self, request: agent_pb2.RestoreCheckpointRequest, context: grpc.ServicerContext
    ) -> agent_pb2.RestoreCheckpointResponse:
        """Sets a durable checkpoint back to before its last assistant message."""
        workflow_id = check_id("workflow_id", request.workflow_id)
        self._refuse_running(workflow_id)
        try:
            done = set_back(self._host.files, workflow_id, fork=request.fork)
        except CheckpointMissing as error:
            raise ServiceError(grpc.StatusCode.NOT_FOUND, str(error)) from error
        except NothingToRestore as error:
            raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, str(error)) from error
        except CheckpointDamaged as error:
            raise ServiceError(grpc.StatusCode.DATA_LOSS, str(error)) from error
        except sqlite3.Error as error:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, store_failure(error)) from error
        return agent_pb2.RestoreCheckpointResponse(
            messages_before=done.messages_before,
            messages_after=done.messages_after,
            newer_kept=done.newer_kept,
        )

    def CutCheckpoint(
        self, request: agent_pb2.CutCheckpointRequest, context: grpc.ServicerContext
    ) -> agent_pb2.CutCheckpointResponse:
        """Cuts a checkpoint file in half."""
        workflow_id = check_id("workflow_id", request.workflow_id)
        self._refuse_running(workflow_id)
        if not self._host.files.exists(workflow_id):
            raise ServiceError(
                grpc.StatusCode.NOT_FOUND, f"workflow {workflow_id} has no checkpoint"
            )
        try:
            before, after = cut_in_half(self._host.files.path(workflow_id))
        except (OSError, sqlite3.Error) as error:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, str(error)) from error
        return agent_pb2.CutCheckpointResponse(bytes_before=before, bytes_after=after)

    def _refuse_running(self, workflow_id: str) -> None:
        run = self._host.runs.get(workflow_id)
        if run is not None and run.state == agent_pb2.WORKFLOW_STATE_RUNNING:
            raise ServiceError(
                grpc.StatusCode.FAILED_PRECONDITION, "the workflow runs; wait until it has settled"
            )

    def ReadHostClock(
        self, request: agent_pb2.ReadHostClockRequest, context: grpc.ServicerContext
    ) -> agent_pb2.ReadHostClockResponse:
        """This process's clocks."""
        return agent_pb2.ReadHostClockResponse(clock=clock.reading())
