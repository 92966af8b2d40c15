"""What ReadCheckpoint tells of a durable checkpoint, without loading it into the graph.

A step's result can be durable before the checkpoint after it is: LangGraph keeps it as pending
writes and takes it from there on the next run. Here it is told as what it is, a part of the state.
"""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from services.agent.checkpoints import LoadedCheckpoint
from services.agent.state import StoredResult
from services.common.canonical import JsonObject, JsonValue, canonical_json

__all__ = ["checkpoint_json"]

# LangGraph's names for the trigger of a node, and for the node that takes the input.
TRIGGER_PREFIX = "branch:to:"
START_NODE = "__start__"
STATE_CHANNELS = frozenset({"messages", "results"})


def checkpoint_json(loaded: LoadedCheckpoint) -> str:
    """Canonical JSON {"messages", "next", "results"} of a checkpoint (ReadCheckpointResponse).

    `messages` are in order, `results` is by operation id, `next` names the nodes that are due.
    """
    values = loaded.saved.checkpoint["channel_values"]
    writes = [(channel, value) for _, channel, value in loaded.saved.pending_writes or ()]
    messages: list[AnyMessage] = list(values.get("messages", ()))
    results: dict[str, StoredResult] = dict(values.get("results", {}))
    for channel, value in writes:
        if channel == "messages":
            messages.extend(value)
        elif channel == "results":
            results.update(value)
    step_is_done = any(
        channel in STATE_CHANNELS or channel.startswith(TRIGGER_PREFIX) for channel, _ in writes
    )
    due = (channel for channel, _ in writes) if step_is_done else values
    body: dict[str, JsonValue] = {
        "messages": [_message(message) for message in messages],
        "next": sorted(
            channel.removeprefix(TRIGGER_PREFIX)
            for channel in due
            if channel.startswith(TRIGGER_PREFIX) or channel == START_NODE
        ),
        "results": {key: _result(result) for key, result in results.items()},
    }
    return canonical_json(body).decode()


def _message(message: AnyMessage) -> JsonObject:
    if isinstance(message, AIMessage):
        said: JsonObject = {"text": str(message.content)} if message.content else {}
        return {
            "type": "assistant",
            "id": message.id,
            "tool_calls": [
                {"id": call["id"], "tool": call["name"], "arguments": call["args"]}
                for call in message.tool_calls
            ],
            **said,
        }
    if isinstance(message, HumanMessage):
        return {"type": "user", "id": message.id, "text": str(message.content)}
    if isinstance(message, ToolMessage):
        return {
            "type": "tool",
            "id": message.id,
            "tool_call_id": message.tool_call_id,
            "tool": message.name,
            "status": message.status,
            "content": str(message.content),
        }
    # Nothing in this host writes another kind.
    return {"type": message.type, "id": message.id}


def _result(result: StoredResult) -> JsonObject:
    return {
        "message_id": result.message_id,
        "tool_call_id": result.tool_call_id,
        "tool": result.tool,
        # 64-bit numbers are decimal strings in canonical JSON.
        "attempt": str(result.attempt),
        "result_digest": result.result_digest,
        "effect_id": result.effect_id,
        "tool_error_code": result.tool_error_code,
    }
