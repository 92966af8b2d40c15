"""A conversation's answers from a fresh model: what is asked, and what is made of the answer.

Agent and simulated user are the same endpoint with other instructions: a user sees what was said
and neither calls nor results, and its own words are the assistant's to its model. An answer that
nobody can use is asked for again, a few times; after that the workflow fails and says so.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import grpc
import structlog
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from memqual.v1 import agent_pb2
from services.agent.conversation import Answer, Usage, requests_answered
from services.agent.model_endpoint import ChatClient, Endpoint, EndpointFailed, UnusableAnswer
from services.agent.requests import CALLS_A_TURN
from services.agent.stops import Failed
from services.common.canonical import JsonObject, JsonValue, canonical_json
from services.common.conversation import Role
from services.common.limits import JSON_BYTES

__all__ = ["ANSWER_TRIES", "TEXT_BYTES_MAX", "FreshModel"]

ANSWER_TRIES = 3
TEXT_BYTES_MAX = 16_384
_TOKENS_MAX = 2**53 - 1

_log = structlog.get_logger(__name__)


class FreshModel:
    """The models of all conversations of one life of the host.

    Args:
        client: where they are asked; None: nowhere, and every question fails.
    """

    def __init__(self, client: ChatClient | None) -> None:
        self._client = client
        self._stopping = threading.Event()

    @classmethod
    def from_environment(cls) -> "FreshModel":
        """The models of the endpoint that the environment names.

        Raises:
            SettingsError: it is named by halves.
        """
        model = cls(None)
        endpoint = Endpoint.from_environment()
        if endpoint is not None:
            model._client = ChatClient(endpoint, model._stopping)
        return model

    def answer(
        self, fresh: agent_pb2.FreshConversation, role: Role, messages: Sequence[AnyMessage]
    ) -> Answer:
        """What the model answers to this conversation.

        Raises:
            Failed: there is no endpoint, it fails, its answers are of no use, or the conversation
                has had all of its answers.
        """
        if self._client is None:
            raise Failed(grpc.StatusCode.FAILED_PRECONDITION, "model: no endpoint is named")
        if requests_answered(messages) >= fresh.answers_max:
            raise Failed(grpc.StatusCode.RESOURCE_EXHAUSTED, "model: turn_limit")
        tools = json.loads(fresh.tools_json) if role == "agent" and fresh.tools_json else []
        body: dict[str, JsonValue] = {"messages": _request(fresh, role, messages)}
        if tools:
            body["tools"] = tools
        names = frozenset(str(one["function"]["name"]) for one in tools)
        return self._usable(self._client, fresh, role, body, names)

    def close(self) -> None:
        """Ends requests under way and waits between them. Idempotent."""
        self._stopping.set()
        if self._client is not None:
            self._client.close()

    def _usable(
        self,
        client: ChatClient,
        fresh: agent_pb2.FreshConversation,
        role: Role,
        body: JsonObject,
        tools: frozenset[str],
    ) -> Answer:
        cause = ""
        for number in range(1, ANSWER_TRIES + 1):
            try:
                return _answer(client.complete(body), fresh, role, tools)
            except EndpointFailed as failure:
                code = grpc.StatusCode.UNAVAILABLE
                raise Failed(code, f"model: {failure.kind}") from failure
            except UnusableAnswer as unusable:
                cause = str(unusable)
                _log.warning("model_answer_unusable", role=role, cause=cause, tries=number)
        raise Failed(grpc.StatusCode.DATA_LOSS, f"model: {cause}")


def _request(
    fresh: agent_pb2.FreshConversation, role: Role, messages: Sequence[AnyMessage]
) -> list[JsonValue]:
    """The messages that a role's model sees."""
    instructions = fresh.agent_instructions if role == "agent" else fresh.user_instructions
    seen: list[JsonValue] = [{"role": "system", "content": instructions}]
    own, other = ("assistant", "user") if role == "agent" else ("user", "assistant")
    for message in messages:
        match message:
            case AIMessage() if message.tool_calls and role == "agent":
                seen.append(_called(message))
            case AIMessage() if message.content:
                seen.append({"role": own, "content": str(message.content)})
            case HumanMessage():
                seen.append({"role": other, "content": str(message.content)})
            case ToolMessage() if role == "agent":
                seen.append(
                    {
                        "role": "tool",
                        "tool_call_id": message.tool_call_id,
                        "content": str(message.content),
                    }
                )
    return seen


def _called(message: AIMessage) -> JsonObject:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": call["id"],
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": canonical_json(call["args"]).decode(),
                },
            }
            for call in message.tool_calls
        ],
    }


def _answer(
    completion: Mapping[str, Any],
    fresh: agent_pb2.FreshConversation,
    role: Role,
    tools: frozenset[str],
) -> Answer:
    """The answer in a chat completion; raises UnusableAnswer."""
    try:
        message = completion["choices"][0]["message"]
        text, asked = message.get("content"), message.get("tool_calls") or []
    except (KeyError, IndexError, TypeError, AttributeError):
        raise UnusableAnswer("the answer has no message") from None
    usage, model = _usage(completion), _model_name(completion)
    if asked:
        if role == "user":
            raise UnusableAnswer("the user's model asks for calls")
        return Answer("", _calls(asked, tools), usage=usage, model=model)
    if not isinstance(text, str) or not text.strip():
        raise UnusableAnswer("the answer has neither text nor calls")
    if len(text.encode()) > TEXT_BYTES_MAX:
        raise UnusableAnswer("the answer's text is too long")
    ends = role == "user" and fresh.stop_token in text
    return Answer(text, ends=ends, usage=usage, model=model)


def _calls(asked: object, tools: frozenset[str]) -> tuple[agent_pb2.ToolCall, ...]:
    if not isinstance(asked, list) or len(asked) > CALLS_A_TURN:
        raise UnusableAnswer(f"the answer asks for more than {CALLS_A_TURN} calls, or for none")
    calls = []
    for one in asked:
        try:
            name, text = one["function"]["name"], one["function"]["arguments"]
        except (KeyError, TypeError):
            raise UnusableAnswer("a call has no function") from None
        if name not in tools:
            raise UnusableAnswer("a call is of a function that was not offered")
        calls.append(agent_pb2.ToolCall(tool=name, arguments_json=_arguments(text)))
    return tuple(calls)


def _arguments(text: object) -> str:
    try:
        arguments = json.loads(text) if isinstance(text, str) else None
        canonical = canonical_json(arguments)
    except (ValueError, RecursionError):
        raise UnusableAnswer("a call's arguments are no JSON") from None
    if not isinstance(arguments, dict) or len(canonical) > JSON_BYTES:
        raise UnusableAnswer("a call's arguments are no JSON object, or too long")
    return canonical.decode()


def _usage(completion: Mapping[str, Any]) -> Usage | None:
    """Tokens as the provider tells them; None where it does not."""
    told = completion.get("usage")
    if not isinstance(told, dict):
        return None
    taken, given = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    return None if taken is None or given is None else Usage(taken, given)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _TOKENS_MAX else None


def _model_name(completion: Mapping[str, Any]) -> str:
    name = completion.get("model")
    return name[:128] if isinstance(name, str) else ""
