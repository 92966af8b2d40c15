"""A process that adds synthetic trials up and says what memory it took.

Run as ``python -m orchestrator.bench.aggregation FOLDER``: a run folder with trials and expected
cells. It does what the end of a run does (`evidence.finish`), the reports' rendering apart.
"""

from __future__ import annotations

import argparse
import json
import threading
from pathlib import Path

import psutil

from orchestrator.evidence.rundir import RunDirectory
from orchestrator.plan import ExpectedCells
from orchestrator.report.console import ConsoleTable
from orchestrator.report.html import PageBuilder
from orchestrator.report.junit import JunitBuilder
from orchestrator.scoring.counting import CountingRecords
from orchestrator.scoring.run import Totals

__all__ = ["main"]

_LOOK_SECONDS = 0.02


class _PeakMemory:
    """The most that this process was seen to hold."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._ended = threading.Event()
        self.first_bytes = self._now()
        self.peak_bytes = self.first_bytes
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self.peak_bytes = max(self.peak_bytes, self._now())

    def _now(self) -> int:
        return int(self._process.memory_info().rss)

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self.peak_bytes = max(self.peak_bytes, self._now())


def main() -> None:
    """Print one JSON line: trials, and resident bytes at first and at most."""
    parser = argparse.ArgumentParser(prog="python -m orchestrator.bench.aggregation")
    parser.add_argument("folder", type=Path)
    memory = _PeakMemory()
    with RunDirectory.reopen(parser.parse_args().folder) as folder:
        expected = folder.read_model("expected-cells.json", ExpectedCells)
        totals, page = Totals(expected), PageBuilder("bench")
        junit, console = JunitBuilder("bench"), ConsoleTable()
        for trial in CountingRecords(expected, folder.trials):
            totals.add(trial)
            page.add(trial)
            junit.add(trial)
            console.add(trial)
        result = totals.result()
    memory.end()
    counted = sum(sum(cell.verdicts.values()) for cell in result.cells)
    answer = {
        "trials": counted,
        "first_bytes": memory.first_bytes,
        "peak_bytes": memory.peak_bytes,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
