"""What the undisturbed answers of a cell's trials amount to.

Answers that are alike, or that give nothing of others away, show nothing where nothing is answered.
A weak memory may well answer nothing of one story; so all trials of a job are looked at together,
and a property's trials of one cell are one job.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Tally"]


@dataclass
class Tally:
    """Undisturbed answers to questions that expect something of what was told.

    Attributes:
        asked: Such questions.
        answered: Those that were not declined.
        found: Those whose answer holds all that was expected (CP8 as published).
    """

    asked: int = 0
    answered: int = 0
    found: int = 0

    def add(self, *, declined: bool, found: bool) -> None:
        """Count an answer."""
        self.asked += 1
        self.answered += not declined
        self.found += found
