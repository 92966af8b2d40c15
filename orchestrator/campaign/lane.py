"""One worker with one stack at a time (DESIGN §3: one set of networks a stack, not a cell).

A lane loses a stack, never a finished trial: work that met an unusable stack is tried once more on
a fresh one, then kept as ERROR of the infrastructure's kind, and the lane goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import grpc
import structlog

from chaos.client import InterposerClient
from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import Job, StackContext, StackProgress, SubjectWork
from orchestrator.campaign.sink import Sink
from orchestrator.errors import EngineError, MemqualError, StackError
from orchestrator.runtimes.base import Runtime, Stack, StackSpec
from orchestrator.session import Session

__all__ = ["Lane", "LaneSettings"]

_STACK_FAILURES_MAX = 3


@dataclass(frozen=True)
class LaneSettings:
    """What all stacks of a lane have in common.

    Attributes:
        name: Name of the lane and of its stacks.
        spec: Template of its stacks; vendor and lease come from the work.
        skew: Whether this machine's preflight showed that clocks can be set.
    """

    name: str
    spec: StackSpec
    skew: bool


class Lane:
    """Carries out work in order, on a stack that it makes, swaps memories in, and removes.

    Args:
        runtime: Where stacks come from.
        settings: The lane's stacks.
        sink: Where finished work goes.
        stopping: Set when the run is to end early.
    """

    def __init__(
        self, runtime: Runtime, settings: LaneSettings, sink: Sink, stopping: threading.Event
    ) -> None:
        self._runtime = runtime
        self._settings = settings
        self._sink = sink
        self._stopping = stopping
        self._log = structlog.get_logger().bind(lane=settings.name)
        self._stack: Stack | None = None
        self._session: Session | None = None
        self._progress = StackProgress()
        self._lease_seconds = 0
        self._stacks_made = 0
        self._failures_in_a_row = 0

    def run(self, work: Sequence[SubjectWork]) -> None:
        """Carry out all the work; returns early when the run is stopping.

        Raises:
            MemqualError: No stack can be had any more; what is left was kept as ERROR.
        """
        try:
            for part in work:
                self._run_subject(part)
        finally:
            self.close()

    def close(self) -> None:
        """Remove the lane's stack, if it has one."""
        if self._session is not None:
            self._session.close()
            self._session = None
        if self._stack is not None:
            stack, self._stack = self._stack, None
            stack.close()

    def _run_subject(self, work: SubjectWork) -> None:
        context: StackContext | None = None
        for job in work.jobs:
            if self._stopping.is_set():
                return
            self._sink.progress.running(self._settings.name, f"{work.subject} {job.name}")
            context = self._run_job(work, job, context)

    def _run_job(
        self, work: SubjectWork, job: Job, context: StackContext | None
    ) -> StackContext | None:
        """Run one job, on a fresh stack if the present one fails; return the usable context."""
        cause = ""
        for _ in range(2):
            try:
                context = context or self._prepare(work)
                trials = work.not_declared(job, context)
                self._sink.trials(job.run(context) if trials is None else trials)
                self._failures_in_a_row = 0
            except (MemqualError, grpc.RpcError) as error:
                if self._stopping.is_set():
                    return None
                cause = _cause_of(error)
                self._log.warning("stack_unusable", job=job.name, cause=cause)
                context = None
                self._discard()
            else:
                if self._progress.spoiled:
                    self._log.warning("stack_spoiled", job=job.name, cause=self._progress.spoiled)
                    self._discard()
                    return None
                return context
        self._sink.trials(job.infrastructure_error(cause))
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= _STACK_FAILURES_MAX:
            raise StackError(
                f"Three pieces of work in a row found no usable stack. The last cause: {cause}",
                next_step="Run `memqual doctor`, mend what it names, then RESUME=<run id>.",
            )
        return None

    def _discard(self) -> None:
        try:
            self.close()
        except EngineError as error:
            self._log.warning("stack_left_behind", cause=error.diagnosis)

    def _prepare(self, work: SubjectWork) -> StackContext:
        """A stack whose memory is the subject's, on an empty volume."""
        if self._stack is not None and self._lease_seconds == work.lease_seconds:
            self._stack.replace_memory(work.vendor)
        else:
            self.close()
            self._start(work)
        assert self._stack is not None
        if self._session is not None:
            self._session.close()
        run_id = self._settings.spec.run_id
        stack = self._stack
        self._session = Session(stack.control_address, stack.control_token, run_id)
        return StackContext(
            run_id=run_id,
            subject=work.subject,
            stack=stack,
            session=self._session,
            interposer=InterposerClient(self._session.channel, stack.control_token),
            describe=_declaration(self._session),
            progress=self._progress,
            skew=self._settings.skew,
            sink=self._sink,
        )

    def _start(self, work: SubjectWork) -> None:
        self._stacks_made += 1
        spec = replace(
            self._settings.spec,
            stack_id=f"{self._settings.name}{self._stacks_made}",
            vendor=work.vendor,
            lease_seconds=work.lease_seconds,
            clock_skew=self._settings.skew,
        )
        self._progress = StackProgress()
        self._stack = self._runtime.start(spec)
        self._lease_seconds = work.lease_seconds


def _declaration(session: Session) -> vendor_pb2.DescribeResponse:
    try:
        return session.memory.vendor.Describe(vendor_pb2.DescribeRequest())
    except grpc.RpcError as error:
        raise StackError(
            "The memory is healthy but does not answer VendorService.Describe: "
            f"{_cause_of(error)}.",
            next_step="Serve memqual.v1.VendorService on the port that vendor.yaml names.",
        ) from error


def _cause_of(error: Exception) -> str:
    if isinstance(error, MemqualError):
        return error.diagnosis
    code: Callable[[], grpc.StatusCode] | None = getattr(error, "code", None)
    details: Callable[[], str] | None = getattr(error, "details", None)
    name = code().name if code is not None else type(error).__name__
    return f"{name}: {details() if details is not None else error}"
