"""Whether the parts of one story agree with each other: turns, times, verbatim strings, sizes.

Each check yields what it finds, so one mistake hides no other. Questions are `lint_questions`'.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from orchestrator.suites.narrative.date_checks import contradictions, resolved, status_for
from orchestrator.suites.narrative.english import (
    english_words,
    foreign_share,
    function_share,
    words,
)
from orchestrator.suites.narrative.events import short
from orchestrator.suites.narrative.findings import Rule, Severity
from orchestrator.suites.narrative.stories import (
    ID_BYTES_MAX,
    TURN_BYTES_MAX,
    Batch,
    Form,
    Story,
)
from orchestrator.suites.narrative.story_clock import iso_local
from orchestrator.suites.narrative.vocabulary import Pattern, QuestionType, TurnType

__all__ = ["Remark", "StoryPath", "lint_turns"]

StoryPath = tuple[str | int, ...]

_TURNS_USUAL = range(5, 13)
# Below this, too few words to tell a language by; English prose has half function words.
_LANGUAGE_WORDS_MIN = 15
_ENGLISH_SHARE_MIN = 0.1
# Words that only English has: a short story has three different ones, a foreign one hardly two.
_ENGLISH_WORDS_MIN = 3
_TURN_WORDS_MIN = 40
_FOREIGN_SHARE_MAX = 0.5
_TELLS = (TurnType.STATEMENT, TurnType.UPDATE)


@dataclass(frozen=True)
class Remark:
    """What is wrong at a place of a story.

    Attributes:
        place: Path of fields and indexes in the story.
        severity: Whether the story can be used as it is.
        rule: What was looked at.
        message: What is wrong.
    """

    place: StoryPath
    severity: Severity
    rule: Rule
    message: str


def lint_turns(story: Story) -> Iterator[Remark]:
    """What is wrong with a story apart from its questions."""
    yield from _whole(story)
    yield from _language(story)
    last: datetime | None = None
    for index, turn in enumerate(story.batches):
        place: StoryPath = ("batches", index)
        moment = iso_local(turn.time)
        if moment is None:
            message = f"the time {short(turn.time)} is no local YYYY-MM-DDTHH:MM"
            yield Remark((*place, "time"), Severity.ERROR, Rule.TIME, message)
        elif last and moment < last:
            message = f"the time goes back, from {last.isoformat(timespec='minutes')}"
            yield Remark((*place, "time"), Severity.ERROR, Rule.ORDER, message)
        last = moment or last
        if turn.batch != index + 1:
            message = f"turn {index + 1} has the number {turn.batch}"
            severity = Severity.ERROR if story.form is Form.SUPERSET else Severity.WARNING
            yield Remark((*place, "batch"), severity, Rule.ORDER, message)
        yield from _text(turn, place)
        yield from _verbatim(story, turn, place)
        yield from _stores(story, turn, place)
        if moment:
            yield from _times(turn, place, moment)


def _whole(story: Story) -> Iterator[Remark]:
    for name, text in (("story_id", story.story_id), ("narrator", story.speaker)):
        size = len(text.encode())
        if size > ID_BYTES_MAX:
            message = f"{name} has {size:,} bytes of at most {ID_BYTES_MAX}"
            yield Remark((name,), Severity.ERROR, Rule.SIZE, message)
    count = len(story.batches)
    if story.total_batches is not None and story.total_batches != count:
        message = f"total_batches is {story.total_batches}, there are {count}"
        yield Remark(("total_batches",), Severity.ERROR, Rule.COUNT, message)
    if story.form is Form.PUBLISHED:
        return
    if count not in _TURNS_USUAL:
        message = f"{count} turns; a story has {_TURNS_USUAL[0]} to {_TURNS_USUAL[-1]}"
        yield Remark(("batches",), Severity.WARNING, Rule.COUNT, message)
    if len({turn.time[:10] for turn in story.batches}) < 2:
        message = "all turns are of one day; a story lasts two at least"
        yield Remark(("batches",), Severity.WARNING, Rule.COUNT, message)
    if not story.patterns:
        yield Remark(("patterns",), Severity.ERROR, Rule.PATTERNS, "no patterns")
    yield from _claimed(story)


def _claimed(story: Story) -> Iterator[Remark]:
    """Patterns that a story names and that nothing in it shows."""
    kinds = {turn.expected_type for turn in story.batches}
    asked = {question.expected_type for question in story.questions}
    trap = TurnType.GENERAL_KNOWLEDGE in kinds or QuestionType.GENERAL_KNOWLEDGE in asked
    shown = {
        Pattern.TEMPORAL_UPDATE: TurnType.UPDATE in kinds,
        Pattern.GENERAL_KNOWLEDGE_TRAP: trap,
        Pattern.EMOTIONAL_OVERLAY: any(turn.expected_adaptation for turn in story.batches),
    }
    for pattern in sorted(set(story.patterns)):
        if not shown.get(pattern, True):
            message = f"{pattern} is named, and no turn or question is marked as one"
            yield Remark(("patterns",), Severity.WARNING, Rule.PATTERNS, message)
    if len(set(story.patterns)) < len(story.patterns):
        yield Remark(("patterns",), Severity.WARNING, Rule.PATTERNS, "a pattern is named twice")


def _language(story: Story) -> Iterator[Remark]:
    """A story as a whole: single turns may be too short to tell."""
    told = " ".join(turn.user_input for turn in story.batches)
    asked = " ".join(question.question for question in story.questions)
    for name, text in (("batches", told), ("questions", asked)):
        many = len(words(text)) >= _LANGUAGE_WORDS_MIN
        if many and len(english_words(text)) < _ENGLISH_WORDS_MIN:
            message = f"the {name} do not look like English: hardly any words that are only its own"
            yield Remark((name,), Severity.WARNING, Rule.LANGUAGE, message)


def _text(turn: Batch, place: StoryPath) -> Iterator[Remark]:
    place = (*place, "user_input")
    size = len(turn.user_input.encode())
    if size > TURN_BYTES_MAX:
        message = f"the turn has {size:,} bytes; the contract takes {TURN_BYTES_MAX:,}"
        yield Remark(place, Severity.ERROR, Rule.SIZE, message)
        return
    if not unicodedata.is_normalized("NFC", turn.user_input):
        message = "the text is not in NFC, so that equal words may differ in bytes"
        yield Remark(place, Severity.WARNING, Rule.LANGUAGE, message)
    count = len(words(turn.user_input))
    without = count >= _LANGUAGE_WORDS_MIN and function_share(turn.user_input) < _ENGLISH_SHARE_MIN
    if without or (count >= _TURN_WORDS_MIN and not english_words(turn.user_input)):
        message = "this does not look like English: hardly any function words of it"
        yield Remark(place, Severity.WARNING, Rule.LANGUAGE, message)
    elif foreign_share(turn.user_input) > _FOREIGN_SHARE_MAX:
        message = "most letters are of another script than Latin"
        yield Remark(place, Severity.WARNING, Rule.LANGUAGE, message)


def _verbatim(story: Story, turn: Batch, place: StoryPath) -> Iterator[Remark]:
    # Published stories expect `Wednesday 10 AM` where the turn has the two apart.
    severity = Severity.ERROR if story.form is Form.SUPERSET else Severity.WARNING
    named: list[tuple[StoryPath, str]] = [
        *((("expected_stores", n), text) for n, text in enumerate(turn.expected_stores)),
        *((("expected_tags", text), text) for text in turn.expected_tags),
        *((("expected_temporal", n, "text"), t.text) for n, t in enumerate(turn.expected_temporal)),
    ]
    for inside, text in named:
        if text not in turn.user_input:
            at = turn.user_input.casefold().find(text.casefold())
            other = turn.user_input[at : at + len(text)]
            hint = f"; it has {short(other)}" if at >= 0 and other.strip() else ""
            message = f"{inside[0]}: {short(text)} is not verbatim in the turn{hint}"
            yield Remark((*place, *inside), severity, Rule.VERBATIM, message)


def _stores(story: Story, turn: Batch, place: StoryPath) -> Iterator[Remark]:
    if story.form is Form.PUBLISHED:
        return
    tells = turn.expected_type in _TELLS
    if tells and not turn.expected_stores:
        message = f"a turn of type {turn.expected_type} has no expected_stores"
        yield Remark(place, Severity.ERROR, Rule.FIELDS, message)
    if turn.expected_stores and not tells:
        message = f"a turn of type {turn.expected_type} has expected_stores"
        yield Remark((*place, "expected_stores"), Severity.ERROR, Rule.FIELDS, message)


def _times(turn: Batch, place: StoryPath, moment: datetime) -> Iterator[Remark]:
    for index, time in enumerate(turn.expected_temporal):
        inside: StoryPath = (*place, "expected_temporal", index)
        meant = resolved(time.resolves_to)
        if meant is None:
            message = f"resolves_to {short(time.resolves_to)} is no day: YYYY-MM-DD or with THH:MM"
            yield Remark((*inside, "resolves_to"), Severity.ERROR, Rule.DATES, message)
            continue
        if meant.date() != moment.date():
            status = status_for(meant.date(), moment.date())
            if time.status is not status:
                message = f"{short(time.text)}: the status is {status}, not {time.status}"
                yield Remark((*inside, "status"), Severity.ERROR, Rule.DATES, message)
        for message in contradictions(time.text, meant.date(), moment.date()):
            yield Remark((*inside, "resolves_to"), Severity.WARNING, Rule.DATES, message)
