"""A host holds a conversation with fresh models: same graph, durable, bounded, usage told."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from memqual.v1 import agent_pb2, observer_pb2
from services.agent.graph import build_graph, graph_digest
from tests.services.agent.fakes import World
from tests.services.agent.hosts import HostClient, local_host, workflow
from tests.services.agent.scripted_endpoint import (
    Asked,
    Reply,
    Script,
    ScriptedEndpoint,
    called,
    said,
    scripted_endpoint,
)

COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED
STOP = "###STOP###"
TOOLS = json.dumps(
    [{"type": "function", "function": {"name": "publish", "parameters": {"type": "object"}}}]
)


def conversation(workflow_id: str, arm: "agent_pb2.Arm.ValueType") -> agent_pb2.Workflow:
    started = workflow(workflow_id, arm)
    started.ClearField("turns")
    started.fresh.CopyFrom(
        agent_pb2.FreshConversation(
            opening="welcome",
            agent_instructions="You serve.",
            user_instructions="You ask.",
            tools_json=TOOLS,
            stop_token=STOP,
            answers_max=8,
        )
    )
    return started


def polite(asked: Asked) -> Reply:
    """The user asks, the agent publishes and says so, the user ends."""
    messages = asked.body["messages"]
    own = sum(one["role"] == "assistant" for one in messages)
    if "tools" not in asked.body:
        return said("please", (3, 1)) if own == 0 else said(f"bye {STOP}", (5, 2))
    return called(("publish", {"number": 1}), usage=(7, 4)) if own == 1 else said("done", None)


@contextmanager
def host_with(
    script: Script, around: World, folder: Path, *, observed: bool = False
) -> Iterator[tuple[HostClient, ScriptedEndpoint]]:
    with scripted_endpoint(script) as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMQUAL_MODEL_BASE_URL", endpoint.base_url)
        patch.setenv("MEMQUAL_MODEL_NAME", "asked-for")
        with local_host(around, folder, observed=observed) as host:
            yield host, endpoint


@pytest.mark.parametrize("arm", [agent_pb2.ARM_BASELINE, agent_pb2.ARM_BOTH])
def test_a_conversation_is_held_to_its_end(
    arm: "agent_pb2.Arm.ValueType", around: World, tmp_path: Path
) -> None:
    with host_with(polite, around, tmp_path) as (host, endpoint):
        host.start(conversation("w", arm))
        status = host.settled("w")[0]
        told = json.loads(host.checkpoint("w"))
    assert (status.state, status.error) == (COMPLETED, "")
    assert [one["type"] for one in told["messages"]] == [
        *("assistant", "user", "assistant", "tool", "assistant", "user")
    ]
    assert [one.tool for one in status.operations] == ["publish"]
    assert status.model_requests == len(endpoint.asked) == 4
    assert status.graph_digest == graph_digest(build_graph())
    assert status.model_usage == agent_pb2.ModelUsage(
        input_tokens=15,
        output_tokens=7,
        answers_with_usage=3,
        provenance="provider",
        models=["scripted"],
    )


def test_telemetry_tells_each_requests_usage_and_nothing_said(
    around: World, tmp_path: Path
) -> None:
    with host_with(polite, around, tmp_path, observed=True) as (host, _):
        host.start(conversation("w", agent_pb2.ARM_BOTH))
        host.settled("w")
    asked = [
        event
        for event in around.observer.events_of("w")
        if event.kind == observer_pb2.EVENT_KIND_MODEL_CALLED
    ]
    counts = [
        (event.usage.input_tokens, event.usage.output_tokens) if event.HasField("usage") else None
        for event in asked
    ]
    assert counts == [(3, 1), (7, 4), None, (5, 2)]


def test_a_host_that_takes_over_goes_on_where_the_checkpoint_stands(
    around: World, tmp_path: Path
) -> None:
    def first(asked: Asked) -> Reply:
        return polite(asked) if "tools" not in asked.body else Reply(401)

    with host_with(first, around, tmp_path) as (host, _):
        host.start(conversation("w", agent_pb2.ARM_MEMORY))
        status = host.settled("w")[0]
    assert (status.state, status.error) == (FAILED, "UNAVAILABLE: model: http_401")
    with host_with(polite, around, tmp_path) as (host, endpoint):
        host.resume("w")
        status = host.settled("w")[0]
    assert (status.state, status.model_requests) == (COMPLETED, 4)
    # What the user had said was durable and was not asked for again.
    assert len(endpoint.asked) == 3


def test_answers_end_at_their_bound(around: World, tmp_path: Path) -> None:
    with host_with(lambda asked: said("again"), around, tmp_path) as (host, endpoint):
        host.start(conversation("w", agent_pb2.ARM_BASELINE))
        status = host.settled("w")[0]
    assert (status.state, status.error) == (FAILED, "RESOURCE_EXHAUSTED: model: turn_limit")
    assert len(endpoint.asked) == 8


def test_a_host_without_an_endpoint_fails_the_workflow(
    around: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMQUAL_MODEL_BASE_URL", raising=False)
    monkeypatch.delenv("MEMQUAL_MODEL_NAME", raising=False)
    with local_host(around, tmp_path) as host:
        host.start(conversation("w", agent_pb2.ARM_BASELINE))
        status = host.settled("w")[0]
    assert status.error == "FAILED_PRECONDITION: model: no endpoint is named"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("opening", "x" * 4_097),
        ("agent_instructions", ""),
        ("user_instructions", "x" * 32_769),
        ("stop_token", ""),
        ("stop_token", "x" * 65),
        ("answers_max", 0),
        ("answers_max", 129),
        ("tools_json", "{"),
        ("tools_json", '[{"function": {}}]'),
        ("tools_json", '[{"function": {"name": ""}}]'),
        ("tools_json", " " * 65_537),
    ],
)
def test_a_conversation_that_cannot_be_held_is_refused(
    field: str, value: str | int, host: HostClient
) -> None:
    started = conversation("w", agent_pb2.ARM_BASELINE)
    setattr(started.fresh, field, value)
    with pytest.raises(grpc.RpcError) as refused:
        host.start(started)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert f"workflow.fresh.{field}" in (refused.value.details() or "")


def test_a_workflow_is_a_script_or_one_conversation(host: HostClient) -> None:
    started = conversation("w", agent_pb2.ARM_BASELINE)
    started.turns.add().calls.add(tool="publish", arguments_json="{}")
    with pytest.raises(grpc.RpcError, match="send one of them"):
        host.start(started)
