"""Clones, templates and frames show in the measure; stories of their own do not."""

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.suites.narrative.measure import Limits, Measured, measure
from orchestrator.suites.narrative.overlap import (
    repeated_openings,
    repeated_question_shapes,
    repeated_shapes,
    run_overlaps,
    vocabulary_overlaps,
)
from orchestrator.suites.narrative.stories import Form, Story
from tests.orchestrator.suites.narrative.small_stories import good


def _story(story_id: str, narrator: str, *turns: str, questions: tuple[str, ...] = ()) -> Story:
    data = good() | {"story_id": story_id, "narrator": narrator}
    data["batches"] = [
        {"batch": n, "time": f"2026-03-0{n}T10:00", "expected_type": "noise", "user_input": text}
        for n, text in enumerate(turns, start=1)
    ]
    data["questions"] = [
        {**data["questions"][4], "question_id": f"q{n}", "question": text}
        for n, text in enumerate(questions)
    ]
    return Story(**data, form=Form.SUPERSET)


BAKER = _story(
    "r1-01",
    "A A",
    "My sister is a baker and she lives with me in the old mill by the river.",
    "Nobody told us about the fair until it was over.",
    questions=("Where does my sister live with me?",),
)
SMITH = _story(
    "r1-02",
    "B B",
    "My cousin is a blacksmith and she hides with me in the tower by the quarry.",
    "Yesterday went well, thanks.",
    questions=("Where does my cousin hide with me?",),
)
SAILOR = _story("r1-03", "C C", "Rope burns, wind from the north. Ship sails on Thursday, finally!")


def test_a_frame_with_other_nouns_is_one_shape() -> None:
    found = repeated_shapes([BAKER, SMITH, SAILOR])
    assert [(each.text, each.stories) for each in found.most] == [
        ("my _ is a _ and she _ with me in the _ by the _", ("r1-01", "r1-02"))
    ]
    assert (found.repeated, found.counted) == (2, 3)
    assert found.share == pytest.approx(2 / 3)


def test_a_shape_twice_in_one_story_is_its_own_affair() -> None:
    first = BAKER.batches[0]
    twice = BAKER.model_copy(update={"batches": (first, first)})
    assert repeated_shapes([twice, SAILOR]).repeated == 0


def test_questions_in_one_frame_are_found() -> None:
    found = repeated_question_shapes([BAKER, SMITH, SAILOR])
    assert [each.text for each in found.most] == ["where does my _ with me"]


def test_vocabulary_is_what_both_have_of_what_either_has() -> None:
    pairs = vocabulary_overlaps([BAKER, SAILOR, BAKER.model_copy(update={"story_id": "r1-09"})])
    assert (pairs[0].first, pairs[0].second, pairs[0].share) == ("r1-01", "r1-09", 1.0)
    assert [pair.share for pair in pairs[1:]] == [0.0, 0.0]


def test_vocabulary_counts_what_only_one_of_them_has() -> None:
    one = _story("r1-04", "D D", "kettle stove lamp")
    two = _story("r1-05", "E E", "kettle Stove barrel anchor rope")
    (pair,) = vocabulary_overlaps([one, two])
    assert pair.share == pytest.approx(2 / 6)


def test_runs_of_five_words_are_found_and_mere_function_words_are_not() -> None:
    one = _story("r1-04", "D D", "We found the red kettle under the stairs.")
    two = _story("r1-05", "E E", "So he hid the red kettle under the bed.")
    mere = _story(
        "r1-06", "F F", "That was what I have had to do with it, and nothing else mattered."
    )
    also = _story("r1-07", "G G", "This was what I have had to do with it, oh dear.")
    (pair,) = run_overlaps([one, two])
    # Of the four runs of the shorter story one is the other's, too.
    assert (pair.first, pair.second, pair.share) == ("r1-04", "r1-05", 1 / 4)
    assert run_overlaps([mere, also]) == ()


def test_openings_are_the_first_three_words() -> None:
    late = _story("r1-08", "H H", "My sister is late.", "My Sister IS early!", "No.")
    found = repeated_openings([BAKER, late])
    assert [(each.text, len(each.stories)) for each in found.most] == [("my sister is", 2)]
    assert (found.repeated, found.counted) == (3, 4)


def _bounds(measured: Measured) -> dict[str, bool]:
    return {bound.name: bound.held for bound in measured.bounds}


def _whole(bend: Callable[[dict[str, Any]], None] = lambda _: None) -> Story:
    data = good()
    bend(data)
    return Story(**data, form=Form.SUPERSET)


def test_a_sound_story_holds_every_limit() -> None:
    measured = measure([_whole(), SAILOR], Limits())
    assert measured.held, _bounds(measured)
    assert measured.counts.questions == 5
    assert measured.counts.rounds == {"r1": 2}
    assert measured.counts.shared_names == 0
    again = _whole(lambda it: it.update(story_id="r2-90", narrator="Z Z"))
    assert measure([_whole(), again], Limits()).counts.shared_names == 1
    assert measured.counts.question_types["situation"] == 1
    assert measured.soundness.expected == (5, 5)
    assert measured.soundness.dates == (1, 1)


@pytest.mark.parametrize(
    ("bend", "broken"),
    [
        (
            lambda it: it["questions"][0].update(expected_contains=["zinc"]),
            "expected strings in the story",
        ),
        (
            lambda it: it["batches"][0]["expected_stores"].append("zinc"),
            "stored strings in the turn",
        ),
        (
            lambda it: it["batches"][1]["expected_temporal"][0].update(resolves_to="2026-03-15"),
            "dates that resolve",
        ),
        (lambda it: it.update(narrator="c c"), "narrators of their own"),
    ],
)
def test_what_is_unsound_breaks_its_own_limit_only(
    bend: Callable[[dict[str, Any]], None], broken: str
) -> None:
    bounds = _bounds(measure([_whole(bend), SAILOR], Limits()))
    assert broken in bounds
    assert [name for name, held in bounds.items() if not held] == (
        # A time that resolves to another day takes its expected answer along.
        ["expected strings in the story", broken] if broken == "dates that resolve" else [broken]
    )


def test_clones_and_frames_break_the_limits_of_likeness() -> None:
    bounds = _bounds(measure([BAKER, SMITH, SAILOR, _whole()], Limits(shape_stories=1)))
    assert {name for name, held in bounds.items() if not held} == {
        "repeated sentence shapes",
        "stories with one sentence shape",
        "repeated question shapes",
    }
    clone = BAKER.model_copy(update={"story_id": "r1-09"})
    bounds = _bounds(measure([BAKER, clone], Limits()))
    assert {name for name, held in bounds.items() if not held} == {
        "vocabulary of a pair",
        "runs of five words of a pair",
        "repeated sentence shapes",
        "repeated question shapes",
        "repeated openings of turns",
        "narrators of their own",
    }


def test_nothing_can_be_measured() -> None:
    assert measure([], Limits()).held
