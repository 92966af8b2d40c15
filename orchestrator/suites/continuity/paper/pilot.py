"""Tasks of the fresh-model pilot: what a customer wants, and the state that fulfils it.

Held-out tasks only (`study`): of the benchmark where its store was given, else of the generated
store, in our own words.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from memqual.v1 import agent_pb2
from orchestrator.errors import StackError
from orchestrator.model import Frozen
from orchestrator.suites.continuity.paper.cassette import all_tasks
from orchestrator.suites.continuity.paper.study import recorded_split, tau2_split
from orchestrator.suites.continuity.paper.tools import tools_json
from services.common.canonical import canonical_json

__all__ = [
    "ANSWERS_MAX",
    "STOP_TOKEN",
    "PilotTask",
    "ReferenceCall",
    "conversation_of",
    "pilot_task",
    "pilot_tasks",
]

STOP_TOKEN = "###STOP###"
ANSWERS_MAX = 60
"""Answers of both models together: three times those of the recorded conversation."""

_OPENING = "Good day, you have reached the shop's help desk. What can I do for you?"
_CUSTOMER = f"""\
You play a customer who writes to the help desk of a shop. Stay in this part.
- Write one short message at a time, and answer what you are asked.
- Tell only what stands below. What you do not know, you do not remember: never make up names,
  numbers, ids or addresses.
- Agree to what fits your wish, and to nothing else.
- When your wish is fulfilled, or is refused for good, or you are handed over to somebody else,
  write {STOP_TOKEN} and nothing else.

"""
_AGENT = """\
You serve customers of a shop through its tools.
- Find out first who the customer is, by e-mail address, or by name and zip code.
- Serve this customer only, and tell nothing about anybody else.
- Look everything up with the tools; never make anything up.
- Before you change anything, list what you will do and wait until the customer agrees.
- Call a tool, or write to the customer, never both in one message.
- Orders that are pending can be changed or cancelled, delivered ones exchanged or returned. Items
  are exchanged for available variants of the same product, all of an order in one call.
- What no tool can do, hand over to a person, and do nothing else.
"""
_POLICY = "policy.md"
_TASKS = "tasks.json"


class ReferenceCall(Frozen):
    """One of the calls that fulfil a task of the benchmark.

    Attributes:
        tool: Retail tool.
        arguments_json: Canonical JSON object.
    """

    tool: str
    arguments_json: str


class PilotTask(Frozen):
    """One task.

    Attributes:
        task_id: Name in the study's split.
        agent_instructions: What the agent's model is told first.
        user_instructions: What the customer's model is told first.
        wish: The part of them that is this customer's own.
        final_compact: State hash of the store when the wish is fulfilled; empty where `reference`
            leads there.
        reference: Calls that fulfil it, in order; some may be refused.
    """

    task_id: str
    agent_instructions: str
    user_instructions: str
    wish: str
    final_compact: str = ""
    reference: tuple[ReferenceCall, ...] = ()


def pilot_task(trial_number: int, retail_store: Path | None) -> PilotTask:
    """What a trial plays: the same in every arm. Raises as `pilot_tasks`."""
    tasks = pilot_tasks(retail_store)
    return tasks[trial_number % len(tasks)]


@cache
def pilot_tasks(retail_store: Path | None) -> tuple[PilotTask, ...]:
    """Every held-out task of a store, in order.

    Args:
        retail_store: The benchmark's db.json; None: the generated store.

    Raises:
        StackError: The benchmark's tasks are not beside it, or cannot be read.
    """
    return _generated() if retail_store is None else _published(retail_store.resolve())


def conversation_of(task: PilotTask) -> agent_pb2.FreshConversation:
    """The conversation that a host is asked to hold."""
    return agent_pb2.FreshConversation(
        opening=_OPENING,
        agent_instructions=task.agent_instructions,
        user_instructions=task.user_instructions,
        tools_json=tools_json(),
        stop_token=STOP_TOKEN,
        answers_max=ANSWERS_MAX,
    )


def _generated() -> tuple[PilotTask, ...]:
    tasks = all_tasks()
    return tuple(
        PilotTask(
            task_id=name,
            agent_instructions=_AGENT,
            user_instructions=_CUSTOMER + wish,
            wish=wish,
            final_compact=tasks[name].final_compact,
        )
        for name in recorded_split().held_out
        if (wish := _wish(tasks[name].slots))
    )


def _wish(slots: dict[str, str | list[str]]) -> str:
    old, new = slots["item_ids"], slots["new_item_ids"]
    return (
        f"You are {slots['first_name']} {slots['last_name']}, zip code {slots['zip']}. You do not "
        f"remember your e-mail address. You want to exchange two items of your delivered order "
        f"{slots['order_id']}, both in one exchange: item {old[0]} for item {new[0]}, and item "
        f"{old[1]} for item {new[1]}. A difference in price shall go by your payment method "
        f"{slots['payment_method_id']}."
    )


def _published(store: Path) -> tuple[PilotTask, ...]:
    try:
        entries = json.loads((store.parent / _TASKS).read_text(encoding="utf-8"))
        by_name = {f"tau2-{entry['id']}": entry for entry in entries}
        policy = _policy(store.parent / _POLICY)
        return tuple(
            PilotTask(
                task_id=name,
                agent_instructions=policy,
                user_instructions=_CUSTOMER + wish,
                wish=wish,
                reference=_reference(by_name[name]["evaluation_criteria"]["actions"]),
            )
            for name in tau2_split().held_out
            if (wish := _scenario(by_name[name]["user_scenario"]["instructions"]))
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StackError(
            f"The tasks beside the retail store cannot be read: {type(error).__name__}: {error}",
            next_step=f"Put the benchmark's {_TASKS} into the folder of db.json, or leave the "
            "store out: tasks are then of the generated one.",
        ) from error


def _policy(path: Path) -> str:
    """The benchmark's instructions for agents; ours where they are not beside the store."""
    return path.read_text(encoding="utf-8") if path.is_file() else _AGENT


def _reference(actions: list[dict[str, Any]]) -> tuple[ReferenceCall, ...]:
    return tuple(
        ReferenceCall(
            tool=action["name"], arguments_json=canonical_json(action["arguments"]).decode()
        )
        for action in actions
    )


def _scenario(instructions: dict[str, str | None] | str) -> str:
    if isinstance(instructions, str):
        return instructions
    parts = ("known_info", "reason_for_call", "task_instructions", "unknown_info")
    return "\n".join(text for name in parts if (text := instructions.get(name)))
