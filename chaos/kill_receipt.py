"""Proof that SIGKILL hit at one window (`chaos.receipts`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from chaos.receipt_base import FaultReceipt, FrozenModel

__all__ = [
    "KILLED_EXIT_CODES",
    "JournalPrecondition",
    "KillReceipt",
    "ReleaseRecord",
    "StepRecord",
    "TargetKill",
]

# What a SIGKILL leaves: an engine says 137, a parent process sees minus 9.
KILLED_EXIT_CODES = frozenset({137, -9})


class StepRecord(FrozenModel):
    """One step of an injection.

    Attributes:
        step: its name (`chaos.injection.Step`).
        evaluator_monotonic_ns: when it was done, on the evaluator's clock.
        interposer_monotonic_ns: the same, on the interposer's clock: the trace's time base.
        trace_sequence: its mark in the trace.
    """

    step: str
    evaluator_monotonic_ns: int
    interposer_monotonic_ns: int
    trace_sequence: int


class JournalPrecondition(FrozenModel):
    """What the destination's journal showed while the operations were held.

    Attributes:
        name: what was looked for, such as "effect applied".
        expected: how many operations must show it.
        seen: how many did.
        journal_sequence: head of the journal that was read.
    """

    name: str
    expected: int = Field(ge=0)
    seen: int = Field(ge=0)
    journal_sequence: int = Field(ge=0)

    @property
    def holds(self) -> bool:
        """The journal shows exactly what the window means."""
        return self.seen == self.expected


class TargetKill(FrozenModel):
    """The death of one service.

    Attributes:
        service: exact name.
        pid: process id of the life that ended, where this machine sees it.
        started_before_ns: when that life began.
        kill_monotonic_ns: when SIGKILL had been sent, on the evaluator's clock.
        exit_code: what its end was; None: not seen.
        oom_killed: the kernel ended it for want of memory.
        exit_monotonic_ns: when its end was seen, on the evaluator's clock.
        started_after_ns: when its next life began; None: not started again within the injection.
    """

    service: str
    pid: int | None
    started_before_ns: int
    kill_monotonic_ns: int
    exit_code: int | None = None
    oom_killed: bool | None = None
    exit_monotonic_ns: int | None = None
    started_after_ns: int | None = None

    def missing(self, *, restarted: bool) -> list[str]:
        """What is lacking to prove that SIGKILL, and nothing else, ended this life."""
        lacking = []
        if self.exit_code not in KILLED_EXIT_CODES:
            lacking.append(f"{self.service}: exit code of a SIGKILL (seen: {self.exit_code})")
        if self.oom_killed is not False:
            lacking.append(f"{self.service}: that it was not out of memory")
        if restarted and (
            self.started_after_ns is None or self.started_after_ns <= self.started_before_ns
        ):
            lacking.append(f"{self.service}: a start time after the old one")
        return lacking


class ReleaseRecord(FrozenModel):
    """What became of the held messages.

    Attributes:
        fate: "drop", "deliver" or "disconnect"; "died with its host" for what stood at a barrier of
            a host that was killed.
        point: where in the trial it was done, such as "at once" or "after_decision".
        released: how many messages got the fate.
        interposer_monotonic_ns: when, on the interposer's clock.
    """

    fate: Literal["drop", "deliver", "disconnect", "died with its host"]
    point: str
    released: int = Field(ge=0)
    interposer_monotonic_ns: int


class KillReceipt(FaultReceipt):
    """Proof of one kill at one window.

    Attributes:
        injection_id: names the injection in marks of the trace.
        window: the window's name.
        expected_held: operations that must stand at the window.
        held_workflows: workflows that stood there.
        precondition: what the journal showed then.
        frozen_monotonic_ns: since when the targets' edges were frozen, on the interposer's clock.
        targets: the deaths.
        eof_clients_gone: calls of the dead that were seen to lose their client; None: EOF not seen.
        strays: requests of the dead that were kept back and dropped; None: not thawed.
        release: fate of the held messages; None: not released yet.
        restarted: services that were started again within the injection.
        healthy_after_ms: control target → time until it was seen healthy on a fresh channel.
        steps: every step, in order.
    """

    kind: Literal["kill"] = "kill"
    injection_id: str
    window: str
    expected_held: int = Field(ge=1)
    held_workflows: tuple[str, ...]
    precondition: JournalPrecondition | None
    frozen_monotonic_ns: int | None
    targets: tuple[TargetKill, ...]
    eof_clients_gone: int | None
    strays: int | None
    release: ReleaseRecord | None
    restarted: tuple[str, ...]
    healthy_after_ms: dict[str, int]
    steps: tuple[StepRecord, ...]

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        held = len(set(self.held_workflows))
        if held != self.expected_held:
            lacking.append(f"held: {held} of {self.expected_held} operations stood at the window")
        if self.precondition is None:
            lacking.append("precondition: the destination's journal was not read")
        elif not self.precondition.holds:
            lacking.append(
                f"precondition: {self.precondition.name}: {self.precondition.seen} of "
                f"{self.precondition.expected}"
            )
        if self.frozen_monotonic_ns is None:
            lacking.append("freeze: the targets' edges were not frozen")
        if not self.targets:
            lacking.append("kill: no target")
        for target in self.targets:
            lacking += target.missing(restarted=target.service in self.restarted)
        if self.eof_clients_gone is None:
            lacking.append("eof: the connections of the dead were not seen to end")
        if self.strays is None:
            lacking.append("strays: what the dead sent last was not accounted for")
        if self.release is None:
            lacking.append("release: the held messages have no fate")
        elif self.release.fate != "died with its host" and self.release.released != held:
            lacking.append(f"release: {self.release.released} of {held} messages got their fate")
        return lacking
