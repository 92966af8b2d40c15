"""Foreign text is seen as it is, whatever is in it."""

import io
import sys
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.report.text import ELLIPSIS, counted, say, visible


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("naïve Gedächtnis 記憶 ذاكرة 🧠", "naïve Gedächtnis 記憶 ذاكرة 🧠"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("safe\u202egnp.exe", "safe⟨U+202E⟩gnp.exe"),
        ("\x1b[31mred\x07", "⟨U+001B⟩[31mred⟨U+0007⟩"),
        ("two\nlines\ttab", "two⟨U+000A⟩lines⟨U+0009⟩tab"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("\u2028\u2029", "⟨U+2028⟩⟨U+2029⟩"),
        ("half \ud800 pair", "half ⟨U+D800⟩ pair"),
        ("tag \U000e0041", "tag ⟨U+E0041⟩"),
        ("\uffff", "⟨U+FFFF⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 4, "e\u0301\u0301⟨U+0301⟩⟨U+0301⟩"),
        (None, "None"),
    ],
)
def test_what_is_not_seen_stands_as_its_code_point(said: object, seen: str) -> None:
    assert visible(said) == seen


def test_a_long_text_ends_with_an_ellipsis() -> None:
    assert visible("a" * 400) == "a" * 400
    assert visible("a" * 401) == "a" * 399 + ELLIPSIS
    assert visible("abc\x00", limit=10) == "abc" + ELLIPSIS
    assert visible("abc\x00", limit=11) == "abc⟨U+0000⟩"
    assert visible("abc", limit=0) == ""


def test_a_terminal_without_the_character_is_told_its_code_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="cp1252"))
    say("é ⟨U+202E⟩ 記")
    sys.stdout.flush()
    assert written.getvalue().decode("cp1252").rstrip() == r"é \u27e8U+202E\u27e9 \u8a18"


def test_nouns_have_a_number() -> None:
    assert [counted(n, "trial") for n in (0, 1, 2)] == ["0 trials", "1 trial", "2 trials"]


@given(st.text(), st.integers(min_value=0, max_value=60))
def test_nothing_hidden_is_left_and_the_limit_holds(said: str, limit: int) -> None:
    seen = visible(said, limit)
    assert len(seen) <= limit
    assert not {unicodedata.category(one) for one in seen} & {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}


@given(st.text())
def test_text_without_anything_hidden_stays_as_it_is(said: str) -> None:
    seen = visible(said, limit=10_000)
    assert visible(seen, limit=10_000) == seen


@given(st.text())
def test_it_can_stand_in_xml(said: str) -> None:
    element = ElementTree.Element("e", {"a": visible(said)})
    element.text = visible(said)
    read = ElementTree.fromstring(ElementTree.tostring(element, encoding="unicode"))
    assert (read.text or "", read.get("a")) == (visible(said), visible(said))
