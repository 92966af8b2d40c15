from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memqual.v1 import memory_pb2
from services.common import server
from services.common.channels import open_channel
from services.common.database import Database
from services.memory.records import registrar
from services.memory.records.policy import Policy
from tests.services.memory.records.grpc_rig import Stub
from tests.services.memory.records.rig import REVIEWER, Memory, MemoryFactory, write_keys


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


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grpc.Channel]:
    folder = tmp_path_factory.mktemp("service")
    keys: Path = folder / "keys.json"
    write_keys(keys, REVIEWER)
    database = Database(folder / "memory.sqlite3")
    part = registrar.create(database, keys)
    running = server.start(
        listen="127.0.0.1:0",
        registrars=[part.registrar],
        service_names=["memqual.v1.MemoryService"],
    )
    opened = open_channel(f"127.0.0.1:{running.port}")
    yield opened
    opened.close()
    running.stop()
    database.close()


@pytest.fixture
def stub(channel: grpc.Channel) -> Stub:
    return Stub(channel)


@pytest.fixture
def scope(request: pytest.FixtureRequest) -> memory_pb2.Scope:
    """A namespace of the test's own."""
    return memory_pb2.Scope(namespace=request.node.name[:100], principal="alice")
