"""`memqual verify`: whether a bundle is whole, unchanged and consistent, offline (DESIGN §8).

Sums come first, and no rate is printed before every step held. A bundle without a signature claims
consistency only: whoever can write all of its files can write others that fit together.
"""

from __future__ import annotations

from pathlib import Path

from orchestrator.campaign.schedule import expected_cells
from orchestrator.evidence.batch_checks import Owner, check_batches, check_calls
from orchestrator.evidence.bundle import Bundle
from orchestrator.evidence.claims import claims_of
from orchestrator.evidence.examination import Examination
from orchestrator.evidence.kept_stories import stories_of
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.record_checks import Planner, check_plan, check_trials
from orchestrator.evidence.rundir import json_bytes
from orchestrator.evidence.sums import SUMS_FILE, check_sums
from orchestrator.model import RunVerdict, Suite
from orchestrator.plan import ExpectedCells
from orchestrator.report.declared import is_assisted
from orchestrator.report.narrative_words import narrative_lines
from orchestrator.report.text import counted, say, visible
from orchestrator.scoring.counting import CountingRecords
from orchestrator.scoring.run import Aggregate, Totals

__all__ = ["verify_bundle"]

_HELD, _BROKEN = 0, RunVerdict.INVALID.exit_code
_TRIALS = "trials.jsonl"


def verify_bundle(path: Path, planner: Planner | None = None) -> int:
    """Check a bundle and print what was found.

    Args:
        path: Run folder.
        planner: What a profile and a seed schedule; None: this version's own, with the bundle's
            stories.

    Returns:
        0 when everything holds, 3 when something does not.

    Raises:
        RunDirectoryError: There is no such folder.
    """
    bundle = Bundle(path)
    say(f"Bundle {visible(path.name)}")
    steps = [_check_sums(bundle)]
    steps[0].print()
    plan = Examination("plan")
    manifest, expected = check_plan(bundle, plan, planner or _planner_of(bundle))
    owners: dict[str, Owner] = {}
    batches = check_batches(bundle, owners)
    scripts = [check_calls(bundle, owners, suite) for suite in (Suite.INTEGRITY, Suite.NARRATIVE)]
    trials = Examination("trials")
    check_trials(bundle, trials, expected, owners)
    totals = Examination("aggregate")
    result = None
    if manifest is not None and expected is not None and not trials.problems:
        result = _check_totals(bundle, totals, manifest, expected)
    else:
        totals.skipped = "what it follows from does not hold"
    for step in (plan, batches, *scripts, trials, totals):
        step.print()
        steps.append(step)
    count = sum(step.problem_count for step in steps)
    if count or manifest is None or result is None:
        say(f"NOT VERIFIED: {counted(count, 'problem')}. No rate of this bundle can be relied on.")
        return _BROKEN
    _print_rates(manifest, result)
    return _HELD


def _planner_of(bundle: Bundle) -> Planner:
    return lambda profile, seed: expected_cells(profile, seed, stories_of(bundle))


def _check_sums(bundle: Bundle) -> Examination:
    step = Examination("sums")
    if not bundle.has(SUMS_FILE):
        step.problem(
            SUMS_FILE,
            "is missing, so the run did not end, or its bundle is not whole",
            "Continue the run with RESUME=<run>, or get the whole bundle.",
        )
        return step
    with step.reading(SUMS_FILE):
        for problem in check_sums(bundle.root):
            step.problem(SUMS_FILE, problem)
    step.looked_at = "every file is listed and unchanged"
    return step


def _check_totals(
    bundle: Bundle,
    step: Examination,
    manifest: Manifest,
    expected: ExpectedCells,
) -> Aggregate | None:
    """aggregate.json and claims.json are what the trials amount to."""
    result: Aggregate | None = None
    crashed: set[str] = set()
    with step.reading("aggregate.json"):
        totals = Totals(expected)
        for record in CountingRecords(expected, lambda: (line.record for line in bundle.trials())):
            totals.add(record)
            if record.cell.suite is Suite.CONTINUITY:
                crashed.add(record.batch_id)
        result = totals.result()
        if bundle.document("aggregate.json") != json_bytes(result):
            step.problem("aggregate.json", f"is not what the lines of {_TRIALS} amount to")
    with step.reading("claims.json"):
        if result is not None:
            claims = json_bytes(claims_of(manifest, result))
            if bundle.document("claims.json") != claims:
                step.problem("claims.json", "does not follow from manifest and aggregate")
    if result is not None and not result.missing and len(crashed) != manifest.batches:
        step.problem(
            "manifest.json",
            f"counts {manifest.batches} continuity batches, and the trials are of {len(crashed)}",
        )
    for name in ("report.html", "junit.xml"):
        if not bundle.has(name):
            step.problem(name, "is missing")
    step.looked_at = "aggregate and claims follow from the trials"
    return result


def _print_rates(manifest: Manifest, result: Aggregate) -> None:
    subject = f"{manifest.subject_name} {manifest.subject_version}".strip()
    say(f"VERIFIED: {visible(subject)} is {result.verdict.value}")
    for reason in result.reasons:
        say(f"  {visible(reason)}")
    for name, rate in result.rates.items():
        say(f"  {visible(name):<16} {rate.text} passed")
    for measured in result.integrity_rates:
        say(f"  {measured.name:<16} {measured.words}")
    assisted = is_assisted(manifest.describe_json)
    for line in narrative_lines(result.narrative, assisted=assisted):
        say(f"  {line}")
    say("The bundle is not signed: it is consistent, and its authorship is not claimed.")
