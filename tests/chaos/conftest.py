"""Fixtures of the chaos tests."""

from collections.abc import Iterator

import pytest

from tests.chaos.harness import Loop, Rig, rig_of
from tests.chaos.processes import Spawner


@pytest.fixture(scope="session")
def loop() -> Iterator[Loop]:
    """The loop of every interposer that runs in this process."""
    running = Loop()
    yield running
    running.close()


@pytest.fixture
def rig(loop: Loop) -> Iterator[Rig]:
    """A fresh interposer between clients and three recording targets."""
    with rig_of(loop) as started:
        yield started


@pytest.fixture
def spawn() -> Iterator[Spawner]:
    """Starts processes that do not outlive the test."""
    spawner = Spawner()
    yield spawner
    spawner.end()
