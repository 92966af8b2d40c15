"""A checkpoint that is set back: the model is asked again, the memory is told what is left."""

import grpc
import pytest

from memqual.v1 import agent_pb2
from services.agent import clients
from tests.services.agent.hosts import HostClient, workflow

COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
RPC_SECONDS = 30


def restored(
    host: HostClient, workflow_id: str, *, fork: bool = False
) -> agent_pb2.RestoreCheckpointResponse:
    request = agent_pb2.RestoreCheckpointRequest(workflow_id=workflow_id, fork=fork)
    return host.audit.RestoreCheckpoint(request, timeout=RPC_SECONDS)


@pytest.mark.parametrize("fork", [False, True])
def test_the_last_message_is_asked_for_again_under_new_ids(host: HostClient, fork: bool) -> None:
    host.start(workflow("w", agent_pb2.ARM_MEMORY, ["publish"], ["publish"]))
    assert host.settled("w")[0].state == COMPLETED
    first = [one.operation_id for one in host.status("w").operations]

    told = restored(host, "w", fork=fork)

    assert (told.messages_before, told.messages_after) == (4, 2)
    assert (told.newer_kept > 0) is fork
    host.resume("w", seed="another-seed")
    assert host.settled("w")[0].state == COMPLETED
    now = [one.operation_id for one in host.status("w").operations]
    assert now[:2] == first
    assert len(set(now)) == 3


def test_a_workflow_without_an_assistant_message_cannot_be_set_back(host: HostClient) -> None:
    host.start(workflow("w"))
    host.settled("w")
    restored(host, "w")
    with pytest.raises(grpc.RpcError) as nothing:
        restored(host, "w")
    assert clients.code_of(nothing.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_an_unknown_workflow_cannot_be_set_back(host: HostClient) -> None:
    with pytest.raises(grpc.RpcError) as unknown:
        restored(host, "w")
    assert clients.code_of(unknown.value) is grpc.StatusCode.NOT_FOUND
