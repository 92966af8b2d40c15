"""A context for jobs without a stack: a real session straight to a memory."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import cast

import grpc

from chaos.client import InterposerClient
from chaos.errors import NotInTime
from memqual.v1 import vendor_pb2, vendor_pb2_grpc
from orchestrator.campaign.jobs import StackContext, StackProgress
from orchestrator.campaign.sink import Sink
from orchestrator.model import Check, CheckOutcome, Profile, TrialRecord
from orchestrator.plan import VENDOR, TrialPlan
from orchestrator.runtimes.base import Stack
from orchestrator.session import Session
from orchestrator.suites.integrity.driver import IntegrityJob, integrity_jobs
from orchestrator.suites.integrity.planned import planned_integrity
from orchestrator.suites.integrity.reviewer import Reviewer
from services.common.channels import open_channel
from services.common.platform import terminate_process
from tests.orchestrator.suites.integrity.memories import SmallMemory, serve
from tests.services.memory.processes import free_port, launch

SEED = 20260922
START_SECONDS = 30
STOP_SECONDS = 10


@dataclass
class Kept:
    """What a job gave to the sink."""

    files: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def raw_lines(self, name: str, lines: Sequence[str]) -> None:
        assert name not in self.files
        self.files[name] = tuple(lines)


@dataclass
class Health:
    """Stands for the interposer's control: answers whether the memory is healthy."""

    healthy: bool = True
    asked: int = 0

    def refresh(self, target: str, timeout_seconds: float) -> int:
        assert target == "memory"
        self.asked += 1
        if not self.healthy:
            raise NotInTime("Refresh", "UNAVAILABLE", "memory is not healthy")
        return 1


@dataclass
class Rig:
    """A context and what it collects."""

    context: StackContext
    kept: Kept
    health: Health


@contextmanager
def rig_at(
    address: str, describe: vendor_pb2.DescribeResponse | None = None, *, healthy: bool = True
) -> Iterator[Rig]:
    """A context whose memory listens at an address."""
    session = Session(address, "token", "run-of-test")
    kept, health = Kept(), Health(healthy)
    try:
        yield Rig(
            StackContext(
                run_id="run-of-test",
                subject=VENDOR,
                stack=cast(Stack, None),
                session=session,
                interposer=cast(InterposerClient, health),
                describe=describe
                or session.memory.vendor.Describe(vendor_pb2.DescribeRequest(), timeout=10),
                progress=StackProgress(),
                skew=False,
                sink=cast(Sink, kept),
            ),
            kept,
            health,
        )
    finally:
        session.close()


@contextmanager
def rig_for(memory: SmallMemory, *, healthy: bool = True) -> Iterator[Rig]:
    """A context over a small memory."""
    running = serve(memory)
    try:
        with rig_at(f"127.0.0.1:{running.port}", memory.describe(), healthy=healthy) as rig:
            yield rig
    finally:
        running.stop()


def jobs_of(
    case: str, trials: int, reviewer: Reviewer | None, subject: str = VENDOR
) -> tuple[IntegrityJob, ...]:
    """Jobs with the first trials of one case, whatever profile schedules it."""
    plans = _plans()[case]
    assert len(plans) >= trials
    return integrity_jobs(subject, plans[:trials], reviewer)


@cache
def _plans() -> Mapping[str, Sequence[TrialPlan]]:
    """The trials of every case."""
    plans: dict[str, list[TrialPlan]] = {}
    for profile in (Profile.FULL, Profile.MIB):
        for plan in planned_integrity(profile, SEED):
            plans.setdefault(plan.cell.case, []).append(plan)
    return plans


def run_one(
    memory: SmallMemory, letter: str, reviewer: Reviewer, *, trials: int = 3
) -> list[TrialRecord]:
    """The records of a category's first trials on a small memory."""
    return run_all(memory, (letter,), reviewer, trials=trials)[letter]


def run_all(
    memory: SmallMemory, cases: Iterable[str], reviewer: Reviewer, *, trials: int
) -> dict[str, list[TrialRecord]]:
    """The records of the first trials of several cases on one small memory."""
    memory.key = reviewer.public_key
    with rig_for(memory) as rig:
        return {
            case: [
                record for job in jobs_of(case, trials, reviewer) for record in job.run(rig.context)
            ]
            for case in cases
        }


def found(record: TrialRecord, outcome: CheckOutcome) -> list[str]:
    """Ids of the checks of a trial that came to an outcome."""
    return [check.check_id for check in record.checks if check.outcome is outcome]


def check_of(record: TrialRecord, check_id: str) -> Check:
    """One check of a trial."""
    return next(check for check in record.checks if check.check_id == check_id)


@contextmanager
def memory_process(
    folder: Path, reviewer: Reviewer, module: str = "services.memory", *arguments: str
) -> Iterator[str]:
    """A memory as a local process that knows the reviewer; yields its address."""
    keys = folder / "keys.json"
    keys.write_text(reviewer.public_keys_json())
    address = f"127.0.0.1:{free_port()}"
    changes = {"MEMQUAL_LISTEN": address, "MEMQUAL_REVIEWER_KEYS": str(keys)}
    child = launch(folder, module=module, arguments=arguments, changes=changes)
    try:
        _await_answer(folder, address)
        yield address
    finally:
        terminate_process(child.pid)
        child.wait(STOP_SECONDS)


def _await_answer(folder: Path, address: str) -> None:
    ends = time.monotonic() + START_SECONDS
    with open_channel(address) as channel:
        vendor = vendor_pb2_grpc.VendorServiceStub(channel)
        while True:
            try:
                vendor.Now(vendor_pb2.NowRequest(), timeout=1, wait_for_ready=True)
            except grpc.RpcError:
                assert time.monotonic() < ends, (folder / "stderr.log").read_text()
            else:
                return
