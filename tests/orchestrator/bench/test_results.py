"""Figures, what was to be reached, and how they are shown."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from orchestrator.bench.command import BENCHMARKS, chosen, result_table
from orchestrator.bench.results import (
    BenchReport,
    BenchResult,
    LoadReading,
    Measurement,
    Reach,
    quantile,
)
from orchestrator.errors import UsageError

FINITE = st.floats(min_value=-1e6, max_value=1e6)


def measurement(value: float, reach: Reach | None) -> Measurement:
    return Measurement(
        name="p50", measured="a call", unit="ms", value=value, samples=3, reach=reach
    )


@pytest.mark.parametrize(
    ("reach", "value", "expected"),
    [
        (Reach(at_most=3.0), 3.0, True),
        (Reach(at_most=3.0), 3.1, False),
        (Reach(at_least=10.0), 10.0, True),
        (Reach(at_least=10.0), 9.9, False),
        (Reach(at_least=1.0, at_most=2.0), 0.5, False),
        (None, 5.0, None),
    ],
)
def test_reached(reach: Reach | None, value: float, expected: bool | None) -> None:
    assert measurement(value, reach).reached is expected


def test_reach_is_readable() -> None:
    assert Reach(at_most=3.0).text == "<= 3"
    assert Reach(at_least=10.0).text == ">= 10"


@given(st.lists(FINITE, min_size=1), st.floats(min_value=0, max_value=1))
def test_a_quantile_lies_among_the_values(values: list[float], share: float) -> None:
    assert min(values) <= quantile(values, share) <= max(values)


def test_quantiles_of_a_known_row() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [quantile(values, share) for share in (0.0, 0.5, 1.0)] == [1.0, 3.0, 5.0]
    with pytest.raises(ValueError, match="no quantile"):
        quantile([], 0.5)


def test_names_are_put_in_order_and_unknown_ones_are_refused() -> None:
    assert chosen([]) == tuple(BENCHMARKS)
    assert chosen(["windows", "interposer"]) == ("interposer", "windows")
    with pytest.raises(UsageError, match="no benchmark 'speed'") as refused:
        chosen(["windows", "speed"])
    assert "crash_rate" in refused.value.next_step


def test_the_table_says_what_was_reached_and_what_failed() -> None:
    load = LoadReading(one_minute=7.5, five_minutes=1.0, fifteen_minutes=1.0)
    good = BenchResult(
        name="stack_start",
        runtime="process",
        seconds=4.0,
        load_before=load,
        load_after=None,
        measurements=(measurement(2.5, Reach(at_most=3.0)), measurement(9.0, Reach(at_most=3.0))),
    )
    bad = BenchResult(
        name="windows", runtime="docker", seconds=1.0, load_before=None, load_after=None,
        error="no [engine]",
    )  # fmt: skip
    report = BenchReport(
        bench_id="bench-1",
        started_unix_ns=1,
        version="1",
        system="s",
        python="3",
        cpus=2,
        runtime_reason="r",
        results=(good, bad),
    )
    out = io.StringIO()
    Console(file=out, width=120).print(result_table(report))
    shown = out.getvalue()
    for wanted in ("2.5 ms", "yes", "9 ms", "no", "load 7.5 to ?", "FAILED: no [engine]"):
        assert wanted in shown
