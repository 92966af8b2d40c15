"""Everything that is wrong with a document, in sentences with lines."""

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from orchestrator.runtimes.yamlmodel import Complaint, examine
from orchestrator.runtimes.yamltext import load_yaml


class _Colour(StrEnum):
    GREEN = "green"
    GREY = "grey"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    colour: _Colour = _Colour.GREY


class _Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")

    parts: tuple[_Part, ...]
    size: int = 0


def _complaints(tmp_path: Path, text: str) -> list[Complaint]:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    found, complaints = examine(_Whole, load_yaml(path))
    assert (found is None) == bool(complaints)
    return complaints


def test_what_is_right_has_no_complaint(tmp_path: Path) -> None:
    assert _complaints(tmp_path, "parts:\n  - name: a\n") == []


def test_every_mistake_is_told_misspelt_keys_first(tmp_path: Path) -> None:
    text = "size: big\nparts:\n  - nmae: a\n    colour: gren\n  - name: b\n    colour: 3\n"
    told = [(each.line, each.kind, each.sentence) for each in _complaints(tmp_path, text)]
    assert told[0] == (
        3,
        "extra_forbidden",
        "unknown key 'nmae' in parts.0; did you mean 'name'? Valid keys: colour, name",
    )
    assert (3, "missing", "the key 'name' is missing in parts.0") in told
    near = (
        "'colour' in parts.0: Input should be 'green' or 'grey', not 'gren'; did you mean 'green'?"
    )
    assert (4, "enum", near) in told
    assert (6, "enum", "'colour' in parts.1: Input should be 'green' or 'grey'") in told
    assert any(line == 1 and kind == "int_parsing" for line, kind, _ in told)
    assert len(told) == 5
