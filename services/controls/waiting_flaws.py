"""Memories that put a caller off after doubt; each replaces one rule of the reference."""

from collections.abc import Mapping

from services.common.clock import NANOSECONDS_PER_SECOND
from services.controls.flaw import Flaw, named
from services.memory.answers import BeginCall, BeginStep, Refused, Wait
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, LeaseClock, Operation, Reason
from services.memory.process import Composition

__all__ = ["FLAWS", "PausesForEver", "WaitsAYear"]

_PAUSE_NS = 30 * NANOSECONDS_PER_SECOND
_YEAR_NS = 365 * 86_400 * NANOSECONDS_PER_SECOND
_IN_THE_END = "continuity.receipts.uncertain"


class PausesForEver(DecisionRules):
    """After one uncertain answer, another half a minute, whenever it is asked."""

    pause_ns = _PAUSE_NS

    def expired_query(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """WAIT once there was doubt."""
        if latest.uncertain_answers and not latest.absent_final:
            return BeginStep(Wait(self.pause_ns, Reason.ABSENCE_UNCERTAIN), operation)
        return super().expired_query(operation, latest, clock, call)


class WaitsAYear(PausesForEver):
    """After one uncertain answer, a year."""

    pause_ns = _YEAR_NS


FLAWS: Mapping[str, Flaw] = {
    "pauses_for_ever": Flaw(
        Composition(named("pauses_for_ever"), decisions=PausesForEver),
        "after an uncertain answer it asks for half a minute, again and again",
        "continuity.end",
        "X, query unfenced",
        consequences=(_IN_THE_END,),
    ),
    "waits_a_year": Flaw(
        Composition(named("waits_a_year"), decisions=WaitsAYear),
        "after an uncertain answer it asks for a year",
        "needless_decision",
        "X, query unfenced",
        consequences=("continuity.end", _IN_THE_END),
    ),
}
