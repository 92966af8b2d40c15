"""Whether a story's questions can be asked and scored: ids, expected strings, forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.suites.narrative.checkpoints import words_allowed
from orchestrator.suites.narrative.date_checks import resolved
from orchestrator.suites.narrative.events import short
from orchestrator.suites.narrative.findings import Rule, Severity
from orchestrator.suites.narrative.lint_story import Remark, StoryPath
from orchestrator.suites.narrative.stories import (
    ID_BYTES_MAX,
    QUESTION_BYTES_MAX,
    Form,
    Question,
    Story,
)
from orchestrator.suites.narrative.texts import words_told
from orchestrator.suites.narrative.vocabulary import QuestionType

__all__ = ["lint_questions"]

_USUAL = range(7, 13)
_EXPECTED_WORDS_MAX = 6


def lint_questions(story: Story) -> Iterator[Remark]:
    """What is wrong with a story's questions."""
    if not story.questions:
        yield Remark(("questions",), Severity.ERROR, Rule.COUNT, "no questions")
        return
    if story.form is Form.SUPERSET and len(story.questions) not in _USUAL:
        message = f"{len(story.questions)} questions; a story has {_USUAL[0]} to {_USUAL[-1]}"
        yield Remark(("questions",), Severity.WARNING, Rule.COUNT, message)
    told = "\n".join(turn.user_input for turn in story.batches).casefold()
    dates = {time.resolves_to for turn in story.batches for time in turn.expected_temporal}
    seen: dict[str, int] = {}
    for index, question in enumerate(story.questions):
        place: StoryPath = ("questions", index)
        if question.question_id in seen:
            message = f"question_id {short(question.question_id)} stands twice in the story"
            yield Remark((*place, "question_id"), Severity.ERROR, Rule.IDS, message)
        seen[question.question_id] = index
        yield from _sizes(question, place)
        yield from _expected(story, question, place, told, dates)
        yield from _forbidden(question, place)
        if story.form is Form.SUPERSET:
            yield from _kind(story, question, place)


def _sizes(question: Question, place: StoryPath) -> Iterator[Remark]:
    limits = (
        ("question_id", question.question_id, ID_BYTES_MAX),
        ("question", question.question, QUESTION_BYTES_MAX),
        ("question_open", question.question_open or "", QUESTION_BYTES_MAX),
    )
    for name, text, most in limits:
        size = len(text.encode())
        if size > most:
            message = f"{name} has {size:,} bytes of at most {most:,}"
            yield Remark((*place, name), Severity.ERROR, Rule.SIZE, message)


def _expected(
    story: Story, question: Question, place: StoryPath, told: str, dates: set[str]
) -> Iterator[Remark]:
    ours = story.form is Form.SUPERSET
    declined = question.expected_type is QuestionType.GENERAL_KNOWLEDGE
    inside = (*place, "expected_contains")
    if declined and question.expected_contains:
        message = "a general-knowledge question is to be declined: it expects nothing"
        yield Remark(inside, Severity.ERROR, Rule.ANSWERS, message)
    if not question.scored:
        message = "expected_contains is empty: any answer would pass" + (
            "" if ours else ", so it is asked and not scored"
        )
        yield Remark(inside, Severity.ERROR if ours else Severity.WARNING, Rule.ANSWERS, message)
    for index, text in enumerate(question.expected_contains):
        if text.casefold() not in told and not _is_date(text, dates):
            message = f"{short(text)} is neither in the story nor a date that it resolves to"
            severity = Severity.ERROR if ours else Severity.WARNING
            yield Remark((*inside, index), severity, Rule.VERBATIM, message)
        if len(text.split()) > _EXPECTED_WORDS_MAX:
            message = f"{short(text)} is long; expect the shortest telling words"
            yield Remark((*inside, index), Severity.WARNING, Rule.ANSWERS, message)
        if len(text) == 1:
            message = f"{short(text)} is in too many answers to tell a right one"
            yield Remark((*inside, index), Severity.WARNING, Rule.ANSWERS, message)
        if text.casefold() in question.question.casefold():
            message = f"the question itself tells {short(text)}"
            yield Remark((*inside, index), Severity.WARNING, Rule.ANSWERS, message)
    yield from _padded(question.expected_contains, inside)
    count = sum(map(words_told, question.expected_contains))
    most = words_allowed(question.expected_type)
    if count > most:
        message = f"{count} words are expected of an answer that may have {most}"
        yield Remark(inside, Severity.ERROR, Rule.ANSWERS, message)


def _is_date(text: str, dates: set[str]) -> bool:
    return resolved(text) is not None and any(date[: len(text)] == text for date in dates)


def _padded(texts: Sequence[str], inside: StoryPath) -> Iterator[Remark]:
    for index, text in enumerate(texts):
        if text != text.strip():
            message = f"{short(text)} is compared without its outer blanks, within words, too"
            yield Remark((*inside, index), Severity.WARNING, Rule.ANSWERS, message)


def _forbidden(question: Question, place: StoryPath) -> Iterator[Remark]:
    yield from _padded(question.must_not_contain, (*place, "must_not_contain"))
    asked = f"{question.question}\n{question.question_open or ''}".casefold()
    for index, text in enumerate(question.must_not_contain):
        if text.casefold() in asked:
            message = f"must_not_contain {short(text)} is in the question: an echo of it would fail"
            inside = (*place, "must_not_contain", index)
            yield Remark(inside, Severity.WARNING, Rule.ANSWERS, message)
        for expected in question.expected_contains:
            if text.casefold() in expected.casefold():
                message = (
                    f"must_not_contain {short(text)} is part of the expected {short(expected)}"
                )
                inside = (*place, "must_not_contain", index)
                yield Remark(inside, Severity.ERROR, Rule.ANSWERS, message)


def _kind(story: Story, question: Question, place: StoryPath) -> Iterator[Remark]:
    kind = question.expected_type
    if kind is QuestionType.SITUATION and question.min_facts is None:
        message = "a question of type situation has no min_facts"
        yield Remark(place, Severity.ERROR, Rule.FIELDS, message)
    if kind is not QuestionType.SITUATION and question.min_facts is not None:
        message = f"min_facts on a question of type {kind}: only a situation joins facts"
        yield Remark((*place, "min_facts"), Severity.ERROR, Rule.FIELDS, message)
    if (
        kind is not QuestionType.GENERAL_KNOWLEDGE
        and story.narrator
        and question.question_open
        and story.narrator not in question.question_open
    ):
        message = f"question_open does not have the narrator's full name, {short(story.narrator)}"
        yield Remark((*place, "question_open"), Severity.ERROR, Rule.NARRATOR, message)
