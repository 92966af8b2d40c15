"""`memqual replay`: one trial's batch once more, compared decision by decision (DESIGN §8)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from orchestrator.campaign.console import progress_for
from orchestrator.campaign.images import images_for
from orchestrator.campaign.jobs import Job
from orchestrator.campaign.lane import Lane, LaneSettings
from orchestrator.campaign.logs import log_to
from orchestrator.campaign.options import new_run_id
from orchestrator.campaign.queue import WorkQueue
from orchestrator.campaign.schedule import control_config, schedule
from orchestrator.campaign.signals import StopSignals
from orchestrator.campaign.sink import Sink
from orchestrator.errors import EvidenceError, StackError, UsageError
from orchestrator.evidence.bundle import Bundle
from orchestrator.evidence.kept_stories import stories_of
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import Profile, Suite, TrialRecord
from orchestrator.plan import VENDOR
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.select import select_runtime
from orchestrator.suites.continuity.paper.store import checked_store
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.vendors import VendorConfig

__all__ = ["divergences", "replay_trial"]

_SAME, _DIVERGED = 0, 1
_INFRASTRUCTURE = "infrastructure"


def replay_trial(run: Path, trial_id: str) -> int:
    """Repeat the batch of one trial on a fresh stack; print the first divergence.

    Args:
        run: Run folder of the bundle.
        trial_id: As the report prints it.

    Returns:
        0 when every trial of the batch decided and ended as before, 1 when one did not.

    Raises:
        UsageError: The bundle has no such trial.
        MemqualError: The batch could not be repeated.
    """
    with RunDirectory.reopen(run) as bundle:
        manifest = bundle.read_model("manifest.json", Manifest)
        before = {trial.trial_id: trial for trial in bundle.trials()}
    if trial_id not in before:
        raise UsageError(
            f"The run has no trial {trial_id!r}.",
            next_step="Copy the id from report.html or trials.jsonl, in quotes.",
        )
    subject = before[trial_id].subject
    again = _repeat(manifest, stories_of(Bundle(run)), subject, trial_id)
    found = divergences(before, again)
    for trial in again:
        print(f"{trial.verdict.value:<6} {trial.trial_id}  {' → '.join(trial.decisions)}")
    if found:
        print(f"First divergence: {found[0]}")
        return _DIVERGED
    print(f"{len(again)} trials decided and ended as in run {manifest.run_id}.")
    return _SAME


def divergences(before: dict[str, TrialRecord], again: Sequence[TrialRecord]) -> list[str]:
    """What differs between two records of the same trials, in words, in order."""
    found = []
    for trial in again:
        old = before[trial.trial_id]
        pairs = zip(old.decisions, trial.decisions, strict=False)
        at = next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), None)
        if at is not None:
            found.append(
                f"{trial.trial_id} decision {at + 1}: {old.decisions[at]} before, "
                f"{trial.decisions[at]} now"
            )
        elif len(old.decisions) != len(trial.decisions):
            found.append(
                f"{trial.trial_id}: {len(old.decisions)} decisions before, "
                f"{len(trial.decisions)} now"
            )
        elif old.verdict is not trial.verdict:
            found.append(
                f"{trial.trial_id}: {old.verdict.value} before, {trial.verdict.value} now "
                f"({trial.cause or old.cause})"
            )
        elif trial.cell.suite is Suite.NARRATIVE and old.figures != trial.figures:
            found.append(f"{trial.trial_id}: {_first_figure(old, trial)}")
    return found


def _first_figure(old: TrialRecord, new: TrialRecord) -> str:
    """The first figure that two records of a graded trial differ in."""
    before = {figure.name: figure.value for figure in old.figures}
    for figure in new.figures:
        if before.get(figure.name) != figure.value:
            return f"{figure.name}: {before.get(figure.name, 'none')} before, {figure.value} now"
    return "other figures than before"


def _store_of(manifest: Manifest) -> Path | None:
    """The run's retail store, which no bundle holds.

    Raises:
        UsageError: This machine's environment names none, or another.
    """
    if not manifest.retail_store_digest:
        return None
    named = os.environ.get("MEMQUAL_RETAIL_STORE")
    if not named:
        raise UsageError(
            "The run was played on the benchmark's retail store, which its bundle does not hold.",
            next_step="Set MEMQUAL_RETAIL_STORE to the path of its db.json.",
        )
    return checked_store(Path(named))


def _repeat(manifest: Manifest, corpus: Corpus, subject: str, trial_id: str) -> list[TrialRecord]:
    vendor = (
        VendorConfig.model_validate_json(manifest.vendor_json) if manifest.vendor_json else None
    )
    store = _store_of(manifest)
    progress = progress_for(lines=False)
    reviewer = Reviewer.generate()
    runtime = select_runtime(manifest.runtime).runtime
    images = images_for(runtime, vendor, base_image=None, progress=progress)
    plan = schedule(
        Profile(manifest.profile),
        manifest.seed,
        vendor,
        reviewer,
        (),
        corpus=corpus,
        skew=manifest.skew_proven,
    )
    work = next(
        (
            piece.only(job)
            for piece in plan.work
            for job in piece.jobs
            if piece.subject == subject and trial_id in job.trial_ids
        ),
        None,
    )
    if work is None:
        raise EvidenceError(
            f"Profile {manifest.profile} with seed {manifest.seed} plans no trial {trial_id!r}.",
            next_step="The bundle is of another version: use the commit in manifest.json.",
        )
    job: Job = work.jobs[0]
    with tempfile.TemporaryDirectory(prefix="memqual-replay-") as scratch:
        folder = RunDirectory.create(Path(scratch) / new_run_id())
        with folder:
            log_to(folder.root / "logs" / "orchestrator.jsonl", run_id=folder.root.name)
            progress.planned(len(job.trial_ids))
            keys = folder.root / "reviewer-keys.json"
            keys.write_text(reviewer.public_keys_json(), encoding="utf-8")
            spec = StackSpec(
                run_id=folder.root.name,
                stack_id="r0",
                folder=folder.root / "logs",
                images=images,
                vendor=vendor if subject == VENDOR else control_config(subject),
                lease_seconds=work.lease_seconds,
                reviewer_keys=keys,
                retail_store=store,
                clock_skew=True,
            )
            settings = LaneSettings("r", spec, manifest.skew_proven)
            with StopSignals() as stop:
                lane = Lane(runtime, settings, Sink(folder, progress), stop.stopping)
                stop.on_stop(lane.close)
                lane.run(WorkQueue([work]))
            progress.close()
            again = [trial for trial in folder.trials() if trial.trial_id in job.trial_ids]
            _raise_if_not_repeated(again, stopped=stop.stopping.is_set())
            return again


def _raise_if_not_repeated(again: Sequence[TrialRecord], *, stopped: bool) -> None:
    """A batch that did not come to its end is no divergence."""
    if stopped:
        raise StackError(
            "The replay was stopped before its batch had ended.", next_step="Start it again."
        )
    for trial in again:
        if trial.error_kind == _INFRASTRUCTURE:
            raise StackError(
                f"The batch could not be repeated: {trial.cause}.",
                next_step="Mend that (`memqual doctor` looks at this machine), then start again.",
            )
