from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.destination.support import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()
