"""Stacks for work that is no campaign: one at a time, a new one when the present one is spoiled."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import grpc
import structlog

from chaos.client import InterposerClient
from chaos.errors import ChaosError
from orchestrator.campaign.jobs import StackContext, StackProgress
from orchestrator.campaign.lane import declaration
from orchestrator.campaign.signals import StopSignals
from orchestrator.campaign.sink import Sink
from orchestrator.errors import MemqualError, StackError
from orchestrator.evidence.records import BatchEvidence
from orchestrator.model import TrialRecord
from orchestrator.runtimes.base import Runtime, Stack, StackSpec
from orchestrator.runtimes.plan import MEMORY_SERVICE
from orchestrator.session import Session
from orchestrator.suites.integrity.reviewer import Reviewer

__all__ = ["Stacks"]

_log = structlog.get_logger(__name__)


class _NoSink(Sink):
    """Exploring keeps cases, not batches: what it is given is dropped."""

    def __init__(self) -> None:
        """Opens no folder."""

    def batch(self, evidence: BatchEvidence, trace: Sequence[str], journal: Sequence[str]) -> None:
        """Drops it."""

    def raw_lines(self, name: str, lines: Sequence[str]) -> None:
        """Drops them."""

    def trials(self, trials: Sequence[TrialRecord]) -> None:
        """Drops them."""


class Stacks:
    """One stack at a time, a new one whenever the present one is spoiled (an `engine.Ground`).

    Args:
        runtime: Where stacks come from.
        spec: What they have in common.
        reviewer: The run's operator.
        signals: When the exploration is to end.
    """

    def __init__(
        self, runtime: Runtime, spec: StackSpec, reviewer: Reviewer, signals: StopSignals
    ) -> None:
        self.runtime = runtime
        self.reviewer: Reviewer | None = reviewer
        self._spec = spec
        self._signals = signals
        self._made = 0
        self._stack: Stack | None = None
        self._session: Session | None = None
        self._context: StackContext | None = None

    @property
    def run_id(self) -> str:
        """Of the exploration."""
        return self._spec.run_id

    def context(self) -> StackContext:
        """A stack that can be used.

        Raises:
            StackError: The exploration is to end.
            MemqualError: None can be had.
        """
        if self._context is not None and not self._context.progress.spoiled:
            return self._context
        if self._context is not None:
            _log.warning("stack_spoiled", cause=self._context.progress.spoiled)
        self.close()
        if self._signals.stopping.is_set():
            raise StackError("The exploration is stopping.", next_step="Start it again.")
        self._made += 1
        self._stack = self.runtime.start(replace(self._spec, stack_id=f"s{self._made}"))
        session = Session(self._stack.control_address, self._stack.control_token, self.run_id)
        self._session = session
        self._context = StackContext(
            run_id=self.run_id,
            subject="vendor",
            stack=self._stack,
            session=session,
            interposer=InterposerClient(session.channel, self._stack.control_token),
            describe=declaration(session, self._stack),
            progress=StackProgress(),
            skew=self._stack.service(MEMORY_SERVICE).clock_folder is not None,
            sink=_NoSink(),
        )
        return self._context

    def close(self) -> None:
        """Remove the present stack, if there is one."""
        context, self._context = self._context, None
        session, self._session = self._session, None
        stack, self._stack = self._stack, None
        if context is not None and context.progress.standby is not None:
            with suppress(MemqualError, ChaosError, grpc.RpcError):
                context.progress.standby.await_healthy()
        if session is not None:
            session.close()
        if stack is not None:
            with suppress(MemqualError):
                stack.close()
