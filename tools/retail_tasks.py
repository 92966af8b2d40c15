"""Makes tasks of the generated retail store, with what each of them comes to.

python -m tools.retail_tasks > orchestrator/suites/continuity/retail_tasks.yaml
"""

import json
import random
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

import yaml

from orchestrator.suites.continuity.retail_tasks import WRITES, Action, RetailTask
from services.common.canonical import JsonObject, canonical_json
from services.destination.tools.base import ToolRefusal
from services.destination.tools.retail.generated import generated_base
from services.destination.tools.retail.module import Retail
from services.destination.tools.retail.store import RetailBase

__all__ = ["made", "main"]

SEED = 20260922
TASKS = 32
_WRITES_A_TASK_MAX = 3
_WORKFLOW = "made"
_HEAD = """\
# Tasks of the generated retail store: calls, which of them the tools refuse, and the compact state
# hash of the whole store after them. Made by `python -m tools.retail_tasks`; a test makes it again.
"""

Document = dict[str, Any]
_Call = tuple[str, Document]


def made() -> tuple[RetailTask, ...]:
    """The tasks: between them they use every tool that writes, and some calls fail."""
    base = generated_base()
    draw = random.Random(SEED)
    users = [user for user in base.documents["users"].values() if user["orders"]]
    # `random()` alone gives the same draws in every version of Python.
    users.sort(key=lambda _: draw.random())
    return tuple(
        _task(base, number, user, draw.random()) for number, user in enumerate(users[:TASKS])
    )


def _task(base: RetailBase, number: int, user: Document, mood: float) -> RetailTask:
    calls: list[_Call] = []
    if number % 4:
        # Every fourth begins with its write.
        calls.append(
            (
                "find_user_id_by_name_zip",
                {**user["name"], "zip": "00000" if number % 5 == 0 else user["address"]["zip"]},
            )
        )
        calls.append(("get_user_details", {"user_id": user["user_id"]}))
    wanted = list(_wanted(base, user))
    first = int(mood * len(wanted))
    for writes in (wanted[first:] + wanted[:first])[: 1 + number % _WRITES_A_TASK_MAX]:
        order = writes[1].get("order_id")
        if order and number % 4:
            calls.append(("get_order_details", {"order_id": order}))
        calls.append(writes)
    if number % 7 == 3:
        calls.append(("get_order_details", {"order_id": "#W0000000"}))
    return _played(base, f"generated-{number}", calls)


def _wanted(base: RetailBase, user: Document) -> Iterator[_Call]:
    """A write for each of the user's orders, of another kind each time, and one for the address."""
    address = {
        "address1": "1 Quay",
        "address2": "",
        "city": "Northfield",
        "state": "NO",
        "country": "USA",
        "zip": "10001",
    }
    for order_id in user["orders"]:
        order = base.documents["orders"][order_id]
        paid = order["payment_history"][0]["payment_method_id"]
        other = next((one for one in user["payment_methods"] if one != paid), paid)
        kind = int(order_id[2:])
        item = order["items"][0]["item_id"]
        by_order: Document = {"order_id": order_id}
        changed = {
            "item_ids": [item],
            "new_item_ids": [_other_variant(base, order["items"][0])],
            "payment_method_id": paid,
        }
        returned = {"item_ids": [item], "payment_method_id": paid}
        delivered: list[_Call] = [
            ("exchange_delivered_order_items", by_order | changed),
            ("return_delivered_order_items", by_order | returned),
        ]
        # A tool refuses what has gone out already or was cancelled.
        pending: list[_Call] = [
            ("modify_pending_order_items", by_order | changed),
            ("cancel_pending_order", by_order | {"reason": "no longer needed"}),
            ("modify_pending_order_payment", by_order | {"payment_method_id": other}),
            ("modify_pending_order_address", by_order | address),
        ]
        choice = delivered if order["status"] == "delivered" else pending
        yield choice[kind % len(choice)]
    yield "modify_user_address", {"user_id": user["user_id"], **address}


def _other_variant(base: RetailBase, item: Document) -> str:
    variants = base.documents["products"][item["product_id"]]["variants"]
    had = (key for key, one in variants.items() if one["available"] and key != item["item_id"])
    return str(next(had, item["item_id"]))


def _played(base: RetailBase, task_id: str, calls: list[_Call]) -> RetailTask:
    """The task with what its calls come to, one after the other."""
    retail = Retail(base)
    tools = {tool.name: tool for tool in retail.tools()}
    connection = sqlite3.connect(":memory:")
    actions = []
    try:
        retail.create(connection)
        for at, (tool, arguments) in enumerate(calls):
            fails = _refused(tools[tool], connection, arguments)
            actions.append(
                Action(
                    action_id=f"{task_id}_{at}",
                    tool=tool,
                    arguments_json=canonical_json(arguments).decode(),
                    fails=fails,
                )
            )
        digest = retail.digests(connection, _WORKFLOW).compact
    finally:
        connection.close()
    return RetailTask(task_id=task_id, actions=tuple(actions), digest=digest)


def _refused(tool: Any, connection: sqlite3.Connection, arguments: JsonObject) -> bool:
    try:
        tool.prepare(_WORKFLOW, arguments).apply(connection, guard=True)
    except ToolRefusal:
        return True
    return False


def main() -> None:
    """Prints the file."""
    tasks = made()
    missing = WRITES - {
        action.tool for task in tasks for action in task.actions if not action.fails
    }
    if missing:
        raise SystemExit(f"no task applies {', '.join(sorted(missing))}")
    documents = [json.loads(task.model_dump_json()) for task in tasks]
    sys.stdout.write(_HEAD + yaml.safe_dump(documents, sort_keys=False, width=120))


if __name__ == "__main__":
    main()
