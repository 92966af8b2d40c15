"""A run's facts, its gaps and what goes to no one's account, as rows of the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator.evidence.manifest import Manifest
from orchestrator.model import TrialRecord, Verdict
from orchestrator.scoring.run import CellSummary

__all__ = ["Gap", "GapList", "HazardRow", "hazards_of", "run_facts"]

_ABOUT = {
    "network": "arrival after the key's end, or a duplicated or late request: a destination "
    "deadline, or one apply per attempt, removes it",
    "clock": "a clock set back above the mark, or a destination's clock ahead of the key",
    "operator": "an operator's decision that was false or too early",
    "host": "a begin id that a new incarnation used again, or a zombie after a decision",
    "destination": "a fenced absence that was false",
    "volume": "a volume that was set back to an older snapshot",
}


@dataclass(frozen=True)
class Gap:
    """One reason for N/R."""

    subtype: str
    cause: str
    cells: int
    trials: int


@dataclass(frozen=True)
class HazardRow:
    """Extra effects that no decision explains, by the account that they go to."""

    account: str
    about: str
    trials: int
    cells: int


class GapList:
    """Why trials are N/R; trials are added one at a time."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._cells: dict[tuple[str, str], set[str]] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial of any verdict."""
        if trial.verdict is not Verdict.NOT_RUN:
            return
        key = ("" if trial.subtype is None else trial.subtype.value, trial.cause)
        self._counts[key] += 1
        self._cells.setdefault(key, set()).add(trial.cell.cell_id)

    def result(self) -> tuple[Gap, ...]:
        """The reasons; the one with most trials first."""
        return tuple(
            Gap(subtype, cause, len(self._cells[subtype, cause]), count)
            for (subtype, cause), count in sorted(
                self._counts.items(), key=lambda item: (-item[1], item[0])
            )
        )


def hazards_of(summaries: Iterable[CellSummary]) -> tuple[HazardRow, ...]:
    """Accounts with at least one extra effect."""
    trials: dict[str, int] = {}
    cells: dict[str, int] = {}
    for summary in summaries:
        for account, count in summary.hazards.items():
            trials[account] = trials.get(account, 0) + count
            cells[account] = cells.get(account, 0) + 1
    return tuple(
        HazardRow(account, _ABOUT.get(account, ""), count, cells[account])
        for account, count in sorted(trials.items())
    )


def run_facts(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that a reader needs to run it again."""
    commit = manifest.commit
    revision = commit.revision or "unknown: outside a checkout"
    started = datetime.fromtimestamp(manifest.started_unix_ns / 1e9, tz=UTC)
    clean = "" if commit.clean or not commit.revision else " with uncommitted changes"
    return (
        ("run", manifest.run_id),
        ("started", started.strftime("%Y-%m-%d %H:%M:%S UTC")),
        ("profile", manifest.profile),
        ("seed", str(manifest.seed)),
        ("requirement revision", manifest.requirement_revision),
        ("memory", f"{manifest.subject_name} {manifest.subject_version}"),
        ("memory's source", manifest.subject_source),
        ("runtime", f"{manifest.runtime}: {manifest.runtime_detail}"),
        ("isolation", manifest.isolation),
        (
            "clock skew",
            f"{'proven' if manifest.skew_proven else 'not available'}: {manifest.skew_detail}",
        ),
        ("lease", f"{manifest.lease_seconds} s, mode {manifest.lease_mode}"),
        ("stacks side by side", str(manifest.stacks)),
        ("expected trials", str(manifest.expected_trials)),
        ("continuity batches", str(manifest.batches)),
        ("commit", revision + clean),
        ("interpreter", manifest.interpreter.strip()),
        ("platform", manifest.platform),
        ("dependency lock", manifest.lock_digest or "none: an installed wheel"),
        ("frozen tools", manifest.tools_digest),
        *((f"package {name}", version) for name, version in sorted(manifest.dependencies.items())),
    )
