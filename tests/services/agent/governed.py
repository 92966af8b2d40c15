"""What the tests of governed calls share: short names, and what the fakes saw."""

import grpc

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2, destination_pb2
from tests.services.agent.fakes import World
from tests.services.agent.hosts import HostClient, workflow

NONE = common_pb2.EFFECT_CAPABILITY_NONE
QUERY = common_pb2.EFFECT_CAPABILITY_QUERY
IDEMPOTENT = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
MEMORY_ARMS = [agent_pb2.ARM_MEMORY, agent_pb2.ARM_BOTH]
PLAIN_ARMS = [agent_pb2.ARM_BASELINE, agent_pb2.ARM_OBSERVER]
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
PARKED = agent_pb2.WORKFLOW_STATE_PARKED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED


def begins(around: World) -> list[continuity_pb2.BeginRequest]:
    return [
        call.request
        for call in around.memory.of("Begin")
        if isinstance(call.request, continuity_pb2.BeginRequest)
    ]


def invokes(around: World) -> list[destination_pb2.InvokeRequest]:
    return [
        call.request
        for call in around.destination.of("Invoke")
        if isinstance(call.request, destination_pb2.InvokeRequest)
    ]


def queries(around: World) -> list[continuity_pb2.RecordQueryRequest]:
    return [
        call.request
        for call in around.memory.of("RecordQuery")
        if isinstance(call.request, continuity_pb2.RecordQueryRequest)
    ]


def run(
    host: HostClient, arm: "agent_pb2.Arm.ValueType" = agent_pb2.ARM_MEMORY
) -> agent_pb2.WorkflowStatus:
    host.start(workflow("w", arm))
    return host.settled("w")[0]


def expired_after_lost_answer(
    around: World, host: HostClient, *, applied: bool
) -> agent_pb2.WorkflowStatus:
    """One dispatch whose answer is lost, the lease ended, one wake-up."""
    switches = around.destination.after if applied else around.destination.before
    switches["Invoke"].append(UNAVAILABLE)
    assert run(host).state == PARKED
    around.memory.expire_leases()
    host.resume("w")
    return host.settled("w")[0]
