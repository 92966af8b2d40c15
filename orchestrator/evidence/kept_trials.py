"""trials.jsonl as an index: where each trial's record stands, not what all of them say."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from orchestrator.evidence.bundle import Bundle
from orchestrator.evidence.slim import slim
from orchestrator.model import TrialRecord

__all__ = ["KeptTrials"]


class KeptTrials:
    """The kept records of a bundle by trial id; use as a context manager.

    A trial that was cut off between its records is run again when the run is resumed, and then has
    two: the evidence in the bundle is the last one's.

    Raises:
        EvidenceError: trials.jsonl cannot be read.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._superseded: list[TrialRecord] = []
        offset = 0
        self._file = (
            (bundle.root / "trials.jsonl").open("rb") if bundle.has("trials.jsonl") else None
        )
        try:
            for line in bundle.trials():
                length = len(line.text.encode())
                trial_id = line.record.trial_id
                if trial_id in self._places:
                    self._superseded.append(slim(self.last(trial_id)))
                self._places[trial_id] = (offset, length)
                offset += length + 1
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> KeptTrials:
        """Return this index."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    @property
    def superseded(self) -> tuple[TrialRecord, ...]:
        """Earlier records of trials that have a later one, in order, without what held."""
        return tuple(self._superseded)

    def trial_ids(self) -> Iterator[str]:
        """Every trial, in the order of its first record."""
        yield from self._places

    def last_text(self, trial_id: str) -> str | None:
        """The last line of a trial; None when there is none."""
        place = self._places.get(trial_id)
        if place is None or self._file is None:
            return None
        offset, length = place
        self._file.seek(offset)
        return self._file.read(length).decode()

    def last(self, trial_id: str) -> TrialRecord:
        """The last record of a trial.

        Raises:
            KeyError: There is none.
        """
        text = self.last_text(trial_id)
        if text is None:
            raise KeyError(trial_id)
        return TrialRecord.model_validate_json(text)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._file is not None:
            self._file.close()
