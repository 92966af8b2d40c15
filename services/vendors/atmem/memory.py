"""MemoryService over atmem's households (CAPABILITIES.md, "Records")."""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

import grpc

from memqual.v1 import memory_pb2, memory_pb2_grpc
from services.common.errors import ServiceError
from services.common.limits import check_id, check_optional_id
from services.vendors.atmem import offers, records
from services.vendors.atmem.finding import Found, Shelf, find
from services.vendors.atmem.model import NativeRefusal
from services.vendors.atmem.record_model import (
    Circle,
    HouseholdPort,
    Offer,
    Ranked,
    ReviewerAuthority,
)
from services.vendors.atmem.refusals import service_error
from services.vendors.atmem.reviews import APPROVE, PROMOTE, Desk, check_request
from services.vendors.atmem.vaults import Vaults

__all__ = ["MemoryServicer"]

_QUERY_BYTES: Final = 4_096
_HITS_MAX: Final = 1_000

OpenHousehold = Callable[[Path, Sequence[ReviewerAuthority]], HouseholdPort]


class MemoryServicer(memory_pb2_grpc.MemoryServiceServicer):
    """atmem's governed write path, recall and review; statuses as memory.proto names them."""

    def __init__(self, vaults: Vaults, open_household: OpenHousehold, desk: Desk) -> None:
        """Serves the households of these vaults; the desk knows the reviewers."""
        self._vaults = vaults
        self._open = open_household
        self._desk = desk

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        """Captures the message and proposes it, word for word."""
        offer = offers.observed(request.observation, uuid.uuid4().hex)
        admission = self._offer(request.observation.scope.namespace, offer)
        return memory_pb2.WriteResponse(admission=admission)

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        """Proposes what the host's agent made, related to its parents."""
        offer = offers.derived(request, uuid.uuid4().hex)
        return memory_pb2.DeriveResponse(admission=self._offer(request.scope.namespace, offer))

    def _offer(self, namespace: str, offer: Offer) -> memory_pb2.Admission:
        with self._vaults.lock(namespace):
            self._vaults.household(namespace).parent.mkdir(parents=True, exist_ok=True)
            with self._opened(namespace) as household:
                if offer.memory_class != offers.FACT:
                    proposal_id = offers.proposal_id_of(offer)
                    proposal = household.offer_for_review(offer, proposal_id)
                    return records.proposal_admission(proposal)
                admitted = household.offer_fact(offer)
                shelf = Shelf.of(household.records(offer.capture.circle.subject_id))
        return records.fact_admission(admitted, shelf.by_id.get(admitted.record_id))

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        """What atmem would put before an agent; or all that it holds, by the same ranking."""
        circle = offers.circle_of(request.scope)
        _check_recall(request)
        response = memory_pb2.RecallResponse()
        with self._vaults.lock(request.scope.namespace):
            if not self._vaults.household(request.scope.namespace).exists():
                return response
            with self._opened(request.scope.namespace) as household:
                shelf = Shelf.of(household.records(circle.subject_id))
                ranked = _ranked(household, request, circle, shelf)
        response.hits.extend(
            records.hit(shelf.by_id[one.record_id], one.score, shelf.by_id)
            for one in ranked[: request.max_hits]
            if one.record_id in shelf.by_id
        )
        return response

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        """One record, or one proposal that is none yet."""
        circle = offers.circle_of(request.scope)
        check_id("record_id", request.record_id)
        namespace = request.scope.namespace
        with self._vaults.lock(namespace), self._household(namespace) as household:
            shelf, found = _find(household, circle, request.record_id)
        return memory_pb2.InspectResponse(record=found.message(shelf, request.scope))

    def ListProcedures(
        self, request: memory_pb2.ListProceduresRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ListProceduresResponse:
        """The active records whose class is procedure."""
        circle = offers.circle_of(request.scope)
        response = memory_pb2.ListProceduresResponse()
        with self._vaults.lock(request.scope.namespace):
            if not self._vaults.household(request.scope.namespace).exists():
                return response
            with self._opened(request.scope.namespace) as household:
                shelf = Shelf.of(household.records(circle.subject_id))
        response.procedures.extend(
            records.record_message(record, shelf.by_id, request.scope)
            for record in shelf.by_id.values()
            if record.usable and record.memory_class == records.PROCEDURE
        )
        return response

    def Quarantine(
        self, request: memory_pb2.QuarantineRequest, context: grpc.ServicerContext
    ) -> memory_pb2.QuarantineResponse:
        """Excludes an active record from recall; what was derived from it stays."""
        circle = offers.circle_of(request.scope)
        check_id("record_id", request.record_id)
        check_optional_id("reason", request.reason)
        namespace = request.scope.namespace
        with self._vaults.lock(namespace), self._household(namespace) as household:
            _, found = _find(household, circle, request.record_id)
            household.exclude(
                circle.subject_id, found.native_id(), excluded=True, reason=request.reason
            )
        return memory_pb2.QuarantineResponse(record_ids=[request.record_id])

    def Forget(
        self, request: memory_pb2.ForgetRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ForgetResponse:
        """Purges a record with its source; what was derived from it stays."""
        circle = offers.circle_of(request.scope)
        check_id("record_id", request.record_id)
        namespace = request.scope.namespace
        with self._vaults.lock(namespace), self._household(namespace) as household:
            shelf, found = _find(household, circle, request.record_id)
            purged = household.forget(circle.subject_id, found.native_id())
        return memory_pb2.ForgetResponse(record_ids=[shelf.contract_id(one) for one in purged])

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        """Issues a challenge over what atmem has pending, quarantined or excluded."""
        circle = offers.circle_of(request.scope)
        record_ids = check_request(request)
        namespace = request.scope.namespace
        with self._vaults.lock(namespace):
            with self._household(namespace) as household:
                found = [_find(household, circle, one)[1] for one in record_ids]
            for one in found:
                one.check_decidable(request.action)
            subjects = [(one.contract_id, one.content) for one in found]
            challenge = self._desk.issue(
                self._vaults.reviews(namespace), request.scope, subjects, request.action
            )
        return memory_pb2.RequestReviewResponse(challenge=challenge)

    def DecideReview(
        self, request: memory_pb2.DecideReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DecideReviewResponse:
        """Checks the signature, then has atmem take the decision."""
        circle = offers.circle_of(request.scope)
        namespace = request.scope.namespace
        folder = self._vaults.reviews(namespace)
        response = memory_pb2.DecideReviewResponse()
        with self._vaults.lock(namespace):
            challenge, decision = self._desk.take(folder, request)
            reviewer = f"reviewer:{request.key_id}"
            with self._household(namespace) as household:
                found = [_find(household, circle, one)[1] for one in challenge.subject_ids]
            for one, digest in zip(found, challenge.subject_digests, strict=True):
                one.check_unchanged(challenge.action, digest)
            self._desk.close(folder, challenge.challenge_id)
            for one in found:
                trusted = () if one.record else (ReviewerAuthority(reviewer, one.circle),)
                with self._household(namespace, trusted) as household:
                    _settle(household, one, challenge.action, decision, reviewer)
            with self._household(namespace) as household:
                for one_id in challenge.subject_ids:
                    shelf, found_now = _find(household, circle, one_id)
                    response.records.append(found_now.message(shelf, request.scope))
        return response

    def RecordOutcome(
        self, request: memory_pb2.RecordOutcomeRequest, context: grpc.ServicerContext
    ) -> NoReturn:
        """Not served by this version of the adapter."""
        raise _unimplemented()

    def Supersede(
        self, request: memory_pb2.SupersedeRequest, context: grpc.ServicerContext
    ) -> NoReturn:
        """Not served by this version of the adapter."""
        raise _unimplemented()

    def Archive(
        self, request: memory_pb2.ArchiveRequest, context: grpc.ServicerContext
    ) -> NoReturn:
        """Not served by this version of the adapter."""
        raise _unimplemented()

    def _household(self, namespace: str, trusted: Sequence[ReviewerAuthority] = ()) -> "_Opened":
        if not self._vaults.household(namespace).exists():
            raise ServiceError(grpc.StatusCode.NOT_FOUND, "no such record")
        return self._opened(namespace, trusted)

    def _opened(self, namespace: str, trusted: Sequence[ReviewerAuthority] = ()) -> "_Opened":
        return _Opened(self._open(self._vaults.household(namespace), trusted))


class _Opened:
    """A household that is open for one block; atmem's refusals leave it as statuses."""

    def __init__(self, household: HouseholdPort) -> None:
        self._household = household

    def __enter__(self) -> HouseholdPort:
        try:
            return self._household.__enter__()
        except NativeRefusal as refusal:
            raise service_error(refusal) from refusal

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        try:
            self._household.__exit__(kind, error, trace)
        except NativeRefusal as refusal:
            raise service_error(refusal) from refusal
        if isinstance(error, NativeRefusal):
            raise service_error(error) from error


def _find(household: HouseholdPort, circle: Circle, contract_id: str) -> tuple[Shelf, Found]:
    shelf = Shelf.of(household.records(circle.subject_id))
    return shelf, find(shelf, household.proposals(circle.subject_id), contract_id)


def _settle(
    household: HouseholdPort, found: Found, action: str, decision: str, reviewer: str
) -> None:
    """What a decision is in atmem, for each thing that can be decided."""
    subject_id, approve = found.circle.subject_id, decision == APPROVE
    if found.record is None:
        household.decide(found.contract_id, approve=approve, reviewer=reviewer)
    elif action != PROMOTE:
        if approve:
            household.exclude(subject_id, found.record.record_id, excluded=False, reason="released")
    elif approve:
        household.promote(subject_id, found.record.record_id, reviewer)
    else:
        household.reject(subject_id, found.record.record_id, reviewer)


def _ranked(
    household: HouseholdPort, request: memory_pb2.RecallRequest, circle: Circle, shelf: Shelf
) -> tuple[Ranked, ...]:
    if request.surface == memory_pb2.RECALL_SURFACE_AUTHORITATIVE:
        return household.recall(circle, request.query, request.max_hits)
    standing = records.standing_records(shelf.by_id.values())
    return household.rank(request.query, circle.subject_id, [one.record_id for one in standing])


def _check_recall(request: memory_pb2.RecallRequest) -> None:
    size_bytes = len(request.query.encode("utf-8"))
    if not request.query.strip() or size_bytes > _QUERY_BYTES:
        raise _refused(f"query has {size_bytes} bytes; send 1 to {_QUERY_BYTES}, not blank")
    if not 1 <= request.max_hits <= _HITS_MAX:
        raise _refused(f"max_hits is {request.max_hits}; send 1 to {_HITS_MAX}")
    known = memory_pb2.RecallSurface.values()
    if request.surface not in known or not request.surface:
        raise _refused("surface is not set to a known value")


def _refused(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def _unimplemented() -> ServiceError:
    return ServiceError(
        grpc.StatusCode.UNIMPLEMENTED, "this version of the atmem adapter does not serve it"
    )
