"""The pilot's tasks are held out, and its function schemas are the destination's tools."""

import json
import os
import re
from pathlib import Path

import pytest

from orchestrator.errors import StackError
from orchestrator.scoring.pilot_adherence import Said, adherence
from orchestrator.suites.continuity.paper.pilot import (
    STOP_TOKEN,
    conversation_of,
    pilot_task,
    pilot_tasks,
)
from orchestrator.suites.continuity.paper.study import recorded_split, tau2_split
from orchestrator.suites.continuity.paper.tools import tools_json
from orchestrator.suites.continuity.retail_tasks import tasks_for
from services.agent.requests import check_workflow
from services.destination.tools.retail.reads import READS
from services.destination.tools.retail.writes import WRITES
from tests.services.agent.hosts import workflow as scripted

SCHEMAS = {
    one["function"]["name"]: one["function"]["parameters"] for one in json.loads(tools_json())
}


def test_every_retail_tool_is_offered_and_no_other() -> None:
    assert set(SCHEMAS) == {*READS, *WRITES}


def test_schemas_ask_for_what_calls_of_known_tasks_have() -> None:
    called = set()
    for task in tasks_for(None):
        for action in task.actions:
            called.add(action.tool)
            arguments = json.loads(action.arguments_json)
            parameters = SCHEMAS[action.tool]
            assert set(arguments) == set(parameters["required"]), action
            types = {name: schema["type"] for name, schema in parameters["properties"].items()}
            assert types == {
                name: "array" if isinstance(value, list) else "string"
                for name, value in arguments.items()
            }
    assert set(WRITES) <= called


def test_tasks_of_the_generated_store_are_held_out_and_known_by_their_wish() -> None:
    tasks = pilot_tasks(None)
    assert [task.task_id for task in tasks] == list(recorded_split().held_out)
    for task in tasks:
        assert task.wish in task.user_instructions
        assert STOP_TOKEN in task.user_instructions
        assert re.fullmatch(r"[0-9a-f]{64}", task.final_compact)
        # All that a customer may have to name is in its wish.
        said = (Said(speaker="user", text=task.wish), Said(speaker="user", text=STOP_TOKEN))
        assert adherence(task.wish, said, STOP_TOKEN) == ("simulator: kept to its part",)


def test_a_trial_number_gives_one_task() -> None:
    tasks = pilot_tasks(None)
    assert [pilot_task(number, None) for number in range(len(tasks) + 1)] == [*tasks, tasks[0]]


def test_a_host_takes_every_conversation() -> None:
    for task in pilot_tasks(None):
        workflow = scripted("w")
        workflow.ClearField("turns")
        workflow.fresh.CopyFrom(conversation_of(task))
        check_workflow(workflow)


def test_tasks_of_the_benchmark_are_held_out_and_bring_their_calls() -> None:
    folder = os.environ.get("MEMQUAL_TAU2_RETAIL")
    if not folder:
        pytest.skip("MEMQUAL_TAU2_RETAIL names no folder")
    tasks = pilot_tasks(Path(folder) / "db.json")
    assert tuple(task.task_id for task in tasks) == tau2_split().held_out
    # A few customers' wishes must be refused: nothing changes then.
    assert sum(bool(task.reference) for task in tasks) > len(tasks) / 2
    assert all(task.wish for task in tasks)
    assert "authenticate" in tasks[0].agent_instructions


def test_a_store_without_its_tasks_is_told(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="cannot be read"):
        pilot_tasks(tmp_path / "db.json")
