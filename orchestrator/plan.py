"""From a profile to batches: what a run will do, decided before it starts (DESIGN §7).

A batch is one injection: its operations are held at one window and crash together (one kill, K
    trials). Batches of the vendor hold one cell each, so that every cell has a kill of its own; a
    control's batches join the capabilities of one window, since a control only has to be caught.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from orchestrator.model import Cell, Frozen, Suite

__all__ = [
    "CONTROLS",
    "VENDOR",
    "Batch",
    "ExpectedCells",
    "ExpectedGroup",
    "ExpectedTrial",
    "Member",
    "PlannedPlaces",
    "TrialPlan",
    "batches_for",
    "trial_id",
    "workflow_id",
]

VENDOR = "vendor"
"""Subject name of the memory that the run qualifies; controls are `control:<flaw>`."""

CONTROLS = ("control:reference", "control:naive", "control:null")
"""The memories that every run qualifies beside the vendor's (DESIGN §9)."""


class Member(Frozen):
    """One trial of a batch.

    Attributes:
        trial_id: Unique in the run, readable, usable with `memqual replay --trial`.
        cell: Where it stands in the matrix.
        sub_seed: Derived from (seed, suite, case, trial); the subject is not part of it.
        workflow_id: Workflow of the trial; its memory namespace has the same name.
        short_lease_seconds: Lease of the memory that it is played on, where that is a short one: a
            key that ends with its lease must end sooner, too. 0 on a stack with a long lease.
    """

    trial_id: str
    cell: Cell
    sub_seed: int
    workflow_id: str
    short_lease_seconds: int = 0


class Batch(Frozen):
    """One injection and everything that crashes in it.

    Attributes:
        batch_id: Unique in the run; names the files of its evidence.
        subject: `vendor` or `control:<flaw>`.
        kill_number: Which kill of its cell this is, from 0.
        members: The trials; their cells differ in capability at most.
    """

    batch_id: str
    subject: str
    kill_number: int
    members: tuple[Member, ...]

    @property
    def cell(self) -> Cell:
        """The first member's cell: all that concerns the injection is equal in every member's."""
        return self.members[0].cell

    def with_short_lease(self, seconds: int) -> Batch:
        """The same on a memory whose lease is so short."""
        members = (one.model_copy(update={"short_lease_seconds": seconds}) for one in self.members)
        return self.model_copy(update={"members": tuple(members)})


class TrialPlan(Frozen):
    """One planned trial, before it is put into a batch."""

    cell: Cell
    number: int
    kill_number: int
    sub_seed: int


class ExpectedTrial(Frozen):
    """One trial that the bundle must hold."""

    trial_id: str
    cell_id: str
    subject: str
    sub_seed: int


class ExpectedGroup(Frozen):
    """All trials of one subject in one cell, numbered without a gap.

    Attributes:
        subject: `vendor` or `control:<flaw>`.
        cell_id: The cell.
        first_number: Number of the first trial.
        sub_seeds: Of each trial, in order of their numbers.
    """

    subject: str
    cell_id: str
    first_number: int
    sub_seeds: tuple[int, ...]

    @property
    def prefix(self) -> str:
        """What all of its trials' ids begin with; the number follows."""
        return f"{self.subject}:{self.cell_id}#"


class ExpectedCells(Frozen):
    """expected-cells.json: which trials a run must end with, in the order of the plan.

    A million trials take little room: a group says of all of its trials what is alike.
    """

    profile: str
    requirement_revision: str
    seed: int
    groups: tuple[ExpectedGroup, ...]

    @classmethod
    def of(
        cls, profile: str, requirement_revision: str, seed: int, trials: Iterable[ExpectedTrial]
    ) -> ExpectedCells:
        """Put trials together, groups in the order of their first trials.

        Raises:
            ValueError: An id is not `<subject>:<cell id>#<number>`, or stands there twice.
        """
        numbered: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for trial in trials:
            prefix, _, number = trial.trial_id.rpartition("#")
            if prefix != f"{trial.subject}:{trial.cell_id}" or not number.isdecimal():
                raise ValueError(f"{trial.trial_id} is no trial id of its subject and cell")
            key = (trial.subject, trial.cell_id)
            numbered.setdefault(key, []).append((int(number), trial.sub_seed))
        return cls(
            profile=profile,
            requirement_revision=requirement_revision,
            seed=seed,
            groups=tuple(
                group
                for (subject, cell_id), members in numbered.items()
                for group in _groups(subject, cell_id, members)
            ),
        )

    @property
    def trial_count(self) -> int:
        """How many trials there are."""
        return sum(len(group.sub_seeds) for group in self.groups)

    def trials(self) -> Iterator[ExpectedTrial]:
        """Every trial, group by group."""
        for group in self.groups:
            for number, sub_seed in enumerate(group.sub_seeds, start=group.first_number):
                yield ExpectedTrial(
                    trial_id=f"{group.prefix}{number}",
                    cell_id=group.cell_id,
                    subject=group.subject,
                    sub_seed=sub_seed,
                )


class PlannedPlaces:
    """Where each expected trial stands in the plan: its group, and its place within the group."""

    def __init__(self, expected: ExpectedCells) -> None:
        self._rows: dict[str, list[tuple[int, int, int]]] = {}
        for at, group in enumerate(expected.groups):
            row = (at, group.first_number, len(group.sub_seeds))
            self._rows.setdefault(group.prefix, []).append(row)

    def of(self, trial_id: str) -> tuple[int, int] | None:
        """Group and place, both from 0; None for a trial that is not expected."""
        prefix, sign, number = trial_id.rpartition("#")
        rows = self._rows.get(prefix + sign, ())
        # Other spellings of a number are other ids.
        if not rows or not number.isdecimal() or str(int(number)) != number:
            return None
        for group, first, size in rows:
            if 0 <= int(number) - first < size:
                return group, int(number) - first
        return None


def _groups(subject: str, cell_id: str, members: list[tuple[int, int]]) -> Iterable[ExpectedGroup]:
    """The trials of one cell, a group for each row of numbers without a gap."""
    members.sort()
    for before, after in pairwise(members):
        if before[0] == after[0]:
            raise ValueError(f"trial {after[0]} of {subject} in {cell_id} is planned twice")
    for _, row in groupby(enumerate(members), lambda entry: entry[1][0] - entry[0]):
        of_row = [member for _, member in row]
        yield ExpectedGroup(
            subject=subject,
            cell_id=cell_id,
            first_number=of_row[0][0],
            sub_seeds=tuple(sub_seed for _, sub_seed in of_row),
        )


def trial_id(subject: str, cell: Cell, number: int) -> str:
    """Name a trial: `<subject>:<cell id>#<number>`."""
    return f"{subject}:{cell.cell_id}#{number}"


def workflow_id(subject: str, cell: Cell, number: int, sub_seed: int) -> str:
    """An opaque id that no two trials of one stack share, without the vendor's name."""
    text = f"{sub_seed}:{trial_id(subject, cell, number)}"
    return "w" + hashlib.sha256(text.encode()).hexdigest()[:23]


def batches_for(
    subject: str, trials: Iterable[TrialPlan], *, join_capabilities: bool
) -> tuple[Batch, ...]:
    """Put the trials of one subject into batches, in the order of the plan.

    Args:
        subject: `vendor` or `control:<flaw>`.
        trials: Continuity trials only.
        join_capabilities: One batch for all capabilities of an otherwise equal cell.

    Raises:
        ValueError: A trial is not of the continuity suite.
    """
    ordered = list(trials)
    if any(trial.cell.suite is not Suite.CONTINUITY for trial in ordered):
        raise ValueError("only continuity trials crash in batches")

    def key(trial: TrialPlan) -> str:
        cell = (
            trial.cell.model_copy(update={"capability": None}) if join_capabilities else trial.cell
        )
        return f"{cell.cell_id}!{trial.kill_number}"

    first_seen: dict[str, int] = {}
    for position, trial in enumerate(ordered):
        first_seen.setdefault(key(trial), position)
    ordered.sort(key=lambda trial: first_seen[key(trial)])
    return tuple(_batch(subject, name, tuple(group)) for name, group in groupby(ordered, key))


def _batch(subject: str, key: str, trials: Sequence[TrialPlan]) -> Batch:
    digest = hashlib.sha256(f"{subject}:{key}".encode()).hexdigest()[:12]
    members = tuple(
        Member(
            trial_id=trial_id(subject, trial.cell, trial.number),
            cell=trial.cell,
            sub_seed=trial.sub_seed,
            workflow_id=workflow_id(subject, trial.cell, trial.number, trial.sub_seed),
        )
        for trial in trials
    )
    return Batch(
        batch_id=f"b{digest}", subject=subject, kill_number=trials[0].kill_number, members=members
    )
