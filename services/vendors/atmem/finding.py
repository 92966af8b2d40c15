"""Finds what the contract's record id means in atmem: a record, or a proposal (pure)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import grpc

from memqual.v1 import memory_pb2
from services.common.canonical import sha256_hex
from services.common.errors import ServiceError
from services.vendors.atmem import records
from services.vendors.atmem.record_model import Circle, Proposal, Record
from services.vendors.atmem.reviews import PROMOTE

__all__ = ["Found", "Shelf", "find"]


@dataclass(frozen=True, slots=True)
class Shelf:
    """All records of one subject by atmem's id."""

    by_id: Mapping[str, Record]

    @classmethod
    def of(cls, found: Iterable[Record]) -> Self:
        """Puts records on a shelf."""
        return cls({record.record_id: record for record in found})

    def native_ids(self) -> Mapping[str, str]:
        """Atmem's id of every record, by atmem's and by the contract's."""
        return {
            one: record.record_id
            for record in self.by_id.values()
            for one in (record.record_id, records.contract_id(record))
        }

    def contract_id(self, record_id: str) -> str:
        """The contract's id of a record of atmem."""
        record = self.by_id.get(record_id)
        return record_id if record is None else records.contract_id(record)


@dataclass(frozen=True, slots=True)
class Found:
    """What an id names.

    Attributes:
        contract_id: the contract's id.
        circle: whose it is.
        content: its text.
        record: the record; None for a proposal that is none.
        proposal: the proposal; None for a record.
    """

    contract_id: str
    circle: Circle
    content: str
    record: Record | None = None
    proposal: Proposal | None = None

    def native_id(self) -> str:
        """The record's id in atmem.

        Raises:
            ServiceError: FAILED_PRECONDITION: it is a proposal, and atmem can only settle those.
        """
        if self.record is None:
            raise ServiceError(
                grpc.StatusCode.FAILED_PRECONDITION,
                "atmem has it as a proposal, not as a record; a review settles it",
            )
        return self.record.record_id

    def check_decidable(self, action: str) -> None:
        """Raises ServiceError FAILED_PRECONDITION when atmem has nothing to decide here."""
        if not self._decidable(action):
            raise ServiceError(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"atmem has nothing to {action} here: pending proposals and quarantined records"
                " are promoted, excluded records are released",
            )

    def check_unchanged(self, action: str, digest: str) -> None:
        """Raises ServiceError PERMISSION_DENIED when it is not what the challenge was for."""
        if sha256_hex(self.content.encode()) != digest or not self._decidable(action):
            raise ServiceError(
                grpc.StatusCode.PERMISSION_DENIED,
                "a record has changed since the challenge was issued",
            )

    def message(self, shelf: Shelf, scope: memory_pb2.Scope) -> memory_pb2.MemoryRecord:
        """It as the contract's record."""
        if self.record is not None:
            return records.record_message(self.record, shelf.by_id, scope)
        assert self.proposal is not None  # find() gives one of the two
        return records.proposal_message(self.proposal, scope)

    def _decidable(self, action: str) -> bool:
        if self.record is None:
            pending = self.proposal is not None and self.proposal.review_state == records.PENDING
            return action == PROMOTE and pending
        if action == PROMOTE:
            return self.record.status == "quarantined"
        # What was archived since is out of use for a reason of its own.
        excluded = self.record.excluded and not self.record.archived
        return self.record.status == "active" and excluded


def find(shelf: Shelf, proposals: Iterable[Proposal], contract_id: str) -> Found:
    """What an id names within a subject's records and proposals.

    Raises:
        ServiceError: NOT_FOUND: nothing.
    """
    for record in shelf.by_id.values():
        if contract_id in (record.record_id, records.contract_id(record)):
            return Found(records.contract_id(record), record.circle, record.content, record=record)
    for proposal in proposals:
        if proposal.proposal_id == contract_id:
            return Found(contract_id, proposal.circle, proposal.content, proposal=proposal)
    raise ServiceError(grpc.StatusCode.NOT_FOUND, "no such record")
