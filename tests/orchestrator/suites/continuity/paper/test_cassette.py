"""The study's recorded conversations: what they ask for, and that stores answer as recorded."""

import copy
import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from memqual.v1 import agent_pb2
from orchestrator.suites.continuity.paper.cassette import (
    EXCHANGE_TOOL,
    TAU2_TASK,
    Task,
    all_tasks,
    cassette_of,
    make_cassette,
)
from orchestrator.suites.continuity.paper.published import PUBLISHED_FINAL_HASH
from services.common.canonical import parse_canonical_object
from services.destination.tools.retail.generated import generated_base
from tools.paper_tasks import tasks_of

TAU2 = os.environ.get("MEMQUAL_TAU2_RETAIL", "")
NAMES = list(all_tasks())
GENERATED = [name for name in NAMES if name != TAU2_TASK]
SIX_CALLS = [
    "find_user_id_by_name_zip",
    "get_user_details",
    "get_order_details",
    "get_product_details",
    "get_product_details",
    EXCHANGE_TOOL,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_cassette_has_the_published_shape(name: str) -> None:
    cassette = cassette_of(name)
    exchanges = cassette.recording().exchanges
    roles = Counter(agent_pb2.ModelRole.Name(one.role) for one in exchanges)
    assert roles == {"MODEL_ROLE_AGENT": 11, "MODEL_ROLE_USER": 7}
    assert (cassette.requests, cassette.agent_requests, len(cassette.calls)) == (18, 11, 6)
    assert [call.tool for one in exchanges for call in one.calls] == SIX_CALLS
    assert [len(one.calls) for one in exchanges if one.calls] == [1, 1, 1, 2, 1]
    assert [one.ends for one in exchanges] == [False] * 17 + [True]
    assert len({one.request_digest for one in exchanges}) == 18


def test_the_published_task_is_as_published() -> None:
    cassette = cassette_of(TAU2_TASK)
    assert cassette.task.final_compact == PUBLISHED_FINAL_HASH
    calls = [call for one in cassette.recording().exchanges for call in one.calls]
    arguments = [parse_canonical_object(call.arguments_json) for call in calls]
    assert arguments[0] == {"first_name": "Yusuf", "last_name": "Rossi", "zip": "19122"}
    assert [one.get("product_id") for one in arguments[3:5]] == ["1656367028", "4896585277"]
    assert arguments[5] == {
        "order_id": "#W2378156",
        "item_ids": ["1151293680", "4983901480"],
        "new_item_ids": ["6342039236", "7747408585"],
        "payment_method_id": "credit_card_9513926",
    }


def test_the_file_is_what_recording_gives() -> None:
    recorded = {task.task_id: task for task in tasks_of(None)}
    assert recorded == dict(all_tasks())
    assert len(recorded) == 7


def test_the_published_task_is_what_its_store_gives() -> None:
    if not TAU2:
        pytest.skip("MEMQUAL_TAU2_RETAIL names no folder with the benchmark's db.json")
    assert tasks_of(Path(TAU2) / "db.json")[0] == all_tasks()[TAU2_TASK]


@pytest.mark.parametrize("name", GENERATED)
def test_a_final_state_follows_from_the_rules_of_an_exchange(name: str) -> None:
    """Another way to the same hash: the documents changed by hand, without the tools."""
    task = all_tasks()[name]
    state: dict[str, Any] = copy.deepcopy(
        {kind: dict(entries) for kind, entries in generated_base().documents.items()}
    )
    assert compact(state) == task.initial_compact
    order = state["orders"][task.slots["order_id"]]
    old, new = list(task.slots["item_ids"]), list(task.slots["new_item_ids"])
    prices = {item["item_id"]: item["price"] for item in order["items"]}
    offered = {
        key: variant["price"]
        for product in state["products"].values()
        for key, variant in product["variants"].items()
    }
    difference = sum(offered[one] for one in new) - sum(prices[one] for one in old)
    order |= {
        "status": "exchange requested",
        "exchange_items": sorted(old),
        "exchange_new_items": sorted(new),
        "exchange_payment_method_id": task.slots["payment_method_id"],
        "exchange_price_difference": round(difference, 2),
    }
    assert compact(state) == task.final_compact


def compact(state: dict[str, Any]) -> str:
    text = json.dumps(state, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_task_that_does_not_fit_the_conversation_is_refused() -> None:
    task = all_tasks()[GENERATED[0]]
    few = task.model_copy(update={"results": task.results[:-1]})
    many = task.model_copy(update={"results": (*task.results, task.results[0])})
    without = task.model_copy(update={"slots": {**task.slots}})
    del without.slots["zip"]
    for wrong, words in ((few, "5 results only"), (many, "more results"), (without, "no text")):
        with pytest.raises(ValueError, match=words):
            make_cassette(wrong)


def test_every_part_of_a_task_is_in_its_digest() -> None:
    task = all_tasks()[GENERATED[0]]
    other_result = ("f" * 64, *task.results[1:])
    changes: list[dict[str, object]] = [
        {"results": other_result},
        {"final_compact": "f" * 64},
        {"slots": {**task.slots, "zip": "00000"}},
    ]
    digests = {make_cassette(task.model_copy(update=change)).digest for change in changes}
    assert len(digests | {make_cassette(task).digest}) == len(changes) + 1


def test_tasks_are_told_in_yaml_as_they_are_kept() -> None:
    task = all_tasks()[GENERATED[0]]
    assert Task.model_validate(yaml.safe_load(yaml.safe_dump(task.model_dump(mode="json")))) == task
