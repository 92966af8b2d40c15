"""Recorded conversations as data, and the recording that an agent host plays (DESIGN §10).

A cassette is a conversation and a task: the words and calls are the conversation's, the names and
the digests of what the tools answered are the task's. What each request must look like follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml
from pydantic import Field, JsonValue

from memqual.v1 import agent_pb2
from orchestrator.model import Frozen
from services.common.canonical import canonical_json, digest_hex, sha256_hex
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

__all__ = [
    "EXCHANGE_TOOL",
    "TAU2_STORE_SHA256",
    "TAU2_TASK",
    "Cassette",
    "Task",
    "all_tasks",
    "cassette_of",
    "make_cassette",
]

TAU2_STORE_SHA256 = "413a65160adbdb5fde0ffc0015c49b6d70250b10c18128de169b597af7766765"
"""Of the benchmark's db.json as it was published (DESIGN §10)."""

TAU2_TASK = "tau2-0"
EXCHANGE_TOOL = "exchange_delivered_order_items"

_FOLDER = Path(__file__).parent
_ROLES: Mapping[Role, agent_pb2.ModelRole.ValueType] = MappingProxyType(
    {"agent": agent_pb2.MODEL_ROLE_AGENT, "user": agent_pb2.MODEL_ROLE_USER}
)


class Task(Frozen):
    """One customer's exchange, and what the tools answered when it was recorded.

    Attributes:
        task_id: Name.
        slots: Values of the conversation's slots.
        results: SHA-256 of each call's result, in order.
        initial_compact, final_compact: State hash of the store before and after, compact form.
    """

    task_id: str
    slots: dict[str, str | list[str]]
    results: tuple[str, ...]
    initial_compact: str
    final_compact: str

    @property
    def of_tau2(self) -> bool:
        """Whether it is of the benchmark's store; otherwise of the generated one."""
        return self.task_id.startswith("tau2-")


class _Call(Frozen):
    tool: str
    arguments: dict[str, JsonValue]


class _Exchange(Frozen):
    role: Role
    text: str = ""
    calls: tuple[_Call, ...] = ()
    ends: bool = False


class _Conversation(Frozen):
    opening: str
    exchanges: tuple[_Exchange, ...]


class Cassette(Frozen):
    """What a host plays, and what must come of it.

    Attributes:
        task: The task.
        recording_hex: The serialised `memqual.v1.Recording`.
        requests: Requests to models.
        agent_requests: Those to the agent's.
        calls: Argument digests of the tool calls, in order.
        trajectory_digest: Digest of the whole conversation.
    """

    task: Task
    recording_hex: str = Field(repr=False)
    requests: int
    agent_requests: int
    calls: tuple[str, ...]
    trajectory_digest: str

    def recording(self) -> agent_pb2.Recording:
        """The message for the agent host."""
        return agent_pb2.Recording.FromString(bytes.fromhex(self.recording_hex))

    @property
    def digest(self) -> str:
        """SHA-256 over recording and task: what a study is frozen by."""
        return digest_hex({"recording": self.recording_hex, "task": self.task.model_dump()})


@cache
def all_tasks() -> Mapping[str, Task]:
    """Every recorded task by name, in the file's order.

    Raises:
        ValueError: Two tasks of the checked-in file share a name.
    """
    text = (_FOLDER / "tasks.yaml").read_text(encoding="utf-8")
    tasks = [Task.model_validate(entry) for entry in yaml.safe_load(text)]
    by_name = {task.task_id: task for task in tasks}
    if len(by_name) != len(tasks):
        raise ValueError("tasks.yaml gives one name to two tasks")
    return MappingProxyType(by_name)


@cache
def cassette_of(task_id: str) -> Cassette:
    """The cassette of a task.

    Raises:
        KeyError: No such task.
    """
    return make_cassette(all_tasks()[task_id])


def make_cassette(task: Task) -> Cassette:
    """Fill the conversation with a task and work out every request.

    Raises:
        ValueError: The task lacks a slot, or has another number of results than there are calls.
    """
    conversation = _conversation()
    recording = agent_pb2.Recording(opening=_filled(conversation.opening, task))
    entries: list[Entry] = [AgentSaid(recording.opening)]
    calls: list[str] = []
    for exchange in conversation.exchanges:
        recorded = recording.exchanges.add(
            role=_ROLES[exchange.role],
            request_digest=request_digest(exchange.role, entries),
            text=_filled(exchange.text, task),
            ends=exchange.ends,
        )
        if exchange.role == "user":
            entries.append(UserSaid(recorded.text))
            continue
        asked = tuple(Asked(call.tool, _arguments(call, task)) for call in exchange.calls)
        entries.append(AgentSaid(recorded.text, asked))
        for call in asked:
            arguments = canonical_json(call.arguments)
            recorded.calls.add(tool=call.tool, arguments_json=arguments.decode())
            if len(calls) >= len(task.results):
                raise ValueError(f"task {task.task_id} has {len(task.results)} results only")
            entries.append(ToolAnswered(len(calls), False, task.results[len(calls)]))
            calls.append(sha256_hex(arguments))
    if len(calls) != len(task.results):
        raise ValueError(f"task {task.task_id} has more results than calls")
    return Cassette(
        task=task,
        recording_hex=recording.SerializeToString(deterministic=True).hex(),
        requests=len(recording.exchanges),
        agent_requests=sum(one.role == "agent" for one in conversation.exchanges),
        calls=tuple(calls),
        trajectory_digest=trajectory_digest(entries),
    )


@cache
def _conversation() -> _Conversation:
    text = (_FOLDER / "conversation.yaml").read_text(encoding="utf-8")
    return _Conversation.model_validate(yaml.safe_load(text))


def _filled(text: str, task: Task) -> str:
    try:
        return text.format_map({k: v for k, v in task.slots.items() if isinstance(v, str)})
    except KeyError as error:
        raise ValueError(f"task {task.task_id} has no text {error.args[0]!r}") from None


def _arguments(call: _Call, task: Task) -> dict[str, JsonValue]:
    return {name: _value(value, task) for name, value in call.arguments.items()}


def _value(value: JsonValue, task: Task) -> JsonValue:
    if not isinstance(value, str):
        return value
    slot = value[1:-1] if value.startswith("{") and value.endswith("}") else ""
    whole = task.slots.get(slot)
    if isinstance(whole, list):
        return list(whole)
    return _filled(value, task)
