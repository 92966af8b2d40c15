"""Bad files: an error with its line, never anything else."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.suites.narrative import documents, events
from orchestrator.suites.narrative.documents import Document, read_document
from orchestrator.suites.narrative.events import DEPTH_MAX, UnreadableFile

BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}, *{before}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def _read(folder: Path, raw: str | bytes, name: str = "a.yaml") -> Document:
    path = folder / name
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return read_document(path)


UNREADABLE: list[tuple[str, str | bytes, int, str]] = [
    ("a.yaml", "", 1, "is empty"),
    ("a.yaml", " \n\n ", 1, "is empty"),
    ("a.yaml", "\ufeff", 1, "is empty"),
    ("a.json", "", 1, "is empty"),
    ("a.yaml", b"a: 1\nb: \xff\xfe\n", 2, "no UTF-8 text (byte 8)"),
    ("a.yaml", b"\x89PNG\r\n\x1a\n\x00\x00", 1, "no UTF-8 text"),
    ("a.yaml", "a: 1\nb: \x00\n", 2, "U+0000 cannot be in YAML"),
    ("a.yaml", "a: 1\nb: 'c\nd: e\n", 2, "no YAML: while scanning a quoted scalar"),
    ("a.yaml", "a: 1\n b: 2\n", 2, "no YAML: mapping values are not allowed"),
    ("a.yaml", "a: [1, 2\n", 2, "no YAML: "),
    ("a.yaml", "\ta: 1\n", 1, "no YAML: "),
    ("a.yaml", "a: 1\n---\nb: 1\n", 2, "a second YAML document"),
    ("a.yaml", "- a\n- b\n", 1, "must be a mapping"),
    ("a.yaml", "just words\n", 1, "must be a mapping"),
    ("a.yaml", "# a comment\n", 1, "must be a mapping"),
    ("a.yaml", "x: 1\n" + BOMB, 2, "no anchors and aliases"),
    ("a.yaml", "x: 1\ny: *x\n", 2, "no anchors and aliases"),
    ("a.yaml", "x: 1\ny: !!python/object:os.system ls\n", 2, "no tags"),
    ("a.yaml", "x: !!binary aGVsbG8=\n", 1, "no tags"),
    ("a.yaml", "x: !!set {a, b}\n", 1, "no tags"),
    ("a.yaml", "? [a, b]\n: c\n", 1, "name must be text"),
    ("a.yaml", "a:\n" + "[" * 100_000, 2, "nesting depth"),
    ("a.yaml", "\n".join("  " * n + "a:" for n in range(100)), DEPTH_MAX + 1, "levels deep"),
    ("a.yaml", 'a: "\\ud83d"\n', 1, "no YAML: "),
    ("a.yaml", "%YAML 9.9\n---\na: b\n", 1, "no YAML: "),
    ("a.json", '{"a": 1,\n "b": }', 2, "no JSON: "),
    ("a.json", '{"a": 1}\n{"b": 1}', 2, "no JSON: Extra data"),
    ("a.json", '{"a": NaN}', 1, "NaN is no number"),
    ("a.json", '{"a":\n "\\ud83d"}', 2, "surrogate"),
    ("a.json", '{"a": ' + "1" * 5_000 + "}", 1, "no JSON: "),
    ("a.json", "[" * 100_000, 1, "levels deep"),
    ("a.json", '{"a": ' + "[" * 60 + "]" * 60 + "}", 1, "levels deep"),
    ("a.json", '[{"a": 1}]', 1, "must be a mapping"),
    ("a.json", "a: 1\n", 1, "no JSON: "),
]


@pytest.mark.parametrize(("name", "raw", "line", "said"), UNREADABLE)
def test_an_unreadable_file_is_one_error_at_its_line(
    tmp_path: Path, name: str, raw: str | bytes, line: int, said: str
) -> None:
    with pytest.raises(UnreadableFile) as caught:
        _read(tmp_path, raw, name)
    assert said in caught.value.message
    assert caught.value.line == line


def test_a_file_over_the_limits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "VALUES_MAX", 100)
    document = _read(tmp_path, '{"a": [' + "1," * 90 + "1]}", "a.json")
    assert document.content.data == {"a": [1] * 91}
    with pytest.raises(UnreadableFile, match="more than 100 values"):
        _read(tmp_path, '{"a": [' + "1," * 100 + "1]}", "a.json")
    monkeypatch.setattr(documents, "FILE_BYTES_MAX", 100)
    with pytest.raises(UnreadableFile, match="more than 100 bytes"):
        _read(tmp_path, b"a: 1 #" + b"#" * 95)


LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]


@pytest.mark.parametrize("loader", LOADERS)
def test_nothing_escapes_either_reader_of_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: type[yaml.SafeLoader]
) -> None:
    monkeypatch.setattr(events, "_YAML_LOADER", loader)
    for name, raw, _, _ in UNREADABLE:
        with pytest.raises(UnreadableFile):
            _read(tmp_path, raw, name)


@pytest.mark.parametrize("loader", LOADERS)
def test_every_value_has_its_line_in_both_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: type[yaml.SafeLoader]
) -> None:
    monkeypatch.setattr(events, "_YAML_LOADER", loader)
    for name, raw in (
        ("a.yaml", "a: 1\nb:\n  - x\n  - {c: yes,\n     d: 'no'}\n"),
        ("a.json", '{"a": 1,\n"b":\n [ "x",\n {"c": true,\n "d": "no"}]}\n'),
    ):
        document = _read(tmp_path, raw, name)
        assert document.content.data == {"a": 1, "b": ["x", {"c": True, "d": "no"}]}
        lines = document.content.lines
        assert [lines[it] for it in ((), ("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "d"))] == [
            *(1, 1, 2, 3, 4, 5)
        ]


def test_what_yaml_makes_of_plain_words_is_kept_as_it_was_written(tmp_path: Path) -> None:
    document = _read(tmp_path, "a: 18:40\nb: NO\nc: 2026-03-02\nd: 0x1F\ne: 2.50\nf: ~\ng: '7'\n")
    assert document.content.data["c"] == "2026-03-02"
    assert document.written == {
        ("a",): "18:40",
        ("b",): "NO",
        ("c",): "2026-03-02",
        ("d",): "0x1F",
        ("e",): "2.50",
        ("f",): "~",
    }


def test_a_key_that_is_no_text_is_kept_and_said(tmp_path: Path) -> None:
    document = _read(tmp_path, "a: 1\n2026: b\nno: c\n")
    assert document.content.data == {"a": 1, "2026": "b", "no": "c"}
    assert [(each.line, each.grave) for each in document.oddities] == [(2, False), (3, False)]


def test_the_first_of_two_equal_fields_counts(tmp_path: Path) -> None:
    for name, raw in (
        ("a.yaml", "a: 1\na: [{b: 2}]\nc: 3\n"),
        ("a.json", '{"a":1,\n"a":[2],"c":3}'),
    ):
        document = _read(tmp_path, raw, name)
        assert document.content.data == {"a": 1, "c": 3}
        assert [(each.line, each.grave) for each in document.oddities] == [(2, True)]


# Plain data of a mapping; JSON writes characters above U+FFFF as two escapes.
_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=30)
_DATA = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        _LEAVES,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=12,
    ),
    max_size=5,
)


@given(data=_DATA, indent=st.sampled_from([None, 1]), escaped=st.booleans())
@settings(max_examples=100, deadline=None)
def test_json_reads_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, object], indent: int, escaped: bool
) -> None:
    raw = json.dumps(data, indent=indent, ensure_ascii=escaped)
    document = _read(tmp_path_factory.mktemp("json"), raw, "a.json")
    assert document.content.data == data
    assert not document.oddities


@given(raw=st.binary(max_size=300), name=st.sampled_from(["a.yaml", "a.json"]))
@settings(max_examples=100, deadline=None)
def test_bytes_are_read_or_refused_with_a_line(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, name: str
) -> None:
    _is_read_or_refused(tmp_path_factory.mktemp("bytes"), raw, name)


_SHREDS = (
    *"{}[]:,-?&*!|>'\"%@`#~ \n\t",
    *("a", "b: ", "- ", "\n  ", "---\n", "...\n", "&a ", "*a", "!!str ", "<<: ", "2026-03-02"),
    *("\u2028", "\U0001f41d", "\x85", "\r", "0b1", "=", "1_0:59"),
)


@given(raw=st.lists(st.sampled_from(_SHREDS), max_size=25).map("".join))
@settings(max_examples=200, deadline=None)
def test_shreds_of_yaml_are_read_or_refused_with_a_line(
    tmp_path_factory: pytest.TempPathFactory, raw: str
) -> None:
    _is_read_or_refused(tmp_path_factory.mktemp("shreds"), raw.encode(), "a.yaml")


def _is_read_or_refused(folder: Path, raw: bytes, name: str) -> None:
    # A line of YAML may end in other ways than one of Python; none ends in less than a byte.
    lines_max = len(raw) + 1
    try:
        lines = list(_read(folder, raw, name).content.lines.values())
    except UnreadableFile as error:
        lines = [error.line]
    assert all(1 <= line <= lines_max for line in lines)
