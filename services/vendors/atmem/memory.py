"""MemoryService over atmem's households (CAPABILITIES.md, "Records")."""

import uuid
from dataclasses import replace

import grpc

from memqual.v1 import memory_pb2, memory_pb2_grpc
from services.common.limits import check_id, check_optional_id
from services.vendors.atmem import offers, records, settling
from services.vendors.atmem.finding import Found, Shelf, find
from services.vendors.atmem.opened import Households
from services.vendors.atmem.recalling import check_recall, ranked
from services.vendors.atmem.record_model import Circle, HouseholdPort, Offer
from services.vendors.atmem.reviews import Desk, check_request

__all__ = ["MemoryServicer"]


class MemoryServicer(memory_pb2_grpc.MemoryServiceServicer):
    """atmem's governed write path, recall and review; statuses as memory.proto names them."""

    def __init__(self, households: Households, desk: Desk) -> None:
        """Serves these households; the desk knows the reviewers."""
        self._households = households
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
        subject_id = offer.capture.circle.subject_id
        with self._households.lock(namespace), self._households.made(namespace) as household:
            if offer.memory_class != offers.FACT:
                return _reviewable(household, offer)
            admitted = household.offer_fact(_with_native_parents(household, offer))
            shelf = Shelf.of(household.records(subject_id))
        return records.fact_admission(admitted, shelf.by_id.get(admitted.record_id))

    def Supersede(
        self, request: memory_pb2.SupersedeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.SupersedeResponse:
        """Proposes the message in place of an active record, which stays as history."""
        offer = offers.replacing(request, uuid.uuid4().hex)
        namespace = request.scope.namespace
        with self._households.lock(namespace), self._households.known(namespace) as household:
            _, found = _find(household, offer.capture.circle, request.record_id)
            admission = _reviewable(household, replace(offer, replaces=found.native_id()))
        return memory_pb2.SupersedeResponse(admission=admission)

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        """What atmem would put before an agent; or all that it holds, by the same ranking."""
        circle = offers.circle_of(request.scope)
        check_recall(request)
        namespace = request.scope.namespace
        response = memory_pb2.RecallResponse()
        with self._households.lock(namespace):
            if not self._households.exists(namespace):
                return response
            with self._households.known(namespace) as household:
                shelf = Shelf.of(household.records(circle.subject_id))
                found = ranked(household, request, circle, shelf)
        response.hits.extend(
            records.hit(shelf.by_id[one.record_id], one.score, shelf.by_id)
            for one in found[: request.max_hits]
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
        with self._households.lock(namespace), self._households.known(namespace) as household:
            shelf, found = _find(household, circle, request.record_id)
        return memory_pb2.InspectResponse(record=found.message(shelf, request.scope))

    def ListProcedures(
        self, request: memory_pb2.ListProceduresRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ListProceduresResponse:
        """The active records whose class is procedure."""
        circle = offers.circle_of(request.scope)
        namespace = request.scope.namespace
        response = memory_pb2.ListProceduresResponse()
        with self._households.lock(namespace):
            if not self._households.exists(namespace):
                return response
            with self._households.known(namespace) as household:
                shelf = Shelf.of(household.records(circle.subject_id))
        response.procedures.extend(
            records.record_message(record, shelf.by_id, request.scope)
            for record in shelf.by_id.values()
            if record.usable
            and record.memory_class == records.PROCEDURE
            and circle.shows(record.circle)
        )
        return response

    def RecordOutcome(
        self, request: memory_pb2.RecordOutcomeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecordOutcomeResponse:
        """Notes the outcome in atmem's audit log, from which nothing of atmem reads it back."""
        circle = offers.circle_of(request.scope)
        outcome = offers.outcome_of(request)
        namespace = request.scope.namespace
        with self._households.lock(namespace), self._households.known(namespace) as household:
            _, found = _find(household, circle, request.record_id)
            household.note_outcome(
                circle.subject_id, found.contract_id, outcome, float(request.utility)
            )
            shelf, found = _find(household, circle, request.record_id)
        return memory_pb2.RecordOutcomeResponse(record=found.message(shelf, request.scope))

    def Quarantine(
        self, request: memory_pb2.QuarantineRequest, context: grpc.ServicerContext
    ) -> memory_pb2.QuarantineResponse:
        """Excludes an active record from recall; what was derived from it stays."""
        circle = offers.circle_of(request.scope)
        check_id("record_id", request.record_id)
        check_optional_id("reason", request.reason)
        namespace = request.scope.namespace
        with self._households.lock(namespace), self._households.known(namespace) as household:
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
        with self._households.lock(namespace), self._households.known(namespace) as household:
            shelf, found = _find(household, circle, request.record_id)
            purged = household.forget(circle.subject_id, found.native_id())
        return memory_pb2.ForgetResponse(record_ids=[shelf.contract_id(one) for one in purged])

    def Archive(
        self, request: memory_pb2.ArchiveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ArchiveResponse:
        """Has atmem's lifecycle service archive a record, which its recall does not look at."""
        circle = offers.circle_of(request.scope)
        check_id("record_id", request.record_id)
        namespace = request.scope.namespace
        with self._households.lock(namespace), self._households.known(namespace) as household:
            _, found = _find(household, circle, request.record_id)
            household.archive(circle.subject_id, found.native_id())
        return memory_pb2.ArchiveResponse()

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        """Issues a challenge over what atmem has pending, quarantined or excluded."""
        circle = offers.circle_of(request.scope)
        record_ids = check_request(request)
        namespace = request.scope.namespace
        with self._households.lock(namespace):
            with self._households.known(namespace) as household:
                found = [_find(household, circle, one)[1] for one in record_ids]
            for one in found:
                one.check_decidable(request.action)
            subjects = [(one.contract_id, one.content) for one in found]
            challenge = self._desk.issue(
                self._households.reviews(namespace), request.scope, subjects, request.action
            )
        return memory_pb2.RequestReviewResponse(challenge=challenge)

    def DecideReview(
        self, request: memory_pb2.DecideReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DecideReviewResponse:
        """Checks the signature, then has atmem take the decision over all records or none."""
        circle = offers.circle_of(request.scope)
        namespace = request.scope.namespace
        folder = self._households.reviews(namespace)
        response = memory_pb2.DecideReviewResponse()
        with self._households.lock(namespace):
            challenge, decision = self._desk.take(folder, request)
            with self._households.known(namespace) as household:
                found = [_find(household, circle, one)[1] for one in challenge.subject_ids]
            for one, digest in zip(found, challenge.subject_digests, strict=True):
                one.check_unchanged(challenge.action, digest)
            self._desk.close(folder, challenge.challenge_id)
            trusted = settling.authorities(request.key_id, found)
            with self._households.known(namespace, tuple(trusted.values())) as household:
                with household.together():
                    for one in found:
                        reviewer = trusted[one.circle].principal_id
                        settling.settle(household, one, challenge.action, decision, reviewer)
                for one_id in challenge.subject_ids:
                    shelf, found_now = _find(household, circle, one_id)
                    response.records.append(found_now.message(shelf, request.scope))
        return response


def _find(household: HouseholdPort, circle: Circle, contract_id: str) -> tuple[Shelf, Found]:
    shelf = Shelf.of(household.records(circle.subject_id))
    return shelf, find(shelf, household.proposals(circle.subject_id), contract_id)


def _reviewable(household: HouseholdPort, offer: Offer) -> memory_pb2.Admission:
    proposal = household.offer_for_review(offer, offers.proposal_id_of(offer))
    shelf = Shelf.of(household.records(offer.capture.circle.subject_id))
    record = next((shelf.by_id.get(one) for one in proposal.record_ids), None)
    return records.proposal_admission(proposal, record)


def _with_native_parents(household: HouseholdPort, offer: Offer) -> Offer:
    """The offer with atmem's ids of its parents.

    Raises:
        ServiceError: NOT_FOUND: a parent is unknown. FAILED_PRECONDITION: it is a proposal, which
            atmem can relate nothing to.
    """
    if not offer.parents:
        return offer
    subject_id = offer.capture.circle.subject_id
    shelf, proposals = Shelf.of(household.records(subject_id)), household.proposals(subject_id)
    known = shelf.native_ids()
    parents = tuple(
        known[one] if one in known else find(shelf, proposals, one).native_id()
        for one in offer.parents
    )
    return replace(offer, parents=parents)
