"""Recall: what atmem would put before an agent, or all that it holds, by the same ranking."""

from typing import Final

import grpc

from memqual.v1 import memory_pb2
from services.common.errors import ServiceError
from services.vendors.atmem import records
from services.vendors.atmem.finding import Shelf
from services.vendors.atmem.record_model import Circle, HouseholdPort, Ranked

__all__ = ["check_recall", "ranked"]

_QUERY_BYTES: Final = 4_096
_HITS_MAX: Final = 1_000


def check_recall(request: memory_pb2.RecallRequest) -> None:
    """Raises ServiceError INVALID_ARGUMENT for a question that is none."""
    size_bytes = len(request.query.encode("utf-8"))
    if not request.query.strip() or size_bytes > _QUERY_BYTES:
        raise _refused(f"query has {size_bytes} bytes; send 1 to {_QUERY_BYTES}, not blank")
    if not 1 <= request.max_hits <= _HITS_MAX:
        raise _refused(f"max_hits is {request.max_hits}; send 1 to {_HITS_MAX}")
    known = memory_pb2.RecallSurface.values()
    if request.surface not in known or not request.surface:
        raise _refused("surface is not set to a known value")


def ranked(
    household: HouseholdPort, request: memory_pb2.RecallRequest, circle: Circle, shelf: Shelf
) -> tuple[Ranked, ...]:
    """Records of a subject for a question, best first."""
    if request.surface == memory_pb2.RECALL_SURFACE_AUTHORITATIVE:
        return household.recall(circle, request.query, request.max_hits)
    standing = [
        one.record_id
        for one in records.standing_records(shelf.by_id.values())
        if circle.shows(one.circle)
    ]
    return household.rank(request.query, circle.subject_id, standing)


def _refused(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)
