"""Memories that are wrong about time, each the reference but for one rule (DESIGN §6, row B).

Some keep what they saw in RAM, as a memory does that forgets it when its process ends.
"""

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.controls.flaw import Flaw, named
from services.memory.answers import BeginCall, BeginStep, Refused, Wait
from services.memory.decisions import DecisionRules
from services.memory.model import (
    NANOSECONDS_PER_SECOND,
    AttemptRecord,
    Change,
    LeaseClock,
    Operation,
    Reason,
)
from services.memory.process import Composition

__all__ = [
    "FLAWS",
    "CountsKeyFromLatestGrant",
    "EndsLeaseEarly",
    "EndsLeaseLate",
    "ForgetsMarkAtRestart",
    "HidesCompleteWhenBehind",
    "KeepsNoMark",
    "RestartsLeaseWhenAsked",
    "RetriesOnKeyWhenBehind",
    "StaysBehind",
    "read_uptime_ns",
]

# A host that is put off for ever ends nowhere.
_PARKED = "continuity.end"
_SLIP_NS = 2 * NANOSECONDS_PER_SECOND
_STARTED_WALL_NS, _STARTED_UPTIME_NS = time.time_ns(), time.monotonic_ns()


class RestartsLeaseWhenAsked(DecisionRules):
    """Counts a lease from the last question about it."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """WAIT, and the lease lasts a whole lease more."""
        step = super().decide_live(operation, latest, clock, call)
        if isinstance(step, BeginStep) and isinstance(step.decision, Wait):
            ends_at_ns = clock.effective_ns + self.policy.lease_ns
            longer = dataclasses.replace(latest, lease_ends_at_ns=ends_at_ns)
            return BeginStep(step.decision, operation.revised(longer), Change.RENEWED)
        return step


class EndsLeaseEarly(DecisionRules):
    """Takes a lease for over two seconds before its end."""

    def lease_is_live(self, latest: AttemptRecord, clock: LeaseClock) -> bool:
        """True before two seconds before the lease's end."""
        return clock.effective_ns < latest.lease_ends_at_ns - _SLIP_NS


class EndsLeaseLate(DecisionRules):
    """Takes a lease for live two seconds after its end."""

    def lease_is_live(self, latest: AttemptRecord, clock: LeaseClock) -> bool:
        """True before two seconds after the lease's end."""
        return clock.effective_ns < latest.lease_ends_at_ns + _SLIP_NS


class KeepsNoMark(DecisionRules):
    """Goes by its clock as it stands, however far it was set back."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The table at the present reading."""
        return super().begin(operation, LeaseClock(clock.now_ns, 0), call)


@dataclass(frozen=True)
class ForgetsMarkAtRestart(DecisionRules):
    """Knows its clock's mark for as long as this process lives."""

    _highest_ns: list[int] = field(default_factory=lambda: [0])

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The table under a mark that only this process has raised."""
        own = LeaseClock(clock.now_ns, self._highest_ns[0])
        self._highest_ns[0] = own.effective_ns
        return super().begin(operation, own, call)


class HidesCompleteWhenBehind(DecisionRules):
    """Puts everybody off while its clock is behind, even where nothing depends on time."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """WAIT where REUSE is owed."""
        if clock.behind and operation is not None and operation.receipt is not None:
            return BeginStep(Wait(0, Reason.CLOCK_BEHIND_MARK), operation)
        return super().begin(operation, clock, call)


class RetriesOnKeyWhenBehind(DecisionRules):
    """Leans on a key although nobody can tell how old it is."""

    def retry(
        self, operation: Operation, clock: LeaseClock, call: BeginCall, reason: Reason
    ) -> BeginStep | Refused:
        """The next attempt, behind the mark, too."""
        return self.grant(operation, clock, call, reason)


@dataclass(frozen=True)
class StaysBehind(DecisionRules):
    """Trusts no clock any more that was behind its mark once."""

    _distrusted: list[bool] = field(default_factory=list)

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """WAIT for ever, once the clock was behind, where nothing is complete."""
        if clock.behind:
            self._distrusted.append(True)
        step = super().begin(operation, clock, call)
        if self._distrusted and operation is not None and operation.receipt is None:
            return BeginStep(Wait(0, Reason.CLOCK_BEHIND_MARK), operation)
        return step


class CountsKeyFromLatestGrant(DecisionRules):
    """Counts a key's retention from the latest grant, as if each attempt renewed it."""

    def expired_idempotent(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The same key again as long as it covers the new lease, counted from the latest grant."""
        latest = operation.latest
        assert latest is not None  # only what was granted has expired
        deadline_ns = latest.granted_at_ns + operation.binding.retention_ns
        longer = dataclasses.replace(operation, key_deadline_ns=deadline_ns)
        return super().expired_idempotent(longer, clock, call)


def read_uptime_ns() -> int:
    """The wall clock at this process's start and the monotonic clock since."""
    return _STARTED_WALL_NS + time.monotonic_ns() - _STARTED_UPTIME_NS


FLAWS: Mapping[str, Flaw] = {
    "restarts_lease_when_asked": Flaw(
        Composition(named("restarts_lease_when_asked"), decisions=RestartsLeaseWhenAsked),
        "a lease is counted from the last question about it",
        "needless_decision",
        "X",
        consequences=(_PARKED,),
    ),
    "ends_lease_early": Flaw(
        Composition(named("ends_lease_early"), decisions=EndsLeaseEarly),
        "a lease is over two seconds before its end",
        "unsafe_decision",
        "L",
        # Without a key, what comes too early is CONFIRM or QUERY.
        consequences=("needless_decision",),
    ),
    "ends_lease_late": Flaw(
        Composition(named("ends_lease_late"), decisions=EndsLeaseLate),
        "a lease is live two seconds after its end",
        "needless_decision",
        "X",
        consequences=(_PARKED,),
    ),
    "keeps_no_mark": Flaw(
        Composition(named("keeps_no_mark"), decisions=KeepsNoMark),
        "time is what the clock shows, however far it was set back",
        "malformed_answer",
        "B",
        # A retry on a key of unknown age; a lease that is over as soon as the clock is right.
        consequences=("unsafe_decision", "needless_decision"),
    ),
    "forgets_mark_at_restart": Flaw(
        Composition(named("forgets_mark_at_restart"), decisions=ForgetsMarkAtRestart),
        "the clock's high-water mark ends with the process",
        "malformed_answer",
        "B",
        consequences=("unsafe_decision", "needless_decision"),
    ),
    "hides_complete_when_behind": Flaw(
        Composition(named("hides_complete_when_behind"), decisions=HidesCompleteWhenBehind),
        "WAIT for what is complete while the clock is behind its mark",
        "needless_decision",
        "C",
    ),
    "retries_on_key_when_behind": Flaw(
        Composition(named("retries_on_key_when_behind"), decisions=RetriesOnKeyWhenBehind),
        "a retry on a key while the clock is behind its mark",
        "unsafe_decision",
        "B",
    ),
    "stays_behind": Flaw(
        Composition(named("stays_behind"), decisions=StaysBehind),
        "WAIT for ever once the clock was behind its mark",
        "needless_decision",
        "X",
        consequences=(_PARKED,),
    ),
    "counts_key_from_latest_grant": Flaw(
        Composition(named("counts_key_from_latest_grant"), decisions=CountsKeyFromLatestGrant),
        "a key's retention is counted from the latest grant",
        "unsafe_decision",
        "X, idempotent",
        # What it then tells of the key's end is as wrong.
        consequences=("malformed_answer",),
    ),
    "leases_by_uptime": Flaw(
        Composition(named("leases_by_uptime"), read_clock_ns=read_uptime_ns),
        "leases run on the monotonic clock although the wall clock is declared",
        "needless_decision",
        "X",
        # A grant is told with a time that the wall clock never showed.
        consequences=("malformed_answer", "unsafe_decision", _PARKED),
    ),
}
