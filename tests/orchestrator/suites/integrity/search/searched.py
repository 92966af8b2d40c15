"""Memories to search: the reference's own parts, with a policy of a test's choosing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memqual.v1 import memory_pb2_grpc, vendor_pb2, vendor_pb2_grpc
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.search.calling import Subject
from orchestrator.suites.integrity.search.engine import Bounds, Search, SearchResult
from orchestrator.suites.integrity.search.signing import Signers
from services.common import server
from services.common.channels import open_channel
from services.common.database import Database
from services.memory.parts import RecordsPart
from services.memory.process import Composition, MemorySettings, build
from services.memory.records.policy import Policy
from services.memory.records.registrar import create

CALL_SECONDS = 10.0

Factory = Callable[[Database, Path | None], RecordsPart]


def with_policy(policy: Policy) -> Factory:
    """The reference's records part under another policy."""
    return lambda database, keys: create(database, keys, policy)


class _Served:
    """A memory on a port of this machine that can be started anew on its file."""

    def __init__(self, settings: MemorySettings, factory: Factory) -> None:
        self._settings = settings
        self._factory = factory
        self.port = 0
        self._start()

    def restart(self) -> None:
        """End it and start it again on the same file and port."""
        self.stop()
        self._start()

    def stop(self) -> None:
        """End it."""
        self._running.stop()
        self._process.close()

    def _start(self) -> None:
        self._process = build(self._settings, Composition(records=self._factory))
        self._running = server.start(
            listen=f"127.0.0.1:{self.port}",
            registrars=self._process.registrars,
            service_names=self._process.service_names,
        )
        self.port = self._running.port


@contextmanager
def searched(folder: Path, factory: Factory, *, restarts: bool = False) -> Iterator[Subject]:
    """A memory, ready to be searched."""
    reviewer = Reviewer.generate()
    keys = folder / "keys.json"
    keys.write_text(reviewer.public_keys_json())
    settings = MemorySettings(database_path=folder / "memory.db", reviewer_keys_path=keys)
    served = _Served(settings, factory)
    try:
        with open_channel(f"127.0.0.1:{served.port}") as channel:
            vendor = vendor_pb2_grpc.VendorServiceStub(channel)

            def restart() -> None:
                served.restart()
                vendor.Now(vendor_pb2.NowRequest(), timeout=CALL_SECONDS, wait_for_ready=True)

            describe = vendor.Describe(vendor_pb2.DescribeRequest(), timeout=CALL_SECONDS)
            yield Subject(
                stub=memory_pb2_grpc.MemoryServiceStub(channel),
                declared=Declared.of(describe),
                signers=Signers(reviewer),
                seconds=CALL_SECONDS,
                restart=restart if restarts else None,
            )
    finally:
        served.stop()


def search(
    folder: Path,
    factory: Factory,
    *,
    seed: int,
    sequences: int,
    cases: int = 1,
    restarts: bool = False,
) -> SearchResult:
    """Search a memory without a bound in time: a slow machine searches as well as a fast one."""
    with searched(folder, factory, restarts=restarts) as subject:
        bounds = Bounds(sequences=sequences, seconds=3_600.0, cases=cases)
        return Search(subject, seed=seed, token="test").run(bounds)
