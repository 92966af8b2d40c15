"""Update, reconstruction and operational usefulness: graded, as the levels are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.suites.integrity.calls import Script
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.played import level
from orchestrator.suites.narrative.properties.common import every_story
from orchestrator.suites.narrative.scene import NarrativeCase, Scene, contract_check
from orchestrator.suites.narrative.steps import ask_questions, tell
from orchestrator.suites.narrative.stories import Question, Story
from orchestrator.suites.narrative.vocabulary import Pattern, QuestionType

__all__ = ["OPERATIONAL", "RECONSTRUCTION", "UPDATE"]

_UPDATE = "property.update"
_RECONSTRUCTION = "property.reconstruction"
_OPERATIONAL = "property.operational_usefulness"
_WHOLES = (QuestionType.SITUATION, QuestionType.CHANGE)


def _of_updates(question: Question) -> bool:
    """Whether a question has an outdated or other value that its answer must not hold."""
    return question.expected_type is QuestionType.CHANGE or bool(question.must_not_contain)


def _of_wholes(question: Question) -> bool:
    """Whether a question asks for several facts at once."""
    return question.expected_type in _WHOLES


def _script(scene: Scene) -> Script:
    """Tell a story and ask the questions that are wanted."""
    yield from tell(scene, scene.story, scene.namespace)
    yield from ask_questions(scene, scene.questions)


def _questions(wanted: Callable[[Question], bool]) -> Callable[[Story], Sequence[Question]]:
    """Those of a story's questions that are wanted."""
    return lambda story: [one for one in story.questions if wanted(one)]


def _with(
    wanted: Callable[[Question], bool], pattern: Pattern | None = None
) -> Callable[[Corpus], Sequence[Story]]:
    """The stories with such a question, and with a pattern."""

    def stories(corpus: Corpus) -> Sequence[Story]:
        return [
            story
            for story in every_story(corpus)
            if any(map(wanted, story.questions)) and (pattern is None or pattern in story.patterns)
        ]

    return stories


UPDATE = NarrativeCase(
    case=_UPDATE,
    title="Update: what is true now, without what was",
    checks=(contract_check(_UPDATE),),
    script=_script,
    questions=_questions(_of_updates),
    stories=_with(_of_updates, Pattern.TEMPORAL_UPDATE),
    graded=True,
)

RECONSTRUCTION = NarrativeCase(
    case=_RECONSTRUCTION,
    title="Reconstruction: situations and changes out of several facts",
    checks=(contract_check(_RECONSTRUCTION),),
    script=_script,
    questions=_questions(_of_wholes),
    stories=_with(_of_wholes),
    graded=True,
)

OPERATIONAL = NarrativeCase(
    case=_OPERATIONAL,
    title="Operational usefulness: a service desk, nothing changed in the memory",
    checks=(contract_check(_OPERATIONAL),),
    script=level,
    stories=lambda corpus: corpus.desk,
    graded=True,
)
