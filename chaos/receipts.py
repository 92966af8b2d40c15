"""Proof that a fault happened, one schema a kind (DESIGN §5).

A commanded fault is no fault. A trial whose receipt lacks a proof is ERROR, never PASS: `missing`
names what is lacking. Receipts hold what was seen and decide nothing else; they are kept as JSON in
the bundle and read back by `parse_receipt`.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from chaos.installed_receipt import InstalledReceipt, ServiceOrigin, WheelProof
from chaos.kill_receipt import (
    KILLED_EXIT_CODES,
    JournalPrecondition,
    KillReceipt,
    ReleaseRecord,
    StepRecord,
    TargetKill,
)
from chaos.lease_receipts import LeaseWaitReceipt
from chaos.receipt_base import FaultReceipt, FrozenModel
from chaos.storage_receipts import (
    CheckpointCutReceipt,
    CheckpointForkReceipt,
    CheckpointRestoreReceipt,
    FullVolumeReceipt,
    PowerLossReceipt,
    RollbackReceipt,
    StormReceipt,
    TornWriteReceipt,
)

__all__ = [
    "CLOCK_TOLERANCE_NS",
    "KILLED_EXIT_CODES",
    "AnyReceipt",
    "ClockReading",
    "ClockReceipt",
    "DriftReceipt",
    "FaultReceipt",
    "InstalledReceipt",
    "JournalPrecondition",
    "KillReceipt",
    "LeaseWaitReceipt",
    "NetworkReceipt",
    "ReconfigureReceipt",
    "ReleaseRecord",
    "RestartReceipt",
    "ReviveReceipt",
    "ServiceOrigin",
    "StepRecord",
    "SuspendReceipt",
    "TargetKill",
    "TelemetryReceipt",
    "WheelProof",
    "parse_receipt",
]

# A jump is measured between two answers of the target, by its own clocks; what is left is noise.
CLOCK_TOLERANCE_NS = 100_000_000
# Part of a drift that may be missing: it begins and ends a little after it is asked to.
DRIFT_TOLERANCE = 0.25


class RestartReceipt(FaultReceipt):
    """Proof that a service was killed outside of every window, and came back.

    Attributes:
        target: the death.
        healthy_after_ms: time until it was seen healthy on a fresh channel; None: not seen.
        answered: calls of the moment's work that were answered before the kill; None: it was idle.
        unanswered: calls of the moment's work that the kill took the answer from; None: it was
            idle.
    """

    kind: Literal["restart"] = "restart"
    target: TargetKill
    healthy_after_ms: int | None = None
    answered: int | None = Field(default=None, ge=0)
    unanswered: int | None = Field(default=None, ge=0)

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing() + self.target.missing(restarted=True)
        if self.healthy_after_ms is None:
            lacking.append(f"{self.target.service}: that it was healthy again")
        if self.unanswered == 0:
            lacking.append("burst: the kill took no call's answer, so it was not within the work")
        return lacking


class ReconfigureReceipt(FaultReceipt):
    """Proof that a service was ended and goes on, on its own volume, in another configuration.

    Attributes:
        service: exact name.
        variables: names of the environment's variables that are new.
        started_before_ns: when the first configuration had been started (wall clock).
        started_after_ns: when the second one was.
        healthy_after_ms: time until it was seen healthy on a fresh channel; None: not seen.
    """

    kind: Literal["reconfigure"] = "reconfigure"
    service: str
    variables: tuple[str, ...]
    started_before_ns: int
    started_after_ns: int
    healthy_after_ms: int | None = None

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        if not self.variables:
            lacking.append(f"{self.service}: that anything of its configuration is another")
        if self.started_after_ns <= self.started_before_ns:
            lacking.append(f"{self.service}: that it was started again")
        if self.healthy_after_ms is None:
            lacking.append(f"{self.service}: that it was healthy again")
        return lacking


class ReviveReceipt(FaultReceipt):
    """Proof that a service had ended by itself, and goes on on its own volume.

    Attributes:
        service: exact name.
        exit_code: of the life that ended.
        started_before_ns: when that life had been started (wall clock).
        started_after_ns: when the next one was.
        healthy_after_ms: time until it was seen healthy on a fresh channel; None: not seen.
    """

    kind: Literal["revive"] = "revive"
    service: str
    exit_code: int
    started_before_ns: int
    started_after_ns: int
    healthy_after_ms: int | None = None

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        if self.started_after_ns <= self.started_before_ns:
            lacking.append(f"{self.service}: that it was started again")
        if self.healthy_after_ms is None:
            lacking.append(f"{self.service}: that it was healthy again")
        return lacking


class ClockReading(FrozenModel):
    """One answer of a target about its clocks.

    Attributes:
        wall_unix_ns: wall clock.
        monotonic_ns: monotonic clock.
    """

    wall_unix_ns: int
    monotonic_ns: int


class ClockReceipt(FaultReceipt):
    """Proof that a target's wall clock jumped and its monotonic clock did not.

    Attributes:
        service: exact name.
        asked_skew_ns: the jump that was asked for; negative: backward.
        before: the target's answer right before.
        after: the target's answer right after.
    """

    kind: Literal["clock"] = "clock"
    service: str
    asked_skew_ns: int
    before: ClockReading
    after: ClockReading

    @property
    def measured_skew_ns(self) -> int:
        """By how much its wall clock moved beyond its monotonic one."""
        wall_ns = self.after.wall_unix_ns - self.before.wall_unix_ns
        monotonic_ns = self.after.monotonic_ns - self.before.monotonic_ns
        return wall_ns - monotonic_ns

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        if self.asked_skew_ns == 0:
            lacking.append("skew: none was asked for")
        error_ns = self.measured_skew_ns - self.asked_skew_ns
        if abs(error_ns) > CLOCK_TOLERANCE_NS:
            lacking.append(
                f"skew: asked for {self.asked_skew_ns} ns, measured {self.measured_skew_ns} ns"
            )
        if self.after.monotonic_ns <= self.before.monotonic_ns:
            lacking.append("skew: the monotonic clock went back; both answers must be of one life")
        return lacking


class DriftReceipt(FaultReceipt):
    """Proof that a target's wall clock ran at another rate than its monotonic clock.

    Attributes:
        service: exact name.
        asked_rate: seconds of its wall clock that were asked for in one second.
        before: the target's answer right before.
        after: the target's answer right after.
    """

    kind: Literal["drift"] = "drift"
    service: str
    asked_rate: float
    before: ClockReading
    after: ClockReading

    @property
    def measured_rate(self) -> float:
        """Seconds of its wall clock in one second of its monotonic one; 1 when no time passed."""
        passed_ns = self.after.monotonic_ns - self.before.monotonic_ns
        return (self.after.wall_unix_ns - self.before.wall_unix_ns) / passed_ns if passed_ns else 1

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        return [*super().missing(), *self._lacking()]

    @property
    def drifted(self) -> bool:
        """Whether the two answers alone prove the drift."""
        return not self._lacking()

    def _lacking(self) -> list[str]:
        lacking = []
        if self.after.monotonic_ns <= self.before.monotonic_ns:
            lacking.append("drift: the monotonic clock went back; both answers must be of one life")
        elif abs(self.measured_rate - self.asked_rate) > DRIFT_TOLERANCE * abs(self.asked_rate - 1):
            lacking.append(f"drift: asked for {self.asked_rate}, measured {self.measured_rate:.3f}")
        drifted_ns = self.after.wall_unix_ns - self.before.wall_unix_ns
        drifted_ns -= self.after.monotonic_ns - self.before.monotonic_ns
        if abs(drifted_ns) <= CLOCK_TOLERANCE_NS:
            lacking.append(f"drift: of {drifted_ns} ns only")
        return lacking


class TelemetryReceipt(FaultReceipt):
    """Proof that telemetry was disturbed.

    Attributes:
        fault: what was done to it.
        rule_id: the rule that did it; empty for an observer that was down.
        events_affected: telemetry events that it happened to.
        first_sequence: first record of the trace that was looked at.
        last_sequence: last one.
    """

    kind: Literal["telemetry"] = "telemetry"
    fault: Literal["drop", "delay", "duplicate", "reorder", "slow", "errors", "observer_down"]
    rule_id: str
    events_affected: int = Field(ge=0)
    first_sequence: int
    last_sequence: int

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        if self.events_affected == 0:
            lacking.append(f"telemetry: {self.fault} happened to no event")
        return lacking


class NetworkReceipt(FaultReceipt):
    """Proof that messages between services were disturbed, and that others passed afterwards.

    Attributes:
        action: what was done to them.
        edges: `source>target` of each edge.
        direction: which way they went.
        until_lifted: the edges were cut until the fault was lifted.
        rule_ids: the rules that did it.
        messages_affected: messages that it happened to, by the trace.
        passed_after: answers that got through on these edges when it was over.
        first_sequence: first record of the trace that was looked at.
        last_sequence: last one.
    """

    kind: Literal["network"] = "network"
    action: Literal["lost", "reset", "delayed", "duplicated", "reordered", "held"]
    edges: tuple[str, ...]
    direction: Literal["requests", "responses", "both"]
    until_lifted: bool
    rule_ids: tuple[str, ...]
    messages_affected: int = Field(ge=0)
    passed_after: int = Field(ge=0)
    first_sequence: int
    last_sequence: int

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        where = ", ".join(self.edges)
        if self.messages_affected == 0:
            lacking.append(f"network: no message of {where} was {self.action}")
        if self.passed_after == 0:
            lacking.append(f"network: that a message of {where} passed when the fault was over")
        return lacking


class SuspendReceipt(FaultReceipt):
    """Proof that a target stood still and went on.

    Attributes:
        service: exact name.
        pid: its process id, where this machine sees it.
        stopped_monotonic_ns: when SIGSTOP had been sent, on the evaluator's clock.
        silent: it did not answer while it was stopped; None: not tried.
        continued_monotonic_ns: when SIGCONT had been sent; None: not yet.
        answers_again: it answered after that; None: not tried.
    """

    kind: Literal["suspend"] = "suspend"
    service: str
    pid: int | None
    stopped_monotonic_ns: int
    silent: bool | None = None
    continued_monotonic_ns: int | None = None
    answers_again: bool | None = None

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        if self.silent is not True:
            lacking.append(f"{self.service}: that it did not answer while it was stopped")
        if self.continued_monotonic_ns is None:
            lacking.append(f"{self.service}: that it was let go on")
        elif self.continued_monotonic_ns <= self.stopped_monotonic_ns:
            lacking.append(f"{self.service}: that it went on after it was stopped")
        if self.answers_again is not True:
            lacking.append(f"{self.service}: that it answered again")
        return lacking


AnyReceipt: TypeAlias = (
    KillReceipt
    | RestartReceipt
    | ReconfigureReceipt
    | ReviveReceipt
    | ClockReceipt
    | LeaseWaitReceipt
    | DriftReceipt
    | TelemetryReceipt
    | NetworkReceipt
    | SuspendReceipt
    | InstalledReceipt
    | CheckpointCutReceipt
    | CheckpointForkReceipt
    | CheckpointRestoreReceipt
    | PowerLossReceipt
    | FullVolumeReceipt
    | RollbackReceipt
    | TornWriteReceipt
    | StormReceipt
)
_ANY: TypeAdapter[AnyReceipt] = TypeAdapter(Annotated[AnyReceipt, Field(discriminator="kind")])


def parse_receipt(text: str) -> FaultReceipt:
    """Reads a receipt back from its JSON.

    Raises:
        ValueError: it is none (pydantic's ValidationError is a ValueError).
    """
    return _ANY.validate_json(text)
