"""The ${VAR} of compose files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.runtimes.interpolation import InterpolationError, interpolate


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        ("plain", {}, "plain"),
        ("${A}", {"A": "1"}, "1"),
        ("${A:-d}", {}, "d"),
        ("${A:-d}", {"A": ""}, "d"),
        ("${A:-}", {}, ""),
        ("${A}", {"A": ""}, ""),
        ("${A:?why}", {"A": "x"}, "x"),
        ("$$${A}$$", {"A": "x"}, "$x$"),
        ("a${A}b${B:-c:d}", {"A": "1"}, "a1bc:d"),
        ("${A}", {"A": "${B}"}, "${B}"),
    ],
)
def test_values(text: str, variables: dict[str, str], expected: str) -> None:
    assert interpolate(text, variables) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${A}", "A is not set"),
        ("${A:?say why}", "A is not set: say why"),
        ("$A", "write"),
        ("${A-d}", "write"),
        ("${}", "write"),
        ("100$", "write"),
        ("${A:-${B}}", "write"),
    ],
)
def test_what_compose_would_guess_is_an_error(text: str, words: str) -> None:
    with pytest.raises(InterpolationError, match=words):
        interpolate(text, {})


@given(st.text())
def test_escaped_text_comes_back(text: str) -> None:
    assert interpolate(text.replace("$", "$$"), {}) == text


@given(st.text(), st.text(min_size=1))
def test_a_value_is_taken_as_it_is(before: str, value: str) -> None:
    escaped = before.replace("$", "$$")
    assert interpolate(f"{escaped}${{A}}", {"A": value}) == before + value
