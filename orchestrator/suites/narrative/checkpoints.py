"""The ten checkpoints of ATANT, as pure functions of a story and of what the memory said.

Fields and their reading: STORIES.md. A story says what is expected; the memory's traces, exports
and answers say what it did. CP8, the
answer, is scored twice: as published (every expected string is in it) and strictly (and nothing
that must not be in it, within the limit of words, general knowledge declined). What a story does
not expect yields no point, so it is in no denominator.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from memqual.v1 import narrative_pb2
from orchestrator.suites.narrative.expected import (
    ExpectedBatch,
    ExpectedQuestion,
    ExpectedStory,
    ExpectedTemporal,
)
from orchestrator.suites.narrative.texts import (
    any_holds,
    flat,
    holds,
    listed,
    overlap,
    words,
    words_told,
)

__all__ = [
    "CANDIDATES_COUNTED",
    "Checkpoint",
    "Point",
    "answer_points",
    "not_held",
    "nothing_predicted",
    "predicted_point",
    "reading_points",
    "storage_points",
    "words_allowed",
    "writing_points",
]

# CP6: the right fact must be among so many first candidates (STORIES.md).
CANDIDATES_COUNTED = 10
_WORDS_MAX = 25
_WORDS_MAX_OF_A_WHOLE = 150
_WHOLES = frozenset({"situation", "change"})
_DECLINED = "general_knowledge"
_NEUTRAL = "neutral"
# CP4: a tag on more than so many times the words of an expected text tags something else.
_SPAN_FACTOR_MAX = 4
_DATE_LENGTH = len("2026-03-14")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d)?")


class Checkpoint(StrEnum):
    """What is asked at each stage of a memory's way from a turn to an answer."""

    CLASSIFICATION = "cp1"
    STORAGE = "cp2"
    PREDICTION = "cp3"
    TAGGING = "cp4"
    QUERY = "cp5"
    MATCHING = "cp6"
    CONVERGENCE = "cp7"
    PUBLISHED = "cp8_published"
    STRICT = "cp8_strict"
    TEMPORAL = "cp9"
    ADAPTATION = "cp10"


@dataclass(frozen=True)
class Point:
    """One thing that was expected, and whether it was so.

    Attributes:
        checkpoint: Which checkpoint it counts for.
        held: Whether it was as expected.
        seen: What was seen in its place, for a person; empty where it held.
    """

    checkpoint: Checkpoint
    held: bool
    seen: str = ""


def writing_points(batch: ExpectedBatch, trace: narrative_pb2.WriteTrace) -> tuple[Point, ...]:
    """CP1, CP4, CP9 and CP10 of one turn."""
    return (
        *_classification(batch, trace),
        *_tags(batch, trace),
        *_times(batch, trace),
        *_adaptation(batch, trace),
    )


def storage_points(batch: ExpectedBatch, stored: Sequence[str]) -> tuple[Point, ...]:
    """CP2 of one turn: every expected string is held by some stored item.

    Args:
        batch: The turn.
        stored: The texts of all exported items that are no raw turns (`raw_turns`).
    """
    if not batch.expected_stores:
        return ()
    missing = [text for text in batch.expected_stores if not any_holds(stored, text)]
    return (Point(Checkpoint.STORAGE, not missing, listed(missing)),)


def predicted_point(fact_id: str, found: Iterable[Collection[str]]) -> Point:
    """CP3 of one fact: one of its predicted queries finds it.

    Args:
        fact_id: The fact.
        found: For each of its predicted queries that was asked, the candidates of the answer.
    """
    asked = list(found)
    held = any(fact_id in candidates for candidates in asked)
    return Point(Checkpoint.PREDICTION, held, "" if held else f"{len(asked)} predicted queries")


def nothing_predicted(story: ExpectedStory) -> tuple[Point, ...]:
    """CP3 of a story of which no fact is told of; none where nothing is to be stored."""
    stored = any(batch.expected_stores for batch in story.batches)
    return (Point(Checkpoint.PREDICTION, False, "no fact"),) if stored else ()


def not_held(points: Iterable[Point]) -> tuple[Point, ...]:
    """The same points where there was nothing to hold them."""
    return tuple(Point(point.checkpoint, False, "not played") for point in points)


def reading_points(
    story: ExpectedStory,
    question: ExpectedQuestion,
    trace: narrative_pb2.ReadTrace,
    facts: Mapping[str, str],
    own: Mapping[str, str] | None = None,
) -> tuple[Point, ...]:
    """CP5, CP6 and CP7 of one question.

    Args:
        story: The story that it belongs to.
        question: What is expected.
        trace: The memory's own account of how it found the answer.
        facts: The text of every fact that the memory said it stored, by id.
        own: Those of them that the story's speaker told; None: all.
    """
    return (
        *_query_class(question, trace),
        *_matching(story, question, trace, facts),
        *_convergence(story, question, trace, facts if own is None else own),
    )


def answer_points(
    question: ExpectedQuestion, answer: narrative_pb2.Answer, foreign: Sequence[str] = ()
) -> tuple[Point, Point]:
    """CP8 of one question, as published and strict.

    Args:
        question: What is expected.
        answer: What was answered.
        foreign: What of other speakers it tells, where none of that may appear.
    """
    missing = [text for text in question.expected_contains if not holds(answer.text, text)]
    published = Point(
        Checkpoint.PUBLISHED, not missing, "" if not missing else f"lacks {listed(missing)}"
    )
    wrongs = [published.seen, *_strict_wrongs(question, answer)]
    if foreign:
        wrongs.append(f"tells of another speaker: {listed(foreign)}")
    told = "; ".join(wrong for wrong in wrongs if wrong)
    return published, Point(Checkpoint.STRICT, not told, told)


def words_allowed(expected_type: str | None) -> int:
    """How many words a strict answer may have: 25, or 150 for a situation or a change."""
    return _WORDS_MAX_OF_A_WHOLE if expected_type in _WHOLES else _WORDS_MAX


def _strict_wrongs(question: ExpectedQuestion, answer: narrative_pb2.Answer) -> Iterator[str]:
    forbidden = [text for text in question.must_not_contain if holds(answer.text, text)]
    if forbidden:
        yield f"holds {listed(forbidden)}"
    told, most = words_told(answer.text), words_allowed(question.expected_type)
    if told > most:
        yield f"{told} words of at most {most}"
    if question.expected_type == _DECLINED and not answer.declined:
        yield "not declined"


def _classification(batch: ExpectedBatch, trace: narrative_pb2.WriteTrace) -> Iterator[Point]:
    if batch.expected_type is not None:
        seen = _enum_word(narrative_pb2.TurnClass.Name(trace.classification), "TURN_CLASS_")
        yield _equal(Checkpoint.CLASSIFICATION, batch.expected_type, seen)


def _tags(batch: ExpectedBatch, trace: narrative_pb2.WriteTrace) -> Iterator[Point]:
    """CP4: the tag that is nearest to an expected text decides, and must be of one type."""
    for text, expected in batch.expected_tags.items():
        widest = _SPAN_FACTOR_MAX * len(words(text))
        spans = [tag for tag in trace.tags if len(words(tag.text)) <= widest]
        seen = {tag.type for tag in _nearest(text, spans)}
        held = seen == {str(expected)}
        told = f"{text!r} is {expected}, seen as {listed(sorted(seen)) or 'nothing'}"
        yield Point(Checkpoint.TAGGING, held, "" if held else told)


class _Span(Protocol):
    """What a trace says of some words of a turn."""

    @property
    def text(self) -> str:
        """The words."""


_SpanT = TypeVar("_SpanT", bound=_Span)


def _nearest(text: str, spans: Iterable[_SpanT]) -> list[_SpanT]:
    """The spans that have most in common with a text: its own words first, then what is nearest.

    A span has something in common with a text only where one holds the other.
    """
    shares = [(overlap(span.text, text), span) for span in spans]
    most = max((share for share, _ in shares), default=0.0)
    return [span for share, span in shares if share and share == most]


def _times(batch: ExpectedBatch, trace: narrative_pb2.WriteTrace) -> Iterator[Point]:
    """CP9: the nearest reference has the day and its status, one beside it may have the minute.

    Words that a turn says once have one meaning: guesses count for nothing.
    """
    for expected in batch.expected_temporal:
        about = [time for time in trace.temporal if overlap(time.text, expected.text)]
        nearest = _nearest(expected.text, about)
        held = (
            any(_is_day(expected, time) for time in nearest)
            and any(_is_time(expected, time) for time in about)
            and not any(_guessed(batch, time.text, trace) for time in about)
        )
        seen = [f"{time.text!r} {time.resolves_to} {_status(time)}" for time in about]
        wanted = f"{expected.text!r} is {expected.resolves_to} {expected.status}"
        told = "" if held else f"{wanted}, seen {listed(seen) or 'nothing'}"
        yield Point(Checkpoint.TEMPORAL, held, told)


def _guessed(batch: ExpectedBatch, text: str, trace: narrative_pb2.WriteTrace) -> bool:
    """Whether the same words are given more meanings than the turn says them times."""
    said = words(text)
    about = [time for time in trace.temporal if words(time.text) == said]
    days = {(time.resolves_to[:_DATE_LENGTH], time.status) for time in about}
    minutes = {time.resolves_to for time in about if len(time.resolves_to) > _DATE_LENGTH}
    turn = words(batch.user_input)
    times = sum(turn[at : at + len(said)] == said for at in range(len(turn)))
    return max(len(days), len(minutes)) > max(times, 1)


def _is_day(expected: ExpectedTemporal, seen: narrative_pb2.TemporalReference) -> bool:
    same = seen.resolves_to[:_DATE_LENGTH] == expected.resolves_to[:_DATE_LENGTH]
    return same and _status(seen) == expected.status


def _is_time(expected: ExpectedTemporal, seen: narrative_pb2.TemporalReference) -> bool:
    """Whether a time is the expected one; a minute more than was expected does no harm."""
    same = seen.resolves_to == expected.resolves_to or (
        len(expected.resolves_to) == _DATE_LENGTH
        and seen.resolves_to[:_DATE_LENGTH] == expected.resolves_to
    )
    return same and _status(seen) == expected.status


def _status(time: narrative_pb2.TemporalReference) -> str:
    return _enum_word(narrative_pb2.TemporalStatus.Name(time.status), "TEMPORAL_STATUS_")


def _adaptation(batch: ExpectedBatch, trace: narrative_pb2.WriteTrace) -> Iterator[Point]:
    expected = batch.expected_adaptation
    if expected is None:
        return
    name = narrative_pb2.WarmthDirection.Name(trace.emotion.warmth_direction)
    warmth = _enum_word(name, "WARMTH_DIRECTION_")
    if not trace.HasField("emotion"):
        warmth = _NEUTRAL
    seen = f"{trace.emotion.name or _NEUTRAL} {warmth}"
    wanted = f"{expected.emotion_detected} {expected.warmth_direction}"
    yield _equal(Checkpoint.ADAPTATION, wanted, seen)


def _query_class(question: ExpectedQuestion, trace: narrative_pb2.ReadTrace) -> Iterator[Point]:
    if question.expected_type is not None:
        seen = _enum_word(narrative_pb2.QueryClass.Name(trace.query_class), "QUERY_CLASS_")
        yield _equal(Checkpoint.QUERY, question.expected_type, seen)


def _matching(
    story: ExpectedStory,
    question: ExpectedQuestion,
    trace: narrative_pb2.ReadTrace,
    facts: Mapping[str, str],
) -> Iterator[Point]:
    """CP6: the first candidates hold every expected string; of a date its words are enough."""
    if not question.expected_contains:
        return
    first = [facts.get(fact_id, "") for fact_id in trace.candidate_fact_ids[:CANDIDATES_COUNTED]]
    missing = _missing(story, question, first)
    yield Point(Checkpoint.MATCHING, not missing, listed(missing))


def _missing(story: ExpectedStory, question: ExpectedQuestion, facts: Sequence[str]) -> list[str]:
    """The expected strings that no fact holds in any form."""
    return [
        text
        for text in question.expected_contains
        if not any(any_holds(facts, form) for form in _forms(story, text))
    ]


def _forms(story: ExpectedStory, text: str) -> Iterator[str]:
    """An expected string, and of a date the words of the turns that meant it."""
    yield text
    if _ISO.fullmatch(text):
        for batch in story.batches:
            for time in batch.expected_temporal:
                if time.resolves_to[: len(text)] == text:
                    yield time.text


def _convergence(
    story: ExpectedStory,
    question: ExpectedQuestion,
    trace: narrative_pb2.ReadTrace,
    own: Mapping[str, str],
) -> Iterator[Point]:
    """CP7: of what the answer joins only candidates count that the speaker told; all is in them.

    Facts that the memory never said it stored count for nothing, nor do repeats.
    """
    if question.min_facts is None:
        return
    candidates = set(trace.candidate_fact_ids)
    joined = {
        flat(own[it]): own[it] for it in trace.converged_fact_ids if it in own and it in candidates
    }
    told = f"{len(joined)} facts of at least {question.min_facts}"
    missing = _missing(story, question, list(joined.values()))
    if missing:
        told = f"{told}, without {listed(missing)}"
    held = len(joined) >= question.min_facts and not missing
    yield Point(Checkpoint.CONVERGENCE, held, "" if held else told)


def _equal(checkpoint: Checkpoint, expected: str, seen: str) -> Point:
    held = str(expected) == seen
    return Point(checkpoint, held, "" if held else f"{expected} seen as {seen}")


def _enum_word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower()
