"""What a model is asked in a conversation, as a digest that two processes compute alike.

A request is who is asked and everything that it sees so far: texts and tools' results by digest,
calls with their arguments, results by the place of their call. Ids are no part of it, since a model
that is asked again makes new ones; which result answers which call is (DESIGN §10).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from services.common.canonical import JsonObject, JsonValue, digest_hex, sha256_hex

__all__ = [
    "AgentSaid",
    "Asked",
    "Entry",
    "Role",
    "ToolAnswered",
    "UserSaid",
    "request_digest",
    "trajectory_digest",
]

Role: TypeAlias = Literal["agent", "user"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that the agent asked for.

    Attributes:
        tool: tool name.
        arguments: its arguments.
    """

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class AgentSaid:
    """A message of the agent: a text, or calls."""

    text: str
    calls: tuple[Asked, ...] = ()


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A message of the user."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A tool's answer.

    Attributes:
        call: place of the call among all calls of the conversation, from 0.
        refused: it is the tool's own refusal.
        result_digest: SHA-256 of the result's JSON.
    """

    call: int
    refused: bool
    result_digest: str


Entry: TypeAlias = AgentSaid | UserSaid | ToolAnswered


def request_digest(role: Role, entries: Sequence[Entry]) -> str:
    """Digest of one request.

    Args:
        role: who is asked. A user sees what was said and neither calls nor results.
        entries: everything so far, in order.
    """
    seen = entries if role == "agent" else [one for one in entries if _is_speech(one)]
    return digest_hex({"role": role, "entries": [_document(one) for one in seen]})


def trajectory_digest(entries: Sequence[Entry]) -> str:
    """Digest of a whole conversation: equal exactly when all that was said and done is."""
    return digest_hex({"entries": [_document(one) for one in entries]})


def _is_speech(entry: Entry) -> bool:
    return not isinstance(entry, ToolAnswered) and bool(entry.text)


def _document(entry: Entry) -> JsonObject:
    match entry:
        case AgentSaid():
            calls: list[JsonValue] = [
                {"tool": call.tool, "arguments": call.arguments} for call in entry.calls
            ]
            return {"kind": "agent", "text": _text_digest(entry.text), "calls": calls}
        case UserSaid():
            return {"kind": "user", "text": _text_digest(entry.text)}
        case ToolAnswered():
            return {
                "kind": "tool",
                "call": entry.call,
                "refused": entry.refused,
                "result": entry.result_digest,
            }


def _text_digest(text: str) -> str:
    return sha256_hex(text.encode())
