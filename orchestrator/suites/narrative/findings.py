"""What the lint has to say of a place in a file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Finding", "Rule", "Severity"]


class Severity(StrEnum):
    """Whether a story can be used as it is."""

    ERROR = "error"
    WARNING = "warning"


class Rule(StrEnum):
    """What was looked at; docs/stories.md says of each what it wants."""

    FILE = "file"
    FIELDS = "fields"
    IDS = "ids"
    SIZE = "size"
    TIME = "time"
    ORDER = "order"
    COUNT = "count"
    VERBATIM = "verbatim"
    DATES = "dates"
    ANSWERS = "answers"
    NARRATOR = "narrator"
    PATTERNS = "patterns"
    LANGUAGE = "language"


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        path: The file.
        line: Its line, from 1.
        severity: Whether the story can be used as it is.
        rule: What was looked at.
        message: What is wrong, naming the field and the value.
    """

    path: Path
    line: int
    severity: Severity
    rule: Rule
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.severity}: {self.message} [{self.rule}]"
