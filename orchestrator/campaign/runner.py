"""`memqual qualify`: one run from its options to its verdict (DESIGN §7, §8)."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog

from memqual.v1 import vendor_pb2
from orchestrator.campaign.console import progress_for
from orchestrator.campaign.housekeeping import collect_quietly
from orchestrator.campaign.images import images_for
from orchestrator.campaign.lane import Lane, LaneSettings
from orchestrator.campaign.logs import log_to
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
from orchestrator.evidence.manifest import (
    ImageRecord,
    Manifest,
    commit_of,
    dependencies,
    interpreter,
    platform_name,
    sha256_of,
    tree_digest,
)
from orchestrator.evidence.records import message_to_json
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.images import ImageRef
from orchestrator.model import RunVerdict
from orchestrator.plan import VENDOR
from orchestrator.runtimes.base import Runtime, StackSpec
from orchestrator.runtimes.select import select_runtime
from orchestrator.suites.continuity.cells import REQUIREMENT_REVISION
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import VendorConfig, load_vendor, vendor_for_image

__all__ = ["qualify"]

ROOT = Path(__file__).resolve().parent.parent.parent
_PINNED = ("grpcio", "protobuf", "langgraph", "langgraph-checkpoint-sqlite", "libfaketime")


def qualify(options: QualifyOptions) -> int:
    """Qualify a memory, write the bundle, print the verdict; return the exit code.

    Raises:
        MemqualError: The run could not start, or no stack could be had any more.
    """
    vendor = _vendor_of(options)
    folder = _folder_of(options)
    with folder:
        log_to(folder.root / "logs" / "orchestrator.jsonl", run_id=folder.root.name)
        run = _Run(options, vendor, folder)
        try:
            return run.carry_out()
        finally:
            run.close()


class _Run:
    """One run on its way."""

    def __init__(
        self, options: QualifyOptions, vendor: VendorConfig | None, folder: RunDirectory
    ) -> None:
        self.options = options
        self.vendor = vendor
        self.folder = folder
        self.run_id = folder.root.name
        self.progress: Progress = progress_for(lines=options.json_progress)
        self.sink = Sink(folder, self.progress)
        self.signals = StopSignals()
        self.signals.on_stop(self.close)
        self.lanes: list[Lane] = []
        self.reviewer = Reviewer.generate()
        self.log = structlog.get_logger()

    def carry_out(self) -> int:
        """Every step in order."""
        selection = select_runtime(None if self.options.runtime == "auto" else self.options.runtime)
        self.progress.note(f"Run {self.run_id}: {selection.reason}.")
        collect_quietly(self.progress)
        images = self._images(selection.runtime)
        finished = {trial.trial_id for trial in self.folder.trials()}
        expected = expected_cells(self.options.profile, self.options.seed)
        self._keep_expected(expected.model_dump_json(indent=1) + "\n")
        plan = schedule(
            self.options.profile, self.options.seed, self.vendor, self.reviewer, finished
        )
        self.progress.planned(len(expected.trials) - len(finished))
        with self.signals:
            self._run_lanes(selection.runtime, selection.reason, images, plan, len(expected.trials))
        self.progress.close()
        if self.signals.stopping.is_set():
            print(
                f"memqual: stopped; what was finished is kept. Next step: continue with "
                f"RESUME={self.run_id}",
                file=sys.stderr,
            )
            return RunVerdict.INCOMPLETE.exit_code
        return finish_bundle(self.folder).exit_code

    def close(self) -> None:
        """Remove whatever stack is left."""
        for lane in self.lanes:
            lane.close()

    def _run_lanes(
        self,
        runtime: Runtime,
        reason: str,
        images: Mapping[str, ImageRef],
        plan: Schedule,
        expected_trials: int,
    ) -> None:
        if not plan.work:
            return
        spec = self._spec(images)
        self.progress.note("Preflight: one stack, its isolation and its clock.")
        first = runtime.start(spec)
        try:
            report, describe = examine_stack(first, self.vendor, self.sink, self.run_id)
            self.progress.note(
                f"{describe.name} {describe.version}; isolation {report.isolation}; "
                f"clock: {report.skew_detail}."
            )
            self._keep_manifest(
                runtime=runtime,
                reason=reason,
                images=images,
                plan=plan,
                expected_trials=expected_trials,
                report=report,
                describe=describe,
            )
        except BaseException:
            first.close()
            raise
        queue = WorkQueue(plan.work)
        for number in range(self.options.stacks):
            settings = LaneSettings(f"{'abcd'[number]}", spec, report.skew_proven)
            self.lanes.append(Lane(runtime, settings, self.sink, self.signals.stopping))
        # Batches do not mind that its clock was moved.
        self.lanes[0].adopt(first, VENDOR)
        with ThreadPoolExecutor(len(self.lanes), thread_name_prefix="lane") as pool:
            ended = [pool.submit(lane.run, queue) for lane in self.lanes]
        errors = [one.exception() for one in ended]
        for error in errors:
            if error is not None and not self.signals.stopping.is_set():
                if not isinstance(error, MemqualError):
                    raise error
                self.log.error("lane_ended", cause=error.diagnosis)
        left = queue.drain()
        if left and not self.signals.stopping.is_set():
            cause = next((str(error) for error in errors if error is not None), "no stack")
            for work in left:
                for job in work.jobs:
                    self.sink.trials(job.infrastructure_error(cause))

    def _spec(self, images: Mapping[str, ImageRef]) -> StackSpec:
        keys = self.folder.root / "reviewer-keys.json"
        keys.write_text(self.reviewer.public_keys_json(), encoding="utf-8")
        lease = LONG_LEASE_SECONDS if self.vendor is None else self.vendor.lease.seconds
        return StackSpec(
            run_id=self.run_id,
            stack_id="a0",
            folder=self.folder.root / "logs",
            images=images,
            vendor=self.vendor,
            lease_seconds=lease,
            reviewer_keys=keys,
            clock_skew=True,
        )

    def _images(self, runtime: Runtime) -> Mapping[str, ImageRef]:
        return images_for(
            runtime, self.vendor, base_image=self.options.base_image, progress=self.progress
        )

    def _keep_expected(self, text: str) -> None:
        """Write what is expected, or check that a resumed run expects the same."""
        path = self.folder.root / "expected-cells.json"
        if not path.exists():
            self.folder.write_text("expected-cells.json", text)
        elif path.read_text(encoding="utf-8") != text:
            raise RunDirectoryError(
                "The run to resume was planned with another profile, seed or requirement revision.",
                next_step="Resume it with the PROFILE and SEED in its manifest.json.",
            )

    def _keep_manifest(
        self,
        *,
        runtime: Runtime,
        reason: str,
        images: Mapping[str, ImageRef],
        plan: Schedule,
        expected_trials: int,
        report: PreflightReport,
        describe: vendor_pb2.DescribeResponse,
    ) -> None:
        vendor = self.vendor
        lock = ROOT / "requirements" / "dev.lock"
        manifest = Manifest(
            run_id=self.run_id,
            profile=self.options.profile.value,
            seed=self.options.seed,
            requirement_revision=REQUIREMENT_REVISION,
            runtime=runtime.name,
            runtime_detail=reason,
            commit=commit_of(ROOT),
            interpreter=interpreter(),
            platform=platform_name(),
            lock_digest=sha256_of(lock),
            tools_digest=tree_digest(ROOT / "services" / "destination"),
            dependencies=dependencies(_PINNED),
            images=tuple(
                ImageRecord(name=name, tag=ref.tag, digest=ref.digest)
                for name, ref in sorted(images.items())
            ),
            subject_name=describe.name,
            subject_version=describe.version,
            subject_source=_source_of(vendor),
            vendor_json="" if vendor is None else vendor.model_dump_json(),
            describe_json=message_to_json(describe),
            lease_mode="auto" if vendor is None else vendor.lease.mode.value,
            lease_seconds=describe.limits.lease_seconds,
            skew_proven=report.skew_proven,
            skew_detail=report.skew_detail,
            isolation=report.isolation,
            findings=report.findings,
            stacks=self.options.stacks,
            expected_trials=expected_trials,
            batches=plan.batches,
            started_unix_ns=time.time_ns(),
        )
        if self.options.resume is None:
            self.folder.write_json("manifest.json", manifest)
        else:
            _check_same_subject(self.folder, manifest)


def _vendor_of(options: QualifyOptions) -> VendorConfig | None:
    if options.memory_image:
        return vendor_for_image(options.memory_image)
    return load_vendor(options.vendor) if options.vendor else None


def _folder_of(options: QualifyOptions) -> RunDirectory:
    if options.resume is None:
        return RunDirectory.create(options.runs_folder / new_run_id())
    path = Path(options.resume)
    return RunDirectory.reopen(path if path.is_dir() else options.runs_folder / options.resume)


def _source_of(vendor: VendorConfig | None) -> str:
    if vendor is None:
        return "services.memory"
    return vendor.image or vendor.recipe or vendor.name


def _check_same_subject(folder: RunDirectory, now: Manifest) -> None:
    before = folder.read_model("manifest.json", Manifest)
    fields = ("runtime", "subject_name", "subject_version", "subject_source", "images")
    changed: Sequence[str] = [
        name for name in fields if getattr(before, name) != getattr(now, name)
    ]
    if changed:
        raise RunDirectoryError(
            f"The run to resume differs in: {', '.join(changed)}.",
            next_step="Resume with the same memory, runtime and checkout, or start a new run.",
        )
