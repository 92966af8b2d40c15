"""One worker with one stack at a time (DESIGN §3: one set of networks a stack, not a cell).

A lane loses a stack, never a finished trial: work that met an unusable stack is tried once more on
a fresh one, then kept as ERROR of the infrastructure's kind, and the lane goes on. Work of which
some trials could not be evaluated and none failed is tried once more, too.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import grpc
import structlog

from chaos.client import InterposerClient
from chaos.errors import ChaosError
from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import Job, StackContext, StackProgress, SubjectWork
from orchestrator.campaign.model_endpoint import lacking_endpoint
from orchestrator.campaign.queue import WorkQueue
from orchestrator.campaign.sink import Sink
from orchestrator.campaign.stack_variants import VariantStacks
from orchestrator.campaign.vitals import cause_of, silent_memory
from orchestrator.errors import MemqualError, StackError
from orchestrator.model import TrialRecord, Verdict
from orchestrator.runtimes.base import Runtime, Stack, StackSpec
from orchestrator.runtimes.storage import lacking_storage
from orchestrator.session import Session
from orchestrator.stacks import StackVariant
from orchestrator.suites.continuity.clocks import lacking_clocks
from orchestrator.suites.continuity.paper.store import lacking_store
from orchestrator.suites.continuity.retail_tasks import lacking_tasks
from orchestrator.vendors import VendorConfig

__all__ = ["Lane", "LaneSettings", "declaration"]

_FAILURES_MAX = 3
_SECOND_TRIES_IN_VAIN_MAX = 3
# Of the reference memory, in compose.yaml.
_OWN_PORT = 7000


@dataclass(frozen=True)
class LaneSettings:
    """What all stacks of a lane have in common.

    Attributes:
        name: Name of the lane and of its stacks.
        spec: Template of its stacks; vendor and lease come from the work.
        skew: Whether this machine's preflight showed that clocks can be set.
        mark: Ends every stack's name: a resumed run's stacks have journals of their own.
    """

    name: str
    spec: StackSpec
    skew: bool
    mark: str = ""


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
        self._closing = threading.Lock()
        self._stack: Stack | None = None
        self._session: Session | None = None
        self._context: StackContext | None = None
        self._progress = StackProgress()
        self._lease_seconds = 0
        self._variant = StackVariant.USUAL
        self._variants = VariantStacks(runtime.name)
        self._subject = ""
        self._stacks_made = 0
        self._failures_in_a_row = 0
        self._in_vain: dict[str, int] = {}

    def adopt(self, stack: Stack, subject: str) -> None:
        """Take over a running stack, whose memory is the subject's and was not used yet."""
        self._stack = stack
        self._lease_seconds = stack.spec.lease_seconds
        self._context = self._open_context(subject)

    def run(self, queue: WorkQueue) -> None:
        """Carry out work until there is none; returns early when the run is stopping.

        Raises:
            MemqualError: No stack can be had any more; what is left stays in the queue.
        """
        try:
            while not self._stopping.is_set():
                work = queue.take(self._subject, self._lease_seconds, self._variant)
                if work is None:
                    return
                self._run_work(work, queue)
        finally:
            self._discard()

    def close(self) -> None:
        """Remove the lane's stack, if it has one; safe from any thread.

        Raises:
            MemqualError: A part of it could not be removed; gc will find it.
        """
        with self._closing:
            self._context = None
            session, self._session = self._session, None
            stack, self._stack = self._stack, None
        if session is not None:
            session.close()
        try:
            if stack is not None:
                stack.close()
        finally:
            self._variants.close()

    def _run_work(self, work: SubjectWork, queue: WorkQueue) -> None:
        wanted = (work.subject, work.lease_seconds, work.variant)
        if wanted != (self._subject, self._lease_seconds, self._variant):
            self._context = None
        for at, job in enumerate(work.jobs):
            if self._stopping.is_set():
                return
            self._sink.progress.running(self._settings.name, f"{work.subject} {job.name}")
            self._log.info("job_started", subject=work.subject, job=job.name)
            try:
                self._run_job(work, job)
            except MemqualError:
                queue.give_back(work.only(*work.jobs[at + 1 :]))
                raise

    def _run_job(self, work: SubjectWork, job: Job) -> None:
        """Run one job, once more on a fresh stack if the present one fails or shows nothing."""
        cause = ""
        for first in (True, False):
            try:
                context = self._context or self._prepare(work)
                trials = job.run(context)
            except Exception as error:
                # Whatever a cut run's calls end with is no news.
                if self._stopping.is_set():
                    return
                if not isinstance(error, (MemqualError, ChaosError, grpc.RpcError)):
                    raise
                cause = cause_of(error)
                self._log.warning("stack_unusable", job=job.name, cause=cause)
                self._discard()
            else:
                if self._stopping.is_set():
                    return
                self._failures_in_a_row = 0
                if first and self._is_worth_a_second_try(work.subject, trials):
                    self._log.warning("not_evaluated", job=job.name, cause=_first_cause(trials))
                    self._discard()
                    continue
                if not first:
                    self._note_second_try(work.subject, trials)
                self._sink.trials(trials)
                if self._progress.spoiled:
                    self._log.warning("stack_spoiled", job=job.name, cause=self._progress.spoiled)
                    self._discard()
                return
        self._sink.trials(job.infrastructure_error(cause))
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= _FAILURES_MAX:
            raise StackError(
                f"{_FAILURES_MAX} pieces of work in a row found no usable stack. "
                f"The last cause: {cause}",
                next_step="Run `memqual doctor`, mend what it names, then RESUME=<run id>.",
            )

    def _is_worth_a_second_try(self, subject: str, trials: Sequence[TrialRecord]) -> bool:
        """Whether some trials could not be evaluated and none failed.

        A FAIL is never tried again (DESIGN §7). Where second tries of a subject came to nothing
        several times, its memory is the reason and not a noisy machine.
        """
        verdicts = {trial.verdict for trial in trials}
        noisy = Verdict.ERROR in verdicts and Verdict.FAIL not in verdicts
        return noisy and self._in_vain.get(subject, 0) < _SECOND_TRIES_IN_VAIN_MAX

    def _note_second_try(self, subject: str, trials: Sequence[TrialRecord]) -> None:
        if any(trial.verdict is Verdict.ERROR for trial in trials):
            self._in_vain[subject] = self._in_vain.get(subject, 0) + 1

    def _discard(self) -> None:
        try:
            self.close()
        except MemqualError as error:
            # It is gc's now: a lane that cannot clean up can still work.
            self._log.warning("stack_left_behind", cause=error.diagnosis)

    def _prepare(self, work: SubjectWork) -> StackContext:
        """A stack whose memory is the subject's, on an empty volume."""
        if self._stack is not None and self._fits(work):
            self._stack.replace_memory(work.vendor)
        else:
            self.close()
            self._start(work)
        self._context = self._open_context(work.subject)
        return self._context

    def _fits(self, work: SubjectWork) -> bool:
        """Whether the work's memory can take the present one's place in the stack."""
        present = self._stack.spec.vendor if self._stack is not None else None
        alike = (self._lease_seconds, self._variant) == (work.lease_seconds, work.variant)
        return alike and _port(present) == _port(work.vendor)

    def _open_context(self, subject: str) -> StackContext:
        stack = self._stack
        if stack is None or self._stopping.is_set():
            raise StackError("The run is stopping.", next_step="Continue it with RESUME=<run id>.")
        if self._progress.standby is not None:
            # The new session takes both hosts for healthy, and the old one's calls end with it.
            self._progress.standby.await_healthy()
            self._progress.standby = None
        if self._session is not None:
            self._session.close()
        run_id = self._settings.spec.run_id
        self._session = Session(stack.control_address, stack.control_token, run_id)
        self._subject = subject
        return StackContext(
            run_id=run_id,
            subject=subject,
            stack=stack,
            session=self._session,
            interposer=InterposerClient(self._session.channel, stack.control_token),
            describe=declaration(self._session, stack),
            progress=self._progress,
            skew=self._settings.skew,
            sink=self._sink,
            unavailable={
                **lacking_clocks(stack),
                **lacking_storage(stack.storage),
                **lacking_store(stack.spec),
                **lacking_tasks(stack.spec.retail_store),
                **lacking_endpoint(self._runtime.name),
            },
        )

    def _start(self, work: SubjectWork) -> None:
        self._stacks_made += 1
        spec = replace(
            self._settings.spec,
            stack_id=f"{self._settings.name}{self._stacks_made}{self._settings.mark}",
            vendor=work.vendor,
            lease_seconds=work.lease_seconds,
            clock_skew=self._settings.skew,
        )
        self._progress = StackProgress()
        self._stack = self._runtime.start(self._variants.spec(spec, work.variant))
        self._lease_seconds = work.lease_seconds
        self._variant = work.variant


def _first_cause(trials: Sequence[TrialRecord]) -> str:
    """Why the first trial that could not be evaluated was not."""
    return next((trial.cause for trial in trials if trial.verdict is Verdict.ERROR), "")


def _port(vendor: VendorConfig | None) -> int:
    return _OWN_PORT if vendor is None else vendor.port


def declaration(session: Session, stack: Stack) -> vendor_pb2.DescribeResponse:
    """What the memory declares.

    Raises:
        StackError: It does not answer Describe; the diagnosis says whether it lives.
        MemqualError: As `Stack.await_healthy`.
    """
    try:
        return session.memory.vendor.Describe(vendor_pb2.DescribeRequest())
    except grpc.RpcError as error:
        raise silent_memory(stack, "Describe", cause_of(error)) from error
