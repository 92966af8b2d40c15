"""What a person sees while a run goes on: what runs now, the rate, the time left (DESIGN §1)."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence

import structlog
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from orchestrator.campaign.sink import Progress
from orchestrator.model import TrialRecord, Verdict

__all__ = ["LineProgress", "LiveProgress", "progress_for"]

_RATE_WINDOW_SECONDS = 60.0
_LINE_SECONDS = 10.0


class _Counting:
    """Trials done, by verdict, and how fast they end."""

    def __init__(self) -> None:
        self.total = 0
        self.verdicts: Counter[Verdict] = Counter()
        self.vendor_failures = 0
        self._began = time.monotonic()
        self._ended: deque[tuple[float, int]] = deque()

    def begin(self, total: int) -> None:
        self.total = total
        self._began = time.monotonic()

    @property
    def done(self) -> int:
        return self.verdicts.total()

    def add(self, trials: Sequence[TrialRecord]) -> None:
        self.verdicts.update(trial.verdict for trial in trials)
        self.vendor_failures += sum(
            trial.verdict is Verdict.FAIL and trial.subject == "vendor" for trial in trials
        )
        self._ended.append((time.monotonic(), len(trials)))

    def rate_per_second(self) -> float:
        now = time.monotonic()
        while self._ended and now - self._ended[0][0] > _RATE_WINDOW_SECONDS:
            self._ended.popleft()
        # From a moment that no batch chose: many end at once, and then none for a while.
        span = max(1.0, min(_RATE_WINDOW_SECONDS, now - self._began))
        return sum(count for _, count in self._ended) / span

    def left(self) -> str:
        rate = self.rate_per_second()
        if not rate:
            return "?"
        seconds = (self.total - self.done) / rate
        return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


class LineProgress:
    """Lines of JSON on stderr, for CI and pipes: one each ten seconds and one each note."""

    def __init__(self) -> None:
        self._count = _Counting()
        self._lock = threading.Lock()
        self._said = 0.0
        self._closed = False
        # Not the process's logger: that one writes into the run's folder.
        self._log = structlog.wrap_logger(
            structlog.PrintLogger(sys.stderr),
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(),
            ],
        )

    def planned(self, trials: int) -> None:
        """See `sink.Progress`."""
        self._count.begin(trials)
        self._log.info("planned", trials=trials)

    def running(self, lane: str, what: str) -> None:
        """See `sink.Progress`."""
        # A line for each batch would drown the others; the run's own log has them.

    def finished(self, trials: Sequence[TrialRecord]) -> None:
        """See `sink.Progress`."""
        with self._lock:
            self._count.add(trials)
            if time.monotonic() - self._said < _LINE_SECONDS:
                return
            self._said = time.monotonic()
            self._tell()

    def note(self, text: str) -> None:
        """See `sink.Progress`."""
        self._log.info("note", text=text)

    def close(self) -> None:
        """See `sink.Progress`; says once more where a run stands that came to have a plan."""
        if self._count.total and not self._closed:
            self._closed = True
            self._tell()

    def _tell(self) -> None:
        count = self._count
        self._log.info(
            "progress",
            done=count.done,
            of=count.total,
            trials_per_second=round(count.rate_per_second(), 1),
            left=count.left(),
            vendor_failures=count.vendor_failures,
        )


class LiveProgress:
    """A live display for a terminal."""

    def __init__(self, console: Console) -> None:
        self._count = _Counting()
        self._lock = threading.Lock()
        self._lanes: dict[str, str] = {}
        self._console = console
        self._live = Live(console=console, refresh_per_second=4, get_renderable=self._render)
        self._live.start()

    def planned(self, trials: int) -> None:
        """See `sink.Progress`."""
        self._count.begin(trials)

    def running(self, lane: str, what: str) -> None:
        """See `sink.Progress`."""
        with self._lock:
            self._lanes[lane] = what

    def finished(self, trials: Sequence[TrialRecord]) -> None:
        """See `sink.Progress`."""
        with self._lock:
            self._count.add(trials)

    def note(self, text: str) -> None:
        """See `sink.Progress`."""
        self._console.print(escape(text))

    def close(self) -> None:
        """See `sink.Progress`."""
        self._live.stop()

    def _render(self) -> Table:
        with self._lock:
            count = self._count
            table = Table.grid(padding=(0, 2))
            table.add_row(
                f"{count.done} of {count.total} trials",
                f"{count.rate_per_second():.1f} a second",
                f"{count.left()} left",
                f"[red]{count.vendor_failures} failed[/]" if count.vendor_failures else "",
            )
            for lane, what in sorted(self._lanes.items()):
                table.add_row(f"[dim]{escape(lane)}[/]", escape(what))
            return table


def progress_for(*, lines: bool) -> Progress:
    """A live display on a terminal, lines elsewhere or when asked for."""
    if lines or not sys.stderr.isatty():
        return LineProgress()
    return LiveProgress(Console(stderr=True))
