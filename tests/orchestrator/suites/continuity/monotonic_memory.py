"""The reference, or a control, as a memory whose leases run on the monotonic clock.

Run as a process in the memory's place, by `python -m` and this module's name, with a flaw's name or
none. No fault moves its leases' clock, wherever it is played.
"""

import dataclasses
import sys
import time
from typing import Any

from memqual.v1 import vendor_pb2
from services.common import logging, settings
from services.controls.registry import FLAWS
from services.memory import process, vendor_servicer


def _describe(*arguments: Any) -> vendor_pb2.DescribeResponse:
    told = vendor_servicer.describe(*arguments)
    told.lease_clock = vendor_pb2.LEASE_CLOCK_MONOTONIC
    return told


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    setattr(process, "describe", _describe)  # noqa: B010 (another function)
    flaw = FLAWS[sys.argv[1]] if sys.argv[1:] else None
    parts = process.Composition("monotonic") if flaw is None else flaw.composition
    process.run(dataclasses.replace(parts, read_clock_ns=time.monotonic_ns))


if __name__ == "__main__":
    settings.run(main)
