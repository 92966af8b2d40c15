"""The reference memory as one local process, called over gRPC without anything in between."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from memqual.v1 import continuity_pb2_grpc, memory_pb2_grpc
from orchestrator.errors import StackError
from orchestrator.runtimes.addresses import Address
from orchestrator.runtimes.ports import HeldPorts
from services.common.channels import open_channel
from services.common.platform import kill_process, spawn_process

__all__ = ["MemoryProcess", "memory_process"]

_START_SECONDS = 60.0
_EXIT_SECONDS = 10.0
_ADDRESS = Address("memory", 7000)


@dataclass(frozen=True)
class MemoryProcess:
    """A running memory's services."""

    continuity: continuity_pb2_grpc.ContinuityServiceStub
    memory: memory_pb2_grpc.MemoryServiceStub


@contextmanager
def memory_process(folder: Path) -> Iterator[MemoryProcess]:
    """Start the reference memory on an empty data folder; killed at the end.

    Args:
        folder: Made by this call; on the disk whose durability is measured.

    Raises:
        StackError: It does not answer in time; the diagnosis has its last lines.
    """
    data = folder / "data"
    data.mkdir(parents=True)
    log = folder / "memory.log"
    with HeldPorts([_ADDRESS]) as ports, log.open("wb") as output:
        address = ports.local(_ADDRESS)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "MEMQUAL_LISTEN": address,
            "MEMQUAL_DATA_DIR": str(data.resolve()),
            "MEMQUAL_SERVICE": "memory",
        }
        ports.let_go([_ADDRESS.host])
        child = spawn_process(
            [sys.executable, "-m", "services.memory"],
            environment=environment,
            folder=folder,
            output=output,
            errors=output,
        )
    try:
        with open_channel(address) as channel:
            try:
                grpc.channel_ready_future(channel).result(timeout=_START_SECONDS)
            except grpc.FutureTimeoutError as error:
                said = log.read_text(encoding="utf-8", errors="replace")[-500:]
                raise StackError(
                    f"The memory did not answer within {_START_SECONDS:.0f} s: {said}",
                    next_step="Run `memqual doctor`; then look at what it says.",
                ) from error
            yield MemoryProcess(
                continuity_pb2_grpc.ContinuityServiceStub(channel),
                memory_pb2_grpc.MemoryServiceStub(channel),
            )
    finally:
        kill_process(child.pid)
        child.wait(_EXIT_SECONDS)
