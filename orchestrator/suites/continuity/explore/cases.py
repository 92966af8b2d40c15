"""Finds as files: each is a case that can be played again (`memqual explore --replay`)."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from orchestrator.errors import UsageError
from orchestrator.evidence.rundir import json_bytes
from orchestrator.model import Frozen
from orchestrator.suites.continuity.explore.steps import Schedule
from services.common.platform import atomic_write_bytes

__all__ = ["ExploredCase", "read_case", "write_case"]


class ExploredCase(Frozen):
    """One find.

    Attributes:
        name: Lower case, stable; in the regression list the case is `regression.<name>`.
        title: What happens, in one sentence.
        rule: The rule that was broken, as `finding.Broken` tells it.
        words: The same for a person.
        schedule: The fewest steps that show it: of one lane, or of all where one operation is
            wronged through another; a case of the regression list has one lane.
        seed: Root of the draws that it was found with.
        memory: Name and version of the memory that it was found in; empty for a case that was
            written by hand.
        revision: Of the testbed.
        confirmed: How many of two further playings showed it again.
    """

    name: str
    title: str
    rule: str
    words: str
    schedule: Schedule
    seed: int = 0
    memory: str = ""
    revision: str = ""
    confirmed: int = 0


def write_case(path: Path, case: ExploredCase) -> None:
    """Keep a case, whole or not at all."""
    atomic_write_bytes(path, json_bytes(case))


def read_case(path: Path) -> ExploredCase:
    """Read a case.

    Raises:
        UsageError: It is none.
    """
    try:
        return ExploredCase.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"{path} is no case of an exploration: {error}.",
            next_step="Give a file of an exploration's folder `cases`, of this version.",
        ) from error
