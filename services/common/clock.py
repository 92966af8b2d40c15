"""The two clocks of a process (DESIGN §4, §5).

Skew faults move the wall clock and never the monotonic one.
"""

import time

from memqual.v1 import common_pb2

__all__ = [
    "NANOSECONDS_PER_MILLISECOND",
    "NANOSECONDS_PER_SECOND",
    "monotonic_ns",
    "reading",
    "wall_ns",
]

NANOSECONDS_PER_SECOND = 1_000_000_000
NANOSECONDS_PER_MILLISECOND = 1_000_000


def wall_ns() -> int:
    """Wall clock, nanoseconds since the Unix epoch."""
    return time.time_ns()


def monotonic_ns() -> int:
    """Monotonic clock, nanoseconds since an arbitrary start."""
    return time.monotonic_ns()


def reading() -> common_pb2.ClockReading:
    """Both clocks, read one right after the other."""
    return common_pb2.ClockReading(wall_unix_ns=wall_ns(), monotonic_ns=monotonic_ns())
