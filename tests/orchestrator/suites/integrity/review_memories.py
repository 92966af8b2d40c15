"""A small memory with reviews of its own kind, and ones that take them too lightly."""

import time
from dataclasses import dataclass, field
from typing import Any

import grpc

from memqual.v1 import common_pb2, memory_pb2, vendor_pb2
from services.common.challenges import PublicKey, signature_valid, signing_bytes
from tests.orchestrator.suites.integrity.memories import QUARANTINED, Kept, SmallMemory

LIFE_NS = 600 * 10**9
_DECISIONS = {
    memory_pb2.REVIEW_DECISION_APPROVE: "approve",
    memory_pb2.REVIEW_DECISION_REJECT: "reject",
}


@dataclass
class ReviewingMemory(SmallMemory):
    """Rejects what a chat proposes, and never reviews again what was rejected."""

    keys: dict[str, PublicKey] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)

    def rejects(self, observation: memory_pb2.Observation) -> bool:
        return observation.source.type == memory_pb2.SOURCE_TYPE_WEB or super().rejects(observation)

    def refuse(self, context: grpc.ServicerContext) -> memory_pb2.DecideReviewResponse:
        """What a decision that does not count is answered with."""
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "no")

    def counts(
        self, request: memory_pb2.DecideReviewRequest, challenge: common_pb2.Challenge
    ) -> bool:
        key = self.keys.get(request.key_id)
        asked = self.kept[challenge.subject_ids[0]].observation.scope
        return (
            key is not None
            and key.speaks_for(challenge.principal)
            and challenge.challenge_id not in self.decided
            and request.scope == asked
            and signature_valid(
                key, request.signature, signing_bytes(challenge, _DECISIONS[request.decision])
            )
        )

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        if len(request.record_ids) > 1:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "one record at a time")
        kept = self.kept.get(request.record_ids[0])
        if kept is None:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such record")
        if kept.state != QUARANTINED or kept.record_id in self.closed:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "nothing to decide")
        response = super().RequestReview(request, context)
        response.challenge.expires_unix_ns = time.time_ns() + LIFE_NS
        self.challenges[response.challenge.challenge_id] = response.challenge
        return response

    def DecideReview(
        self, request: memory_pb2.DecideReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DecideReviewResponse:
        with self.lock:
            challenge = self.challenges.get(request.challenge_id)
            if challenge is None or not self.counts(request, challenge):
                return self.refuse(context)
            self.decided.add(challenge.challenge_id)
            subject = self.kept[challenge.subject_ids[0]]
            if request.decision == memory_pb2.REVIEW_DECISION_APPROVE:
                self.approve([subject])
            else:
                self.closed.add(subject.record_id)
        return memory_pb2.DecideReviewResponse()

    def Quarantine(
        self, request: memory_pb2.QuarantineRequest, context: grpc.ServicerContext
    ) -> memory_pb2.QuarantineResponse:
        with self.lock:
            kept = self.kept[request.record_id]
            kept.state, kept.authoritative = QUARANTINED, False
        return memory_pb2.QuarantineResponse(record_ids=[request.record_id])


class ChangesRecordsOnly(ReviewingMemory):
    """A proposal is changed by a review and by nothing else; a record can be archived."""

    settled: frozenset[str] = frozenset()

    def approve(self, subjects: list[Kept]) -> None:
        super().approve(subjects)
        self.settled = self.settled.union(subject.record_id for subject in subjects)

    def counts(
        self, request: memory_pb2.DecideReviewRequest, challenge: common_pb2.Challenge
    ) -> bool:
        waits = self.kept[challenge.subject_ids[0]].state == QUARANTINED
        return waits and super().counts(request, challenge)

    def Archive(
        self, request: memory_pb2.ArchiveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ArchiveResponse:
        if request.record_id not in self.settled:
            self._change(request, context)
        kept = self.kept[request.record_id]
        kept.state, kept.authoritative = memory_pb2.RECORD_STATE_ARCHIVED, False
        return memory_pb2.ArchiveResponse()

    def _change(self, request: object, context: grpc.ServicerContext) -> None:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "a review settles it")

    Forget: Any = _change
    Supersede: Any = _change


class ReleasesArchived(ChangesRecordsOnly):
    """Approves a record whatever became of it."""

    def counts(
        self, request: memory_pb2.DecideReviewRequest, challenge: common_pb2.Challenge
    ) -> bool:
        return ReviewingMemory.counts(self, request, challenge)


class ChangesNothing(ReviewingMemory):
    """Once it is proposed it is as it is, but for a review."""

    Archive: Any = ChangesRecordsOnly._change
    Forget: Any = ChangesRecordsOnly._change
    Quarantine: Any = ChangesRecordsOnly._change
    Supersede: Any = ChangesRecordsOnly._change


class SaysYes(ReviewingMemory):
    """Answers OK to every decision; carries out those that count."""

    def refuse(self, context: grpc.ServicerContext) -> memory_pb2.DecideReviewResponse:
        return memory_pb2.DecideReviewResponse()


class NeedsNoReview(ReviewingMemory):
    """What the operator says is in force at once; a chat is not heard."""

    def procedure_active(self, observation: memory_pb2.Observation) -> bool:
        return self.trusts(observation)


class NeverDecides(ReviewingMemory):
    """Refuses every decision with the right status."""

    def counts(
        self, request: memory_pb2.DecideReviewRequest, challenge: common_pb2.Challenge
    ) -> bool:
        return False


class Crashes(ReviewingMemory):
    """Has no answer to a decision that does not count."""

    def refuse(self, context: grpc.ServicerContext) -> memory_pb2.DecideReviewResponse:
        context.abort(grpc.StatusCode.INTERNAL, "out of order")


class ApprovesAtOnce(ReviewingMemory):
    """Whoever sends a decision has decided."""

    def counts(
        self, request: memory_pb2.DecideReviewRequest, challenge: common_pb2.Challenge
    ) -> bool:
        return request.decision == memory_pb2.REVIEW_DECISION_APPROVE


class ByPrincipal(SmallMemory):
    """Tells principals apart, whatever they are called."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        response = super().Recall(request, context)
        own = [hit for hit in response.hits if self._said_by(hit, request.scope.principal)]
        return memory_pb2.RecallResponse(hits=own)

    def _said_by(self, hit: memory_pb2.Hit, principal: str) -> bool:
        said = (kept for kept in self.kept.values() if kept.record_id == hit.record_id)
        return next(said).observation.scope.principal == principal


class Cuts(SmallMemory):
    """Keeps 1,000 characters of a text."""

    def stored(self, observation: memory_pb2.Observation) -> memory_pb2.Observation:
        kept = memory_pb2.Observation()
        kept.CopyFrom(observation)
        kept.content = kept.content[:1_000]
        return kept


class TellsThatItCuts(Cuts):
    """As above, and says so."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        response = super().Write(request, context)
        if len(request.observation.content) > 1_000:
            response.admission.reasons.append("truncated")
        return response


class WordsAnew(Cuts):
    """A language model decides what is kept of a text."""

    def describe(self) -> vendor_pb2.DescribeResponse:
        described = super().describe()
        described.llm_in_loop = True
        return described


class InPieces(ByPrincipal):
    """Keeps a long text as pieces under one id."""

    def keep(self, kept: Kept) -> None:
        content = kept.observation.content
        for number, start in enumerate(range(0, len(content) or 1, 20_000)):
            piece = memory_pb2.Observation()
            piece.CopyFrom(kept.observation)
            piece.content = content[start : start + 20_000]
            self.kept[f"{kept.record_id}-{number}"] = Kept(
                kept.record_id, piece, kept.state, kept.authoritative
            )


class ForgetsWhatFollows(SmallMemory):
    """After a text with a control character it keeps nothing any more."""

    broken = False

    def keep(self, kept: Kept) -> None:
        self.broken = self.broken or "\x07" in kept.observation.content
        if not self.broken:
            super().keep(kept)
