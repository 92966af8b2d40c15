from collections.abc import Iterator
from pathlib import Path

import pytest

from services.memory.records.policy import Policy
from tests.services.memory.records.rig import REVIEWER, Memory, MemoryFactory


@pytest.fixture
def make_memory(tmp_path: Path) -> Iterator[MemoryFactory]:
    made: list[Memory] = []

    def make(policy: Policy | None = None) -> Memory:
        folder = tmp_path / f"memory-{len(made)}"
        folder.mkdir()
        made.append(Memory(folder, policy or Policy(), {REVIEWER.key_id: REVIEWER}))
        return made[-1]

    yield make
    for memory in made:
        memory.database.close()


@pytest.fixture
def memory(make_memory: MemoryFactory) -> Memory:
    return make_memory()
