"""How long a stack takes from nothing to healthy, images being warm (DESIGN §11)."""

from __future__ import annotations

import time

from orchestrator.bench.bench import Bench
from orchestrator.bench.results import Measurement, Reach, quantile

__all__ = ["stack_start"]

_STARTS = 3
_WANTED = Reach(at_most=3.0)


def stack_start(bench: Bench) -> list[Measurement]:
    """Start and close a few stacks, one after the other.

    Raises:
        MemqualError: One does not start.
    """
    starts: list[float] = []
    closes: list[float] = []
    for number in range(_STARTS):
        spec = bench.spec(f"s{number}")
        began = time.monotonic()
        stack = bench.runtime.start(spec)
        up = time.monotonic()
        stack.close()
        starts.append(up - began)
        closes.append(time.monotonic() - up)
    return [
        Measurement(
            name="start_p50",
            measured="start of a stack until every service is healthy, warm images",
            unit="s",
            value=quantile(starts, 0.5),
            samples=_STARTS,
            reach=_WANTED,
            note=f"from {min(starts):.2f} to {max(starts):.2f} s",
        ),
        Measurement(
            name="close_p50",
            measured="removal of that stack",
            unit="s",
            value=quantile(closes, 0.5),
            samples=_STARTS,
        ),
    ]
