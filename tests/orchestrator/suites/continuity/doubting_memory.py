"""A good memory that believes no absence, asks seventy times, and takes no operator's word.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

import dataclasses
from functools import partial
from typing import NoReturn

import grpc

from memqual.v1 import continuity_pb2, vendor_pb2
from services.common import logging, settings
from services.common.errors import ServiceError
from services.memory import process, vendor_servicer
from services.memory.answers import Presence, QueryCall, RecordStep
from services.memory.model import AttemptRecord, Operation, Policy
from services.memory.recordings import RecordingRules
from services.memory.resolutions import Resolutions

DECLARED = (vendor_pb2.CAPABILITY_CONTINUITY,)
QUESTIONS = 70


class DoubtingRecordings(RecordingRules):
    """Every absence is doubt."""

    def absent(self, operation: Operation, record: AttemptRecord, call: QueryCall) -> RecordStep:
        """Counted as a question that left it uncertain."""
        if call.presence is Presence.ABSENT_FINAL:
            doubt = dataclasses.replace(call, presence=Presence.ABSENT_UNCERTAIN)
            return super().absent(operation, record, doubt)
        return super().absent(operation, record, call)


class NoWord(Resolutions):
    """Serves neither challenges nor words."""

    def request(self, namespace: str, operation_id: str, principal: str) -> NoReturn:
        """UNIMPLEMENTED."""
        raise ServiceError(grpc.StatusCode.UNIMPLEMENTED, "no challenges here")

    def resolve(self, request: continuity_pb2.ResolveRequest) -> NoReturn:
        """UNIMPLEMENTED."""
        raise ServiceError(grpc.StatusCode.UNIMPLEMENTED, "no words here")


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    declared = tuple(one for one in vendor_servicer.SUPPORTED if one.capability in DECLARED)
    setattr(vendor_servicer, "SUPPORTED", declared)  # noqa: B010 (a tuple of another length)
    setattr(process, "Policy", partial(Policy, max_uncertain_queries=QUESTIONS))  # noqa: B010 (a function, not the type)
    process.run(
        process.Composition("doubting", recordings=DoubtingRecordings(), resolutions=NoWord)
    )


if __name__ == "__main__":
    settings.run(main)
