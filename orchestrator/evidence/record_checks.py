"""Whether the plan of a bundle holds, and its trials are those of the plan (DESIGN §7, §8)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from orchestrator.evidence.batch_checks import Owner
from orchestrator.evidence.bundle import OTHER_VERSION, Bundle
from orchestrator.evidence.examination import Examination
from orchestrator.evidence.kept_stories import check_stories
from orchestrator.evidence.manifest import Manifest
from orchestrator.model import Profile, TrialRecord, Verdict
from orchestrator.plan import ExpectedCells, ExpectedGroup, PlannedPlaces
from orchestrator.suites.continuity.cells import REQUIREMENT_REVISION
from orchestrator.suites.continuity.paper.planned import planned_study

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
        if _overlapping(expected):
            step.problem("expected-cells.json", "names a trial twice")
    if expected is None:
        return manifest, None
    if manifest is not None:
        for name, said, planned in (
            ("profile", manifest.profile, expected.profile),
            ("seed", manifest.seed, expected.seed),
            ("revision", manifest.requirement_revision, expected.requirement_revision),
            ("number of trials", manifest.expected_trials, expected.trial_count),
        ):
            if said != planned:
                step.problem(
                    "manifest.json", f"{name} is {said}, and expected-cells.json has {planned}"
                )
    if manifest is not None:
        check_stories(bundle, step, manifest)
    if expected.requirement_revision != REQUIREMENT_REVISION:
        step.note(
            f"requirement revision {expected.requirement_revision} is not this version's "
            f"({REQUIREMENT_REVISION}): what it schedules was not computed again"
        )
    else:
        if manifest is not None:
            _check_study(step, manifest)
        with step.reading("expected-cells.json"):
            again = planner(Profile(expected.profile), expected.seed)
            _compare_plans(step, expected, again)
    step.looked_at = (
        f"{expected.trial_count} trials of profile {expected.profile}, seed {expected.seed}, "
        f"revision {expected.requirement_revision}"
    )
    return manifest, expected


def _check_study(step: Examination, manifest: Manifest) -> None:
    """The design of the study is what profile and seed give, and its digest is its own."""
    kept = manifest.study
    if kept is not None and kept.sealed().digest != kept.digest:
        step.problem("manifest.json", "holds a study whose digest is not its own")
    with step.reading("manifest.json"):
        if kept != planned_study(Profile(manifest.profile), manifest.seed):
            step.problem(
                "manifest.json",
                "holds another study than its profile and seed give: split, arms, hypotheses, "
                "cassettes or cases",
                OTHER_VERSION,
            )


def _compare_plans(step: Examination, kept: ExpectedCells, again: ExpectedCells) -> None:
    if kept == again:
        return
    lacking, first_lacking = _more_in(again, kept)
    added, first_added = _more_in(kept, again)
    first = first_lacking or first_added
    step.problem(
        "expected-cells.json",
        f"is not what profile {kept.profile} and seed {kept.seed} schedule: {lacking} trials "
        f"lack, {added} are too many" + (f", first {first}" if first else ""),
        OTHER_VERSION,
    )


def _overlapping(expected: ExpectedCells) -> bool:
    """Whether two groups have a trial in common."""
    rows: dict[str, list[tuple[int, int]]] = {}
    for group in expected.groups:
        end = group.first_number + len(group.sub_seeds)
        rows.setdefault(group.prefix, []).append((group.first_number, end))
    return any(
        after[0] < before[1]
        for ranges in rows.values()
        for before, after in pairwise(sorted(ranges))
    )


def _more_in(plan: ExpectedCells, other: ExpectedCells) -> tuple[int, str]:
    """How many trials of a plan the other one does not have, and the first of them."""
    places = PlannedPlaces(other)
    count, first = 0, ""
    for trial in plan.trials():
        if places.of(trial.trial_id) is None:
            count += 1
            first = first or trial.trial_id
    return count, first


def check_trials(
    bundle: Bundle, step: Examination, expected: ExpectedCells | None, owners: dict[str, Owner]
) -> None:
    """Check that every expected trial is there, as planned and with its evidence.

    Args:
        bundle: The bundle.
        step: Is told what does not fit.
        expected: What was planned; None when that cannot be read.
        owners: Who holds the evidence of each trial.
    """
    places = None if expected is None else PlannedPlaces(expected)
    seen: dict[str, Verdict] = {}
    without_evidence = 0
    with step.reading(_TRIALS):
        for line in bundle.trials():
            record = line.record
            where = f"line {line.number}: {record.trial_id}"
            if record.trial_id in seen:
                _note_repeat(step, where, seen[record.trial_id], record.verdict)
            seen[record.trial_id] = record.verdict
            place = None if places is None else places.of(record.trial_id)
            if expected is None or place is None:
                step.problem(_TRIALS, f"{where} is not expected")
            elif not _as_planned(record, expected.groups[place[0]], place[1]):
                step.problem(_TRIALS, f"{where} is of another cell, subject or sub-seed")
            owner = owners.get(record.trial_id)
            if owner is None:
                without_evidence += _note_without_evidence(step, where, record)
            elif not owner.owns(record):
                step.problem(_TRIALS, f"{where} does not fit its evidence in {owner.file}")
    for one in () if expected is None else expected.trials():
        if one.trial_id not in seen:
            step.problem(
                _TRIALS,
                f"the expected trial {one.trial_id} is missing",
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


def _as_planned(record: TrialRecord, group: ExpectedGroup, place: int) -> bool:
    return (record.cell.cell_id, record.subject, record.sub_seed) == (
        group.cell_id,
        group.subject,
        group.sub_seeds[place],
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
