"""What a run needs of this machine, one check a thing; nothing is changed."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from ctypes.util import find_library
from pathlib import Path

import psutil

from chaos.clock import shared_object
from orchestrator.campaign.doctor_findings import Finding, State
from orchestrator.errors import StackError
from orchestrator.runtimes.addresses import Address
from orchestrator.runtimes.ports import LOOPBACK, HeldPorts
from orchestrator.runtimes.process_state import STATE_VARIABLE, state_root

__all__ = [
    "check_disk",
    "check_fuse",
    "check_loopback",
    "check_memory",
    "check_ports",
    "check_python",
    "check_skew",
    "check_state_folder",
]

GIB = 1 << 30
OLDEST_PYTHON = (3, 11)
# A quick bundle takes tens of MiB; images, wheels and their build contexts about 2 GiB.
DISK_NEEDED_BYTES = GIB // 2
DISK_WANTED_BYTES = 3 * GIB
# Two stacks of six services, and the orchestrator.
MEMORY_NEEDED_BYTES = GIB // 2
MEMORY_WANTED_BYTES = 2 * GIB
# Addresses of two stacks of processes.
PORTS_NEEDED = 40
LOOPBACK_SECONDS = 5.0
FUSE = Path("/dev/fuse")


def check_python() -> Finding:
    """Whether this Python is new enough."""
    found = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("python", State.OK, found)
    return Finding("python", State.MISSING, found, "Use Python 3.11 or newer: make setup PYTHON=…")


def check_state_folder() -> Finding:
    """Whether stacks of processes can write down what belongs to them."""
    folder = state_root()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Finding("state folder", State.OK, str(folder))
    return Finding(
        "state folder",
        State.MISSING,
        f"{folder} cannot be written to",
        f"Name another folder: {STATE_VARIABLE}=path.",
    )


def check_ports() -> Finding:
    """Whether there are free ports for two stacks of processes."""
    wanted = [Address("doctor", number) for number in range(PORTS_NEEDED)]
    try:
        with HeldPorts(wanted):
            return Finding("free ports", State.OK, f"{PORTS_NEEDED} of {LOOPBACK} at once")
    except StackError as error:
        return Finding("free ports", State.MISSING, error.diagnosis, error.next_step)


def check_loopback() -> Finding:
    """Whether a byte gets from one socket of 127.0.0.1 to another."""
    try:
        with socket.create_server((LOOPBACK, 0)) as server:
            server.settimeout(LOOPBACK_SECONDS)
            with socket.create_connection(server.getsockname(), LOOPBACK_SECONDS) as client:
                accepted, _ = server.accept()
                with accepted:
                    accepted.settimeout(LOOPBACK_SECONDS)
                    client.sendall(b"!")
                    arrived = accepted.recv(1) == b"!"
    except OSError as error:
        told = error.strerror or str(error)
        return Finding("loopback", State.MISSING, told, "Bring up the lo interface (127.0.0.1).")
    if not arrived:
        return Finding(
            "loopback", State.MISSING, "the byte was lost", "Look for a firewall on 127.0.0.1."
        )
    return Finding("loopback", State.OK, f"{LOOPBACK} answers")


def check_disk(folder: Path | None = None) -> Finding:
    """Whether bundles, images and wheels have room.

    Args:
        folder: Where runs are made; by default the present folder.
    """
    where = folder or Path.cwd()
    free = shutil.disk_usage(where).free
    return _room("disk", free, DISK_NEEDED_BYTES, DISK_WANTED_BYTES, f"free at {where}")


def check_memory() -> Finding:
    """Whether two stacks have room."""
    free = psutil.virtual_memory().available
    return _room("memory", free, MEMORY_NEEDED_BYTES, MEMORY_WANTED_BYTES, "available")


def _room(name: str, free: int, needed: int, wanted: int, where: str) -> Finding:
    told = f"{free / GIB:.1f} GiB {where}"
    if free < needed:
        return Finding(name, State.MISSING, told, f"Free at least {needed / GIB:.1f} GiB.")
    if free < wanted:
        step = f"A run may go on; {wanted / GIB:.0f} GiB are better. Fewer stacks: --stacks 1."
        return Finding(name, State.WARNING, told, step)
    return Finding(name, State.OK, told)


def check_skew() -> Finding:
    """Whether a service's clock can be set here."""
    library = shared_object()
    if library is not None:
        return Finding("libfaketime", State.OK, library.name)
    return Finding(
        "libfaketime",
        State.WARNING,
        f"none for {platform.system()} {platform.machine()}",
        "Cells that jump a clock are N/R (platform); on x86-64 Linux: make setup.",
    )


def check_fuse() -> Finding:
    """Whether a storage layer that drops unsynced writes can be mounted."""
    name = "/dev/fuse"
    step = "Cells with a volume that fails are N/R (platform); no other needs it."
    if not FUSE.exists() or not os.access(FUSE, os.R_OK | os.W_OK):
        told = "cannot be opened" if FUSE.exists() else "is not here"
        return Finding(name, State.WARNING, told, step)
    if find_library("fuse") is None and find_library("fuse3") is None:
        return Finding(
            name,
            State.WARNING,
            "can be opened, but there is no libfuse",
            f"{step} On Debian: apt install libfuse2 fuse.",
        )
    return Finding(name, State.OK, "can be opened")
