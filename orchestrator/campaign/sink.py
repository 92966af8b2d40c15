"""Where finished work goes: durable first, then counted and shown."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from orchestrator.evidence.records import BatchEvidence
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import TrialRecord

__all__ = ["Progress", "Sink"]


class Progress(Protocol):
    """What a display is told; every method may be called from any lane's thread."""

    def planned(self, trials: int) -> None:
        """The run has this many trials still to do."""

    def running(self, lane: str, what: str) -> None:
        """A lane has begun something."""

    def finished(self, trials: Sequence[TrialRecord]) -> None:
        """Trials have ended and are durable."""

    def note(self, text: str) -> None:
        """Something that a person should know; shown once."""

    def close(self) -> None:
        """The run is over."""


class Sink:
    """Writes evidence and trials in the order that a crash can be resumed from.

    Args:
        folder: The run's folder.
        progress: The display.
    """

    def __init__(self, folder: RunDirectory, progress: Progress) -> None:
        self._folder = folder
        self._progress = progress
        self._lock = threading.Lock()

    @property
    def progress(self) -> Progress:
        """The run's display."""
        return self._progress

    def batch(self, evidence: BatchEvidence, trace: Sequence[str], journal: Sequence[str]) -> None:
        """Keep the raw evidence of one batch, its files first and its record last."""
        name = evidence.batch.batch_id
        self._folder.write_lines(f"traces/{name}.jsonl", trace)
        self._folder.write_lines(f"journals/{name}.jsonl", journal)
        self._folder.write_json(f"batches/{name}.json", evidence)

    def raw_lines(self, name: str, lines: Sequence[str]) -> None:
        """Keep raw records of another suite."""
        self._folder.write_lines(name, lines)

    def trials(self, trials: Sequence[TrialRecord]) -> None:
        """Keep trials whose raw evidence is kept already."""
        with self._lock:
            self._folder.append_trials(trials)
        self._progress.finished(trials)
