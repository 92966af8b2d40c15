"""What every test shares: a container engine, or an honest reason why there is none."""

import functools
import os
from pathlib import Path

import docker
import docker.errors
import pytest
import requests
from hypothesis import settings

# How long an example takes says something of the machine, never of the code.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

REQUIRE_ENGINE_VARIABLE = "MEMQUAL_REQUIRE_ENGINE"
ENGINE_TIMEOUT_SECONDS = 10

# Their local stacks leave each other alone. Elsewhere tests collect what killed runs left behind,
# whose ever they were, or count all of the machine's processes.
_SHARING = tuple(
    Path(__file__).parent / folder for folder in ("chaos", "orchestrator/suites", "services")
)


@functools.cache
def engine_problem() -> str | None:
    """Why no container engine can be used here, or None when one answers."""
    try:
        client = docker.from_env(timeout=ENGINE_TIMEOUT_SECONDS)
        try:
            system = client.version()["Os"]
        finally:
            client.close()
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return None if system == "linux" else f"the engine runs {system} containers"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests of local processes that can run beside each other (`make test` runs two)."""
    for item in items:
        on_processes = item.get_closest_marker("e2e_process") is not None
        on_containers = item.get_closest_marker("e2e_docker") is not None
        if on_processes and not on_containers and any(map(item.path.is_relative_to, _SHARING)):
            item.add_marker(pytest.mark.shares_machine)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keeps container tests from running without an engine; where one must be, that fails.

    A workstation without an engine can run all other tests; CI sets the variable, so that none of
    these is left out there.
    """
    if item.get_closest_marker("e2e_docker") is None:
        return
    problem = engine_problem()
    if problem is None:
        return
    if os.environ.get(REQUIRE_ENGINE_VARIABLE):
        pytest.fail(f"{REQUIRE_ENGINE_VARIABLE} is set and no engine answers: {problem}")
    pytest.skip(f"no container engine answers: {problem}")
