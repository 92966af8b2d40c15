"""A memory as a process of its own, started and killed by a test."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc

from memqual.v1 import continuity_pb2_grpc, vendor_pb2, vendor_pb2_grpc
from services.common import platform
from services.common.channels import open_channel

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 30
STOP_SECONDS = 10


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Process:
    """A running memory; `kill` ends it as a crash does."""

    child: subprocess.Popen[bytes]
    channel: grpc.Channel

    @property
    def continuity(self) -> continuity_pb2_grpc.ContinuityServiceStub:
        """Stub of ContinuityService."""
        return continuity_pb2_grpc.ContinuityServiceStub(self.channel)

    @property
    def vendor(self) -> vendor_pb2_grpc.VendorServiceStub:
        """Stub of VendorService."""
        return vendor_pb2_grpc.VendorServiceStub(self.channel)

    def kill(self) -> int:
        """Kills it at once; returns the exit code."""
        platform.kill_process(self.child.pid)
        self.channel.close()
        return self.child.wait(STOP_SECONDS)

    def stop(self) -> int:
        """Asks it to stop; returns the exit code."""
        platform.terminate_process(self.child.pid)
        self.channel.close()
        return self.child.wait(STOP_SECONDS)


def environment_for(folder: Path, changes: Mapping[str, str]) -> dict[str, str]:
    """The variables of a memory whose volume is `folder`."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "protos")]),
        "MEMQUAL_DATA_DIR": str(folder),
        "MEMQUAL_SERVICE": "memory",
        "MEMQUAL_RUN": "run-of-test",
        **changes,
    }


def launch(
    folder: Path,
    *,
    module: str = "services.memory",
    arguments: tuple[str, ...] = (),
    changes: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a memory's process without waiting for it."""
    with (folder / "stderr.log").open("ab") as log:
        return platform.spawn_process(
            [sys.executable, "-m", module, *arguments],
            environment=environment_for(folder, changes or {}),
            folder=ROOT,
            output=log,
            errors=log,
        )


def start(
    folder: Path,
    *,
    module: str = "services.memory",
    arguments: tuple[str, ...] = (),
    changes: Mapping[str, str] | None = None,
) -> Process:
    """Starts a memory and waits until it answers."""
    port = free_port()
    listen = {"MEMQUAL_LISTEN": f"127.0.0.1:{port}", **(changes or {})}
    child = launch(folder, module=module, arguments=arguments, changes=listen)
    channel = open_channel(f"127.0.0.1:{port}")
    process = Process(child, channel)
    ends = time.monotonic() + START_SECONDS
    while True:
        try:
            process.vendor.Now(vendor_pb2.NowRequest(), timeout=1, wait_for_ready=True)
        except grpc.RpcError:
            if child.poll() is not None or time.monotonic() > ends:
                process.kill()
                raise AssertionError((folder / "stderr.log").read_text()) from None
        else:
            return process
