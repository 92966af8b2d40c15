"""What `memqual doctor` says of one thing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "State"]


class State(StrEnum):
    """How a thing stands."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: What.
        state: How it stands.
        detail: What was seen.
        next_step: What to do about it; empty where nothing has to be done.
    """

    name: str
    state: State
    detail: str
    next_step: str = ""
