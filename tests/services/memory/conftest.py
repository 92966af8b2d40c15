"""A memory that is served over gRPC in this process, with a clock that the test moves."""

from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from memqual.v1 import continuity_pb2_grpc, vendor_pb2_grpc
from services.common import server
from services.common.channels import open_channel
from services.memory.process import Composition, MemorySettings, build
from tests.services.memory.serving import ClockOfTest, Serve, Served


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a memory on the test's folder; a second call restarts it on the same file."""
    clock = ClockOfTest()
    running: list[tuple[grpc.Channel, server.RunningServer, Callable[[], None]]] = []

    def stop() -> None:
        for channel, answering, close in running:
            channel.close()
            answering.stop()
            close()
        running.clear()

    def start(composition: Composition | None = None, keys: Path | None = None) -> Served:
        stop()
        process = build(
            MemorySettings(tmp_path / "memory.db", reviewer_keys_path=keys),
            composition or Composition(read_clock_ns=clock.read),
        )
        answering = server.start(
            listen="127.0.0.1:0",
            registrars=process.registrars,
            service_names=process.service_names,
            max_workers=24,
        )
        channel = open_channel(f"127.0.0.1:{answering.port}")
        running.append((channel, answering, process.close))
        return Served(
            continuity_pb2_grpc.ContinuityServiceStub(channel),
            vendor_pb2_grpc.VendorServiceStub(channel),
            channel,
            clock,
        )

    yield start
    stop()


@pytest.fixture
def served(serve: Serve) -> Served:
    """The reference memory."""
    return serve()
