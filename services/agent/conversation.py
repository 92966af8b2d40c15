"""A conversation of agent and simulated user: who speaks next, and what a recording answers.

A host that plays a recording asks no model. What it would ask is compared with what was asked when
the conversation was recorded; a request that differs has no answer, and the workflow fails
(DESIGN §10).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import grpc
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from memqual.v1 import agent_pb2
from services.agent.stops import Failed
from services.common.canonical import sha256_hex
from services.common.conversation import (
    AgentSaid,
    Asked,
    Entry,
    Role,
    ToolAnswered,
    UserSaid,
    request_digest,
)

__all__ = [
    "ENDS",
    "Answer",
    "Mismatch",
    "Usage",
    "entries_of",
    "is_conversation",
    "next_speaker",
    "opening_messages",
    "recorded_answer",
    "requests_answered",
]

ENDS = "ends"
"""Key in a user's message: nothing follows it."""

_ROLES: dict[Role, agent_pb2.ModelRole.ValueType] = {
    "agent": agent_pb2.MODEL_ROLE_AGENT,
    "user": agent_pb2.MODEL_ROLE_USER,
}
_OPENING_ID = "opening"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the provider told them."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answers.

    Attributes:
        text: what it says; empty with calls.
        calls: what an agent asks for, in order.
        ends: a user's last word.
        usage: what the request took; None: unknown, or nobody was asked.
        model: name of the model that the provider says it used; empty as `usage`.
    """

    text: str
    calls: tuple[agent_pb2.ToolCall, ...] = ()
    ends: bool = False
    usage: Usage | None = None
    model: str = ""


class Mismatch(Failed):
    """A request that the recording has no answer for.

    Attributes:
        number: the request, from 1.
    """

    def __init__(self, number: int, cause: str) -> None:
        super().__init__(
            grpc.StatusCode.FAILED_PRECONDITION, f"recording_mismatch: request {number}: {cause}"
        )
        self.number = number


def is_conversation(workflow: agent_pb2.Workflow) -> bool:
    """Whether agent and user talk; otherwise the script of the workflow's turns is played."""
    return workflow.HasField("recording") or workflow.HasField("fresh")


def opening_messages(workflow: agent_pb2.Workflow) -> list[AnyMessage]:
    """What stands in the conversation before anybody is asked."""
    opening = workflow.recording.opening or workflow.fresh.opening
    return [AIMessage(content=opening, id=_OPENING_ID)] if opening else []


def requests_answered(messages: Sequence[AnyMessage]) -> int:
    """How many messages of the conversation came from a model: all but tools' and the opening."""
    return sum(
        isinstance(message, AIMessage | HumanMessage) and message.id != _OPENING_ID
        for message in messages
    )


def next_speaker(messages: Sequence[AnyMessage]) -> Literal["model", "user", "finish"]:
    """Who is asked next, when no call is pending."""
    if not messages:
        return "user"
    match messages[-1]:
        case AIMessage(tool_calls=calls):
            return "model" if calls else "user"
        case HumanMessage(additional_kwargs=told):
            return "finish" if told.get(ENDS) else "model"
        case _:
            return "model"


def entries_of(messages: Sequence[AnyMessage]) -> tuple[Entry, ...]:
    """The conversation without ids."""
    place: dict[str, int] = {}
    entries: list[Entry] = []
    for message in messages:
        match message:
            case AIMessage():
                for call in message.tool_calls:
                    place[call["id"] or ""] = len(place)
                calls = tuple(Asked(call["name"], call["args"]) for call in message.tool_calls)
                entries.append(AgentSaid(str(message.content), calls))
            case HumanMessage():
                entries.append(UserSaid(str(message.content)))
            case ToolMessage():
                entries.append(
                    ToolAnswered(
                        call=place.get(message.tool_call_id, -1),
                        refused=message.status == "error",
                        result_digest=sha256_hex(str(message.content).encode()),
                    )
                )
    return tuple(entries)


def recorded_answer(
    recording: agent_pb2.Recording, role: Role, messages: Sequence[AnyMessage]
) -> Answer:
    """The recorded answer to the request that these messages make.

    Raises:
        Mismatch: the recording is over, another role was asked then, or the request differs.
    """
    at = requests_answered(messages)
    if at >= len(recording.exchanges):
        raise Mismatch(at + 1, f"the recording ends after {len(recording.exchanges)}")
    exchange = recording.exchanges[at]
    if exchange.role != _ROLES[role]:
        raise Mismatch(at + 1, f"the {role} is asked, and was not then")
    asked = request_digest(role, entries_of(messages))
    if asked != exchange.request_digest:
        raise Mismatch(at + 1, f"digest {asked}, recorded {exchange.request_digest}")
    return Answer(exchange.text, tuple(exchange.calls), exchange.ends)
