"""What of other speakers an answer tells, and what is no more than one's own or anybody's."""

from __future__ import annotations

import pytest

from memqual.v1 import narrative_pb2
from orchestrator.suites.narrative.checkpoints import answer_points
from orchestrator.suites.narrative.others import Speakers
from orchestrator.suites.narrative.stories import Batch, Question, Story
from orchestrator.suites.narrative.vocabulary import TagType
from tests.orchestrator.suites.narrative.tiny_stories import DESK, FERRY, LOOM

ASKED = LOOM.questions[0]


def with_tags(story: Story, text: str, tags: dict[str, TagType]) -> Story:
    """A story with one more turn."""
    turn = Batch(batch=9, time="2026-05-01T10:00", user_input=text, expected_tags=tags)
    return story.model_copy(update={"batches": (*story.batches, turn)})


HARBOUR = with_tags(
    FERRY,
    "Will Abernathy of Tidewater flew to Paris with Mum, and mum will write.",
    {
        "Will Abernathy": TagType.PERSON,
        "Tidewater": TagType.ORGANIZATION,
        "Paris": TagType.PLACE,
        "Mum": TagType.PERSON,
    },
)


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        ("Isaura; boathouse. Iolo Macnaughton steers to Kelda, Osric has the dog Bosun.", True),
        ("Isaura, and Osric and his Bosun", True),
        ("Isaura, says Will Abernathy", True),
        ("Isaura works for Tidewater", True),
        ("Isaura dyes the wool", False),
        ("Isaura in the boathouse", False),
        # A place that a memory may know of itself, once.
        ("Isaura, in Paris", False),
        # Words that are names, too, and titles of one's own.
        ("Isaura will, and Mum", False),
        ("your niece, who dyes wool in a dog-eared bosun's coat", False),
        ("", False),
    ],
)
def test_names_of_others_give_them_away(answer: str, given: bool) -> None:
    speakers = Speakers([LOOM, HARBOUR, DESK])

    assert bool(speakers.given_away(LOOM, ASKED.question, answer)) is given
    _, strict = answer_points(
        ASKED,
        narrative_pb2.Answer(text=answer),
        speakers.given_away(LOOM, ASKED.question, answer),
    )
    assert strict.held is ("Isaura" in answer and not given)


def test_what_one_says_or_asks_oneself_is_ones_own() -> None:
    speakers = Speakers([with_tags(LOOM, "I met Osric and Bosun.", {}), FERRY])
    own = with_tags(LOOM, "I met Osric and Bosun.", {})

    assert speakers.given_away(own, ASKED.question, "Osric and Bosun") == ()
    assert Speakers([LOOM, FERRY]).given_away(LOOM, "Osric or Bosun?", "Osric and Bosun") == ()
    for story in (LOOM, FERRY, DESK):
        everything = " ".join(turn.user_input for turn in story.batches)
        assert Speakers([LOOM, FERRY, DESK]).given_away(story, "", everything) == ()


def test_lower_case_words_of_others_are_counted_where_one_has_none_of_them() -> None:
    speakers = Speakers([LOOM, FERRY])
    asked = Question(
        question_id="q",
        question="What do I wear?",
        expected_contains=("navy suit", "wool", "wear", "Bosun"),
    )

    told = speakers.words_given_away(LOOM, asked, "a navy suit of wool to wear, Bosun")
    assert told == ("navy suit",)
