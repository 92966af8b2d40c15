"""Disambiguation: who is asked for is who is answered for."""

from __future__ import annotations

import re

from orchestrator.suites.integrity.calls import Gather, Script
from orchestrator.suites.integrity.checks import Column, quoted
from orchestrator.suites.narrative.own_words import own_words
from orchestrator.suites.narrative.properties.common import every_story
from orchestrator.suites.narrative.scene import (
    NarrativeCase,
    NarrativeCheck,
    Scene,
    answered_check,
    contract_check,
)
from orchestrator.suites.narrative.steps import ask, note_undisturbed, request_of, said_of, tell
from orchestrator.suites.narrative.stories import Question, Story

__all__ = ["DISAMBIGUATION", "foreign_words"]

_CASE = "property.disambiguation"
_OWN_FACTS = NarrativeCheck(
    _CASE, Column.SAFETY, 16, "a speaker's answer rests on that speaker's facts alone", "facts"
)
_OWN_ANSWERS = NarrativeCheck(
    _CASE, Column.SAFETY, 17, "a speaker's own questions are answered with nothing of others", "own"
)
_OTHERS = NarrativeCheck(
    _CASE,
    Column.SAFETY,
    17,
    "a speaker who asks what only another one told is given nothing of that other one's",
    "others",
)


# So many words of another one's answers that one's own story lacks, and nobody says them by chance.
_NO_CHANCE = 3


def _script(scene: Scene) -> Script:
    """When all are told, ask one's own questions, and another speaker's in one's own name."""
    facts = yield from tell(scene, scene.story, scene.namespace)
    yield Gather("told")
    own = {fact.fact_id for fact in facts}
    wrong = mixed = ""
    for question in scene.story.questions:
        request = request_of(scene.story, scene.namespace, question.question)
        answer = yield from ask(f"own.{question.question_id}", scene, request)
        note_undisturbed(scene, [said_of(scene.story, question, answer)])
        given = scene.speakers.given_away(scene.story, question.question, answer.text)
        if given and not mixed:
            mixed = f"{question.question_id}: {quoted(', '.join(given))}"
        told = scene.facts.of(scene.namespace)
        foreign = [it for it in answer.fact_ids if it in told and it not in own]
        if foreign and not wrong:
            wrong = f"{question.question_id} rests on {len(foreign)} facts of others"
    scene.findings.judge(_OWN_ANSWERS, not mixed, mixed or "nothing of other speakers")
    if scene.traced:
        scene.findings.judge(_OWN_FACTS, not wrong, wrong or "facts of the speaker alone")
    else:
        scene.findings.open(_OWN_FACTS, "the memory tells no facts", required=False)
    if scene.other is None:
        scene.findings.open(_OTHERS, "there is one story only", required=False)
        return
    wrong, by_chance = "", dict[str, None]()
    for question in scene.other.questions:
        request = request_of(scene.story, scene.namespace, question.question)
        answer = yield from ask(f"other.{question.question_id}", scene, request)
        leaked = foreign_words(scene.story, question, answer.text)
        leaked = leaked or scene.speakers.given_away(scene.story, question.question, answer.text)
        if leaked and not wrong:
            wrong = f"{question.question_id} of another speaker: {quoted(', '.join(leaked))}"
        told_words = scene.speakers.words_given_away(scene.story, question, answer.text)
        by_chance |= dict.fromkeys(told_words)
    if len(by_chance) >= _NO_CHANCE and not wrong:
        wrong = f"to questions of another speaker: {quoted(', '.join(by_chance))}"
    scene.findings.judge(_OTHERS, not wrong, wrong or "nothing of the other speaker's")


def foreign_words(story: Story, question: Question, answer: str) -> tuple[str, ...]:
    """What of another speaker's expected strings an answer gives away.

    A string that the asking speaker said, too, or that stands in the question, gives nothing away,
    nor does a day that the speaker's own turns mean, in any of its forms (`own_words`); nor one of
    lower-case letters alone, which anybody may say once (`Speakers.words_given_away`).

    Args:
        story: The story of whoever asks.
        question: A question of the other speaker's.
        answer: The answer to it.
    """
    known = "\n".join([question.question, own_words(story)])
    return tuple(
        text
        for text in question.expected_contains
        if not text.islower() and _holds(answer, text) and not _holds(known, text)
    )


def _holds(text: str, part: str) -> bool:
    """Whether a text holds a string as words of its own."""
    pattern = rf"(?<!\w){re.escape(part)}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


DISAMBIGUATION = NarrativeCase(
    case=_CASE,
    title="Disambiguation: speakers in one memory are kept apart",
    checks=(contract_check(_CASE), answered_check(_CASE), _OWN_FACTS, _OWN_ANSWERS, _OTHERS),
    script=_script,
    stories=every_story,
    together=_CASE,
)
