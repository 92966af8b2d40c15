"""Each mistake in a story is found, at its line, and hides no other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import StoryError, UsageError
from orchestrator.suites.narrative.findings import Finding, Severity
from orchestrator.suites.narrative.lint import lint_paths, load_stories
from orchestrator.suites.narrative.stories import TURN_BYTES_MAX, Form
from tests.orchestrator.suites.narrative.small_stories import good, write_story

Story = dict[str, Any]


def _lint(folder: Path, story: object, name: str = "story.yaml") -> tuple[Finding, ...]:
    return lint_paths([write_story(folder, story, name)]).findings


def _line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def test_a_good_story_loads_and_has_warnings_only_for_its_few_turns(tmp_path: Path) -> None:
    path = write_story(tmp_path, good())
    linted = lint_paths([path])
    assert [each.message for each in linted.findings] == [
        "3 turns; a story has 5 to 12",
        "5 questions; a story has 7 to 12",
    ]
    (story,) = load_stories([path])
    assert (story.form, story.speaker, story.round) == (Form.SUPERSET, "Quill Vantongeren", "r1")
    assert story.batches[0].expected_tags == {"Otterly": "PERSON", "95 euros": "MONEY"}
    assert story.not_scored == ()


def _set(*path: str | int, value: object) -> Callable[[Story], None]:
    def bend(story: Story) -> None:
        part: Any = story
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value

    return bend


def _drop(*path: str | int) -> Callable[[Story], None]:
    def bend(story: Story) -> None:
        part: Any = story
        for step in path[:-1]:
            part = part[step]
        del part[path[-1]]

    return bend


# How the story is bent, part of the line where it must be found, and part of what must be said.
ERRORS: list[tuple[Callable[[Story], None], str, str]] = [
    (_drop("questions"), "story_id", "no questions: the field 'questions' is missing"),
    (_set("questions", value=[]), "questions:", "no questions"),
    (_set("batches", value=[]), "batches:", "at least 1 item"),
    (_set("narator", value="Q"), "narator", "did you mean 'narrator'"),
    (_drop("narrator"), "story_id", "'narrator' is missing"),
    (_set("category", value="Carreer"), "category", "did you mean 'Career'"),
    (_set("patterns", value=["negatoin"]), "- negatoin", "did you mean 'negation'"),
    (_set("patterns", value=[]), "patterns", "no patterns"),
    (_set("total_batches", value=9), "total_batches", "is 9, there are 3"),
    (_set("total_batches", value=True), "total_batches", "valid integer"),
    (_set("batches", 1, "batch", value=7), "batch: 7", "turn 2 has the number 7"),
    (_set("batches", 1, "time", value="2026-03-01T07:15"), "2026-03-01T07:15", "goes back"),
    (_set("batches", 1, "time", value="2026-02-30T07:15"), "2026-02-30", "no local"),
    (_set("batches", 1, "time", value="2026-03-09T07:15Z"), "07:15Z", "no local"),
    (_set("batches", 1, "time", value="Monday"), "time: Monday", "no local"),
    (_set("batches", 0, "user_input", value=" "), "user_input: ' '", "should match pattern"),
    (_set("batches", 0, "user_input", value=5), "user_input: 5", "'5' is no text here: quote it"),
    (_set("batches", 0, "expected_stores", 0, value="otterly"), "- otterly", "it has 'Otterly'"),
    (_set("batches", 0, "expected_tags", "moon", value="PLACE"), "moon: PLACE", "not verbatim"),
    (_set("batches", 0, "expected_tags", "shed", value="HUT"), "shed: HUT", "'PERSON'"),
    (_set("batches", 0, "expected_type", value="noise"), "expected_stores:", "has expected_stores"),
    (_drop("batches", 2, "expected_stores"), "batch: 3", "has no expected_stores"),
    (
        _set("batches", 1, "expected_temporal", 0, "text", value="Sunday"),
        "text: Sunday",
        "not verbatim",
    ),
    (
        _set("batches", 1, "expected_temporal", 0, "resolves_to", value="2026-02-29"),
        "2026-02-29",
        "is no day",
    ),
    (
        _set("batches", 1, "expected_temporal", 0, "status", value="past"),
        "status: past",
        "the status is upcoming",
    ),
    (
        _set("batches", 1, "expected_adaptation", "emotion_detected", value="hapy"),
        "hapy",
        "did you mean 'happy'",
    ),
    (
        _set("batches", 1, "expected_adaptation", value={}),
        "expected_adaptation",
        "'emotion_detected' is missing in batches.1.expected_adaptation",
    ),
    (
        _drop("batches", 1, "expected_temporal", 0, "status"),
        "- text: this coming",
        "'status' is missing in batches.1.expected_temporal.0",
    ),
    (_set("questions", 1, "question_id", value="q1"), "question_id: q1", "stands twice"),
    (_drop("questions", 0, "question_open"), "question_id: q1", "'question_open' is missing"),
    (
        _set("questions", 0, "question_open", value="Who sold Quill the hive?"),
        "Who sold Quill the hive?",
        "full name",
    ),
    (_set("questions", 0, "expected_contains", value=[]), "expected_contains: []", "is empty"),
    (
        _set("questions", 0, "expected_contains", value=["Badgerly"]),
        "Badgerly",
        "neither in the story nor a date",
    ),
    (
        _set("questions", 2, "expected_contains", value=["2026-03-15"]),
        "2026-03-15",
        "neither in the story nor a date",
    ),
    (
        _set("questions", 4, "expected_contains", value=["shed"]),
        "expected_contains",
        "expects nothing",
    ),
    (_set("questions", 1, "must_not_contain", value=["ORCH"]), "- ORCH", "part of the expected"),
    (_drop("questions", 3, "min_facts"), "question_id: q4", "has no min_facts"),
    (_set("questions", 0, "min_facts", value=0), "min_facts: 0", "greater than or equal to 1"),
    (
        _set("questions", 0, "question", value="Why? " * 820),
        "question: ",
        "question has 4,100 bytes of at most 4,096",
    ),
    (
        _set("questions", 0, "expected_contains", value=["in the orchard now"] * 7),
        "expected_contains",
        "28 words are expected of an answer that may have 25",
    ),
    (_set("story_id", value="x" * 129), "story_id", "129 bytes of at most 128"),
    (_set("narrator", value="ü" * 65), "narrator", "130 bytes of at most 128"),
    (_set("engines_tested", value={"write": True}), "engines_tested", "valid tuple"),
    (_set("batches", value={"a": 1}), "batches", "valid tuple"),
    (_set("batches", 0, value="hello"), "- hello", "valid dictionary"),
    (_set("form", value="published"), "form", "unknown key"),
]


@pytest.mark.parametrize(("bend", "where", "said"), ERRORS)
@pytest.mark.parametrize("name", ["story.yaml", "story.json"])
def test_a_mistake_is_an_error_at_its_line(
    tmp_path: Path, bend: Callable[[Story], None], where: str, said: str, name: str
) -> None:
    story = good()
    bend(story)
    path = write_story(tmp_path, story, name)
    found = [each for each in lint_paths([path]).errors if said in each.message]
    assert found, lint_paths([path]).findings
    # JSON has the same field on a line of its own.
    part = where if name == "story.yaml" else where.removeprefix("- ").partition(":")[0]
    lines = [*path.read_text(encoding="utf-8").splitlines(), ""]
    # Of a whole object JSON has a brace, and its first field below.
    shown = [lines[each.line - 1] + lines[each.line] * (name == "story.json") for each in found]
    assert any(part in each for each in shown), (found, lines)
    with pytest.raises(StoryError, match="errors in stories"):
        load_stories([path])


WARNINGS: list[tuple[Callable[[Story], None], str]] = [
    (
        _set(
            "batches",
            2,
            "user_input",
            value="Ich habe den Stock verschoben, er steht jetzt im orchard und nicht mehr beim "
            "Schuppen, weil dort der Wind so stark war.",
        ),
        "does not look like English",
    ),
    (
        _set("batches", 2, "user_input", value="Я передвинула улей, он теперь там: orchard"),
        "another script",
    ),
    (_set("batches", 1, "expected_temporal", 0, "resolves_to", value="2026-03-15"), "is a Sunday"),
    (_set("questions", 0, "question", value="Was it Otterly?"), "the question itself tells"),
    (
        _set("questions", 0, "expected_contains", value=["the hive, it is in the orchard"]),
        "expect the shortest telling words",
    ),
    (_set("patterns", value=["negation", "negation"]), "a pattern is named twice"),
    (_set("questions", 1, "must_not_contain", value=[" shed "]), "without its outer blanks"),
    (_set("questions", 1, "must_not_contain", value=["now"]), "an echo of it would fail"),
    (_set("questions", 0, "expected_contains", value=["9"]), "in too many answers"),
    (_set("batches", 2, "expected_type", value="statement"), "temporal_update is named"),
    (
        _set("batches", 0, "user_input", value="Otterly sold me it for 95 euros, e\u0301h, shed."),
        "NFC",
    ),
]


@pytest.mark.parametrize(("bend", "said"), WARNINGS)
def test_what_may_be_meant_is_a_warning(
    tmp_path: Path, bend: Callable[[Story], None], said: str
) -> None:
    story = good()
    bend(story)
    found = [each for each in _lint(tmp_path, story) if said in each.message]
    assert [each.severity for each in found] == [Severity.WARNING]


def test_a_turn_of_a_megabyte_is_an_error_at_its_line(tmp_path: Path) -> None:
    story = good()
    story["batches"][0]["user_input"] += " and so on" * (1 << 17)
    path = write_story(tmp_path, story)
    (error,) = lint_paths([path]).errors
    assert error.message.endswith(f"the contract takes {TURN_BYTES_MAX:,}")
    assert error.line == _line_of(path, "user_input: I bought")


def test_emoji_and_mixed_scripts_are_no_mistake(tmp_path: Path) -> None:
    story = good()
    story["batches"][0]["user_input"] += (
        " \U0001f41d\U0001f3fd‍\U0001f33e مرحبا 蜜蜂 he said, שלום to you"
    )
    assert not [each for each in _lint(tmp_path, story) if each.severity is Severity.ERROR]
    (loaded,) = load_stories([tmp_path])
    assert loaded.batches[0].user_input == story["batches"][0]["user_input"]


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    story = good()
    story["total_batches"] = 4
    story["batches"][0]["time"] = "yesterday"
    story["batches"][0]["expected_stores"] = ["kettle", "barrel"]
    story["questions"][4]["question_id"] = "q1"
    told = [each.message for each in _lint(tmp_path, story) if each.severity is Severity.ERROR]
    assert sorted(told) == [
        "expected_stores: 'barrel' is not verbatim in the turn",
        "expected_stores: 'kettle' is not verbatim in the turn",
        "question_id 'q1' stands twice in the story",
        "the time 'yesterday' is no local YYYY-MM-DDTHH:MM",
        "total_batches is 4, there are 3",
    ]


def test_ids_narrators_and_turns_that_two_files_have(tmp_path: Path) -> None:
    first, second = write_story(tmp_path, good(), "a.yaml"), write_story(tmp_path, good(), "b.json")
    found = [each for each in lint_paths([tmp_path]).findings if each.path == second]
    messages = [each.message for each in found]
    assert f"story_id 'r1-90' is that of {first}:1, too" in messages
    line = _line_of(first, "narrator")
    assert f"the narrator 'Quill Vantongeren' is that of {first}:{line}, too" in messages
    assert sum("the same turn stands at" in each for each in messages) == len(good()["batches"])
    assert {each.line for each in found if each.message.startswith("the narrator")} == {
        _line_of(second, "narrator")
    }


def test_a_field_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    path = write_story(tmp_path, good())
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "narrator: Somebody Else\n", encoding="utf-8")
    (error,) = lint_paths([path]).errors
    assert (error.line, error.message) == (
        text.count("\n") + 1,
        "the field 'narrator' stands twice",
    )


def test_paths_that_are_not_there_are_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file and no folder"):
        lint_paths([tmp_path / "missing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no story"):
        lint_paths([tmp_path / "empty"])


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = write_story(tmp_path, good())
    assert len(lint_paths([path, tmp_path, path]).stories) == 1


def test_turns_of_one_day_are_a_warning(tmp_path: Path) -> None:
    story = good()
    for minute, turn in enumerate(story["batches"]):
        turn["time"] = f"2026-03-09T07:1{minute}"
    said = [each.message for each in _lint(tmp_path, story)]
    assert "all turns are of one day; a story lasts two at least" in said


def test_a_file_that_cannot_be_opened_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_story(tmp_path, good())

    def refuse(self: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    (error,) = lint_paths([path]).errors
    assert (error.line, error.message) == (1, "cannot be read: Permission denied")


def test_two_turns_of_one_minute_are_in_order(tmp_path: Path) -> None:
    story = good()
    story["batches"][2]["time"] = story["batches"][1]["time"]
    assert not [each for each in _lint(tmp_path, story) if each.severity is Severity.ERROR]
