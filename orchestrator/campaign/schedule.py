"""All of a run's work and the cells that are expected of it, before it starts (DESIGN §7).

What is expected follows from profile, requirement revision, seed and stories only; vendor, runtime
and machine are no part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from orchestrator.campaign.jobs import Job, SubjectWork
from orchestrator.model import ExpiryMode, Profile, Suite
from orchestrator.plan import (
    CONTROLS,
    VENDOR,
    Batch,
    ExpectedCells,
    ExpectedTrial,
    TrialPlan,
    batches_for,
    trial_id,
)
from orchestrator.stacks import StackVariant
from orchestrator.suites.continuity import cells as continuity
from orchestrator.suites.continuity.families import case_of_cell
from orchestrator.suites.continuity.job import ContinuityJob
from orchestrator.suites.continuity.lease_ends import way_to_lease_end
from orchestrator.suites.integrity.driver import integrity_jobs
from orchestrator.suites.integrity.planned import planned_integrity
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.narrative.corpus import Corpus, package_corpus
from orchestrator.suites.narrative.driver import narrative_jobs
from orchestrator.suites.narrative.planned import planned_narrative
from orchestrator.vendors import VendorConfig, VendorProcess

__all__ = [
    "Schedule",
    "control_config",
    "expected_cells",
    "schedule",
]

LONG_LEASE_SECONDS = 120
SHORT_LEASE_SECONDS = 3
_JOBS_PER_PIECE = 6
_LONG_TRIALS = 200
"""A job of so many trials takes minutes: left to the end, one lane works while the others wait."""


@dataclass(frozen=True)
class Schedule:
    """Work in the order in which lanes should take it.

    Attributes:
        work: Pieces of a few jobs each, so that lanes share them evenly; long ones first.
        batches: How many continuity batches there are.
    """

    work: tuple[SubjectWork, ...]
    batches: int


def expected_cells(profile: Profile, seed: int, corpus: Corpus | None = None) -> ExpectedCells:
    """Every trial that a run of this profile and seed must end with.

    Args:
        profile: Which cells.
        seed: Root of every sub-seed.
        corpus: Stories of the narrative axis; None: those that come with memqual.
    """
    stories = package_corpus() if corpus is None else corpus
    trials = (
        ExpectedTrial(
            trial_id=trial_id(subject, plan.cell, plan.number),
            cell_id=plan.cell.cell_id,
            subject=subject,
            sub_seed=plan.sub_seed,
        )
        for subject in (VENDOR, *CONTROLS)
        for plan in _trials(profile, seed, subject, stories)
    )
    return ExpectedCells.of(profile.value, continuity.REQUIREMENT_REVISION, seed, trials)


def schedule(
    profile: Profile,
    seed: int,
    vendor: VendorConfig | None,
    reviewer: Reviewer,
    finished: Collection[str],
    *,
    corpus: Corpus | None = None,
    skew: bool = True,
) -> Schedule:
    """The work that is still to be done.

    Args:
        profile: Which cells.
        seed: Root of every sub-seed.
        vendor: The memory under test, None for the reference.
        reviewer: The run's reviewer.
        finished: Trial ids that a cut run has ended already.
        corpus: Stories of the narrative axis; None: those that come with memqual.
        skew: Whether the memory's lease clock can be set; otherwise its short leases are waited
            out. Which trials there are does not depend on it.
    """
    work: list[SubjectWork] = []
    batches = 0
    done = frozenset(finished)
    stories = package_corpus() if corpus is None else corpus
    for subject in (VENDOR, *CONTROLS):
        config = vendor if subject == VENDOR else control_config(subject)
        plans = _trials(profile, seed, subject, stories)
        by_stack: dict[tuple[int, StackVariant], list[Job]] = {}
        crashes = [plan for plan in plans if plan.cell.suite is Suite.CONTINUITY]
        for batch in batches_for(subject, crashes, join_capabilities=subject != VENDOR):
            batches += 1
            key = (_lease_seconds(batch, skew=skew), _variant(batch))
            by_stack.setdefault(key, []).append(ContinuityJob(batch, reviewer))
        records = [plan for plan in plans if plan.cell.suite is Suite.INTEGRITY]
        told = [plan for plan in plans if plan.cell.suite is Suite.NARRATIVE]
        usual = by_stack.setdefault((LONG_LEASE_SECONDS, StackVariant.USUAL), [])
        usual.extend(integrity_jobs(subject, records, reviewer))
        usual.extend(narrative_jobs(subject, told, stories))
        for (lease_seconds, variant), jobs in by_stack.items():
            left = [job for job in jobs if not done.issuperset(job.trial_ids)]
            work += [
                SubjectWork(subject, config, _asked_lease(config, lease_seconds), piece, variant)
                for piece in _pieces(left)
            ]
    return Schedule(tuple(work), batches)


def control_config(subject: str) -> VendorConfig | None:
    """How a control is started; the reference is the topology's own memory."""
    flaw = subject.removeprefix("control:")
    if flaw == "reference":
        return None
    arguments = ("--flaw", flaw)
    return VendorConfig(
        name=f"control-{flaw}",
        recipe="control",
        command=("services.controls", *arguments),
        process=VendorProcess(module="services.controls", args=arguments),
    )


def _trials(profile: Profile, seed: int, subject: str, corpus: Corpus) -> Sequence[TrialPlan]:
    control = subject != VENDOR
    planned = (
        continuity.select_for_controls(profile) if control else continuity.select(profile, seed)
    )
    return (
        *continuity.trials_of(planned, seed),
        *planned_integrity(profile, seed, control=control),
        *planned_narrative(profile, seed, corpus, control=control),
    )


def _lease_seconds(batch: Batch, *, skew: bool) -> int:
    case = case_of_cell(batch.cell)
    if case is not None and case.lease_seconds is not None:
        return case.lease_seconds
    way = way_to_lease_end(batch.cell, moves=skew)
    return SHORT_LEASE_SECONDS if way is ExpiryMode.CONFIGURED else LONG_LEASE_SECONDS


def _variant(batch: Batch) -> StackVariant:
    case = case_of_cell(batch.cell)
    return StackVariant.USUAL if case is None else case.stack


def _asked_lease(config: VendorConfig | None, lease_seconds: int) -> int:
    """A vendor whose lease has one length is asked for that length in the long cells."""
    if config is None or lease_seconds != LONG_LEASE_SECONDS:
        return lease_seconds
    return config.lease.seconds


def _pieces(jobs: Iterable[Job]) -> Iterable[tuple[Job, ...]]:
    """Long jobs first, each by itself; the others in order."""
    usual: list[Job] = []
    for job in jobs:
        if len(job.trial_ids) >= _LONG_TRIALS:
            yield (job,)
        else:
            usual.append(job)
    rest = iter(usual)
    while piece := tuple(islice(rest, _JOBS_PER_PIECE)):
        yield piece
