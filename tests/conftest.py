"""What every test shares: a container engine, or an honest reason why there is none."""

import functools
import os

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


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keeps container tests from running without an engine; where one must be, that fails."""
    if item.get_closest_marker("e2e_docker") is None:
        return
    problem = engine_problem()
    if problem is None:
        return
    if os.environ.get(REQUIRE_ENGINE_VARIABLE):
        pytest.fail(f"{REQUIRE_ENGINE_VARIABLE} is set and no engine answers: {problem}")
    pytest.skip(f"no container engine answers: {problem}")
