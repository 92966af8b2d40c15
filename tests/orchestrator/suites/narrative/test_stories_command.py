"""`memqual stories`: what it prints, and its exit codes."""

import json
from pathlib import Path

import pytest

from orchestrator.cli import main
from orchestrator.suites.narrative.stories import (
    REQUIRED,
    Batch,
    Form,
    Level,
    Question,
    StoryFile,
)
from tests.orchestrator.suites.narrative.small_stories import good, write_story


def test_lint_prints_file_and_line_and_fails_on_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_story(tmp_path, good() | {"total_batches": 4})
    assert main(["stories", "lint", str(tmp_path)]) == 1
    line = path.read_text(encoding="utf-8").splitlines().index("total_batches: 4") + 1
    printed = capsys.readouterr().out
    assert f"{path}:{line}: error: total_batches is 4, there are 3 [count]\n" in printed
    assert printed.endswith("1 files, 1 stories, 3 turns, 5 questions: 1 errors, 2 warnings\n")


def test_lint_succeeds_on_warnings(tmp_path: Path) -> None:
    assert main(["stories", "lint", str(write_story(tmp_path, good()))]) == 0


def test_lint_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_story(tmp_path, good() | {"total_batches": 4})
    assert main(["stories", "lint", "--json", str(path)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["files"], told["stories"], told["errors"], told["warnings"]) == (1, 1, 1, 2)
    (error,) = [each for each in told["findings"] if each["severity"] == "error"]
    assert error["path"] == path.as_posix()
    assert (error["rule"], error["message"]) == ("count", "total_batches is 4, there are 3")


@pytest.mark.parametrize("flags", [["--counts-only"], ["--counts-only", "--json"]])
@pytest.mark.parametrize("action", ["lint", "measure"])
def test_counts_only_tells_nothing_of_a_story(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str, flags: list[str]
) -> None:
    story = good()
    story["batches"][0]["expected_stores"] = ["Zibeline"]
    write_story(tmp_path, story, "a.yaml")
    write_story(tmp_path, story | {"story_id": "r1-91"}, "b.yaml")
    assert main(["stories", action, *flags, str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    words = ("Zibeline", "Otterly", "Vantongeren", "bees", "who _ me", "i _ the")
    assert not [word for word in words if word.casefold() in printed.casefold()]
    assert "verbatim" in printed or "stored strings in the turn" in printed


def test_measure_prints_values_beside_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write_story(tmp_path, good()))
    assert main(["stories", "measure", path]) == 0
    printed = capsys.readouterr().out
    assert "1 stories, 3 turns, 5 questions" in printed
    assert "ok   vocabulary of a pair: 0.000 (at most 0.25)" in printed
    assert "ok   dates that resolve: 1.000 (at least 1)" in printed


def test_measure_fails_beyond_a_limit_that_a_flag_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = good() | {"story_id": "r1-91", "narrator": "Somebody Else"}
    write_story(tmp_path, good(), "a.yaml")
    write_story(tmp_path, other, "b.yaml")
    everything = [f"--max-{it}" for it in ("vocabulary", "runs", "shapes", "question-shapes")]
    flags = [word for flag in (*everything, "--max-openings") for word in (flag, "1")]
    assert main(["stories", "measure", *flags, str(tmp_path)]) == 0
    assert main(["stories", "measure", *flags, "--max-vocabulary", "0.9", str(tmp_path)]) == 1
    assert "OVER vocabulary of a pair: 1.000 (at most 0.9)" in capsys.readouterr().out


def test_measure_wants_stories_with_ids_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_story(tmp_path, good(), "a.yaml")
    write_story(tmp_path, good(), "b.yaml")
    assert main(["stories", "measure", str(tmp_path)]) == 2
    assert "1 ids stand in two stories" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["lint", "missing"],
        ["measure", "missing"],
        ["lint"],
        ["measure", "--max-runs", "2", "x"],
        ["measure", "--max-runs", "nan", "x"],
        [],
    ],
)
def test_wrong_usage_exits_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code: object = main(["stories", *words])
    except SystemExit as ended:
        code = ended.code
    assert code == 2


def test_the_schema_says_what_the_models_and_the_lint_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["stories", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    required = REQUIRED[Form.SUPERSET]
    for part, model, level in (
        (schema, StoryFile, Level.STORY),
        (schema["$defs"]["Batch"], Batch, Level.BATCH),
        (schema["$defs"]["Question"], Question, Level.QUESTION),
    ):
        assert set(part["properties"]) == set(model.model_fields)
        assert set(part["required"]) == set(required[level])
        assert part["additionalProperties"] is False
        assert set(required[level]) <= set(model.model_fields)
    assert schema["properties"]["questions"]["minItems"] == 1
    assert schema["$defs"]["TurnType"]["enum"] == [
        *("statement", "update", "question", "general_knowledge", "noise")
    ]
