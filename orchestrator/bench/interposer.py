"""What the interposer adds to a call (DESIGN §11), beside an empty proxy in the same run."""

from __future__ import annotations

from chaos.bench_interposer import measure
from orchestrator.bench.bench import Bench
from orchestrator.bench.results import Measurement, Reach

__all__ = ["interposer"]


def interposer(bench: Bench) -> list[Measurement]:
    """Run `chaos.bench_interposer`; it needs no stack.

    Raises:
        RuntimeError: One of its processes does not start.
    """
    found = measure()
    return [
        Measurement(
            name="added_p50",
            measured="median call through the interposer, less the median straight call",
            unit="ms",
            value=found.added_p50_ms,
            samples=found.calls,
            reach=Reach(at_most=1.0),
            note=f"straight {found.direct_p50_ms:.2f} ms, empty proxy "
            f"{found.empty_proxy_p50_ms:.2f} ms, interposer {found.interposer_p50_ms:.2f} ms, "
            f"its p99 {found.interposer_p99_ms:.2f} ms",
        ),
        Measurement(
            name="added_over_empty_proxy",
            measured="what it adds, in units of what an empty grpc.aio proxy adds",
            unit="ratio",
            value=found.added_ratio,
            samples=found.calls,
            reach=Reach(at_most=1.5),
        ),
    ]
