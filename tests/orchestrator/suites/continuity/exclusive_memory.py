"""A good memory that asks one question at a time: others wait, for as long as it declares.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

import dataclasses

from memqual.v1 import vendor_pb2
from services.common import logging, settings
from services.common.clock import NANOSECONDS_PER_SECOND
from services.memory import process, vendor_servicer
from services.memory.answers import BeginCall, BeginStep, Query, Refused, Wait
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, LeaseClock, Operation, Policy, Reason

QUESTION_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class ExclusiveDecisions(DecisionRules):
    """QUERY to one asker, WAIT to the next while that one has not answered."""

    policy: Policy = dataclasses.field(default_factory=Policy)
    asked_ns: dict[str, int] = dataclasses.field(default_factory=dict)

    def expired_query(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """As the reference, after the question's own lease."""
        step = super().expired_query(operation, latest, clock, call)
        if not isinstance(step, BeginStep) or not isinstance(step.decision, Query):
            return step
        ticket = step.decision.ticket
        until_ns = self.asked_ns.get(ticket, 0) + QUESTION_SECONDS * NANOSECONDS_PER_SECOND
        if clock.effective_ns < until_ns:
            return BeginStep(Wait(until_ns - clock.effective_ns, Reason.LEASE_LIVE), operation)
        self.asked_ns[ticket] = clock.effective_ns
        return step


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    describe = vendor_servicer.describe

    def declared(*args: object, **names: object) -> vendor_pb2.DescribeResponse:
        told = describe(*args, **names)  # type: ignore[arg-type]  # handed on as they came
        told.limits.question_lease_seconds = QUESTION_SECONDS
        return told

    setattr(process, "describe", declared)  # noqa: B010 (a function of another type)
    process.run(process.Composition("exclusive", decisions=ExclusiveDecisions))


if __name__ == "__main__":
    settings.run(main)
