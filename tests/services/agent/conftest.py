"""What the agent host's tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.agent.fakes import World, world
from tests.services.agent.hosts import HostClient, local_host


@pytest.fixture
def around() -> Iterator[World]:
    with world() as found:
        yield found


@pytest.fixture
def host(around: World, tmp_path: Path) -> Iterator[HostClient]:
    with local_host(around, tmp_path) as found:
        yield found
