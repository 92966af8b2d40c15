"""A small, whole bundle, written by the code that writes real ones, without a stack.

Trials are played by the mini rig; their journals are chained and their traces numbered over the
batches of two stacks, as a destination and an interposer do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import Message

from memqual.v1 import common_pb2, vendor_pb2
from orchestrator.evidence.finish import finish_bundle
from orchestrator.evidence.manifest import Commit, Manifest
from orchestrator.evidence.records import BatchEvidence, TraceSpan, message_to_json
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    Profile,
    RunVerdict,
    Suite,
    TargetSet,
    TrialRecord,
    WindowName,
)
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
from orchestrator.scoring.batch import score_batch
from orchestrator.suites.continuity.cells import REQUIREMENT_REVISION, cell_table, sub_seed
from orchestrator.suites.continuity.workload import settings_of
from orchestrator.suites.integrity.driver import integrity_jobs
from orchestrator.suites.integrity.planned import planned_integrity
from orchestrator.suites.integrity.reviewer import Reviewer
from services.common.canonical import canonical_json
from services.common.journal import ZERO_DIGEST, chain_digest
from tests.orchestrator.scoring.mini_destination import MiniDestination
from tests.orchestrator.scoring.mini_memory import MiniMemory, Naive, Null
from tests.orchestrator.scoring.mini_rig import Evidence, MiniRig
from tests.orchestrator.suites.integrity.contexts import rig_for
from tests.orchestrator.suites.integrity.memories import SmallMemory

RUN_ID = "20261130-120000-abcdef"
SEED = 7
KILLS = 2
INTEGRITY_CASES = ("A", "C", "L")
INTEGRITY_TRIALS = 2
TRACE_GAP = 3

_WANTED = (
    (WindowName.IN_REQUEST, CapabilityVariant.NONE),
    (WindowName.AFTER_COMMIT, CapabilityVariant.QUERY_FENCED),
    (WindowName.AFTER_COMMIT, CapabilityVariant.IDEMPOTENT),
    (WindowName.AFTER_RECEIPT, CapabilityVariant.NONE),
)
CELLS: tuple[Cell, ...] = tuple(
    one.cell
    for one in cell_table()
    if one.cell.arm is Arm.MEMORY
    and (one.cell.window, one.cell.capability) in _WANTED
    and one.cell.target is TargetSet.AGENT
    and one.cell.fate is Fate.DROP
    and one.cell.expiry in (ExpiryMode.NONE, ExpiryMode.SKEWED)
)


def plans_of(subject: str) -> tuple[TrialPlan, ...]:
    """One subject's trials; the controls' are fewer."""
    kills = KILLS if subject == VENDOR else 1
    crashes = tuple(
        TrialPlan(cell=cell, number=n, kill_number=n, sub_seed=sub_seed(SEED, cell, n))
        for cell in CELLS
        for n in range(kills)
    )
    records = tuple(
        plan
        for plan in planned_integrity(Profile.QUICK, SEED)
        if plan.cell.case in INTEGRITY_CASES
        and plan.number < INTEGRITY_TRIALS
        and subject == VENDOR
    )
    return crashes + records


def small_plan(profile: Profile = Profile.SELFTEST, seed: int = SEED) -> ExpectedCells:
    """What the small run schedules; a planner as `verify` asks one."""
    return ExpectedCells.of(
        profile.value,
        REQUIREMENT_REVISION,
        seed,
        tuple(
            ExpectedTrial(
                trial_id=trial_id(subject, plan.cell, plan.number),
                cell_id=plan.cell.cell_id,
                subject=subject,
                sub_seed=plan.sub_seed,
            )
            for subject in (VENDOR, *CONTROLS)
            for plan in plans_of(subject)
        ),
    )


def manifest(**changes: object) -> Manifest:
    """The facts of the small run."""
    describe = vendor_pb2.DescribeResponse(
        name="mini",
        version="1",
        lease_clock=vendor_pb2.LEASE_CLOCK_WALL,
        capabilities=[
            vendor_pb2.CapabilityDeclaration(
                capability=vendor_pb2.CAPABILITY_CONTINUITY,
                status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
                enforcement=vendor_pb2.ENFORCEMENT_NATIVE,
            ),
            vendor_pb2.CapabilityDeclaration(
                capability=vendor_pb2.CAPABILITY_NARRATIVE,
                status=vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE,
                limitation="stories come by another door",
            ),
        ],
    )
    made = Manifest(
        run_id=RUN_ID,
        profile=Profile.SELFTEST.value,
        seed=SEED,
        requirement_revision=REQUIREMENT_REVISION,
        runtime="process",
        runtime_detail="local processes, as asked for",
        commit=Commit(revision="0" * 40, clean=True),
        interpreter="CPython 3.11",
        platform="a test",
        lock_digest="",
        tools_digest="0" * 64,
        dependencies={"grpcio": "1"},
        images=(),
        subject_name="mini",
        subject_version="1",
        subject_source="tests",
        vendor_json="",
        describe_json=message_to_json(describe),
        lease_mode="auto",
        lease_seconds=120,
        skew_proven=True,
        skew_detail="asked for 2000 ms, measured 2000 ms",
        isolation="N/R platform: local processes",
        stacks=2,
        expected_trials=small_plan().trial_count,
        batches=sum(
            plan.cell.window is not None for s in (VENDOR, *CONTROLS) for plan in plans_of(s)
        ),
        started_unix_ns=1_796_035_388_000_000_000,
    )
    return made.model_copy(update=changes)


@dataclass
class StackEnds:
    """Where a stack's trace and journal have come to."""

    trace: int = 0
    journal: int = 0
    digest: str = ZERO_DIGEST


class _BatchRig(MiniRig):
    """The mini rig on a batch of a plan."""

    def play(self, batch: Batch) -> Evidence:
        self.batch = batch
        (self.member,) = batch.members
        self.destination = MiniDestination(settings_of(self.member))
        return self.run()


def evidence_of(batch: Batch, memory: MiniMemory, stack_id: str, ends: StackEnds) -> Evidence:
    """A batch, played, with its trace and journal in their stack's numbering."""
    played = _BatchRig(batch.cell, memory=memory).play(batch)
    shift = ends.trace + TRACE_GAP
    for record in played.trace:
        record.sequence += shift
    journal = _chained(played.journal, ends)
    evidence = played.evidence.model_copy(
        update={
            "stack_id": stack_id,
            "trace": TraceSpan(first=shift + 1, last=shift + len(played.trace)),
            "journal": TraceSpan(first=ends.journal - len(journal) + 1, last=ends.journal),
            "snapshots": tuple(
                one.model_copy(update={"trace_sequence": one.trace_sequence + shift})
                for one in played.evidence.snapshots
            ),
        }
    )
    ends.trace = shift + len(played.trace)
    return Evidence(evidence, played.trace, journal)


def _chained(
    records: Iterable[common_pb2.JournalRecord], ends: StackEnds
) -> list[common_pb2.JournalRecord]:
    chained = []
    for record in records:
        payload = canonical_json(json.loads(record.payload_json)).decode()
        ends.journal += 1
        digest = chain_digest(ends.journal, ends.digest, payload)
        chained.append(
            common_pb2.JournalRecord(
                sequence=ends.journal,
                previous_digest=ends.digest,
                digest=digest,
                payload_json=payload,
            )
        )
        ends.digest = digest
    return chained


def memory_of(subject: str) -> MiniMemory:
    """A fresh memory of a subject."""
    return {"control:naive": Naive, "control:null": Null}.get(subject, MiniMemory)()


def make_bundle(root: Path, vendor: type[MiniMemory] = MiniMemory) -> RunVerdict:
    """Write the small run; its verdict.

    Args:
        root: Folder to make.
        vendor: The memory that the run qualifies.
    """
    with RunDirectory.create(root) as folder:
        folder.write_text("expected-cells.json", small_plan().model_dump_json(indent=1) + "\n")
        folder.write_json("manifest.json", manifest())
        stacks = {name: StackEnds() for name in ("a0", "b0")}
        number = 0
        for subject in (VENDOR, *CONTROLS):
            crashes = [one for one in plans_of(subject) if one.cell.suite is Suite.CONTINUITY]
            for batch in batches_for(subject, crashes, join_capabilities=False):
                stack_id = ("a0", "b0")[number % 2]
                memory = vendor() if subject == VENDOR else memory_of(subject)
                memory.lease_seconds = 120
                made = evidence_of(batch, memory, stack_id, stacks[stack_id])
                keep(folder, made)
                number += 1
        for records in _integrity(folder):
            folder.append_trials(records)
        return finish_bundle(folder)


def keep(folder: RunDirectory, made: Evidence) -> None:
    """Write a batch and its trials, as a sink does."""
    name = made.evidence.batch.batch_id
    folder.write_lines(f"traces/{name}.jsonl", _lines(made.trace))
    folder.write_lines(f"journals/{name}.jsonl", _lines(made.journal))
    folder.write_json(f"batches/{name}.json", made.evidence)
    folder.append_trials(score_batch(made.evidence, made.trace, made.journal))


def _lines(messages: Sequence[Message]) -> list[str]:
    return [message_to_json(message) for message in messages]


def _integrity(folder: RunDirectory) -> Iterable[Sequence[TrialRecord]]:
    reviewer = Reviewer.generate()
    plans = [one for one in plans_of(VENDOR) if one.cell.suite is Suite.INTEGRITY]
    memory = SmallMemory()
    memory.key = reviewer.public_key
    with rig_for(memory) as rig:
        for job in integrity_jobs(VENDOR, plans, reviewer):
            yield job.run(rig.context)
        for name, lines in rig.kept.files.items():
            folder.write_lines(name, lines)


def first_batch(root: Path, subject: str = VENDOR) -> BatchEvidence:
    """The first batch of a subject, by id."""
    found = (
        BatchEvidence.model_validate_json(path.read_bytes())
        for path in sorted((root / "batches").glob("*.json"))
    )
    return next(one for one in found if one.batch.subject == subject)
