"""Strict YAML: what is accepted, and where a mistake is said to be."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from orchestrator.runtimes.yamlmodel import validate
from orchestrator.runtimes.yamltext import MAX_BYTES, YamlProblem, load_yaml


class _Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    module: str = ""
    port: int = 0


class _Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    process: _Inner | None = None
    services: dict[str, _Inner] = {}


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_lines_of_nested_values(tmp_path: Path) -> None:
    document = load_yaml(_write(tmp_path, "a:\n  b:\n    - x\n    - y\nc: 1\n"))
    assert document.data == {"a": {"b": ["x", "y"]}, "c": 1}
    assert document.line_of(("a", "b", 1)) == 4
    assert document.line_of(("c",)) == 5
    assert document.line_of(("a", "missing")) == 1


def test_merge_keys_take_earlier_sources_and_own_values_first(tmp_path: Path) -> None:
    text = "x: &x {k: 1, m: 1}\ny: &y {k: 2, n: 2}\nz:\n  <<: [*x, *y]\n  m: 3\n"
    document = load_yaml(_write(tmp_path, text))
    assert document.data["z"] == {"m": 3, "k": 1, "n": 2}
    assert document.line_of(("z", "n")) == 2
    assert document.line_of(("z", "m")) == 5


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "'a' stands twice"),
        ("a: 1\nb: [\n", 3, "no YAML"),
        ("- 1\n", 1, "top level must be a mapping"),
        ("", 1, "top level must be a mapping"),
        ("a: 2026-01-01\n", 1, "quote it"),
        ("a: !!python/object:os.system x\n", 1, "quote it"),
        ("a: 1\n3: x\n", 2, "is no text"),
        ("a: 1\n<<: 3\n", 2, "takes mappings only"),
        ("a: &a\n  b: *a\n", 1, "levels deep"),
        ("a: \x07\n", 1, "no YAML"),
    ],
)
def test_mistakes_name_line_and_key(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(YamlProblem, match=words) as caught:
        load_yaml(_write(tmp_path, text))
    assert caught.value.line == line


def test_aliases_cannot_blow_up(tmp_path: Path) -> None:
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(YamlProblem, match="aliases counted"):
        load_yaml(_write(tmp_path, "\n".join(lines)))


def test_large_and_undecodable_files_are_refused(tmp_path: Path) -> None:
    large = _write(tmp_path, f"a: {'x' * MAX_BYTES}\n")
    with pytest.raises(YamlProblem, match="bytes"):
        load_yaml(large)
    large.write_bytes(b"a: \xff\n")
    with pytest.raises(YamlProblem, match="UTF-8"):
        load_yaml(large)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("process: {}\n", 1, "the key 'name' is missing"),
        (
            "nam: x\n",
            1,
            "unknown key 'nam'; did you mean 'name'? Valid keys: name, process, services",
        ),
        (
            "name: x\nproces: {}\n",
            2,
            "unknown key 'proces'; did you mean 'process'? Valid keys: name, process, services",
        ),
        (
            "name: x\nprocess:\n  modul: y\n",
            3,
            "unknown key 'modul' in process; did you mean 'module'? Valid keys: module, port",
        ),
        (
            "name: x\nservices:\n  one:\n    prot: 1\n",
            4,
            "unknown key 'prot' in services.one; did you mean 'port'? Valid keys: module, port",
        ),
        (
            "name: x\nzzzz: 1\n",
            2,
            "unknown key 'zzzz'; Valid keys: name, process, services",
        ),
    ],
)
def test_a_model_complains_in_sentences(
    tmp_path: Path, text: str, line: int, sentence: str
) -> None:
    document = load_yaml(_write(tmp_path, text))
    with pytest.raises(YamlProblem) as caught:
        validate(_Outer, document, YamlProblem)
    assert (caught.value.line, caught.value.message) == (line, sentence)


def test_a_wrong_type_names_the_key(tmp_path: Path) -> None:
    document = load_yaml(_write(tmp_path, "name: x\nprocess:\n  port: many\n"))
    with pytest.raises(YamlProblem, match="'port' in process") as caught:
        validate(_Outer, document, YamlProblem)
    assert caught.value.line == 3
