"""Plays a narrative control on real processes: what it violated, and how it was graded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from orchestrator.campaign.schedule import control_config
from orchestrator.model import CheckOutcome, TrialRecord, Verdict
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.narrative.cases import CASES
from orchestrator.suites.narrative.checkpoints import Checkpoint
from orchestrator.suites.narrative.gauge import rate_of
from tests.orchestrator.suites.integrity.contexts import Rig
from tests.orchestrator.suites.integrity.stacks import process_rig
from tests.orchestrator.suites.narrative.control_stories import CONTROLS_CORPUS
from tests.orchestrator.suites.narrative.rigs import played_on

__all__ = ["Played", "control_rig", "graded_by", "play_case", "rate", "violated"]

Played = Sequence[TrialRecord]

_PREFIX = "narrative."
_REFERENCE = "control:reference"


@contextmanager
def control_rig(folder: Path, flaw: str = "") -> Iterator[Rig]:
    """A stack of processes whose memory has a flaw; the reference for none."""
    subject = f"control:{flaw}" if flaw else _REFERENCE
    with process_rig(folder, Reviewer.generate(), control_config(subject)) as rig:
        yield rig


def play_case(folder: Path, case: str, flaw: str = "", trials: int | None = None) -> Played:
    """The records of one case on a stack of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    with control_rig(folder, flaw) as rig:
        return played_on(rig, case, corpus=CONTROLS_CORPUS, trials=trials)


def violated(records: Played) -> set[str]:
    """Ids of the checks that were violated in any trial."""
    return {
        check.check_id
        for record in records
        for check in record.checks
        if check.outcome is CheckOutcome.VIOLATED
    }


def unproven(records: Played) -> list[str]:
    """Trials that came to nothing: neither caught nor cleared."""
    return [
        f"{record.verdict.value} {record.trial_id}: {record.cause}"
        for record in records
        if record.verdict in (Verdict.ERROR, Verdict.NOT_RUN)
    ]


def graded_by(check: str) -> tuple[str, Checkpoint] | None:
    """The case and the checkpoint that a control is graded by; None where a check catches it."""
    case, _, name = check.removeprefix(_PREFIX).rpartition(".")
    known = {checkpoint.value for checkpoint in Checkpoint}
    return (case, Checkpoint(name)) if case in CASES and name in known else None


def rate(records: Played, checkpoint: Checkpoint) -> float:
    """Share of a checkpoint's points that held in all trials.

    Raises:
        ValueError: Nothing was counted.
    """
    rates = [
        rate_of(figure)
        for record in records
        for figure in record.figures
        if figure.name == checkpoint.value
    ]
    counted = sum(count for _, count in rates)
    if not counted:
        raise ValueError(f"no point of {checkpoint.value} was counted")
    return sum(held for held, _ in rates) / counted
