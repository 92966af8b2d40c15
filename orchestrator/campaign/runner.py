"""`memqual qualify`: one run from its options to its verdict (DESIGN §7, §8)."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import structlog

from orchestrator.campaign.console import progress_for
from orchestrator.campaign.housekeeping import collect_quietly, sweep
from orchestrator.campaign.images import images_for
from orchestrator.campaign.lane import Lane, LaneSettings
from orchestrator.campaign.logs import log_to
from orchestrator.campaign.manifests import (
    examined_manifest,
    keep_expected,
    keep_manifest,
    keep_stories,
    planned_manifest,
)
from orchestrator.campaign.options import QualifyOptions, new_run_id
from orchestrator.campaign.preflight import PreflightReport, examine_stack
from orchestrator.campaign.queue import WorkQueue
from orchestrator.campaign.schedule import (
    LONG_LEASE_SECONDS,
    Schedule,
    expected_cells,
    schedule,
)
from orchestrator.campaign.signals import StopSignals
from orchestrator.campaign.sink import Progress, Sink
from orchestrator.errors import MemqualError, RunDirectoryError
from orchestrator.evidence.finish import finish_bundle
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.images import ImageRef
from orchestrator.model import RunVerdict
from orchestrator.plan import VENDOR
from orchestrator.report.text import visible
from orchestrator.runtimes.base import Runtime, Stack, StackSpec
from orchestrator.runtimes.plan import MEMORY_SERVICE
from orchestrator.runtimes.select import select_runtime
from orchestrator.suites.continuity.paper.store import checked_store
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.narrative.corpus import Corpus, own_corpus, package_corpus
from orchestrator.suites.narrative.planned import plays_stories
from orchestrator.vendors import VendorConfig, load_vendor, vendor_for_image

__all__ = ["qualify"]

_INFRASTRUCTURE = "infrastructure"


def qualify(options: QualifyOptions) -> int:
    """Qualify a memory, write the bundle, print the verdict; return the exit code.

    Raises:
        MemqualError: The run could not start, or could not go on; what was finished is kept.
    """
    vendor = _vendor_of(options)
    options = options.model_copy(update={"retail_store": checked_store(options.retail_store)})
    with StopSignals() as signals, _folder_of(options) as folder:
        log_to(folder.root / "logs" / "orchestrator.jsonl", run_id=folder.root.name)
        run = _Run(options, vendor, folder, signals)
        try:
            return run.carry_out()
        except KeyboardInterrupt:
            return run.stopped()
        except MemqualError as error:
            structlog.get_logger().error("run_ended", cause=error.diagnosis)
            raise
        except OSError as error:
            raise _unwritable(folder.root, error) from error
        except Exception as error:
            structlog.get_logger().exception("run_broken")
            raise MemqualError(
                f"memqual itself failed ({type(error).__name__}: {error}); this says nothing of "
                "the memory, and what was finished is kept.",
                next_step=f"Report it with {folder.root / 'logs' / 'orchestrator.jsonl'}, then "
                f"continue with RESUME={folder.root.name}.",
            ) from error
        finally:
            run.progress.close()


class _Run:
    """One run on its way."""

    def __init__(
        self,
        options: QualifyOptions,
        vendor: VendorConfig | None,
        folder: RunDirectory,
        signals: StopSignals,
    ) -> None:
        self.options = options
        self.vendor = vendor
        self.folder = folder
        self.run_id = folder.root.name
        self.progress: Progress = progress_for(lines=options.json_progress)
        self.sink = Sink(folder, self.progress)
        self.signals = signals
        self.lanes: list[Lane] = []
        self.reviewer = Reviewer.generate()
        self.log = structlog.get_logger()

    def carry_out(self) -> int:
        """Every step in order."""
        options = self.options
        selection = select_runtime(None if options.runtime == "auto" else options.runtime)
        self.progress.note(f"Run {self.run_id}: {selection.reason}.")
        collect_quietly(self.progress)
        images = images_for(
            selection.runtime,
            self.vendor,
            base_image=options.base_image,
            progress=self.progress,
        )
        corpus = self._corpus()
        if corpus is not None:
            keep_stories(self.folder, corpus)
        expected = expected_cells(options.profile, options.seed, corpus)
        keep_expected(self.folder, expected.model_dump_json(indent=1) + "\n")
        finished = {
            trial.trial_id for trial in self.folder.trials() if trial.error_kind != _INFRASTRUCTURE
        }
        plan_for = partial(
            schedule,
            options.profile,
            options.seed,
            self.vendor,
            self.reviewer,
            finished,
            corpus=corpus,
        )
        plan = plan_for()
        planned = planned_manifest(
            options,
            self.vendor,
            run_id=self.run_id,
            runtime=selection.runtime.name,
            reason=selection.reason,
            images=images,
            expected_trials=expected.trial_count,
            batches=plan.batches,
            corpus=corpus,
        )
        keep_manifest(self.folder, planned)
        self.progress.planned(expected.trial_count - len(finished))
        if plan.work:
            again = partial(plan_for, skew=False)
            self._run_and_remove(selection.runtime, images, plan, planned, again)
        if self.signals.stopping.is_set():
            return self.stopped()
        self.progress.close()
        verdict = finish_bundle(self.folder)
        self._tell_what_to_mend()
        return verdict.exit_code

    def _corpus(self) -> Corpus | None:
        """The stories of this run; None where it plays none."""
        if not plays_stories(self.options.profile):
            return None
        return own_corpus(self.options.stories) if self.options.stories else package_corpus()

    def _tell_what_to_mend(self) -> None:
        """Say how to go on when trials met trouble that is not the memory's."""
        causes: dict[str, str] = {}
        for trial in self.folder.trials():
            causes.pop(trial.trial_id, None)
            if trial.error_kind == _INFRASTRUCTURE:
                causes[trial.trial_id] = trial.cause
        if causes:
            first = visible(next(iter(causes.values())))
            print(
                f"memqual: {len(causes)} trials met trouble of the infrastructure, first: {first}\n"
                f"Next step: mend that (`memqual doctor` looks at this machine), then continue "
                f"with RESUME={self.run_id}",
                file=sys.stderr,
            )

    def stopped(self) -> int:
        """Say how to go on after a signal; return the exit code."""
        begun = (self.folder.root / "manifest.json").exists()
        next_step = f"continue with RESUME={self.run_id}" if begun else "start the run again"
        self.progress.close()
        print(
            f"memqual: stopped; what was finished is kept. Next step: {next_step}",
            file=sys.stderr,
        )
        return RunVerdict.INCOMPLETE.exit_code

    def _run_and_remove(
        self,
        runtime: Runtime,
        images: Mapping[str, ImageRef],
        plan: Schedule,
        planned: Manifest,
        plan_without_skew: Callable[[], Schedule],
    ) -> None:
        """Play the plan; whatever comes, nothing of the run is left afterwards."""
        self.signals.on_stop(self._close_lanes)
        # Ends what is being started: its owner then sees it fail, and stops.
        self.signals.on_stop(lambda: sweep(runtime, self.run_id))
        try:
            spec = self._spec(images)
            first, report = self._preflight(runtime, spec, planned)
            if not report.skew_proven:
                # The same trials; those that want a lease's end get stacks with short leases.
                plan = plan_without_skew()
            self._run_lanes(runtime, spec, plan, first, skew=report.skew_proven)
        except Exception:
            if not self.signals.stopping.is_set():
                raise
            # Whatever a cut run's calls end with is no news.
            self.log.info("cut_short", exc_info=True)
        finally:
            self._close_lanes()
            self.signals.await_actions()
            left = sweep(runtime, self.run_id)
            if left:
                more = f" (and {len(left) - 1} more)" if left[1:] else ""
                self.progress.note(
                    f"Left behind: {left[0]}{more}. Next step: mend that, then run `memqual gc`."
                )

    def _preflight(
        self, runtime: Runtime, spec: StackSpec, planned: Manifest
    ) -> tuple[Stack, PreflightReport]:
        """The first stack, looked at; its memory is still empty."""
        self.progress.note("Preflight: one stack, its isolation and its clock.")
        first = runtime.start(spec)
        try:
            report, describe = examine_stack(first, self.vendor, self.sink, self.run_id)
            name = visible(f"{describe.name} {describe.version}")
            self.progress.note(
                f"{name}; isolation {report.isolation}; clock: {report.skew_detail}."
            )
            memory = first.service(MEMORY_SERVICE)
            keep_manifest(self.folder, examined_manifest(planned, describe, report, memory))
        except BaseException:
            # What cannot be removed now is swept afterwards; the cause matters more.
            with suppress(MemqualError):
                first.close()
            raise
        return first, report

    def _run_lanes(
        self, runtime: Runtime, spec: StackSpec, plan: Schedule, first: Stack, *, skew: bool
    ) -> None:
        queue = WorkQueue(plan.work)
        for number in range(self.options.stacks):
            settings = LaneSettings("abcd"[number], spec, skew, f"-{secrets.token_hex(2)}")
            self.lanes.append(Lane(runtime, settings, self.sink, self.signals.stopping))
        # Batches do not mind that its clock was moved.
        self.lanes[0].adopt(first, VENDOR)
        with ThreadPoolExecutor(len(self.lanes), thread_name_prefix="lane") as pool:
            ended = [pool.submit(lane.run, queue) for lane in self.lanes]
        cause = self._cause_of_end(ended)
        left = queue.drain()
        if self.signals.stopping.is_set():
            return
        for work in left:
            for job in work.jobs:
                self.sink.trials(job.infrastructure_error(cause))

    def _cause_of_end(self, ended: list[Future[None]]) -> str:
        """Why lanes ended before the work did, in words; an error that is a defect is raised."""
        errors = [error for one in ended if (error := one.exception()) is not None]
        if not self.signals.stopping.is_set():
            for error in errors:
                if not isinstance(error, MemqualError):
                    raise error
                self.log.error("lane_ended", cause=error.diagnosis)
        return str(errors[0]) if errors else "no stack"

    def _close_lanes(self) -> None:
        for lane in self.lanes:
            try:
                lane.close()
            except MemqualError as error:
                self.log.warning("stack_left_behind", cause=error.diagnosis)

    def _spec(self, images: Mapping[str, ImageRef]) -> StackSpec:
        keys = self.folder.root / "reviewer-keys.json"
        keys.write_text(self.reviewer.public_keys_json(), encoding="utf-8")
        lease = LONG_LEASE_SECONDS if self.vendor is None else self.vendor.lease.seconds
        return StackSpec(
            run_id=self.run_id,
            stack_id=f"a0-{secrets.token_hex(2)}",
            folder=self.folder.root / "logs",
            images=images,
            vendor=self.vendor,
            lease_seconds=lease,
            reviewer_keys=keys,
            retail_store=self.options.retail_store,
            clock_skew=True,
        )


def _vendor_of(options: QualifyOptions) -> VendorConfig | None:
    if options.memory_image:
        return vendor_for_image(options.memory_image)
    return load_vendor(options.vendor) if options.vendor else None


def _folder_of(options: QualifyOptions) -> RunDirectory:
    try:
        if options.resume is None:
            return RunDirectory.create(options.runs_folder / new_run_id())
        path = Path(options.resume)
        known = path if path.is_dir() else options.runs_folder / options.resume
        return RunDirectory.reopen(known)
    except OSError as error:
        raise RunDirectoryError(
            f"The run's folder in {options.runs_folder} cannot be used: {error}.",
            next_step="Free space there or mend its permissions, or name another: --runs FOLDER.",
        ) from error


def _unwritable(root: Path, error: OSError) -> MemqualError:
    return MemqualError(
        f"The run cannot go on: {error}; what was finished is kept.",
        next_step=f"Free space or mend the permissions, then continue with RESUME={root.name}.",
    )
