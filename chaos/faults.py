"""Faults beside the kill: what each is called, where it can be, how it is done and undone.

A fault is three things: a name, `available(target)` and `inject(target)`. What `inject` returns
ends the fault and hands over its receipt. New faults are classes here, or in a module of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from chaos.client import InterposerClient
from chaos.clock import read_offset_ns, write_offset_ns
from chaos.errors import FaultNotPossible
from chaos.injection import Injection
from chaos.kill_receipt import JournalPrecondition
from chaos.plans import KillPlan
from chaos.receipts import ClockReading, ClockReceipt, FaultReceipt, SuspendReceipt
from chaos.targets import Target

__all__ = [
    "ActiveFault",
    "Availability",
    "ClockJump",
    "Fault",
    "Kill",
    "Suspension",
    "clock_availability",
]

_LOOKS = 5
"""Questions after SIGSTOP of which one must stay unanswered."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a fault can be injected into a target here.

    Attributes:
        available: it can.
        reason: why it cannot: the cell is N/R with subtype `platform`; empty when it can.
    """

    available: bool
    reason: str = ""


class ActiveFault(Protocol):
    """A fault that is on."""

    def lift(self) -> FaultReceipt:
        """Ends the fault, as far as it has an end, and returns its proof."""


class Fault(Protocol):
    """Something that can be done to a target."""

    @property
    def name(self) -> str:
        """Stable name, as in the cell table."""

    def available(self, target: Target) -> Availability:
        """Whether it can be done to this target here."""

    def inject(self, target: Target) -> ActiveFault:
        """Does it.

        Raises:
            FaultNotPossible: it is not available.
            ChaosError: it did not work.
        """


@dataclass(frozen=True, slots=True)
class _Done:
    """A fault whose proof was complete with its injection."""

    receipt: FaultReceipt

    def lift(self) -> FaultReceipt:
        return self.receipt


@dataclass(frozen=True, slots=True)
class Kill:
    """SIGKILL at a window (`chaos.injection`).

    Attributes:
        plan: what to do; the target must be among its targets.
        client: control of the stack's interposer.
        precondition: reads the destination's journal while the operations are held.
    """

    plan: KillPlan
    client: InterposerClient
    precondition: Callable[[], JournalPrecondition]

    @property
    def name(self) -> str:
        """Name of the fault."""
        return "kill"

    def available(self, target: Target) -> Availability:
        """A kill of what does not run would prove nothing."""
        if not target.running():
            return Availability(False, f"{target.name} does not run")
        return Availability(True)

    def inject(self, target: Target) -> ActiveFault:
        """The whole injection; see `chaos.injection.Injection.run`."""
        if target not in self.plan.targets:
            raise FaultNotPossible(self.name, f"{target.name} is none of the plan's targets")
        _require(self, target)
        return _Done(Injection(self.plan, self.client, self.precondition).run())


@dataclass(frozen=True, slots=True)
class ClockJump:
    """Moves a target's wall clock once; time then goes on from there.

    Attributes:
        jump_ns: by how much; negative: backward.
        read_now: asks the target for its clocks.
    """

    jump_ns: int
    read_now: Callable[[], ClockReading]

    @property
    def name(self) -> str:
        """Name of the fault."""
        return "clock_jump"

    def available(self, target: Target) -> Availability:
        """A target without a clock folder runs on the host's clock."""
        return clock_availability(target)

    def inject(self, target: Target) -> ActiveFault:
        """Jumps, on top of what the clock is set to already.

        Raises:
            FaultNotPossible: no clock folder.
            ClockError: the file cannot be written.
        """
        _require(self, target)
        folder = target.clock_folder
        assert folder is not None  # `_require` has seen it
        before = self.read_now()
        offset_ns = read_offset_ns(folder) + self.jump_ns
        write_offset_ns(folder, offset_ns)
        after = self.read_now()
        receipt = ClockReceipt(
            service=target.name, asked_skew_ns=self.jump_ns, before=before, after=after
        )
        _log.info(
            "clock_jumped",
            service=target.name,
            asked_ns=self.jump_ns,
            measured_ns=receipt.measured_skew_ns,
        )
        return _Done(receipt)


@dataclass(frozen=True, slots=True)
class Suspension:
    """SIGSTOP, and SIGCONT when it is lifted: a zombie attempt wakes up late.

    Attributes:
        answers: asks the target something with a short deadline; True when it answered.
    """

    answers: Callable[[], bool]

    @property
    def name(self) -> str:
        """Name of the fault."""
        return "suspend"

    def available(self, target: Target) -> Availability:
        """Only what runs can stand still."""
        if not target.running():
            return Availability(False, f"{target.name} does not run")
        return Availability(True)

    def inject(self, target: Target) -> ActiveFault:
        """Stops the target and sees that it is silent.

        Raises:
            FaultNotPossible: it does not run.
        """
        _require(self, target)
        target.stop()
        stopped_ns = time.monotonic_ns()
        receipt = SuspendReceipt(
            service=target.name,
            pid=target.pid(),
            stopped_monotonic_ns=stopped_ns,
            # A signal takes a moment on a busy machine: what was asked before may be answered yet.
            silent=any(not self.answers() for _ in range(_LOOKS)),
        )
        return _Suspended(target, self.answers, receipt)


@dataclass(frozen=True, slots=True)
class _Suspended:
    target: Target
    answers: Callable[[], bool]
    receipt: SuspendReceipt

    def lift(self) -> FaultReceipt:
        self.target.cont()
        continued_ns = time.monotonic_ns()
        return self.receipt.model_copy(
            update={"continued_monotonic_ns": continued_ns, "answers_again": self.answers()}
        )


def clock_availability(target: Target) -> Availability:
    """A target without a clock folder runs on the host's clock, which nobody sets."""
    if target.clock_folder is None:
        return Availability(False, f"the clock of {target.name} cannot be set here")
    return Availability(True)


def _require(fault: Fault, target: Target) -> None:
    found = fault.available(target)
    if not found.available:
        raise FaultNotPossible(fault.name, found.reason)
