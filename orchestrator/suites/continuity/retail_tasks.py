"""Tasks of the retail environment whose final state is known: calls, which of them fail, the hash.

Two sources of one shape: the benchmark's own files, read from the folder of its store, and
`retail_tasks.yaml`, made for the generated store (`python -m tools.retail_tasks`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from orchestrator.errors import StackError
from orchestrator.model import Frozen
from orchestrator.suites.continuity.families.model import Need
from services.common.canonical import canonical_json

__all__ = [
    "WRITES",
    "Action",
    "RetailTask",
    "WritePoint",
    "lacking_tasks",
    "tasks_for",
    "write_points",
]

WRITES = frozenset(
    {
        "cancel_pending_order",
        "exchange_delivered_order_items",
        "modify_pending_order_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "modify_user_address",
        "return_delivered_order_items",
    }
)
"""The retail tools that change something (DESIGN §10)."""

_TASKS = "tasks.json"
_GOLDEN = "golden-states.json"


class Action(Frozen):
    """One call of a task.

    Attributes:
        action_id: Unique in the task's file.
        tool: Retail tool.
        arguments_json: Canonical JSON object.
        fails: The tool refuses it, and changes nothing.
    """

    action_id: str
    tool: str
    arguments_json: str
    fails: bool = False

    @property
    def writes(self) -> bool:
        """Whether its tool is one that changes something."""
        return self.tool in WRITES


class RetailTask(Frozen):
    """One task.

    Attributes:
        task_id: Name in its file.
        actions: Its calls, in order.
        digest: Compact digest of the whole store after them.
    """

    task_id: str
    actions: tuple[Action, ...]
    digest: str

    def applied_before(self, end: int) -> int:
        """Writes that succeed among the first `end` actions."""
        return sum(action.writes and not action.fails for action in self.actions[:end])


class WritePoint(Frozen):
    """One write of one task: where a kill hits.

    Attributes:
        task: The task.
        at: Index of the write among its actions.
    """

    task: RetailTask
    at: int

    @property
    def action(self) -> Action:
        """The write."""
        return self.task.actions[self.at]


def write_points(tasks: tuple[RetailTask, ...]) -> tuple[WritePoint, ...]:
    """Every write of every task; those with equally many calls before them lie together.

    Operations that come to their window at about the same time are held for a short time only.
    """
    found = [
        WritePoint(task=task, at=at)
        for task in tasks
        for at, action in enumerate(task.actions)
        if action.writes
    ]
    return tuple(sorted(found, key=lambda point: point.at))


def tasks_for(retail_store: Path | None) -> tuple[RetailTask, ...]:
    """The tasks that fit a destination's store.

    Args:
        retail_store: The benchmark's db.json, with its other files beside it; None: the generated
            store.

    Raises:
        StackError: The benchmark's tasks or their states are not there, or are none.
    """
    return _generated() if retail_store is None else _published(retail_store.resolve().parent)


def lacking_tasks(retail_store: Path | None) -> Mapping[str, str]:
    """What a stack lacks of tasks that fit its store, by `Need`, with the reason."""
    if retail_store is None:
        return {}
    folder = retail_store.resolve().parent
    missing = [name for name in (_TASKS, _GOLDEN) if not (folder / name).is_file()]
    if not missing:
        return {}
    return {Need.RETAIL_TASKS.value: f"needs {' and '.join(missing)} beside the retail store"}


@cache
def _generated() -> tuple[RetailTask, ...]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[RetailTask, ...]).validate_python(yaml.safe_load(text))


class _State(Frozen):
    task_id: str
    actions: int
    writes: int
    state_sha256_compact: str
    state_sha256_spaced: str
    failing_actions: tuple[str, ...]


@cache
def _published(folder: Path) -> tuple[RetailTask, ...]:
    try:
        states = json.loads((folder / _GOLDEN).read_text(encoding="utf-8"))["tasks"]
        tasks = json.loads((folder / _TASKS).read_text(encoding="utf-8"))
        golden = TypeAdapter(tuple[_State, ...]).validate_python(states)
        actions = {task["id"]: task["evaluation_criteria"]["actions"] for task in tasks}
        return tuple(
            RetailTask(
                task_id=state.task_id,
                actions=tuple(
                    Action(
                        action_id=one["action_id"],
                        tool=one["name"],
                        arguments_json=canonical_json(one["arguments"]).decode(),
                        fails=one["action_id"] in state.failing_actions,
                    )
                    for one in actions[state.task_id]
                ),
                digest=state.state_sha256_compact,
            )
            for state in golden
        )
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise StackError(
            f"The tasks beside the retail store cannot be read: {type(error).__name__}: {error}",
            next_step=f"Put {_TASKS} and {_GOLDEN} into the folder of db.json, or leave the store "
            "out: tasks are then played on the generated one.",
        ) from error
