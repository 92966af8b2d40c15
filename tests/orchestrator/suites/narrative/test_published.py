"""ATANT's published forms load as they are; what they lack is not scored."""

import copy
from pathlib import Path

import pytest

from orchestrator.suites.narrative.checkpoints import Checkpoint
from orchestrator.suites.narrative.findings import Severity
from orchestrator.suites.narrative.lint import lint_paths, load_stories
from orchestrator.suites.narrative.stories import Form, Story
from orchestrator.suites.narrative.vocabulary import EmotionName, Warmth
from tests.orchestrator.suites.narrative.small_stories import (
    PUBLISHED_JSON,
    PUBLISHED_YAML,
    write_story,
)


def _load(folder: Path, text: str) -> Story:
    path = folder / "story.yaml"
    path.write_text(text, encoding="utf-8")
    (story,) = load_stories([path])
    return story


def test_the_yaml_form_loads(tmp_path: Path) -> None:
    story = _load(tmp_path, PUBLISHED_YAML)
    assert (story.form, story.story_id, story.round) == (Form.PUBLISHED, "7", "r1")
    assert story.speaker == "Narrator 7"
    first, second = story.batches
    assert (first.time, second.time) == ("2026-03-02T09:00", "2026-03-04T19:00")
    # The number is meant as a word.
    assert first.expected_stores == ("Ferris", "5")
    assert first.expected_adaptation is not None
    assert first.expected_adaptation.emotion_detected is EmotionName.NERVOUS
    assert first.expected_adaptation.warmth_direction is Warmth.INCREASE
    assert second.expected_adaptation is None
    assert story.questions[0].expected_contains == ("Ferris",)
    assert story.questions[0].question_open is None


def test_what_it_lacks_is_not_scored(tmp_path: Path) -> None:
    assert set(_load(tmp_path, PUBLISHED_YAML).not_scored) == {
        Checkpoint.CLASSIFICATION,
        Checkpoint.TAGGING,
        Checkpoint.QUERY,
        Checkpoint.CONVERGENCE,
        Checkpoint.STRICT,
        Checkpoint.TEMPORAL,
    }


def test_a_feeling_outside_the_list_is_a_warning_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(PUBLISHED_YAML, encoding="utf-8")
    (found,) = lint_paths([path]).findings
    lines = PUBLISHED_YAML.splitlines()
    assert found.severity is Severity.WARNING
    assert "over the moon" in lines[found.line - 1]
    assert "it is not scored" in found.message


def test_the_json_form_loads(tmp_path: Path) -> None:
    path = write_story(tmp_path, PUBLISHED_JSON, "expected_answers.json")
    (story,) = load_stories([path])
    assert (story.form, story.story_id) == (Form.PUBLISHED, "8")
    assert story.batches[0].user_input == "The ferry costs 12 dollars \U0001f6f3 now."
    assert story.batches[0].time == "2026-03-02T08:00"
    assert story.batches[0].expected_stores == ("12 dollars",)
    assert story.questions[0].expected_contains == ("12 dollars",)
    assert Checkpoint.STORAGE not in story.not_scored


@pytest.mark.parametrize("number", [1, 50, 51, 250, 251, 999])
def test_rounds_go_by_the_standards_ranges(tmp_path: Path, number: int) -> None:
    story = _load(tmp_path, PUBLISHED_YAML.replace("story_id: 7", f"story_id: {number}"))
    expected = {1: "r1", 50: "r1", 51: "r2", 250: "r5"}
    assert story.round == expected.get(number)


def test_mistakes_of_one_story_among_many_are_at_their_lines(tmp_path: Path) -> None:
    many = copy.deepcopy(PUBLISHED_JSON)
    second = copy.deepcopy(many["stories"][0])
    second |= {"story_id": 9, "categry": second.pop("category"), "questions": []}
    many["stories"] += [second, "no story"]
    path = write_story(tmp_path, many, "expected_answers.json")
    linted = lint_paths([path])
    lines = path.read_text(encoding="utf-8").splitlines()
    told = {each.message: lines[each.line - 1].strip() for each in linted.errors}
    assert [story.story_id for story in linted.stories] == ["8"]
    assert told["a story must be a mapping"] == '"no story"'
    unknown = next(message for message in told if message.startswith("unknown key 'categry'"))
    assert "did you mean 'category'" in unknown
    assert told[unknown].startswith('"categry"')
    # The story begins at its brace.
    missing = next(message for message in told if "'category' is missing" in message)
    assert told[missing] == "{"


def test_a_published_story_without_questions_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(PUBLISHED_YAML.partition("questions:")[0], encoding="utf-8")
    assert ["no questions" in each.message for each in lint_paths([path]).errors] == [True]


def test_a_time_that_is_not_understood_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    text = PUBLISHED_YAML.replace("Wednesday evening", "some other time")
    path.write_text(text, encoding="utf-8")
    said = [each.message for each in lint_paths([path]).findings]
    assert any("'some other time' is not understood" in each for each in said)
    (story,) = load_stories([path])
    assert story.batches[1].time == "2026-03-03T09:00"


def test_turns_and_questions_in_two_files_are_one_story(tmp_path: Path) -> None:
    (tmp_path / "07_interview.yaml").write_text(
        PUBLISHED_YAML.partition("questions:")[0], encoding="utf-8"
    )
    turns = [
        ("Talked to Ferris at Plumbline about the job, I start at 5.", ["Ferris"]),
        ("They offered me the job!", []),
    ]
    answers = copy.deepcopy(PUBLISHED_JSON)
    answers["stories"][0] |= {
        "story_id": 7,
        "facts": [
            {"batch": n, "time": "Monday 9 AM", "user_input": said, "expected_stores": stores}
            for n, (said, stores) in enumerate(turns, start=1)
        ],
    }
    write_story(tmp_path, answers, "expected_answers.json")
    (story,) = lint_paths([tmp_path]).stories
    assert not lint_paths([tmp_path]).errors
    assert [len(turn.expected_stores) for turn in story.batches] == [1, 0]
    assert [turn.expected_adaptation is not None for turn in story.batches] == [True, False]
    assert story.questions[0].question_id == "8_q1"

    # Of other turns it is another story: both are what they were.
    answers["stories"][0]["facts"][1]["user_input"] = "They turned me down."
    write_story(tmp_path, answers, "expected_answers.json")
    said = [each.message for each in lint_paths([tmp_path]).errors]
    assert any("no questions" in each for each in said)


def test_a_question_that_expects_nothing_loads_with_a_warning_and_is_not_scored(
    tmp_path: Path,
) -> None:
    path = tmp_path / "story.yaml"
    text = PUBLISHED_YAML.replace("expected_contains: [Ferris]", "expected_contains: []")
    path.write_text(text, encoding="utf-8")

    linted = lint_paths([path])
    (story,) = linted.stories
    (found,) = [one for one in linted.findings if "expected_contains" in one.message]
    assert (linted.errors, story.questions[0].scored) == ((), False)
    assert "so it is asked and not scored" in found.message
    assert found.line == 1 + next(
        at for at, line in enumerate(text.splitlines()) if "expected_contains" in line
    )
