"""The `${VAR}` of compose files: closed set of forms, and a set variable for each name.

Supported: ``${NAME}``, ``${NAME:-default}`` (unset or empty), ``${NAME:?reason}``, ``$$`` for a
    dollar. Anything
else that starts with a dollar is an error; compose itself would guess.
"""

import re
from collections.abc import Mapping

__all__ = ["InterpolationError", "interpolate"]

_TOKEN = re.compile(
    r"\$(?:(?P<dollar>\$)|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<form>:-|:\?)(?P<rest>[^{}]*))?\})?"
)


class InterpolationError(ValueError):
    """A variable is unset and has no default, or the form is not supported."""


def interpolate(text: str, variables: Mapping[str, str]) -> str:
    """Puts the variables' values in.

    Raises:
        InterpolationError: see the class.
    """

    def replace(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        name = match["name"]
        if name is None:
            raise InterpolationError(
                f"{text!r}: write ${{NAME}}, ${{NAME:-default}}, ${{NAME:?reason}}, or $$"
            )
        value = variables.get(name, "")
        if value:
            return value
        if match["form"] == ":-":
            return match["rest"]
        if match["form"] == ":?" or name not in variables:
            raise InterpolationError(f"the variable {name} is not set{_reason(match['rest'])}")
        return value

    return _TOKEN.sub(replace, text)


def _reason(text: str | None) -> str:
    return f": {text}" if text else ""
