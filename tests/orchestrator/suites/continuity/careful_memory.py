"""A good memory of another design: it declares little, dares little, and refuses by other statuses.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

import dataclasses

import grpc

from memqual.v1 import continuity_pb2, vendor_pb2
from services.common import logging, settings
from services.common.errors import ServiceError
from services.memory import operations, vendor_servicer
from services.memory.answers import (
    BeginCall,
    BeginStep,
    Confirm,
    Disposition,
    RecordStep,
    Refusal,
    Refused,
    Wait,
)
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, LeaseClock, Operation, Reason, Receipt
from services.memory.process import Composition, run
from services.memory.recordings import RecordingRules
from services.memory.resolutions import Resolutions

DECLARED = (vendor_pb2.CAPABILITY_CONTINUITY,)


class CarefulDecisions(DecisionRules):
    """Replays nothing, retries on no absence, and asks a person about every forked intent."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """WAIT, for whoever asks."""
        remaining_ns = latest.lease_ends_at_ns - clock.effective_ns
        return BeginStep(Wait(remaining_ns, Reason.LEASE_LIVE), operation)

    def expired_query(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """CONFIRM after any absence."""
        if latest.absent_final or latest.uncertain_answers:
            return BeginStep(Confirm(Reason.ABSENCE_UNCERTAIN), operation)
        return super().expired_query(operation, latest, clock, call)

    def first_decision(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """CONFIRM where the reference hands a result over."""
        forked = tuple(dataclasses.replace(one, receipt=None) for one in call.forked)
        return super().first_decision(operation, clock, dataclasses.replace(call, forked=forked))


class CarefulRecordings(RecordingRules):
    """Keeps what comes beside a completion as evidence, where the reference refuses it."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """EVIDENCE_ONLY beside what is complete."""
        if operation.receipt is not None and operation.receipt != receipt:
            return RecordStep(operation, Disposition.EVIDENCE_ONLY)
        return super().complete(operation, receipt)


class CarefulResolutions(Resolutions):
    """A wrong answer uses a challenge up, too."""

    def resolve(self, request: continuity_pb2.ResolveRequest) -> None:
        """As the reference; what it refuses is closed."""
        try:
            super().resolve(request)
        except ServiceError:
            with self._database.transaction() as conn:
                conn.execute(
                    "UPDATE resolve_challenges SET used = 1 WHERE challenge_id = ?",
                    (request.challenge_id,),
                )
            raise


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    declared = tuple(one for one in vendor_servicer.SUPPORTED if one.capability in DECLARED)
    setattr(vendor_servicer, "SUPPORTED", declared)  # noqa: B010 (a tuple of another length)
    operations.STATUS_CODES[Refusal.AUTHORITY] = grpc.StatusCode.FAILED_PRECONDITION
    operations.STATUS_CODES[Refusal.STATE] = grpc.StatusCode.PERMISSION_DENIED
    run(
        Composition(
            "careful",
            decisions=CarefulDecisions,
            recordings=CarefulRecordings(),
            resolutions=CarefulResolutions,
        )
    )


if __name__ == "__main__":
    settings.run(main)
