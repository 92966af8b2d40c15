"""`memqual gc` says what is gone, what is not, and where it could not look."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from orchestrator.campaign import housekeeping
from orchestrator.campaign.housekeeping import collect_garbage, collect_quietly, sweep
from orchestrator.errors import EngineError
from orchestrator.runtimes.base import Availability, GcReport, GcScope
from tests.orchestrator.campaign.fakes import FakeSink

HERE = Availability(True, "fake")


@dataclass
class Collector:
    """A runtime that has something to collect.

    Attributes:
        report: What gc answers; None: the engine does not.
    """

    name: str
    report: GcReport | None
    found: Availability = HERE
    asked: list[GcScope] = field(default_factory=list)

    def available(self) -> Availability:
        return self.found

    def gc(self, scope: GcScope) -> GcReport:
        self.asked.append(scope)
        if self.report is None:
            raise EngineError("the engine went away", next_step="none")
        return self.report


DIRTY = Collector("docker", GcReport("docker", removed=("container a", "network b")))
CLEAN = Collector("process", GcReport("process", kept=("process 7",)))
STUCK = Collector("process", GcReport("process", failed=("folder x: busy",)))
GONE = Collector("docker", None)
ABSENT = Collector("docker", None, Availability(False, "No container engine answers: none"))


def _use(monkeypatch: pytest.MonkeyPatch, *runtimes: Collector) -> None:
    for runtime in runtimes:
        runtime.asked.clear()
    monkeypatch.setattr(housekeeping, "all_runtimes", lambda: runtimes)


@pytest.mark.parametrize(
    ("runtimes", "code", "lines"),
    [
        (
            (DIRTY, CLEAN),
            0,
            [
                "removed (docker): container a",
                "removed (docker): network b",
                "nothing to remove (process)",
            ],
        ),
        ((STUCK,), 4, ["could not be removed (process): folder x: busy"]),
        (
            (GONE, CLEAN),
            4,
            [
                "could not be removed (docker): the engine went away",
                "nothing to remove (process)",
            ],
        ),
        (
            (ABSENT, CLEAN),
            0,
            [
                "not looked at (docker): No container engine answers: none",
                "nothing to remove (process)",
            ],
        ),
    ],
    ids=["dirty", "stuck", "gone", "absent"],
)
def test_gc_tells_everything(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    runtimes: tuple[Collector, ...],
    code: int,
    lines: list[str],
) -> None:
    _use(monkeypatch, *runtimes)
    assert collect_garbage("run-1") == code
    assert capsys.readouterr().out.splitlines() == lines
    assert all(runtime.asked in ([], [GcScope("run-1")]) for runtime in runtimes)


def test_a_start_collects_what_dead_runs_left_and_says_so_only_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sink = FakeSink()
    _use(monkeypatch, CLEAN, ABSENT)
    collect_quietly(sink)
    assert (sink.told, CLEAN.asked, ABSENT.asked) == ([], [GcScope()], [])
    _use(monkeypatch, DIRTY, STUCK)
    collect_quietly(sink)
    assert sink.told == [
        "Removed 2 things that a killed run had left.",
        "A killed run left what could not be removed: folder x: busy.",
    ]


def test_the_end_of_a_run_sweeps_that_run_alone() -> None:
    DIRTY.asked.clear()
    assert sweep(DIRTY, "run-2") == ()  # type: ignore[arg-type]  # starts nothing
    assert DIRTY.asked == [GcScope("run-2")]
    assert sweep(STUCK, "run-2") == ("folder x: busy",)  # type: ignore[arg-type]  # as above
    assert sweep(GONE, "run-2") == ("the engine went away",)  # type: ignore[arg-type]  # as above
