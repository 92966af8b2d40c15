"""Records the study's tasks: what the retail tools answer, and the state that is left.

    python -m tools.paper_tasks [--tau2 PATH/db.json] > tasks.yaml

The published task is recorded from the benchmark's own store and kept as it stands in the file when
that store is not given; every other task is made from the generated store.
"""

import argparse
import json
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from orchestrator.suites.continuity.paper.cassette import (
    TAU2_TASK,
    Task,
    all_tasks,
    make_cassette,
)
from services.common.canonical import canonical_json, parse_canonical_object, sha256_hex
from services.destination.tools.retail.generated import generated_base
from services.destination.tools.retail.module import Retail
from services.destination.tools.retail.store import RetailBase, load_base

__all__ = ["main", "recorded", "tasks_of"]

GENERATED_TASKS = 6
_CALLS = 6
_UNKNOWN = "0" * 64
_WORKFLOW = "recording"
_HEAD = """\
# Recorded tasks: names and ids that the conversation's slots take, the digest of what each tool
# call answered, and the state hash of the whole store before and after. Made by
# `python -m tools.paper_tasks`; a test makes it again.
"""

_TAU2_SLOTS: dict[str, str | list[str]] = {
    "first_name": "Yusuf",
    "last_name": "Rossi",
    "zip": "19122",
    "user_id": "yusuf_rossi_9620",
    "order_id": "#W2378156",
    "first_product_id": "1656367028",
    "second_product_id": "4896585277",
    "first_new_item_id": "6342039236",
    "second_new_item_id": "7747408585",
    "item_ids": ["1151293680", "4983901480"],
    "new_item_ids": ["6342039236", "7747408585"],
    "payment_method_id": "credit_card_9513926",
}


def recorded(task_id: str, slots: dict[str, str | list[str]], base: RetailBase) -> Task:
    """Play a task's calls on a store and keep what they come to."""
    blank = Task(
        task_id=task_id,
        slots=slots,
        results=(_UNKNOWN,) * _CALLS,
        initial_compact=_UNKNOWN,
        final_compact=_UNKNOWN,
    )
    retail = Retail(base)
    tools = {tool.name: tool for tool in retail.tools()}
    connection = sqlite3.connect(":memory:")
    try:
        retail.create(connection)
        initial = retail.digests(connection, _WORKFLOW).compact
        results = []
        for exchange in make_cassette(blank).recording().exchanges:
            for call in exchange.calls:
                arguments = parse_canonical_object(call.arguments_json)
                action = tools[call.tool].prepare(_WORKFLOW, arguments)
                results.append(sha256_hex(canonical_json(action.apply(connection, guard=True))))
        final = retail.digests(connection, _WORKFLOW).compact
    finally:
        connection.close()
    return blank.model_copy(
        update={"results": tuple(results), "initial_compact": initial, "final_compact": final}
    )


def tasks_of(tau2: Path | None) -> tuple[Task, ...]:
    """Every task, recorded now; the published one only with its store."""
    published = (
        all_tasks()[TAU2_TASK]
        if tau2 is None
        else recorded(TAU2_TASK, _TAU2_SLOTS, load_base(tau2))
    )
    base = generated_base()
    found = (recorded(name, slots, base) for name, slots in _generated(base))
    return (published, *(task for task, _ in zip(found, range(GENERATED_TASKS), strict=False)))


def _generated(base: RetailBase) -> Iterator[tuple[str, dict[str, str | list[str]]]]:
    """Delivered orders of which the first two items can be exchanged and paid for."""
    for order_id, order in base.documents["orders"].items():
        user = base.documents["users"][order["user_id"]]
        methods = [one for one in user["payment_methods"].values() if one["source"] != "gift_card"]
        if order["status"] != "delivered" or len(order["items"]) < 2 or not methods:
            continue
        items = order["items"][:2]
        others = [_other_variant(base, item) for item in items]
        if None in others:
            continue
        new = [str(one) for one in others]
        yield (
            f"generated-{order_id.removeprefix('#')}",
            {
                "first_name": user["name"]["first_name"],
                "last_name": user["name"]["last_name"],
                "zip": user["address"]["zip"],
                "user_id": user["user_id"],
                "order_id": order_id,
                "first_product_id": items[0]["product_id"],
                "second_product_id": items[1]["product_id"],
                "first_new_item_id": new[0],
                "second_new_item_id": new[1],
                "item_ids": [item["item_id"] for item in items],
                "new_item_ids": new,
                "payment_method_id": methods[0]["id"],
            },
        )


def _other_variant(base: RetailBase, item: dict[str, Any]) -> str | None:
    variants = base.documents["products"][item["product_id"]]["variants"]
    can_be_had = (
        key for key, one in variants.items() if one["available"] and key != item["item_id"]
    )
    return next(can_be_had, None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tau2", type=Path, help="the benchmark's db.json")
    tasks = tasks_of(parser.parse_args(arguments).tau2)
    documents = [json.loads(task.model_dump_json()) for task in tasks]
    sys.stdout.write(_HEAD + yaml.safe_dump(documents, sort_keys=False, width=120))


if __name__ == "__main__":
    main()
