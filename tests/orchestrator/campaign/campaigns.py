"""A whole run with fakes for all that it is made of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.campaign import lane as lane_module
from orchestrator.campaign import runner
from orchestrator.campaign.jobs import SubjectWork
from orchestrator.campaign.options import QualifyOptions
from orchestrator.campaign.preflight import PreflightReport
from orchestrator.campaign.runner import qualify
from orchestrator.campaign.schedule import Schedule
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import Profile, RunVerdict, TrialRecord
from orchestrator.plan import ExpectedCells, ExpectedTrial
from orchestrator.runtimes.select import Selection
from orchestrator.suites.narrative.corpus import Corpus
from tests.orchestrator.campaign.fakes import FakeJob, FakeRuntime, FakeSink, declared, work

REPORT = PreflightReport(skew_proven=True, skew_detail="as asked", isolation="held", findings=())
DESCRIBE = vendor_pb2.DescribeResponse(name="fake\x1b[2J", version="1")


@dataclass
class Campaign:
    """A run with fakes for all that it is made of.

    Attributes:
        folder: Where runs are made.
        jobs: All that there is to do.
        examined: What looking at the first stack raises, if anything.
        verdict: What the bundle amounts to.
        told: What the display was told.
        handed: Trials that the plan was told to leave out, run by run.
        skew: What the preflight says of the memory's clock.
        skews: What the plan was told of it, plan by plan.
        bundled: Trials at the time when the bundle was closed.
    """

    folder: Path
    runtime: FakeRuntime = field(default_factory=FakeRuntime)
    jobs: list[FakeJob] = field(default_factory=list)
    examined: Exception | None = None
    verdict: RunVerdict = RunVerdict.QUALIFIED
    told: FakeSink = field(default_factory=FakeSink)
    handed: list[set[str]] = field(default_factory=list)
    bundled: list[TrialRecord] = field(default_factory=list)
    skew: bool = True
    skews: list[bool] = field(default_factory=list)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put the fakes in place."""
        patch.setattr(lane_module, "declaration", declared)
        for name, fake in {
            "select_runtime": lambda name: Selection(self.runtime, "fakes"),
            "images_for": lambda *args, **kwargs: {},
            "collect_quietly": lambda progress: None,
            "log_to": lambda path, run_id: None,
            "progress_for": lambda lines: self.told,
            "examine_stack": self.examine,
            "expected_cells": self._expected,
            "schedule": self._schedule,
            "finish_bundle": self._finish,
        }.items():
            patch.setattr(runner, name, fake)

    def run(self, *, resume: str | None = None, stacks: int = 1, seed: int = 1) -> int:
        """`memqual qualify`."""
        return qualify(
            QualifyOptions(
                profile=Profile.SELFTEST,
                seed=seed,
                runs_folder=self.folder,
                resume=resume,
                stacks=stacks,
            )
        )

    @property
    def root(self) -> Path:
        """The only run's folder."""
        (found,) = self.folder.iterdir()
        return found

    def kept(self) -> list[tuple[str, str]]:
        """Trial ids with verdicts, as they stand in the folder."""
        with RunDirectory.reopen(self.root) as folder:
            return [(one.trial_id, one.verdict.value) for one in folder.trials()]

    def examine(self, *args: object) -> tuple[PreflightReport, vendor_pb2.DescribeResponse]:
        if self.examined is not None:
            raise self.examined
        return REPORT.model_copy(update={"skew_proven": self.skew}), DESCRIBE

    def _expected(self, profile: Profile, seed: int, corpus: Corpus | None) -> ExpectedCells:
        trials = tuple(
            ExpectedTrial(trial_id=job.name, cell_id="c", subject="vendor", sub_seed=seed)
            for job in self.jobs
        )
        return ExpectedCells.of(profile.value, "r", seed, trials)

    def _schedule(
        self,
        profile: Profile,
        seed: int,
        vendor: object,
        reviewer: object,
        done: Collection[str],
        *,
        corpus: Corpus | None,
        skew: bool = True,
    ) -> Schedule:
        self.skews.append(skew)
        self.handed.append(set(done))
        left = [job for job in self.jobs if job.name not in done]
        pieces: tuple[SubjectWork, ...] = (work(*left),) if left else ()
        return Schedule(pieces, len(self.jobs))

    def _finish(self, folder: RunDirectory) -> RunVerdict:
        self.bundled = list(folder.trials())
        self.runtime.log.append("finish")
        return self.verdict
