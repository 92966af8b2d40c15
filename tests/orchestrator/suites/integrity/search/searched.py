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


@contextmanager
def searched(folder: Path, factory: Factory) -> Iterator[Subject]:
    """A memory on a port of this machine, ready to be searched."""
    reviewer = Reviewer.generate()
    keys = folder / "keys.json"
    keys.write_text(reviewer.public_keys_json())
    settings = MemorySettings(database_path=folder / "memory.db", reviewer_keys_path=keys)
    process = build(settings, Composition(records=factory))
    running = server.start(
        listen="127.0.0.1:0", registrars=process.registrars, service_names=process.service_names
    )
    try:
        with open_channel(f"127.0.0.1:{running.port}") as channel:
            vendor = vendor_pb2_grpc.VendorServiceStub(channel)
            describe = vendor.Describe(vendor_pb2.DescribeRequest(), timeout=CALL_SECONDS)
            yield Subject(
                stub=memory_pb2_grpc.MemoryServiceStub(channel),
                declared=Declared.of(describe),
                signers=Signers(reviewer),
                seconds=CALL_SECONDS,
            )
    finally:
        running.stop()
        process.close()


def search(
    folder: Path, factory: Factory, *, seed: int, sequences: int, cases: int = 1
) -> SearchResult:
    """Search a memory without a bound in time: a slow machine searches as well as a fast one."""
    with searched(folder, factory) as subject:
        bounds = Bounds(sequences=sequences, seconds=3_600.0, cases=cases)
        return Search(subject, seed=seed, token="test").run(bounds)
