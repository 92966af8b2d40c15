"""`memqual bench`: picks benchmarks, runs them, prints a table and writes a file."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import grpc
import structlog
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from chaos.errors import ChaosError
from orchestrator.bench.bench import Bench
from orchestrator.bench.crash_rate import crash_rate
from orchestrator.bench.integrity_rate import integrity_rate
from orchestrator.bench.interposer import interposer
from orchestrator.bench.memory import memory
from orchestrator.bench.orchestrator_memory import orchestrator_memory
from orchestrator.bench.results import (
    BenchReport,
    BenchResult,
    LoadReading,
    Measurement,
)
from orchestrator.bench.schedule_size import schedule_size
from orchestrator.bench.stack_start import stack_start
from orchestrator.bench.windows import windows
from orchestrator.campaign.housekeeping import sweep
from orchestrator.campaign.logs import log_to
from orchestrator.campaign.options import new_run_id
from orchestrator.campaign.signals import StopSignals
from orchestrator.errors import MemqualError, UsageError
from orchestrator.evidence.rundir import RunDirectory, json_bytes
from orchestrator.report.text import visible
from orchestrator.runtimes.select import select_runtime
from services.common.platform import atomic_write_bytes

__all__ = ["BENCHMARKS", "chosen", "result_table", "run_benchmarks"]

Benchmark = Callable[[Bench], list[Measurement]]

BENCHMARKS: Mapping[str, Benchmark] = {
    "interposer": interposer,
    "memory": memory,
    "orchestrator_memory": orchestrator_memory,
    "stack_start": stack_start,
    "schedule_size": schedule_size,
    "crash_rate": crash_rate,
    "integrity_rate": integrity_rate,
    "windows": windows,
}
"""Every benchmark by name, in the order in which they run."""

_WITHOUT_STACK = frozenset({"interposer", "memory", "orchestrator_memory", "schedule_size"})
_INCOMPLETE = 4
_RUNS = Path("runs")


def run_benchmarks(only: Sequence[str], *, large: bool = False) -> int:
    """Run benchmarks, print what they found and write it to runs/bench-<time>.json.

    What is not reached is said and changes no exit code: time depends on the machine.

    Args:
        only: Names of benchmarks; none: all.
        large: Measure at the sizes of DESIGN §11 that take many minutes to reach, too: 100,000
            operations and records, 1,000,000 trials.

    Returns:
        0 when every benchmark was carried out, 4 when one could not be.

    Raises:
        UsageError: No such benchmark.
    """
    names = chosen(only)
    console = Console()
    selection = select_runtime(None)
    bench_id = f"bench-{new_run_id()}"
    root = _RUNS / bench_id
    results: list[BenchResult] = []
    started_ns = time.time_ns()
    with StopSignals(), RunDirectory.create(root / "work") as records:
        log_to(root / "orchestrator.jsonl", run_id=bench_id)
        say = _speaker(console)
        say(f"{bench_id}: {selection.reason}.")
        bench = Bench(bench_id, selection.runtime, records, root, say, large)
        try:
            for name in names:
                say(f"{name} ...")
                results.append(_run(name, bench))
        finally:
            for left in sweep(bench.runtime, bench_id):
                say(f"Left behind: {left}. Next step: mend that, then run `memqual gc`.")
            shutil.rmtree(records.root, ignore_errors=True)
            if results:
                _keep(bench, selection.reason, started_ns, results, console)
    return _INCOMPLETE if any(result.error for result in results) else 0


def chosen(only: Sequence[str]) -> tuple[str, ...]:
    """The benchmarks that these names mean, in the order in which they run.

    Raises:
        UsageError: One is no benchmark.
    """
    unknown = [name for name in only if name not in BENCHMARKS]
    if unknown:
        raise UsageError(
            f"There is no benchmark {unknown[0]!r}.",
            next_step=f"Name one of: {', '.join(BENCHMARKS)}.",
        )
    return tuple(name for name in BENCHMARKS if not only or name in only)


def _run(name: str, bench: Bench) -> BenchResult:
    before = LoadReading.now()
    began = time.monotonic()
    measurements: list[Measurement] = []
    error = ""
    try:
        measurements = BENCHMARKS[name](bench)
    except MemqualError as failure:
        error = failure.diagnosis
    except (ChaosError, grpc.RpcError, OSError, RuntimeError) as failure:
        error = f"{type(failure).__name__}: {failure}"
    if error:
        structlog.get_logger().error("benchmark_failed", benchmark=name, cause=error)
    return BenchResult(
        name=name,
        runtime="process" if name in _WITHOUT_STACK else bench.runtime.name,
        seconds=time.monotonic() - began,
        load_before=before,
        load_after=LoadReading.now(),
        measurements=tuple(measurements),
        error=error,
    )


def _keep(
    bench: Bench, reason: str, started_ns: int, results: Sequence[BenchResult], console: Console
) -> None:
    """Write and print what there is; after Ctrl-C that is what was finished before."""
    report = BenchReport(
        bench_id=bench.bench_id,
        started_unix_ns=started_ns,
        version=metadata.version("memqual"),
        system=platform.platform(),
        python=platform.python_version(),
        cpus=os.cpu_count() or 0,
        runtime_reason=reason,
        results=tuple(results),
    )
    file = _RUNS / f"{bench.bench_id}.json"
    atomic_write_bytes(file, json_bytes(_with_reached(report)))
    console.print(result_table(report))
    bench.say(f"Written: {file}")


def _with_reached(report: BenchReport) -> object:
    """The report as JSON, each figure with whether it is what was to be reached."""
    data = report.model_dump(mode="json")
    for result, written in zip(report.results, data["results"], strict=True):
        for one, fields in zip(result.measurements, written["measurements"], strict=True):
            fields["reached"] = one.reached
    return data


def result_table(report: BenchReport) -> Table:
    """The figures for a person; a benchmark that failed has a row that says why."""
    table = Table(title=f"{report.bench_id} ({report.cpus} CPUs)", show_lines=True)
    table.add_column("figure", ratio=1, overflow="fold")
    for heading in ("value", "to reach", "reached", "of"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in report.results:
        load = f"load {_load(result.load_before)} to {_load(result.load_after)}"
        about = f"{result.runtime}, {load}, {result.seconds:.0f} s"
        table.add_row(f"[bold]{result.name}[/bold] ({about})", "", "", "", "")
        for one in result.measurements:
            note = f" ({one.note})" if one.note else ""
            table.add_row(
                f"{one.name}: {escape(visible(one.measured + note))}",
                f"{_digits(one.value)} {one.unit}",
                one.reach.text if one.reach else "-",
                {True: "yes", False: "no", None: "-"}[one.reached],
                str(one.samples),
            )
        if result.error:
            table.add_row(f"FAILED: {escape(visible(result.error))}", "-", "-", "-", "0")
    return table


def _digits(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1_000 else f"{value:.0f}"


def _load(reading: LoadReading | None) -> str:
    return "?" if reading is None else f"{reading.one_minute:.1f}"


def _speaker(console: Console) -> Callable[[str], None]:
    def say(text: str) -> None:
        console.print(escape(visible(text)))

    return say
