"""Which runtime a run takes."""

import pytest

from orchestrator.errors import EngineError, UsageError
from orchestrator.runtimes.base import Availability
from orchestrator.runtimes.docker_runtime import DockerRuntime
from orchestrator.runtimes.select import all_runtimes, select_runtime


@pytest.fixture(params=[True, False])
def engine_answers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    answers = bool(request.param)
    found = Availability(answers, "engine 1, amd64" if answers else "nobody there")
    monkeypatch.setattr(DockerRuntime, "available", lambda self: found)
    return answers


def test_the_best_that_there_is(engine_answers: bool) -> None:
    selection = select_runtime(None)
    assert selection.runtime.name == ("docker" if engine_answers else "process")
    assert ("nobody there" in selection.reason) is not engine_answers
    assert select_runtime("").runtime.name == selection.runtime.name


def test_process_by_name(engine_answers: bool) -> None:
    assert select_runtime("process").runtime.name == "process"


def test_docker_by_name(engine_answers: bool) -> None:
    if engine_answers:
        assert select_runtime("docker").runtime.name == "docker"
    else:
        with pytest.raises(EngineError, match="nobody there") as caught:
            select_runtime("docker")
        assert "RUNTIME=process" in caught.value.next_step


def test_no_such_runtime() -> None:
    with pytest.raises(UsageError, match="'podman'"):
        select_runtime("podman")


def test_gc_asks_every_runtime() -> None:
    assert [runtime.name for runtime in all_runtimes()] == ["docker", "process"]
