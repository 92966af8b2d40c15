"""What can go wrong between an evaluator and a fault.

    Exception
    └── ChaosError
        ├── InterposerError       a control call was refused or did not come back
        │   ├── NotInTime         what was waited for did not happen within the time
        │   ├── TraceLost         the trace gave up records that were asked for
        │   └── RuleRefused       the rule is malformed, could never match, or its id is in use
        ├── ClockError            a clock could not be set or was not seen to move
        ├── FaultNotPossible      the fault cannot be injected into this target here
        └── InjectionError        a step of an injection did not show what it must
            ├── WindowMissed      fewer operations stood at the window than must
            ├── PreconditionFailed  the destination's journal does not show what the window means
            ├── KillNotSeen       the target's exit is not that of a SIGKILL, or was not seen
            ├── StillConnected    a connection of the dead target was not seen to end
            ├── ReleaseFailed     the held messages did not get their fate
            └── NotHealthyAgain   the target did not come back

None of them is a verdict on the memory under test: a trial that meets one is ERROR (DESIGN §7).
"""

__all__ = [
    "ChaosError",
    "ClockError",
    "FaultNotPossible",
    "InjectionError",
    "InterposerError",
    "KillNotSeen",
    "NotHealthyAgain",
    "NotInTime",
    "PreconditionFailed",
    "ReleaseFailed",
    "RuleRefused",
    "StillConnected",
    "TraceLost",
    "WindowMissed",
]


class ChaosError(Exception):
    """Base of everything that chaos raises on purpose."""


class InterposerError(ChaosError):
    """A control call was refused or did not come back.

    Attributes:
        call: name of the control call.
        code: gRPC status name, such as "UNAVAILABLE".
        details: what the interposer, or the way to it, said.
    """

    def __init__(self, call: str, code: str, details: str) -> None:
        super().__init__(f"{call}: {code}: {details}")
        self.call = call
        self.code = code
        self.details = details


class NotInTime(InterposerError):
    """What was waited for did not happen within the time; `details` says how far it got."""


class TraceLost(InterposerError):
    """The trace gave up records that were asked for: it must be read while the run goes on."""


class RuleRefused(InterposerError):
    """The rule is malformed, could never match, or its id is in use."""


class ClockError(ChaosError):
    """A clock could not be set or was not seen to move."""


class FaultNotPossible(ChaosError):
    """The fault cannot be injected into this target here.

    Attributes:
        fault: name of the fault.
        reason: what is missing.
    """

    def __init__(self, fault: str, reason: str) -> None:
        super().__init__(f"{fault}: {reason}")
        self.fault = fault
        self.reason = reason


class InjectionError(ChaosError):
    """A step of an injection did not show what it must.

    Attributes:
        step: name of the step (`chaos.injection.Step`).
        seen: what was seen in place of what must be.
    """

    def __init__(self, step: str, seen: str) -> None:
        super().__init__(f"injection stopped at {step}: {seen}")
        self.step = step
        self.seen = seen


class WindowMissed(InjectionError):
    """Fewer operations stood at the window than must."""


class PreconditionFailed(InjectionError):
    """The destination's journal does not show what the window means."""


class KillNotSeen(InjectionError):
    """The target's exit is not that of a SIGKILL, or was not seen."""


class StillConnected(InjectionError):
    """A connection of the dead target was not seen to end."""


class ReleaseFailed(InjectionError):
    """The held messages did not get their fate."""


class NotHealthyAgain(InjectionError):
    """The target did not come back."""
