"""What the checkpoints read of a story, whatever model it comes in (STORIES.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

__all__ = [
    "ExpectedAdaptation",
    "ExpectedBatch",
    "ExpectedQuestion",
    "ExpectedStory",
    "ExpectedTemporal",
]


class ExpectedTemporal(Protocol):
    """A time that a turn names."""

    @property
    def text(self) -> str:
        """The words of the turn."""

    @property
    def resolves_to(self) -> str:
        """YYYY-MM-DD or YYYY-MM-DDTHH:MM."""

    @property
    def status(self) -> str:
        """past, active or upcoming, seen from the turn."""


class ExpectedAdaptation(Protocol):
    """The feeling of a turn."""

    @property
    def emotion_detected(self) -> str:
        """Its name, of the closed list."""

    @property
    def warmth_direction(self) -> str:
        """increase, decrease or neutral."""


class ExpectedBatch(Protocol):
    """One turn with what is expected of it; what is None or empty is not scored."""

    @property
    def user_input(self) -> str:
        """What the person said."""

    @property
    def expected_type(self) -> str | None:
        """CP1."""

    @property
    def expected_stores(self) -> Sequence[str]:
        """CP2."""

    @property
    def expected_tags(self) -> Mapping[str, str]:
        """CP4."""

    @property
    def expected_temporal(self) -> Sequence[ExpectedTemporal]:
        """CP9."""

    @property
    def expected_adaptation(self) -> ExpectedAdaptation | None:
        """CP10."""


class ExpectedQuestion(Protocol):
    """One question with what is expected of its answer."""

    @property
    def expected_type(self) -> str | None:
        """CP5; limits of words depend on it."""

    @property
    def expected_contains(self) -> Sequence[str]:
        """CP8: all of these."""

    @property
    def must_not_contain(self) -> Sequence[str]:
        """CP8 strict: none of these."""

    @property
    def min_facts(self) -> int | None:
        """CP7."""


class ExpectedStory(Protocol):
    """What a person told, with what is expected of it."""

    @property
    def batches(self) -> Sequence[ExpectedBatch]:
        """Its turns, in order."""
