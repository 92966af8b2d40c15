"""What a lint sees of whole files: what stands twice, what is empty, what is no English."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.suites.narrative.findings import Finding, Rule, Severity
from orchestrator.suites.narrative.lint import lint_paths
from orchestrator.suites.narrative.schema import story_schema
from tests.orchestrator.suites.narrative.small_stories import PUBLISHED_JSON, good, write_story


def _found(path: Path, severity: Severity = Severity.ERROR) -> list[Finding]:
    return [each for each in lint_paths([path]).findings if each.severity is severity]


def _told(path: Path, severity: Severity = Severity.ERROR) -> str:
    return "\n".join(each.message for each in _found(path, severity))


def test_two_stories_of_one_line_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"stories": [good(), good()]}), encoding="utf-8")
    assert {each.rule for each in _found(path)} == {Rule.IDS, Rule.NARRATOR}


@pytest.mark.parametrize("other", ["Quill  Vantongeren", "QUILL VANTONGEREN"])
def test_a_narrator_in_another_spelling_is_the_same(tmp_path: Path, other: str) -> None:
    second = good() | {"story_id": "r1-02", "narrator": other}
    for question in second["questions"]:
        question["question_open"] = question["question_open"].replace("Quill Vantongeren", other)
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"stories": [good(), second]}, indent=1), encoding="utf-8")
    assert "is that of" in _told(path)


@pytest.mark.parametrize("name", ["narrator", "total_batches", "patterns"])
def test_a_field_without_a_value_is_missing(tmp_path: Path, name: str) -> None:
    path = write_story(tmp_path, good() | {name: None})
    assert f"the field {name!r} is missing" in _told(path)


@pytest.mark.parametrize("name", ["question_open", "expected_type"])
def test_so_is_one_of_a_question(tmp_path: Path, name: str) -> None:
    story = good()
    story["questions"][0][name] = None
    assert f"the field {name!r} is missing in questions.0" in _told(write_story(tmp_path, story))


def test_the_schema_says_the_same() -> None:
    schema = story_schema()
    question = schema["$defs"]["Question"]["properties"]
    for field in (schema["properties"]["narrator"], question["question_open"]):
        assert field["type"] == "string"
        assert "anyOf" not in field
        assert "default" not in field
    assert {"type": "null"} in question["min_facts"]["anyOf"]


def test_a_file_of_no_stories_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text('{"stories": []}', encoding="utf-8")
    assert _told(path) == "no stories"


def test_what_stands_beside_stories_is_told(tmp_path: Path) -> None:
    content = {"stories": [good()], "story_id": "r1-01", "version": 1}
    path = tmp_path / "beside.json"
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    assert "'story_id' stands beside `stories`" in _told(path)
    assert "'version' stands beside `stories`" in _told(path, Severity.WARNING)


def test_only_a_situation_joins_facts(tmp_path: Path) -> None:
    story = good()
    (first,) = [each for each in story["questions"] if each["expected_type"] == "factual"][:1]
    first["min_facts"] = 2
    assert "min_facts on a question of type factual" in _told(write_story(tmp_path, story))


def _published() -> dict[str, Any]:
    return copy.deepcopy(PUBLISHED_JSON)


def test_a_published_field_of_two_names_is_told(tmp_path: Path) -> None:
    content = _published()
    story = content["stories"][0]
    story["batches"] = story["facts"]
    assert "facts and batches are the same field" in _told(
        write_story(tmp_path, content, "answers.json"), Severity.WARNING
    )


def test_an_empty_key_of_a_published_list_is_an_empty_list(tmp_path: Path) -> None:
    content = _published()
    content["stories"][0]["facts"][0]["expected_memory_stores"] = None
    assert _told(write_story(tmp_path, content, "answers.json")) == ""


def test_of_two_published_feelings_the_one_of_our_list_is_taken(tmp_path: Path) -> None:
    content = _published()
    content["stories"][0]["facts"][0]["expected_adaptation"] = {
        "emotion_detected": "nervous/anxious",
        "warmth_direction": "increase",
    }
    linted = lint_paths([write_story(tmp_path, content, "answers.json")])
    feeling = linted.stories[0].batches[0].expected_adaptation
    assert feeling is not None
    assert str(feeling.emotion_detected) == "nervous"


FOREIGN = [
    "Mia zia abita a Bologna da maggio e lavora come infermiera. Ieri mi ha detto che in autunno "
    "vuole trasferirsi a Milano perché l'affitto è troppo caro per lei.",
    "Mijn tante woont sinds mei in Utrecht en werkt als verpleegster. Gisteren vertelde ze me dat "
    "ze in de herfst naar Amsterdam wil verhuizen omdat de huur te hoog is.",
    "A minha tia mora no Porto desde maio e trabalha como enfermeira. Ontem disse-me que quer "
    "mudar para Lisboa no outono porque a renda é demasiado cara.",
    "Min moster bor i Uppsala sedan maj och arbetar som sjuksköterska. Igår berättade hon att hon "
    "vill flytta till Stockholm i höst eftersom hyran är för hög.",
    "Tante Ilse hat im Mai in Graz angefangen und will im Herbst nach Wien.",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_story_in_another_language_is_a_warning(tmp_path: Path, text: str) -> None:
    story = good()
    for turn in story["batches"]:
        turn |= {"user_input": text, "expected_stores": [text.split()[1]], "expected_tags": {}}
        turn["expected_temporal"] = []
    path = write_story(tmp_path, story)
    assert "the batches do not look like English" in _told(path, Severity.WARNING)


def test_questions_are_looked_at_too(tmp_path: Path) -> None:
    story = good()
    for question in story["questions"]:
        question["question"] = "Dove abita adesso mia zia e che lavoro fa a Bologna?"
    path = write_story(tmp_path, story)
    assert "the questions do not look like English" in _told(path, Severity.WARNING)
