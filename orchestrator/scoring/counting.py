"""Which of a trial's records counts: its last one, or its first FAIL (DESIGN §7).

A trial that was cut off between its records is run again when the run is resumed, and has two.
Records are read one at a time, twice: first to see which of them count, then for whoever adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from orchestrator.model import TrialRecord, Verdict
from orchestrator.plan import ExpectedCells, PlannedPlaces

__all__ = ["CountingRecords", "latest_records"]

_MANY = 2


class CountingRecords:
    """The record that counts of each expected trial, in the order in which they stand.

    Args:
        expected: What was planned: a record of anything else never counts.
        read: Begins to read all records from the first one.

    Raises:
        EvidenceError: As `read`'s iterators.
    """

    def __init__(self, expected: ExpectedCells, read: Callable[[], Iterable[TrialRecord]]) -> None:
        self._read = read
        self._places = PlannedPlaces(expected)
        self._seen = [bytearray(len(group.sub_seeds)) for group in expected.groups]
        for record in read():
            place = self._places.of(record.trial_id)
            if place is not None:
                group, at = place
                self._seen[group][at] = min(self._seen[group][at] + 1, _MANY)
        # Only trials that were run again, so these are few.
        self._counting: dict[tuple[int, int], int] = {}
        self._settle_repeated()

    def __iter__(self) -> Iterator[TrialRecord]:
        """Read all records once more and yield those that count."""
        for line, record in enumerate(self._read()):
            place = self._places.of(record.trial_id)
            if place is not None and self._counting.get(place, line) == line:
                yield record

    def missing(self, expected: ExpectedCells) -> Iterator[str]:
        """Ids of the expected trials that have no record, in the order of the plan."""
        for group, seen in zip(expected.groups, self._seen, strict=True):
            for at, count in enumerate(seen):
                if not count:
                    yield f"{group.prefix}{group.first_number + at}"

    def _settle_repeated(self) -> None:
        if not any(_MANY in seen for seen in self._seen):
            return
        failed: set[tuple[int, int]] = set()
        for line, record in enumerate(self._read()):
            place = self._places.of(record.trial_id)
            if place is None or self._seen[place[0]][place[1]] < _MANY or place in failed:
                continue
            self._counting[place] = line
            if record.verdict is Verdict.FAIL:
                failed.add(place)


def latest_records(trials: Iterable[TrialRecord]) -> dict[str, TrialRecord]:
    """The record of each trial that counts, whatever was planned; for a few records in memory."""
    latest: dict[str, TrialRecord] = {}
    for trial in trials:
        before = latest.get(trial.trial_id)
        if before is None or before.verdict is not Verdict.FAIL:
            latest[trial.trial_id] = trial
    return latest
