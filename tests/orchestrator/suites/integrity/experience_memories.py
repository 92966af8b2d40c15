"""A small memory that knows circles, descent and evidence; and good ones of other designs."""

from collections.abc import Sequence
from dataclasses import dataclass

import grpc

from memqual.v1 import memory_pb2, vendor_pb2
from tests.orchestrator.suites.integrity.laundering_memories import DERIVED, LineageMemory
from tests.orchestrator.suites.integrity.memories import (
    ACTIVE,
    QUARANTINED,
    SUPPORTED,
    Kept,
    words,
)

FORGOTTEN = memory_pb2.RECORD_STATE_FORGOTTEN
EVIDENCE = memory_pb2.RECALL_SURFACE_EVIDENCE


@dataclass
class CircledMemory(LineageMemory):
    """Correct in B, E, G and N; every rule is a method that a flaw replaces."""

    capabilities: tuple[vendor_pb2.Capability.ValueType, ...] = (
        *SUPPORTED,
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
        vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL,
    )

    # Rules

    def sees(self, scope: memory_pb2.Scope, kept: Kept) -> bool:
        own = kept.observation.scope
        return (own.namespace, own.principal) == (scope.namespace, scope.principal) and all(
            getattr(own, part) in ("", getattr(scope, part))
            for part in ("agent", "workspace", "purpose")
        )

    def inherited(self, parents: Sequence[str]) -> tuple[str, ...]:
        taints = super().inherited(parents)
        inactive = any(self.kept[parent].state != ACTIVE for parent in parents)
        return tuple(sorted({*taints, DERIVED})) if inactive else taints

    def repeated(self, content: str) -> list[str]:
        """Doubted records whose text a new one repeats."""
        return [
            kept.record_id
            for kept in self.kept.values()
            if kept.content and self.taints.get(kept.record_id) and kept.content in content
        ]

    def touched(self, record_id: str) -> list[str]:
        """A record and all that was made of it."""
        found = [record_id]
        for kept in self.kept.values():
            if any(parent in found for parent in kept.parents):
                found.append(kept.record_id)
        return found

    def ranked(self, query: str, kept: Sequence[Kept]) -> list[Kept]:
        return [one for one in kept if self.answers(query, one)]

    # MemoryService

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        with self.lock:
            named = list(request.parent_ids)
            request.parent_ids.extend(r for r in self.repeated(request.content) if r not in named)
        return super().Derive(request, context)

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        with self.lock:
            seen = [
                kept
                for kept in self.kept.values()
                if self.sees(request.scope, kept)
                and kept.state != FORGOTTEN
                and (kept.authoritative or request.surface == EVIDENCE)
            ]
            found = self.ranked(request.query, seen)[: request.max_hits]
        hits = [
            memory_pb2.Hit(
                record_id=kept.record_id,
                content=kept.content,
                state=kept.state,
                authoritative=kept.authoritative,
                lineage=kept.parents,
            )
            for kept in found
        ]
        return memory_pb2.RecallResponse(hits=hits)

    def ListProcedures(
        self, request: memory_pb2.ListProceduresRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ListProceduresResponse:
        with self.lock:
            found = [
                kept.record()
                for kept in self.kept.values()
                if kept.authoritative
                and kept.observation.kind == memory_pb2.RECORD_KIND_PROCEDURE
                and self.sees(request.scope, kept)
            ]
        return memory_pb2.ListProceduresResponse(procedures=found)

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        kept = self.kept.get(request.record_id)
        if kept is None or not self.sees(request.scope, kept):
            context.abort(grpc.StatusCode.NOT_FOUND, "no such record")
        return super().Inspect(request, context)

    def Quarantine(
        self, request: memory_pb2.QuarantineRequest, context: grpc.ServicerContext
    ) -> memory_pb2.QuarantineResponse:
        with self.lock:
            changed = self.touched(request.record_id)
            for record_id in changed:
                self.kept[record_id].state = QUARANTINED
                self.kept[record_id].authoritative = False
        return memory_pb2.QuarantineResponse(record_ids=changed)

    def Forget(
        self, request: memory_pb2.ForgetRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ForgetResponse:
        with self.lock:
            changed = self.touched(request.record_id)
            for record_id in changed:
                kept = self.kept[record_id]
                kept.state, kept.authoritative = QUARANTINED, False
            self.kept[request.record_id].state = FORGOTTEN
            self.kept[request.record_id].observation.content = ""
        return memory_pb2.ForgetResponse(record_ids=changed)


class CountsByPrincipal(CircledMemory):
    """Ids are numbers, from one within each principal of a namespace."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        response = super().Write(request, context)
        admission, scope = response.admission, request.observation.scope
        own = [
            k for k in self._of(scope.namespace) if k.observation.scope.principal == scope.principal
        ]
        admission.record_id = str(len(own))
        return response

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        own = [kept for kept in self.kept.values() if self.sees(request.scope, kept)]
        if not 0 < int(request.record_id) <= len(own):
            context.abort(grpc.StatusCode.NOT_FOUND, "no such record")
        record = own[int(request.record_id) - 1].record()
        record.record_id = request.record_id
        return memory_pb2.InspectResponse(record=record)

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        response = super().Recall(request, context)
        for hit in response.hits:
            hit.record_id = self._number(self.kept[hit.record_id])
        return response

    def ListProcedures(
        self, request: memory_pb2.ListProceduresRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ListProceduresResponse:
        response = super().ListProcedures(request, context)
        for listed in response.procedures:
            listed.record_id = self._number(self.kept[listed.record_id])
        return response

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no reviews")

    def _number(self, kept: Kept) -> str:
        asked = kept.observation.scope
        own = [
            one.record_id
            for one in self._of(asked.namespace)
            if one.observation.scope.principal == asked.principal
        ]
        return str(own.index(kept.record_id) + 1)


class RanksEverything(CircledMemory):
    """Leaves nothing out: the closest first, as many as were asked for."""

    def ranked(self, query: str, kept: Sequence[Kept]) -> list[Kept]:
        asked = words(query)
        return sorted(kept, key=lambda one: -len(asked & words(one.content)))


class ShutsOutStrangers(CircledMemory):
    """Refuses by a status what nobody vouches for."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        if not self.trusts(request.observation):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody vouches for it")
        return super().Write(request, context)


class OneIdForOneText(CircledMemory):
    """Gives one id to one text of one circle."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        for kept in self.kept.values():
            same = kept.content == request.observation.content
            if same and kept.observation.scope == request.observation.scope:
                admission = memory_pb2.Admission(record_id=kept.record_id, state=kept.state)
                self._tell(admission)
                return memory_pb2.WriteResponse(admission=admission)
        return super().Write(request, context)


class WithoutEvidence(CircledMemory):
    """Recalls what can be acted on, and nothing else."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        if request.surface == EVIDENCE:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such surface")
        return super().Recall(request, context)


class ReviewsEveryDerivation(CircledMemory):
    """What was derived is evidence until somebody signs it."""

    def child_acts(self, taints: tuple[str, ...]) -> bool:
        return False


class WithoutInspect(CircledMemory):
    """Cannot be looked into."""

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")


class KnowsNoAgents(CircledMemory):
    """Has no concept of an agent or a workspace, and its records show none."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        request.observation.scope.ClearField("agent")
        request.observation.scope.ClearField("workspace")
        return super().Write(request, context)


class RefusesAgents(CircledMemory):
    """Has no concept of an agent or a workspace, and takes nothing that has one."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        if request.observation.scope.agent or request.observation.scope.workspace:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "neither agents nor workspaces")
        return super().Write(request, context)
