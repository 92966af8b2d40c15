"""What one kill is to do (DESIGN §5)."""

from dataclasses import dataclass, field
from enum import StrEnum

from chaos.client import Fate
from chaos.holding import Hold
from chaos.targets import Target

__all__ = ["AT_ONCE", "KillPlan", "Step", "Times"]

# Where a release stands that belongs to the injection itself.
AT_ONCE = "at once"


class Step(StrEnum):
    """Steps of an injection, in order."""

    HELD = "held"
    PRECONDITION = "precondition"
    FROZEN = "frozen"
    KILLED = "killed"
    EXITED = "exited"
    DISCONNECTED = "disconnected"
    RELEASED = "released"
    RESTARTED = "restarted"
    HEALTHY = "healthy"
    THAWED = "thawed"


@dataclass(frozen=True, slots=True)
class Times:
    """How long each step may take, seconds."""

    held: float = 30.0
    exited: float = 10.0
    disconnected: float = 10.0
    released: float = 10.0
    healthy: float = 30.0


@dataclass(frozen=True, slots=True)
class KillPlan:
    """One kill.

    Attributes:
        injection_id: names it in the trace; unique in the run.
        window: the window's name.
        targets: who dies, together.
        hold: what keeps the operations at the window.
        expected_held: how many operations must stand there.
        fate: what becomes of the held messages at once; None: `release_late` decides later. What
            stands at a barrier of a host that dies has no fate to choose.
        restart: names of targets that get a new life within the injection.
        refresh: control targets that must be healthy on a fresh channel, such as "agent" and
            "agent-audit".
        times: bounds of the steps.
    """

    injection_id: str
    window: str
    targets: tuple[Target, ...]
    hold: Hold
    expected_held: int
    fate: Fate | None
    restart: tuple[str, ...] = ()
    refresh: tuple[str, ...] = ()
    times: Times = field(default_factory=Times)
