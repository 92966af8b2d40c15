"""Whether the plan of a bundle holds, and its trials are those of the plan (DESIGN §7, §8)."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.evidence.batch_checks import Owner
from orchestrator.evidence.bundle import OTHER_VERSION, Bundle
from orchestrator.evidence.examination import Examination
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.slim import slim
from orchestrator.model import Profile, TrialRecord, Verdict
from orchestrator.plan import ExpectedCells, ExpectedTrial
from orchestrator.suites.continuity.cells import REQUIREMENT_REVISION

__all__ = ["Planner", "check_plan", "check_trials"]

Planner = Callable[[Profile, int], ExpectedCells]
"""What a profile and a seed schedule."""

_TRIALS = "trials.jsonl"


def check_plan(
    bundle: Bundle, step: Examination, planner: Planner
) -> tuple[Manifest | None, ExpectedCells | None]:
    """Check that what was planned can be read, is consistent and follows from profile and seed.

    Returns:
        manifest.json and expected-cells.json; None for one that cannot be read.
    """
    manifest: Manifest | None = None
    expected: ExpectedCells | None = None
    with step.reading("manifest.json"):
        manifest = bundle.model("manifest.json", Manifest)
    with step.reading("expected-cells.json"):
        expected = bundle.model("expected-cells.json", ExpectedCells)
        ids = {one.trial_id for one in expected.trials}
        if len(ids) != len(expected.trials):
            step.problem("expected-cells.json", "names a trial twice")
    if expected is None:
        return manifest, None
    if manifest is not None:
        for name, said, planned in (
            ("profile", manifest.profile, expected.profile),
            ("seed", manifest.seed, expected.seed),
            ("revision", manifest.requirement_revision, expected.requirement_revision),
            ("number of trials", manifest.expected_trials, len(expected.trials)),
        ):
            if said != planned:
                step.problem(
                    "manifest.json", f"{name} is {said}, and expected-cells.json has {planned}"
                )
    if expected.requirement_revision != REQUIREMENT_REVISION:
        step.note(
            f"requirement revision {expected.requirement_revision} is not this version's "
            f"({REQUIREMENT_REVISION}): what it schedules was not computed again"
        )
    else:
        with step.reading("expected-cells.json"):
            again = planner(Profile(expected.profile), expected.seed)
            _compare_plans(step, expected, again)
    step.looked_at = (
        f"{len(expected.trials)} trials of profile {expected.profile}, seed {expected.seed}, "
        f"revision {expected.requirement_revision}"
    )
    return manifest, expected


def _compare_plans(step: Examination, kept: ExpectedCells, again: ExpectedCells) -> None:
    if kept == again:
        return
    lacking = {one.trial_id for one in again.trials} - {one.trial_id for one in kept.trials}
    added = {one.trial_id for one in kept.trials} - {one.trial_id for one in again.trials}
    first = next(iter(sorted(lacking) or sorted(added)), "")
    step.problem(
        "expected-cells.json",
        f"is not what profile {kept.profile} and seed {kept.seed} schedule: {len(lacking)} trials "
        f"lack, {len(added)} are too many" + (f", first {first}" if first else ""),
        OTHER_VERSION,
    )


def check_trials(
    bundle: Bundle, step: Examination, expected: ExpectedCells | None, owners: dict[str, Owner]
) -> list[TrialRecord]:
    """Check that every expected trial is there, as planned and with its evidence.

    Args:
        bundle: The bundle.
        step: Is told what does not fit.
        expected: What was planned; None when that cannot be read.
        owners: Who holds the evidence of each trial.

    Returns:
        The records in order, without what adding them up does not need.
    """
    planned = {} if expected is None else {one.trial_id: one for one in expected.trials}
    kept: list[TrialRecord] = []
    seen: dict[str, Verdict] = {}
    without_evidence = 0
    with step.reading(_TRIALS):
        for line in bundle.trials():
            record = line.record
            where = f"line {line.number}: {record.trial_id}"
            if record.trial_id in seen:
                _note_repeat(step, where, seen[record.trial_id], record.verdict)
            seen[record.trial_id] = record.verdict
            kept.append(slim(record))
            one = planned.get(record.trial_id)
            if one is None:
                step.problem(_TRIALS, f"{where} is not expected")
            elif not _as_planned(record, one):
                step.problem(_TRIALS, f"{where} is of another cell, subject or sub-seed")
            owner = owners.get(record.trial_id)
            if owner is None:
                without_evidence += _note_without_evidence(step, where, record)
            elif not owner.owns(record):
                step.problem(_TRIALS, f"{where} does not fit its evidence in {owner.file}")
    for trial_id in planned:
        if trial_id not in seen:
            step.problem(
                _TRIALS,
                f"the expected trial {trial_id} is missing",
                "Get the whole bundle; a run that was cut goes on with RESUME=<run>.",
            )
    for trial_id, owner in owners.items():
        if trial_id not in seen:
            step.problem(owner.file, f"holds trial {trial_id}, of which there is no record")
    if without_evidence:
        step.note(
            f"{without_evidence} trials are ERROR of the infrastructure's kind and have no "
            "evidence: nothing can be recomputed of them"
        )
    step.looked_at = f"{len(seen)} trials, each with its evidence"
    return kept


def _as_planned(record: TrialRecord, one: ExpectedTrial) -> bool:
    return (record.cell.cell_id, record.subject, record.sub_seed) == (
        one.cell_id,
        one.subject,
        one.sub_seed,
    )


def _note_repeat(step: Examination, where: str, before: Verdict, now: Verdict) -> None:
    """A trial that was cut off between its records is run again when the run is resumed."""
    if before is Verdict.FAIL and now is not Verdict.FAIL:
        step.note(f"{where} is {now.value} after FAIL: the FAIL counts")
    else:
        step.note(f"{where} was recorded before; the later record counts")


def _note_without_evidence(step: Examination, where: str, record: TrialRecord) -> bool:
    excused = record.verdict is Verdict.ERROR and record.error_kind == "infrastructure"
    if not excused:
        step.problem(_TRIALS, f"{where} has no evidence, and is {record.verdict.value}")
    return excused
