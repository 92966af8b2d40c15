"""A good memory that allows three revisions, and counts nothing but grants as one.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

from memqual.v1 import vendor_pb2
from services.common import logging, settings
from services.memory import process
from services.memory.answers import BeginCall, BeginStep, Refusal, Refused
from services.memory.decisions import DecisionRules
from services.memory.model import LeaseClock, Operation, Reason

REVISIONS = 3


class FrugalDecisions(DecisionRules):
    """The limit on revisions is one on grants."""

    def grant(
        self, operation: Operation, clock: LeaseClock, call: BeginCall, reason: Reason
    ) -> BeginStep | Refused:
        """As the reference, up to the third."""
        if len(operation.attempts) >= REVISIONS:
            return Refused(Refusal.LIMIT, "no revision is left; ask a person")
        return super().grant(operation, clock, call, reason)


def _declared(described: vendor_pb2.DescribeResponse) -> vendor_pb2.DescribeResponse:
    described.limits.max_revisions_per_operation = REVISIONS
    return described


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    process.run(process.Composition("frugal", declared=_declared, decisions=FrugalDecisions))


if __name__ == "__main__":
    settings.run(main)
