"""Whatever stands in a story's place: the lint says so with a line, and never fails."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.suites.narrative.lint import lint_paths
from orchestrator.suites.narrative.measure import Limits, measure
from tests.orchestrator.suites.narrative.small_stories import (
    PUBLISHED_JSON,
    good,
    write_story,
)

_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["2026-03-09T07:15", "9999-12-31T23:59", "temporal", "\u202e", "e\u0301"])
)
_ANYTHING = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


def _places(part: object, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a story, itself apart."""
    inside: list[tuple[str | int, object]] = []
    if isinstance(part, dict):
        inside = list(part.items())
    elif isinstance(part, list):
        inside = list(enumerate(part))
    return [(*place, key) for key, _ in inside] + [
        found for key, item in inside for found in _places(item, (*place, key))
    ]


def _published() -> dict[str, Any]:
    story: dict[str, Any] = copy.deepcopy(PUBLISHED_JSON["stories"][0])
    return story


@st.composite
def _bent(draw: st.DrawFn) -> dict[str, Any]:
    """A story of either form with one to three of its places filled with anything."""
    story: dict[str, Any] = draw(st.sampled_from([good, _published]))()
    for _ in range(draw(st.integers(1, 3))):
        places = _places(story)
        if not places:
            break
        *path, last = draw(st.sampled_from(places))
        part: Any = story
        for step in path:
            part = part[step]
        part[last] = draw(_ANYTHING)
    return story


@given(story=_bent(), wrapped=st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_bent_story_is_linted_with_lines(
    tmp_path_factory: pytest.TempPathFactory, story: dict[str, Any], wrapped: bool
) -> None:
    content = {"stories": [story, good()]} if wrapped else story
    path = write_story(tmp_path_factory.mktemp("bent"), content, "story.json")
    lines = path.read_text(encoding="utf-8").count("\n") + 1
    linted = lint_paths([path])
    assert all(1 <= each.line <= lines for each in linted.findings)
    assert all(each.message and "\n" not in str(each) for each in linted.findings)
    # What cannot be used is said to be so.
    assert linted.errors or len(linted.stories) == (2 if wrapped else 1)


@given(turn=st.text(min_size=1, max_size=60), question=st.text(min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_words_can_be_told_asked_linted_and_measured(
    tmp_path_factory: pytest.TempPathFactory, turn: str, question: str
) -> None:
    story = good()
    story["batches"][2]["user_input"] = turn
    story["batches"][2]["expected_stores"] = [turn.strip() or "x"]
    story["questions"][0]["question"] = question
    other = good() | {"story_id": "r1-91"}
    folder = tmp_path_factory.mktemp("words")
    paths = [write_story(folder, story, "a.json"), write_story(folder, other, "b.json")]
    linted = lint_paths(paths)
    measured = measure(linted.stories, Limits())
    assert all(0 <= bound.value <= max(1, len(linted.stories)) for bound in measured.bounds)
    assert measured.counts.stories == len(linted.stories)
