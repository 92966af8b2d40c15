"""MemoryService over the records part; every answer is durable before it is sent (DESIGN §4)."""

import grpc

from memqual.v1 import memory_pb2, memory_pb2_grpc
from services.memory.records import incoming, outgoing
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.recalling import Recalling
from services.memory.records.review import Review
from services.memory.records.writing import Writing

__all__ = ["MemoryServicer"]

# A frame of 4 MiB must hold the answer; a hit's text is at most 64 KiB.
ANSWER_BYTES = 3 * 1024 * 1024


class MemoryServicer(memory_pb2_grpc.MemoryServiceServicer):
    """Checks what arrives, calls the operation, answers; errors are those of memory.proto."""

    def __init__(
        self, writing: Writing, recalling: Recalling, lifecycle: Lifecycle, review: Review
    ) -> None:
        self._writing = writing
        self._recalling = recalling
        self._lifecycle = lifecycle
        self._review = review

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        """Offers one observation."""
        admitted = self._writing.write(incoming.observation(request.observation))
        return memory_pb2.WriteResponse(admission=outgoing.admission(admitted))

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        """Offers content made out of named parents."""
        admitted = self._writing.derive(incoming.derivation(request))
        return memory_pb2.DeriveResponse(admission=outgoing.admission(admitted))

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        """Answers with hits, best first, as many as fit into one message."""
        found = self._recalling.recall(
            incoming.scope(request.scope),
            incoming.query(request.query),
            incoming.max_hits(request.max_hits),
            incoming.surface(request.surface),
        )
        response = memory_pb2.RecallResponse()
        left_bytes = ANSWER_BYTES
        for answer in found:
            hit = outgoing.hit(answer)
            left_bytes -= hit.ByteSize()
            if left_bytes < 0:
                break
            response.hits.append(hit)
        return response

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        """One record with its lineage."""
        viewed = self._recalling.inspect(
            incoming.scope(request.scope), incoming.record_id(request.record_id)
        )
        return memory_pb2.InspectResponse(record=outgoing.record(viewed))

    def ListProcedures(
        self, request: memory_pb2.ListProceduresRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ListProceduresResponse:
        """Active procedures, as many as fit into one message."""
        response = memory_pb2.ListProceduresResponse()
        left_bytes = ANSWER_BYTES
        for viewed in self._recalling.procedures(incoming.scope(request.scope)):
            record = outgoing.record(viewed)
            left_bytes -= record.ByteSize()
            if left_bytes < 0:
                break
            response.procedures.append(record)
        return response

    def Quarantine(
        self, request: memory_pb2.QuarantineRequest, context: grpc.ServicerContext
    ) -> memory_pb2.QuarantineResponse:
        """Takes a record and its descendants out of authority."""
        changed = self._lifecycle.quarantine(
            incoming.scope(request.scope),
            incoming.record_id(request.record_id),
            incoming.code("reason", request.reason),
        )
        return memory_pb2.QuarantineResponse(record_ids=changed)

    def Forget(
        self, request: memory_pb2.ForgetRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ForgetResponse:
        """Removes a record's content for good."""
        changed = self._lifecycle.forget(
            incoming.scope(request.scope), incoming.record_id(request.record_id)
        )
        return memory_pb2.ForgetResponse(record_ids=changed)

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        """Issues a challenge."""
        challenge = self._review.request(*incoming.review(request))
        return memory_pb2.RequestReviewResponse(challenge=challenge)

    def DecideReview(
        self, request: memory_pb2.DecideReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DecideReviewResponse:
        """Takes a reviewer's signed decision."""
        decided = self._review.decide(incoming.decision(request))
        return memory_pb2.DecideReviewResponse(records=[outgoing.record(v) for v in decided])

    def RecordOutcome(
        self, request: memory_pb2.RecordOutcomeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecordOutcomeResponse:
        """Counts how a procedure did; changes nothing that decides."""
        viewed = self._lifecycle.record_outcome(
            incoming.scope(request.scope),
            incoming.record_id(request.record_id),
            incoming.outcome(request.outcome),
            incoming.utility(request.utility),
        )
        return memory_pb2.RecordOutcomeResponse(record=outgoing.record(viewed))

    def Supersede(
        self, request: memory_pb2.SupersedeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.SupersedeResponse:
        """Offers a record that replaces another one, if its source may."""
        admitted = self._writing.supersede(*incoming.superseding(request))
        return memory_pb2.SupersedeResponse(admission=outgoing.admission(admitted))

    def Archive(
        self, request: memory_pb2.ArchiveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ArchiveResponse:
        """Puts a record out of use and keeps it."""
        self._lifecycle.archive(
            incoming.scope(request.scope), incoming.record_id(request.record_id)
        )
        return memory_pb2.ArchiveResponse()
