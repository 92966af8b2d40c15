"""What a workflow's checkpoint holds, and what follows from it (DESIGN §4).

The script of the model is a part of the durable state: a host that takes over needs nothing but the
file. Pure functions over the state are here; nodes and files are elsewhere.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from memqual.v1 import agent_pb2, continuity_pb2
from services.agent.conversation import is_conversation, next_speaker, opening_messages
from services.common.canonical import canonical_json, operation_id

__all__ = [
    "AgentState",
    "PendingCall",
    "StateUpdate",
    "StoredResult",
    "checkpoint_serializer",
    "first_node",
    "identity_of",
    "initial_state",
    "next_node",
    "pending_call",
    "result_update",
    "settled_operations",
    "workflow_of",
]

SETTLED_MAX = 200


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What the checkpoint keeps of a tool call's result, beside the tool's message.

    Attributes:
        operation_id: digest of the call's identity.
        message_id: the assistant message that asked for it.
        tool_call_id: the call within that message.
        tool: tool name.
        attempt: attempt that the result is of; 0 in the arms without a memory.
        result_digest: SHA-256 of the result's JSON.
        effect_id: the destination's id of the effect; empty on a refusal and for a read.
        tool_error_code: code of the tool's own refusal; empty without one.
        handed_over_from: operation whose receipt the memory handed over for this one; empty where
            the result is the operation's own.
    """

    operation_id: str
    message_id: str
    tool_call_id: str
    tool: str
    attempt: int
    result_digest: str
    effect_id: str
    tool_error_code: str
    handed_over_from: str = ""


def _merged(
    left: Mapping[str, StoredResult], right: Mapping[str, StoredResult]
) -> dict[str, StoredResult]:
    return {**left, **right}


class AgentState(TypedDict):
    """The graph's channels.

    Keys:
        workflow: serialised memqual.v1.Workflow, as it was started.
        messages: assistant, user and tool messages, in order.
        results: what is kept of every result, by operation id.
    """

    workflow: bytes
    messages: Annotated[list[AnyMessage], operator.add]
    results: Annotated[dict[str, StoredResult], _merged]


class StateUpdate(TypedDict, total=False):
    """What a node adds to the state; keys as in AgentState."""

    messages: list[AnyMessage]
    results: dict[str, StoredResult]


@dataclass(frozen=True, slots=True)
class PendingCall:
    """The next tool call of the last assistant message that has no result yet.

    Attributes:
        identity: where the call stands in its thread.
        operation_id: digest of the identity.
        tool: tool name.
        arguments_json: canonical JSON object of the arguments.
    """

    identity: continuity_pb2.OperationIdentity
    operation_id: str
    tool: str
    arguments_json: str


def checkpoint_serializer() -> JsonPlusSerializer:
    """Serialiser that brings back LangChain's messages and StoredResult and no other type."""
    return JsonPlusSerializer(
        allowed_msgpack_modules=[(StoredResult.__module__, StoredResult.__qualname__)]
    )


def initial_state(workflow: agent_pb2.Workflow) -> AgentState:
    """State of a workflow before its first step."""
    return {
        "workflow": workflow.SerializeToString(deterministic=True),
        "messages": opening_messages(workflow),
        "results": {},
    }


def workflow_of(state: AgentState) -> agent_pb2.Workflow:
    """The workflow as it was started."""
    return agent_pb2.Workflow.FromString(state["workflow"])


def pending_call(
    workflow: agent_pb2.Workflow, messages: Sequence[AnyMessage]
) -> PendingCall | None:
    """The next call to dispatch, or None when every call of the last message has its result."""
    asked = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
    if asked is None:
        return None
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    waiting = (call for call in asked.tool_calls if call["id"] not in answered)
    call = next(waiting, None)
    if call is None:
        return None
    identity = identity_of(workflow, asked.id or "", call["id"] or "")
    return PendingCall(
        identity=identity,
        operation_id=operation_id(identity),
        tool=call["name"],
        arguments_json=canonical_json(call["args"]).decode(),
    )


def identity_of(
    workflow: agent_pb2.Workflow, message_id: str, tool_call_id: str
) -> continuity_pb2.OperationIdentity:
    """Where a call stands: in the workflow's thread, in its root checkpoint namespace."""
    return continuity_pb2.OperationIdentity(
        deployment=workflow.deployment,
        thread_id=workflow.workflow_id,
        message_id=message_id,
        tool_call_id=tool_call_id,
    )


def first_node(state: AgentState) -> Literal["model", "user"]:
    """Where the graph begins: a conversation with the user, a script with its first turn."""
    return "user" if is_conversation(workflow_of(state)) else "model"


def next_node(state: AgentState) -> Literal["model", "act", "user", "finish"]:
    """Where the graph goes on: the pending call, else whoever speaks next, else the end."""
    workflow = workflow_of(state)
    if pending_call(workflow, state["messages"]) is not None:
        return "act"
    if is_conversation(workflow):
        return next_speaker(state["messages"])
    turns_done = sum(isinstance(message, AIMessage) for message in state["messages"])
    return "model" if turns_done < len(workflow.turns) else "finish"


def result_update(call: PendingCall, result_json: str, stored: StoredResult) -> StateUpdate:
    """What a finished call adds to the state: the tool's message and what is kept beside it."""
    message = ToolMessage(
        content=result_json,
        id=f"{call.identity.tool_call_id}-result",
        tool_call_id=call.identity.tool_call_id,
        name=call.tool,
        status="error" if stored.tool_error_code else "success",
    )
    return {"messages": [message], "results": {stored.operation_id: stored}}


def settled_operations(state: AgentState) -> tuple[str, ...]:
    """Operations whose results the state holds, oldest first; the latest 200 (BeginRequest)."""
    settled = (
        name
        for result in state["results"].values()
        for name in (result.handed_over_from, result.operation_id)
        if name
    )
    return tuple(dict.fromkeys(settled))[-SETTLED_MAX:]
