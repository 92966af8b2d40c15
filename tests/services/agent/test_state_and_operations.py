"""Identity, specification and receipts: what the host says of an operation."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2, destination_pb2
from services.agent import operations
from services.agent.model import assistant_message
from services.agent.state import (
    AgentState,
    PendingCall,
    StoredResult,
    checkpoint_serializer,
    initial_state,
    next_node,
    pending_call,
    result_update,
    settled_operations,
    workflow_of,
)
from services.common.canonical import canonical_json, digest_hex, operation_id, sha256_hex
from tests.services.agent.hosts import workflow

WORKFLOW = workflow("w", agent_pb2.ARM_MEMORY, ["publish", "lookup"], ["refuse"])


def with_message(state: AgentState, message: AIMessage) -> AgentState:
    return {**state, "messages": [*state["messages"], message]}


def with_result(state: AgentState, call: PendingCall, result_json: str = "{}") -> AgentState:
    answer = operations.DefiniteAnswer(1, result_json, "effect", "")
    update = result_update(call, result_json, operations.stored_result(call, answer))
    return {
        **state,
        "messages": [*state["messages"], *update["messages"]],
        "results": {**state["results"], **update["results"]},
    }


def only_call(state: AgentState) -> PendingCall:
    call = pending_call(workflow_of(state), state["messages"])
    assert call is not None
    return call


def test_the_script_is_walked_through_call_by_call() -> None:
    state = initial_state(WORKFLOW)
    walked = []
    for turn_index in range(2):
        state = with_message(state, assistant_message(WORKFLOW, turn_index, "seed"))
        while next_node(state) == "act":
            call = only_call(state)
            walked.append((call.tool, call.arguments_json))
            state = with_result(state, call)
        walked.append((next_node(state), ""))
    expected = [
        ("publish", '{"number":1}'),
        ("lookup", '{"number":2}'),
        ("model", ""),
        ("refuse", '{"number":3}'),
        ("finish", ""),
    ]
    assert expected == walked


def test_an_operation_is_identified_by_where_it_stands() -> None:
    message = assistant_message(WORKFLOW, 0, "seed")
    call = only_call(with_message(initial_state(WORKFLOW), message))
    identity = continuity_pb2.OperationIdentity(
        deployment="test",
        thread_id="w",
        checkpoint_namespace="",
        message_id=message.id or "",
        tool_call_id=message.tool_calls[0]["id"] or "",
    )
    assert identity == call.identity
    assert operation_id(identity) == call.operation_id


def test_ids_derive_from_seed_workflow_and_turn() -> None:
    def ids(workflow_id: str, turn_index: int, seed: str) -> tuple[str, ...]:
        twin = agent_pb2.Workflow()
        twin.CopyFrom(WORKFLOW)
        twin.workflow_id = workflow_id
        message = assistant_message(twin, turn_index, seed)
        return (message.id or "", *(call["id"] or "" for call in message.tool_calls))

    assert ids("w", 0, "seed") == ids("w", 0, "seed")
    every = [
        *ids("w", 0, "seed"),
        *ids("w", 1, "seed"),
        *ids("w", 0, "another"),
        *ids("v", 0, "seed"),
    ]
    assert len(every) == len(set(every))
    assert all(len(one) <= 128 for one in every)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=6), JSON_VALUES, max_size=4))
def test_arguments_are_the_same_after_the_checkpoint(arguments: dict[str, object]) -> None:
    text = canonical_json(json.loads(json.dumps(arguments))).decode()
    scripted = agent_pb2.Workflow(workflow_id="w")
    scripted.turns.add().calls.add(tool="publish", arguments_json=text)
    serializer = checkpoint_serializer()
    stored = serializer.dumps_typed([assistant_message(scripted, 0, "seed")])
    call = pending_call(scripted, serializer.loads_typed(stored))
    assert call is not None
    assert text == call.arguments_json


@pytest.mark.parametrize(
    ("capability", "key_wanted", "retention_seconds"),
    [
        (common_pb2.EFFECT_CAPABILITY_NONE, False, 0),
        (common_pb2.EFFECT_CAPABILITY_QUERY, False, 0),
        (common_pb2.EFFECT_CAPABILITY_IDEMPOTENT, True, 60),
    ],
)
def test_the_spec_holds_what_the_destination_told(
    capability: "common_pb2.EffectCapability.ValueType",
    key_wanted: bool,
    retention_seconds: int,
) -> None:
    call = only_call(with_message(initial_state(WORKFLOW), assistant_message(WORKFLOW, 0, "s")))
    tool = destination_pb2.DescribeToolResponse(
        destination="shop", capability=capability, retention_seconds=60
    )
    expected = continuity_pb2.OperationSpec(
        operation_id=call.operation_id,
        identity=call.identity,
        namespace="space",
        workflow_id="w",
        principal="someone",
        tool="publish",
        destination="shop",
        intent_digest=digest_hex(
            {
                "tool": "publish",
                "destination": "shop",
                "arguments": {"number": 1},
                "principal": "someone",
            }
        ),
        arguments_digest=sha256_hex(b'{"number":1}'),
        capability=capability,
        idempotency_key=call.operation_id if key_wanted else "",
        retention_seconds=retention_seconds,
    )
    assert expected == operations.operation_spec(WORKFLOW, call, tool)


def test_the_bound_is_on_the_destinations_clock() -> None:
    tool = destination_pb2.DescribeToolResponse(now_unix_ns=1_000_000_000)
    assert operations.not_after_unix_ns(tool, 120) == 1_120_000_000


def test_a_refusal_by_the_tool_is_a_definite_answer() -> None:
    response = destination_pb2.InvokeResponse(
        tool_error=destination_pb2.ToolError(code="sold_out", message="none left")
    )
    answer = operations.answer_of_invoke(response, 2)
    expected = operations.DefiniteAnswer(
        attempt=2,
        result_json='{"code":"sold_out","message":"none left"}',
        effect_id="",
        tool_error_code="sold_out",
    )
    assert expected == answer
    receipt = operations.receipt_of(continuity_pb2.OperationSpec(operation_id="op"), expected)
    assert receipt.outcome == continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR
    assert dataclasses.replace(expected, receipt_of="op") == operations.answer_of_receipt(receipt)


@pytest.mark.parametrize("result_json", ["not json", "{}x", "[]"])
def test_a_refusal_without_a_readable_code_keeps_a_name(result_json: str) -> None:
    receipt = continuity_pb2.Receipt(
        result_json=result_json, outcome=continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR
    )
    assert operations.answer_of_receipt(receipt).tool_error_code == "unnamed"


@pytest.mark.parametrize(
    "response",
    [
        destination_pb2.InvokeResponse(),
        destination_pb2.InvokeResponse(result=destination_pb2.ToolResult(result_json="")),
        destination_pb2.InvokeResponse(result=destination_pb2.ToolResult(result_json="[]")),
        destination_pb2.InvokeResponse(result=destination_pb2.ToolResult(result_json='{ "a":1}')),
        destination_pb2.InvokeResponse(
            result=destination_pb2.ToolResult(result_json='{"a":"' + "x" * 65_536 + '"}')
        ),
        destination_pb2.InvokeResponse(
            result=destination_pb2.ToolResult(result_json="{}", effect_id="x" * 129)
        ),
    ],
)
def test_what_is_no_result_stays_uncertain(response: destination_pb2.InvokeResponse) -> None:
    assert operations.answer_of_invoke(response, 1) is None


def test_present_needs_its_result() -> None:
    present = common_pb2.EFFECT_PRESENCE_PRESENT
    bare = destination_pb2.QueryEffectResponse(presence=present)
    assert operations.answer_of_query(bare, 1) is None
    full = destination_pb2.QueryEffectResponse(
        presence=present,
        result=destination_pb2.ToolResult(result_json="{}", effect_id="effect"),
    )
    expected = operations.DefiniteAnswer(1, "{}", "effect", "")
    assert expected == operations.answer_of_query(full, 1)


def test_checkpoints_bring_back_expected_types_only() -> None:
    serializer = checkpoint_serializer()
    call = only_call(with_message(initial_state(WORKFLOW), assistant_message(WORKFLOW, 0, "s")))
    stored = operations.stored_result(call, operations.DefiniteAnswer(1, "{}", "effect", ""))
    assert stored == serializer.loads_typed(serializer.dumps_typed(stored))
    foreign = operations.DefiniteAnswer(1, "{}", "", "")
    assert not isinstance(
        serializer.loads_typed(serializer.dumps_typed(foreign)), operations.DefiniteAnswer
    )


def test_a_result_that_was_handed_over_settles_both_operations() -> None:
    call = only_call(with_message(initial_state(WORKFLOW), assistant_message(WORKFLOW, 0, "s")))
    own = operations.DefiniteAnswer(1, "{}", "e", "", receipt_of=call.operation_id)
    other = operations.DefiniteAnswer(1, "{}", "e", "", receipt_of="first")
    state = initial_state(WORKFLOW)
    for answer, settled in ((own, (call.operation_id,)), (other, ("first", call.operation_id))):
        stored = operations.stored_result(call, answer)
        assert settled_operations({**state, "results": {"op": stored}}) == settled


def test_a_host_tells_of_its_latest_200_operations() -> None:
    stored = {
        str(number): StoredResult(str(number), "m", "c", "t", 1, "d", "e", "")
        for number in range(300)
    }
    told = settled_operations({**initial_state(WORKFLOW), "results": stored})
    assert told == tuple(str(number) for number in range(100, 300))
