"""A host plays a recorded conversation: what is asked must be what was asked then (DESIGN §10)."""

import json
from pathlib import Path

import grpc
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from memqual.v1 import agent_pb2, destination_pb2
from services.agent.conversation import (
    Mismatch,
    entries_of,
    next_speaker,
    recorded_answer,
    requests_answered,
)
from services.agent.graph import build_graph, graph_digest
from services.common.canonical import sha256_hex
from services.common.conversation import (
    AgentSaid,
    Asked,
    Entry,
    Role,
    ToolAnswered,
    UserSaid,
    request_digest,
    trajectory_digest,
)
from tests.services.agent.fakes import World
from tests.services.agent.hosts import HostClient, local_host, workflow

COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED
AGENT, USER = agent_pb2.MODEL_ROLE_AGENT, agent_pb2.MODEL_ROLE_USER
ARMS = [arm for arm in agent_pb2.Arm.values() if arm != agent_pb2.ARM_UNSPECIFIED]
RESULT = '{"number":1}'


def recording(result_json: str, opening: str = "welcome") -> agent_pb2.Recording:
    """User, two calls of the agent in one message, the agent's word, the user's last."""
    calls = [Asked("lookup", {"number": 1}), Asked("publish", {"number": 2})]
    digest = sha256_hex(result_json.encode())
    answers: list[Entry] = [ToolAnswered(0, False, digest), ToolAnswered(1, False, digest)]
    steps: list[tuple[agent_pb2.RecordedExchange, list[Entry]]] = [
        (agent_pb2.RecordedExchange(role=USER, text="please"), [UserSaid("please")]),
        (
            agent_pb2.RecordedExchange(
                role=AGENT,
                calls=[
                    agent_pb2.ToolCall(tool="lookup", arguments_json='{"number":1}'),
                    agent_pb2.ToolCall(tool="publish", arguments_json='{"number":2}'),
                ],
            ),
            [AgentSaid("", tuple(calls)), *answers],
        ),
        (agent_pb2.RecordedExchange(role=AGENT, text="done"), [AgentSaid("done")]),
        (agent_pb2.RecordedExchange(role=USER, text="bye", ends=True), [UserSaid("bye")]),
    ]
    message = agent_pb2.Recording(opening=opening)
    entries: list[Entry] = [AgentSaid(opening)]
    for exchange, said in steps:
        exchange.request_digest = request_digest(
            "user" if exchange.role == USER else "agent", entries
        )
        message.exchanges.append(exchange)
        entries += said
    return message


def conversation(
    workflow_id: str, arm: "agent_pb2.Arm.ValueType", result_json: str = RESULT
) -> agent_pb2.Workflow:
    started = workflow(workflow_id, arm)
    started.ClearField("turns")
    started.recording.CopyFrom(recording(result_json))
    return started


def answers(around: World, *workflow_ids: str) -> None:
    """Let the destination answer both calls of these workflows with the recorded result."""
    for workflow_id in workflow_ids:
        around.destination.responses[workflow_id].extend(
            destination_pb2.InvokeResponse(
                result=destination_pb2.ToolResult(result_json=RESULT, effect_id=f"e{number}")
            )
            for number in range(2)
        )


@pytest.mark.parametrize("arm", ARMS)
def test_a_recorded_conversation_is_played_to_its_end(
    arm: "agent_pb2.Arm.ValueType", around: World, host: HostClient
) -> None:
    answers(around, "w")
    host.start(conversation("w", arm))
    status = host.settled("w")[0]
    told = json.loads(host.checkpoint("w"))
    assert (status.state, status.error) == (COMPLETED, "")
    assert (status.model_requests, status.model_requests_mismatched) == (4, 0)
    assert [one["type"] for one in told["messages"]] == [
        *("assistant", "user", "assistant", "tool", "tool", "assistant", "user")
    ]
    assert [one.get("text") for one in told["messages"] if one["type"] == "user"] == [
        "please",
        "bye",
    ]
    assert [one.tool for one in status.operations] == ["lookup", "publish"]


def test_every_arm_runs_one_graph_to_one_end(around: World, host: HostClient) -> None:
    for arm in ARMS:
        answers(around, f"w{arm}")
        host.start(conversation(f"w{arm}", arm))
    ends = host.settled(*(f"w{arm}" for arm in ARMS))
    assert {one.state for one in ends} == {COMPLETED}
    assert {one.graph_digest for one in ends} == {graph_digest(build_graph())}
    assert len({one.trajectory_digest for one in ends}) == 1
    # With other ids in each: what is compared is what was said and done.
    assert len({one.operations[0].operation_id for one in ends}) == len(ARMS)


def test_another_result_than_recorded_is_a_mismatch(host: HostClient) -> None:
    host.start(conversation("w", agent_pb2.ARM_BASELINE, '{"other":true}'))
    status = host.settled("w")[0]
    assert status.state == FAILED
    assert status.error.startswith("FAILED_PRECONDITION: recording_mismatch: request 3")
    assert (status.model_requests, status.model_requests_mismatched) == (2, 1)


def test_a_host_that_takes_over_goes_on_where_the_conversation_stands(
    around: World, host: HostClient, tmp_path: Path
) -> None:
    answers(around, "w")
    barrier = agent_pb2.BARRIER_BEFORE_CHECKPOINT
    host.arm(barrier, "w")
    host.start(conversation("w", agent_pb2.ARM_MEMORY))
    assert host.await_barrier(barrier, 1) == ["w"]
    host.release(barrier)
    first = host.settled("w")[0]
    with local_host(around, tmp_path) as other:
        other.resume("w", seed="another life")
        again = other.settled("w")[0]
    assert again.state == COMPLETED
    assert (again.model_requests, again.trajectory_digest) == (4, first.trajectory_digest)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda one: one.turns.add(), "turns and a recording"),
        (lambda one: one.recording.ClearField("exchanges"), "exchanges has 0"),
        (lambda one: one.recording.exchanges[0].ClearField("role"), "role"),
        (lambda one: one.recording.exchanges[0].ClearField("request_digest"), "request_digest"),
        (lambda one: one.recording.exchanges[0].ClearField("text"), "or neither"),
        (lambda one: setattr(one.recording.exchanges[1], "text", "x"), "a text and calls"),
        (lambda one: setattr(one.recording.exchanges[2], "ends", True), "ends"),
        (lambda one: setattr(one.recording.exchanges[0], "text", "x" * 4_097), "4096"),
    ],
)
def test_a_recording_that_cannot_be_played_is_refused(
    change: "object", field: str, host: HostClient
) -> None:
    started = conversation("w", agent_pb2.ARM_BASELINE, RESULT)
    assert callable(change)
    change(started)
    with pytest.raises(grpc.RpcError) as refused:
        host.start(started)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert field in (refused.value.details() or "")


def played(count: int) -> list[AnyMessage]:
    """The conversation's first messages, under some ids."""
    calls = [
        {"name": "lookup", "args": {"number": 1}, "id": "c1", "type": "tool_call"},
        {"name": "publish", "args": {"number": 2}, "id": "c2", "type": "tool_call"},
    ]
    whole: list[AnyMessage] = [
        AIMessage("welcome", id="opening"),
        HumanMessage("please", id="u1"),
        AIMessage("", id="a1", tool_calls=calls),
        ToolMessage(RESULT, tool_call_id="c1", id="t1"),
        ToolMessage(RESULT, tool_call_id="c2", id="t2"),
        AIMessage("done", id="a2"),
    ]
    return whole[:count]


@pytest.mark.parametrize(
    ("count", "role", "text"),
    [(1, "user", "please"), (2, "agent", ""), (5, "agent", "done"), (6, "user", "bye")],
)
def test_the_next_exchange_answers_the_request_that_was_recorded(
    count: int, role: str, text: str
) -> None:
    messages = played(count)
    asked: Role = "user" if role == "user" else "agent"
    assert recorded_answer(recording(RESULT), asked, messages).text == text
    assert next_speaker(messages) == ("user" if role == "user" else "model")


@given(data=st.data())
@settings(max_examples=60)
def test_any_request_that_differs_is_a_mismatch(data: st.DataObject) -> None:
    count = data.draw(st.sampled_from([1, 2, 5, 6]))
    messages = played(count)
    at = data.draw(st.integers(0, count - 1))
    found = messages[at]
    change = data.draw(st.sampled_from(["text", "left out", "twice"]))
    if change == "text":
        messages[at] = found.model_copy(update={"content": f"{found.content}!"})
    elif change == "left out":
        del messages[at]
    else:
        messages.insert(at, found)
    role: Role = "user" if count in (1, 6) else "agent"
    # A user sees no tool's answer, and an agent's silence only by the number of requests.
    assume(role == "agent" or not isinstance(found, ToolMessage))
    with pytest.raises(Mismatch):
        recorded_answer(recording(RESULT), role, messages)


def test_a_recording_that_is_over_and_another_role_are_mismatches() -> None:
    whole = [*played(6), HumanMessage("bye", id="u2")]
    assert requests_answered(whole) == 4
    with pytest.raises(Mismatch, match="ends after 4"):
        recorded_answer(recording(RESULT), "agent", whole)
    with pytest.raises(Mismatch, match="the agent is asked, and was not then"):
        recorded_answer(recording(RESULT), "agent", played(1))


def test_what_a_user_ends_is_over() -> None:
    last = HumanMessage("bye", id="u2", additional_kwargs={"ends": True})
    assert next_speaker([*played(6), last]) == "finish"
    assert next_speaker([]) == "user"


def test_ids_are_no_part_of_a_trajectory_and_places_of_calls_are() -> None:
    messages = played(5)
    renamed = [one.model_copy(update={"id": f"other-{one.id}"}) for one in messages]
    swapped = [*messages[:3], messages[4], messages[3]]
    digest = trajectory_digest(entries_of(messages))
    assert trajectory_digest(entries_of(renamed)) == digest
    assert trajectory_digest(entries_of(swapped)) != digest
