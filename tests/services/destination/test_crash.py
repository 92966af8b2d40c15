"""Crashes at each step of a call, with a process that kills itself there, and failing volumes."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from services.common.canonical import JsonObject, JsonValue
from services.common.errors import ServiceError
from services.common.platform import KILLED_EXIT_CODE
from services.destination.engine import Step
from services.destination.model import Applied
from services.destination.tools.base import Action, Tool, ToolModule
from tests.services.destination.support import (
    World,
    call,
    document,
    folder_of,
    rules,
    state_hash,
)

CHILD_SECONDS = 60
CHILD = """
import os, pathlib, sys
from services.common.platform import kill_process
from services.destination.engine import Step
from tests.services.destination.support import World, call, document, rules

def die_there(step):
    if armed and step is Step[sys.argv[2]]:
        kill_process(os.getpid())

armed = False
world = World(pathlib.Path(sys.argv[1]), on_step=die_there)
world.engine.configure([rules()])
world.engine.invoke(call("publish_document", document(content="first")))
armed = True
world.engine.invoke(call("publish_document", document(content="second"), attempt=2))
"""


@pytest.mark.parametrize("step", list(Step))
def test_a_crash_at_any_step_leaves_all_or_nothing(tmp_path: Path, step: Step) -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), step.name],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=CHILD_SECONDS,
    )
    assert child.returncode == KILLED_EXIT_CODE
    published = tmp_path / "documents" / folder_of("workflow") / "report.md"
    staged = list((tmp_path / "staging").iterdir())
    committed = step is not Step.PREPARED
    # Right after the crash: the file is in place only where the last step was reached.
    assert published.read_text() == ("second" if step is Step.FINISHED else "first")
    assert len(staged) == (0 if step is Step.FINISHED else 1)
    world = World(tmp_path)
    applied = ["received", "applied"]
    assert world.events() == (applied * 2 if committed else applied)
    assert published.read_text() == ("second" if committed else "first")
    assert list((tmp_path / "staging").iterdir()) == []
    expected = "second" if committed else "first"
    assert world.engine.state_hash(None) == state_hash({("workflow", "report.md"): expected}, {})
    world.close()


class FlakyModule(ToolModule):
    """A tool whose effect is a file that the volume refuses as long as `failing` is set."""

    name = "flaky"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failing = ""
        self.finished = 0

    def tools(self) -> Sequence[Tool]:
        return (Tool("flaky", read_only=False, prepare=self.prepare),)

    def prepare(self, workflow_id: str, arguments: JsonObject) -> Action:
        self.fail_at("prepare")
        return FlakyAction(self)

    def create(self, connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE IF NOT EXISTS flaky (number INTEGER PRIMARY KEY)")

    def state(self, connection: sqlite3.Connection, workflow_id: str | None) -> JsonValue:
        return self.finished

    def recover(self, connection: sqlite3.Connection, *, starting: bool) -> None:
        self.fail_at("finish")
        self.finished = connection.execute("SELECT count(*) FROM flaky").fetchone()[0]

    def fail_at(self, where: str) -> None:
        if self.failing == where:
            raise OSError(28, "No space left on device")


class FlakyAction(Action):
    def __init__(self, module: FlakyModule) -> None:
        self.module = module

    def apply(self, connection: sqlite3.Connection, *, guard: bool) -> JsonObject:
        connection.execute("INSERT INTO flaky DEFAULT VALUES")
        return {}

    def finish(self) -> None:
        self.module.fail_at("finish")
        self.module.finished += 1


@pytest.fixture
def flaky(tmp_path: Path) -> FlakyModule:
    return FlakyModule(tmp_path)


def test_a_volume_that_fails_before_the_commit_leaves_nothing(
    tmp_path: Path, flaky: FlakyModule
) -> None:
    world = World(tmp_path, extra_modules=[flaky])
    world.engine.configure([rules()])
    flaky.failing = "prepare"
    with pytest.raises(ServiceError, match="try again"):
        world.engine.invoke(call("flaky", {}))
    assert world.events() == []
    world.close()


def test_a_volume_that_fails_after_the_commit_is_made_up_for_by_the_next_call(
    tmp_path: Path, flaky: FlakyModule
) -> None:
    world = World(tmp_path, extra_modules=[flaky])
    world.engine.configure([rules()])
    flaky.failing = "finish"
    for _ in range(2):
        # The effect is committed once: the second call does not get as far.
        with pytest.raises(ServiceError, match="try again"):
            world.engine.invoke(call("flaky", {}))
    assert world.events() == ["received", "applied"]
    assert flaky.finished == 0
    flaky.failing = ""
    assert isinstance(world.engine.invoke(call("flaky", {})).outcome, Applied)
    assert flaky.finished == 2
    assert world.events() == ["received", "applied"] * 2
    world.close()


def test_a_call_that_is_being_prepared_outlives_a_recovery_in_service(
    tmp_path: Path, flaky: FlakyModule
) -> None:
    inner: list[str] = []

    def break_and_recover(step: Step) -> None:
        # While the outer call has its file staged, another fails and a third recovers.
        if step is Step.PREPARED and not inner:
            inner.append("running")
            flaky.failing = "finish"
            with pytest.raises(ServiceError):
                world.engine.invoke(call("flaky", {}))
            flaky.failing = ""
            world.engine.invoke(call("flaky", {}))

    world = World(tmp_path, extra_modules=[flaky], on_step=break_and_recover)
    world.engine.configure([rules()])
    world.engine.invoke(call("publish_document", document()))
    published = tmp_path / "documents" / folder_of("workflow") / "report.md"
    assert published.read_text() == "text"
    assert world.events("applied") == ["applied"] * 3
    world.close()
