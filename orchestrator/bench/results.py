"""What a benchmark found, and what DESIGN §11 wants to reach."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence

from orchestrator.model import Frozen

__all__ = ["BenchReport", "BenchResult", "LoadReading", "Measurement", "Reach", "quantile"]


class Reach(Frozen):
    """A figure of DESIGN §11.

    Attributes:
        at_most: What is reached by a value that is not larger.
        at_least: What is reached by a value that is not smaller.
    """

    at_most: float | None = None
    at_least: float | None = None

    def reached_by(self, value: float) -> bool:
        """Whether a value keeps within every bound that is set."""
        low_enough = self.at_most is None or value <= self.at_most
        return low_enough and (self.at_least is None or value >= self.at_least)

    @property
    def text(self) -> str:
        """For a person, such as `<= 3`."""
        bounds = (("<=", self.at_most), (">=", self.at_least))
        return ", ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)


class Measurement(Frozen):
    """One figure.

    Attributes:
        name: Stable name within its benchmark.
        measured: What it is, in words.
        unit: Unit of `value`.
        value: The figure.
        samples: How many things it was taken from.
        reach: What DESIGN §11 wants, or None when it names nothing.
        note: What a reader must know besides; empty for nothing.
    """

    name: str
    measured: str
    unit: str
    value: float
    samples: int
    reach: Reach | None = None
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the value is what was to be reached; None when nothing was."""
        return None if self.reach is None else self.reach.reached_by(self.value)


class LoadReading(Frozen):
    """How busy the machine was.

    Attributes:
        one_minute, five_minutes, fifteen_minutes: Mean number of runnable tasks.
    """

    one_minute: float
    five_minutes: float
    fifteen_minutes: float

    @classmethod
    def now(cls) -> LoadReading | None:
        """The reading of this moment; None where the platform keeps none (Windows)."""
        if not hasattr(os, "getloadavg"):
            return None
        one, five, fifteen = os.getloadavg()
        return cls(one_minute=one, five_minutes=five, fifteen_minutes=fifteen)


class BenchResult(Frozen):
    """One benchmark.

    Attributes:
        name: As in `--only`.
        runtime: Runtime of its stacks, `process` for one that starts none.
        seconds: How long it took.
        load_before, load_after: The machine's load; None where it is not kept.
        measurements: The figures, in order.
        error: Why it could not be finished; empty when it was.
    """

    name: str
    runtime: str
    seconds: float
    load_before: LoadReading | None
    load_after: LoadReading | None
    measurements: tuple[Measurement, ...] = ()
    error: str = ""


class BenchReport(Frozen):
    """runs/bench-<time>.json.

    Attributes:
        bench_id: Names the run of the benchmarks.
        started_unix_ns: When, wall clock, nanoseconds.
        version: Version of memqual.
        system: Operating system and machine.
        python: Version of Python.
        cpus: Processors that this process may see.
        runtime_reason: Why stacks ran in the runtime that they ran in.
        results: One for each benchmark that was run, in order.
    """

    bench_id: str
    started_unix_ns: int
    version: str
    system: str
    python: str
    cpus: int
    runtime_reason: str
    results: tuple[BenchResult, ...]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies; the median is interpolated.

    Raises:
        ValueError: No values, or a share outside of 0..1.
    """
    if not values or not 0 <= share <= 1:
        raise ValueError(f"no quantile {share} of {len(values)} values")
    if share == 0.5:
        return statistics.median(values)
    return sorted(values)[round(share * (len(values) - 1))]
