"""A campaign without services: jobs, stacks and a runtime that do as a test tells them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import StackContext, SubjectWork
from orchestrator.campaign.lane import Lane, LaneSettings
from orchestrator.errors import StackError
from orchestrator.evidence.records import BatchEvidence
from orchestrator.model import Arm, Cell, Suite, TrialRecord, Verdict
from orchestrator.runtimes.base import (
    Availability,
    GcReport,
    GcScope,
    IsolationReport,
    ServiceHandle,
    StackSpec,
)
from orchestrator.runtimes.storage import StorageSlot
from orchestrator.session import Session
from orchestrator.vendors import VendorConfig, VendorProcess

VENDOR = "vendor"
CONTROL = "control:naive"
NAIVE = VendorConfig(name="naive", process=VendorProcess(module="services.controls"))


def trial(
    name: str, verdict: Verdict = Verdict.PASS, *, error_kind: str = "", cause: str = ""
) -> TrialRecord:
    """A trial that ended."""
    return TrialRecord(
        trial_id=name,
        cell=Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="A"),
        subject=name.partition(":")[0],
        batch_id=f"b-{name}",
        sub_seed=1,
        verdict=verdict,
        error_kind=error_kind,
        cause=cause,
    )


def broken(text: str = "the memory is gone") -> StackError:
    """What a job raises whose stack is not usable any more."""
    return StackError(text, next_step="none")


@dataclass
class FakeJob:
    """A job of one trial.

    Attributes:
        name: Its name, and its trial's.
        on_run: What happens first in each run; raises or does nothing.
        runs: The contexts that it was run with.
        verdicts: What its runs end with, the last one from then on.
    """

    name: str
    on_run: Callable[[FakeJob, StackContext], None] = lambda job, context: None
    runs: list[StackContext] = field(default_factory=list)
    verdicts: tuple[Verdict, ...] = (Verdict.PASS,)

    @property
    def trial_ids(self) -> Sequence[str]:
        return (self.name,)

    def run(self, context: StackContext) -> Sequence[TrialRecord]:
        self.runs.append(context)
        self.on_run(self, context)
        return (trial(self.name, self.verdicts[min(len(self.runs), len(self.verdicts)) - 1]),)

    def infrastructure_error(self, cause: str) -> Sequence[TrialRecord]:
        return (trial(self.name, Verdict.ERROR, error_kind="infrastructure", cause=cause),)


def raising(*errors: BaseException | None) -> Callable[[FakeJob, StackContext], None]:
    """Raises the first error in the first run, and so on; None, and what comes after, goes well."""

    def act(job: FakeJob, context: StackContext) -> None:
        number = len(job.runs) - 1
        error = errors[number] if number < len(errors) else None
        if error is not None:
            raise error

    return act


def always(text: str = "no use") -> Callable[[FakeJob, StackContext], None]:
    """Fails in every run."""

    def act(job: FakeJob, context: StackContext) -> None:
        raise broken(text)

    return act


def spoiling(job: FakeJob, context: StackContext) -> None:
    """Goes well and leaves its stack unusable."""
    context.progress.spoiled = "a kill was not carried out to its end"


def work(*jobs: FakeJob, subject: str = VENDOR, lease_seconds: int = 120) -> SubjectWork:
    """A piece of work."""
    vendor = NAIVE if subject == CONTROL else None
    return SubjectWork(subject, vendor, lease_seconds, jobs)


def _short(spec: StackSpec) -> str:
    """A stack's name without the mark of the life that made it."""
    return spec.stack_id.partition("-")[0]


@dataclass(frozen=True)
class FakeService:
    """A service of which only the name is known."""

    name: str
    image: str = "module"
    digest: str = ""
    clock_folder: Path | None = None


class FakeStack:
    """A stack that says what was done to it."""

    control_token = "token"
    # Nothing listens there, and nothing asks.
    control_address = "127.0.0.1:1"
    service_names = ("memory",)

    def __init__(self, spec: StackSpec, log: list[str], close_error: Exception | None) -> None:
        self.spec = spec
        self._log = log
        self._close_error = close_error
        self.storage = StorageSlot()

    def replace_memory(self, vendor: VendorConfig | None) -> None:
        self._log.append(f"swap {_short(self.spec)} {vendor.name if vendor else 'reference'}")

    def reconfigure_memory(self, environment: Mapping[str, str]) -> None:
        self._log.append(f"reconfigure with {', '.join(environment)}")

    def await_healthy(self, names: tuple[str, ...], timeout_seconds: float) -> None:
        self._log.append(f"look at {', '.join(names)}")

    def volume_bytes(self, name: str) -> Iterator[bytes]:
        yield name.encode()

    def describe_isolation(self) -> IsolationReport:
        return IsolationReport(supported=False, reason="fake")

    def service(self, name: str) -> ServiceHandle:
        return cast(ServiceHandle, FakeService(name))

    def close(self) -> None:
        self._log.append(f"close {_short(self.spec)}")
        if self._close_error is not None:
            raise self._close_error


@dataclass
class FakeRuntime:
    """Starts fake stacks.

    Attributes:
        failures: What the next starts raise; None and the end of the list: they go well.
        close_error: What closing any stack raises.
        log: What was done, in order.
        collected: Scopes that gc was asked for.
    """

    failures: list[Exception | None] = field(default_factory=list)
    close_error: Exception | None = None
    gc_failed: tuple[str, ...] = ()
    log: list[str] = field(default_factory=list)
    collected: list[GcScope] = field(default_factory=list)
    stacks: list[FakeStack] = field(default_factory=list)
    name: str = "process"

    def available(self) -> Availability:
        return Availability(True, "fake")

    def start(self, spec: StackSpec) -> FakeStack:
        vendor = spec.vendor.name if spec.vendor else "reference"
        self.log.append(f"start {_short(spec)} {vendor} {spec.lease_seconds}")
        if self.failures and (error := self.failures.pop(0)) is not None:
            raise error
        self.stacks.append(FakeStack(spec, self.log, self.close_error))
        return self.stacks[-1]

    def gc(self, scope: GcScope) -> GcReport:
        self.collected.append(scope)
        self.log.append(f"gc {scope.run_id}")
        return GcReport(self.name, failed=self.gc_failed)


@dataclass
class FakeSink:
    """Keeps trials in RAM.

    Attributes:
        kept: Trials in the order in which they came.
        told: What the display was told.
    """

    kept: list[TrialRecord] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    @property
    def progress(self) -> FakeSink:
        return self

    def trials(self, trials: Sequence[TrialRecord]) -> None:
        self.kept.extend(trials)

    def batch(self, evidence: BatchEvidence, trace: Sequence[str], journal: Sequence[str]) -> None:
        raise AssertionError("no batch here")

    def raw_lines(self, name: str, lines: Sequence[str]) -> None:
        raise AssertionError("no lines here")

    def planned(self, trials: int) -> None:
        self.told.append(f"planned {trials}")

    def running(self, lane: str, what: str) -> None:
        self.told.append(f"{lane}: {what}")

    def finished(self, trials: Sequence[TrialRecord]) -> None:
        self.told.append(f"finished {len(trials)}")

    def note(self, text: str) -> None:
        self.told.append(text)

    def close(self) -> None:
        self.told.append("closed")

    @property
    def verdicts(self) -> Iterator[tuple[str, str]]:
        """Trial ids with their verdicts."""
        return ((one.trial_id, one.verdict.value) for one in self.kept)


def declared(session: Session, stack: object) -> vendor_pb2.DescribeResponse:
    """In place of a call to a memory."""
    return vendor_pb2.DescribeResponse(name="fake", version="1")


def make_lane(
    runtime: FakeRuntime, sink: FakeSink, stopping: threading.Event | None = None
) -> Lane:
    """A lane of fakes; patch `lane.declaration` with `declared` first."""
    spec = StackSpec(run_id="run", stack_id="a0", folder=Path())
    settings = LaneSettings("a", spec, skew=True)
    return Lane(runtime, settings, sink, stopping or threading.Event())  # type: ignore[arg-type]  # a sink in all that lanes use
