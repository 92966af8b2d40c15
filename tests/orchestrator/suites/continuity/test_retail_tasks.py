"""Tasks with known final states: the checked-in ones, and the benchmark's from its folder."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from orchestrator.errors import StackError
from orchestrator.suites.continuity.families.model import Need
from orchestrator.suites.continuity.retail_tasks import (
    WRITES,
    lacking_tasks,
    tasks_for,
    write_points,
)
from tools.retail_tasks import made


def test_the_checked_in_tasks_are_those_of_the_generated_store() -> None:
    assert tasks_for(None) == made()


def test_generated_tasks_apply_every_tool_that_writes_and_some_calls_fail() -> None:
    actions = [action for task in tasks_for(None) for action in task.actions]
    assert {action.tool for action in actions if action.writes and not action.fails} == WRITES
    assert any(action.fails and action.writes for action in actions)
    assert any(action.fails and not action.writes for action in actions)


def test_every_write_is_met_once_and_equally_late_ones_lie_together() -> None:
    tasks = tasks_for(None)
    points = write_points(tasks)
    assert len(points) == sum(action.writes for task in tasks for action in task.actions)
    assert [point.at for point in points] == sorted(point.at for point in points)
    assert all(point.action.writes for point in points)


def test_effects_before_a_call_are_the_writes_that_succeed() -> None:
    task = next(
        one
        for one in tasks_for(None)
        if any(action.fails and action.writes for action in one.actions)
    )
    counted = [task.applied_before(end) for end in range(len(task.actions) + 1)]
    steps = [after - before for before, after in pairwise(counted)]
    assert counted[0] == 0
    assert steps == [int(one.writes and not one.fails) for one in task.actions]


def test_a_store_without_its_tasks_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"tasks\.json|golden-states\.json") as caught:
        tasks_for(tmp_path / "db.json")
    assert "folder of db.json" in caught.value.next_step


def test_without_tasks_for_its_store_a_stack_lacks_them(tmp_path: Path) -> None:
    assert lacking_tasks(None) == {}
    assert "golden-states.json" in lacking_tasks(tmp_path / "db.json")[Need.RETAIL_TASKS.value]
    for name in ("tasks.json", "golden-states.json"):
        (tmp_path / name).write_text("[]")
    assert lacking_tasks(tmp_path / "db.json") == {}


def test_the_benchmarks_tasks_are_read_from_its_folder() -> None:
    folder = os.environ.get("MEMQUAL_TAU2_RETAIL")
    if not folder:
        pytest.skip("MEMQUAL_TAU2_RETAIL is not set")
    golden = json.loads((Path(folder) / "golden-states.json").read_text())["tasks"]
    tasks = tasks_for(Path(folder) / "db.json")
    assert [task.digest for task in tasks] == [one["state_sha256_compact"] for one in golden]
    assert len(write_points(tasks)) == sum(one["writes"] for one in golden)
    for task, one in zip(tasks, golden, strict=True):
        assert len(task.actions) == one["actions"]
        failing = [action.action_id for action in task.actions if action.fails]
        assert failing == one["failing_actions"]
