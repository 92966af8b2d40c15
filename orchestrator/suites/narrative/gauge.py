"""Collects the checkpoints of one trial, and tells them as figures that a report can add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memqual.v1 import narrative_pb2
from orchestrator.model import Figure
from orchestrator.suites.integrity.checks import printable
from orchestrator.suites.narrative.checkpoints import (
    Checkpoint,
    Point,
    not_held,
    reading_points,
)
from orchestrator.suites.narrative.stories import Question, Story

__all__ = ["AskedFigure", "Gauge", "rate_of", "read_asked"]

_ASKED = "asked "
_SEEN_CHARACTERS = 300
_YES, _NO, _NOT_SCORED = "yes", "no", "-"
_READ = (_YES, _NO)
_NOT_ASKED = (
    Point(Checkpoint.PUBLISHED, False, "not asked"),
    Point(Checkpoint.STRICT, False, "not asked"),
)


@dataclass(frozen=True)
class AskedFigure:
    """One question as a figure tells of it.

    Attributes:
        question_id: In its story.
        expected_type: What it asks for; `untyped` where the story does not say.
        published: CP8 as published.
        strict: CP8 strict; None of a published story, which cannot be read so.
        failed: The other checkpoints that it failed.
        seen: What was wrong with the answer; empty where it is right.
    """

    question_id: str
    expected_type: str
    published: bool
    strict: bool | None
    failed: tuple[str, ...]
    seen: str

    @property
    def right(self) -> bool:
        """Whether the answer is right by the reading that decides."""
        return self.published if self.strict is None else self.strict

    def figure(self) -> Figure:
        """As a trial's record holds it."""
        parts = (
            self.expected_type,
            _YES if self.published else _NO,
            _NOT_SCORED if self.strict is None else _YES if self.strict else _NO,
            ",".join(self.failed) or "-",
            self.seen,
        )
        return Figure(name=f"{_ASKED}{self.question_id}", value=" ".join(parts).rstrip())


@dataclass
class Gauge:
    """The checkpoints of one trial.

    Attributes:
        story: The story.
        owed: The questions that are to be asked; None: all of the story's.
    """

    story: Story
    owed: Sequence[Question] | None = None
    _points: list[Point] = field(default_factory=list)
    _asked: list[AskedFigure] = field(default_factory=list)
    _pending: dict[str, tuple[Point, ...]] = field(default_factory=dict)

    def owe(self, what: str, points: Iterable[Point]) -> None:
        """Points that are to come; where the trial breaks off before, they count as not held.

        Args:
            what: By which they are noted when they come.
            points: Of the checkpoints that are owed.
        """
        self._pending[what] = not_held(points)

    def note(self, points: Iterable[Point], what: str = "") -> None:
        """Points of turns, of storage, of predicted queries."""
        self._pending.pop(what, None)
        self._points.extend(points)

    def asked(self, question: Question, points: Sequence[Point]) -> None:
        """All points of one question; what its story cannot be scored by counts for nothing."""
        if not question.scored:
            return
        not_scored = self.story.not_scored
        counted = [point for point in points if point.checkpoint not in not_scored]
        self._points.extend(counted)
        held = {point.checkpoint: point.held for point in counted}
        beside = [
            point.checkpoint.value
            for point in counted
            if not point.held and point.checkpoint not in (Checkpoint.PUBLISHED, Checkpoint.STRICT)
        ]
        seen = [point.seen for point in counted if point.checkpoint is self.story.decided_by]
        self._asked.append(
            AskedFigure(
                question_id=question.question_id,
                expected_type=question.expected_type or "untyped",
                published=held[Checkpoint.PUBLISHED],
                strict=held.get(Checkpoint.STRICT),
                failed=tuple(beside),
                seen=printable("".join(seen), _SEEN_CHARACTERS),
            )
        )

    def unasked(self, *, traced: bool = False) -> None:
        """All that is owed counts as wrong: the trial broke off.

        Args:
            traced: The memory owes an account of its answers, too.
        """
        for what in list(self._pending):
            self.note(self._pending[what], what)
        known = {asked.question_id for asked in self._asked}
        for question in self.story.questions if self.owed is None else self.owed:
            if question.question_id not in known:
                trace = narrative_pb2.ReadTrace()
                read = reading_points(self.story, question, trace, {}) if traced else ()
                self.asked(question, (*not_held(read), *_NOT_ASKED))

    def figures(self) -> tuple[Figure, ...]:
        """What the trial's record tells: the story, each checkpoint, each question."""
        return tuple(self._figures()) if self._points else ()

    def _figures(self) -> Iterator[Figure]:
        yield Figure(name="story", value=self.story.story_id)
        yield Figure(name="round", value=self.story.round or "none")
        yield Figure(name="patterns", value=" ".join(self.story.patterns) or "none")
        held, counted = Counter[Checkpoint](), Counter[Checkpoint]()
        for point in self._points:
            counted[point.checkpoint] += 1
            held[point.checkpoint] += point.held
        for checkpoint in Checkpoint:
            if counted[checkpoint]:
                yield Figure(
                    name=checkpoint.value, value=f"{held[checkpoint]}/{counted[checkpoint]}"
                )
        for asked in self._asked:
            yield asked.figure()


def rate_of(figure: Figure) -> tuple[int, int]:
    """Held and counted of a checkpoint's figure.

    Raises:
        ValueError: It is no such figure.
    """
    held, _, counted = figure.value.partition("/")
    return int(held), int(counted)


def read_asked(figure: Figure) -> AskedFigure | None:
    """A question's figure; None for a figure of something else.

    Raises:
        ValueError: It is a question's, and not as `AskedFigure.figure` writes it.
    """
    if not figure.name.startswith(_ASKED):
        return None
    parts = figure.value.split(" ", 4)
    if len(parts) < 4 or parts[1] not in _READ or parts[2] not in (*_READ, _NOT_SCORED):
        raise ValueError(f"{figure.name} is no figure of a question")
    return AskedFigure(
        question_id=figure.name.removeprefix(_ASKED),
        expected_type=parts[0],
        published=parts[1] == _YES,
        strict=None if parts[2] == _NOT_SCORED else parts[2] == _YES,
        failed=() if parts[3] == "-" else tuple(parts[3].split(",")),
        seen=parts[4] if len(parts) > 4 else "",
    )
