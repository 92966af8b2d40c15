"""A good memory that lets half a minute pass after a doubt before it asks again.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

import dataclasses

from services.common import logging, settings
from services.common.clock import NANOSECONDS_PER_SECOND
from services.memory import process
from services.memory.answers import BeginCall, BeginStep, Refused, Wait
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, LeaseClock, Operation, Policy, Reason

PAUSE_NS = 30 * NANOSECONDS_PER_SECOND


@dataclasses.dataclass(frozen=True)
class PausingDecisions(DecisionRules):
    """WAIT first, after an uncertain answer, then QUERY; CONFIRM at once after the last one."""

    policy: Policy = dataclasses.field(default_factory=Policy)
    until_ns: dict[tuple[str, int, int], int] = dataclasses.field(default_factory=dict)

    def expired_query(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """As the reference, when the pause is over."""
        doubts = latest.uncertain_answers
        if latest.absent_final or not 0 < doubts < self.policy.max_uncertain_queries:
            return super().expired_query(operation, latest, clock, call)
        doubt = (operation.binding.operation_id, latest.attempt, doubts)
        until_ns = self.until_ns.setdefault(doubt, clock.effective_ns + PAUSE_NS)
        if clock.effective_ns < until_ns:
            remaining_ns = until_ns - clock.effective_ns
            return BeginStep(Wait(remaining_ns, Reason.ABSENCE_UNCERTAIN), operation)
        return super().expired_query(operation, latest, clock, call)


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    process.run(process.Composition("pausing", decisions=PausingDecisions))


if __name__ == "__main__":
    settings.run(main)
