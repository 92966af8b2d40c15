"""What a person sees while a run goes on: how much is done, how fast, how much is left."""

from __future__ import annotations

import io
import json
import threading
from typing import Any

import pytest
from rich.console import Console

from orchestrator.campaign import console
from orchestrator.campaign.console import LineProgress, LiveProgress, progress_for
from orchestrator.model import Verdict
from tests.orchestrator.campaign.fakes import trial


class Clock:
    """A monotonic clock that a test moves."""

    now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    monkeypatch.setattr(console, "time", moved)
    return moved


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_are_counted_by_verdict_and_told_at_most_every_ten_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = LineProgress()
    progress.planned(10)
    progress.finished([trial("vendor:1"), trial("vendor:2", Verdict.FAIL)])
    clock.now += 9
    progress.finished([trial("control:naive:1", Verdict.FAIL)])
    clock.now += 1
    progress.finished([trial("vendor:3", Verdict.ERROR)])
    told = _lines(capsys.readouterr().err)
    assert [line["event"] for line in told] == ["planned", "progress", "progress"]
    assert [(line["done"], line["of"]) for line in told[1:]] == [(2, 10), (4, 10)]
    # A control's failure is what it is there for.
    assert told[-1]["vendor_failures"] == 1
    # Four trials in ten seconds; the six others take fifteen.
    assert (told[-1]["trials_per_second"], told[-1]["left"]) == (0.4, "15 s")


def test_the_rate_forgets_what_is_long_ago(clock: Clock) -> None:
    progress = LineProgress()
    progress.planned(1_000)
    progress.finished([trial(f"vendor:{number}") for number in range(100)])
    clock.now += 61
    assert progress._count.rate_per_second() == 0.0
    assert progress._count.left() == "?"
    progress.finished([trial(f"vendor:{number}") for number in range(30)])
    # Thirty in the last minute, whenever in it they ended.
    assert progress._count.rate_per_second() == 0.5
    assert progress._count.left() == "29 min"
    clock.now += 59
    assert progress._count.rate_per_second() == 0.5


def test_the_end_is_told_once(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress()
    progress.close()
    assert capsys.readouterr().err == ""
    progress.planned(1)
    progress.running("a", "something")
    progress.close()
    progress.close()
    told = _lines(capsys.readouterr().err)
    assert [line["event"] for line in told] == ["planned", "progress"]


def test_notes_are_told_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    LineProgress().note('said "so"\n')
    assert [line["text"] for line in _lines(capsys.readouterr().err)] == ['said "so"\n']


def test_lanes_count_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress()
    progress.planned(800)

    def finish() -> None:
        for _ in range(200):
            progress.finished([trial("vendor:1")])

    lanes = [threading.Thread(target=finish) for _ in range(4)]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    progress.close()
    assert _lines(capsys.readouterr().err)[-1]["done"] == 800


def test_the_live_display_shows_every_lane_and_takes_no_text_for_markup(clock: Clock) -> None:
    shown = io.StringIO()
    progress = LiveProgress(Console(file=shown, width=120))
    progress.planned(3)
    progress.running("a", "vendor [red]cell[/]")
    progress.running("b", "control:null cell")
    progress.finished([trial("vendor:1", Verdict.FAIL)])
    progress.note("[bold]note[/]")
    progress.close()
    progress.close()
    text = shown.getvalue()
    assert "1 of 3 trials" in text
    assert "1 failed" in text
    assert "vendor [red]cell[/]" in text
    assert "control:null cell" in text
    assert "[bold]note[/]" in text


def test_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert isinstance(progress_for(lines=False), LineProgress)
    assert isinstance(progress_for(lines=True), LineProgress)
