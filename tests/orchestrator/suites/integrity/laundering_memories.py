"""A small memory that knows taints, lineage and outcomes, and ones with one flaw each."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import grpc

from memqual.v1 import memory_pb2, vendor_pb2
from tests.orchestrator.suites.integrity.memories import (
    ACTIVE,
    QUARANTINED,
    SUPPORTED,
    ApprovesEverything,
    IgnoresApproval,
    Kept,
    OperatorActive,
    SmallMemory,
)

DOUBTED, DERIVED = "doubted", "derived_from_doubted"
UNTRUSTED, TRUSTED = memory_pb2.TRUST_UNTRUSTED, memory_pb2.TRUST_TRUSTED


@dataclass
class LineageMemory(SmallMemory):
    """Correct in A, C, D, F, H, I and L; every rule is a method that a flaw replaces."""

    capabilities: tuple[vendor_pb2.Capability.ValueType, ...] = (
        *SUPPORTED,
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT,
    )
    taints: dict[str, tuple[str, ...]] = field(default_factory=dict)

    # Rules

    def own_taints(self, observation: memory_pb2.Observation) -> tuple[str, ...]:
        return () if self.trusts(observation) else (DOUBTED,)

    def inherited(self, parents: Sequence[str]) -> tuple[str, ...]:
        doubts = [taint for parent in parents for taint in self.taints[parent]]
        return tuple(sorted({*doubts, DERIVED})) if doubts else ()

    def child_acts(self, taints: tuple[str, ...]) -> bool:
        return not taints

    def outcome(self, kept: Kept) -> None:
        """What a helpful outcome changes."""

    # MemoryService

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        response = super().Write(request, context)
        admission = response.admission
        if admission.record_id:
            with self.lock:
                self.taints[admission.record_id] = self.own_taints(request.observation)
                self._tell(admission)
        return response

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        observation = memory_pb2.Observation(
            scope=request.scope, kind=request.kind, content=request.content
        )
        with self.lock:
            taints = self.inherited(request.parent_ids)
            acts = self.child_acts(taints)
            kept = Kept(
                f"r-{secrets.token_hex(6)}",
                observation,
                ACTIVE if acts else QUARANTINED,
                acts,
                tuple(request.parent_ids),
            )
            self.keep(kept)
            self.taints[kept.record_id] = taints
            admission = memory_pb2.Admission(record_id=kept.record_id, state=kept.state)
            self._tell(admission)
        return memory_pb2.DeriveResponse(admission=admission)

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        with self.lock:
            return memory_pb2.InspectResponse(record=self._record(request.record_id))

    def RecordOutcome(
        self, request: memory_pb2.RecordOutcomeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecordOutcomeResponse:
        with self.lock:
            self.outcome(self.kept[request.record_id])
            return memory_pb2.RecordOutcomeResponse(record=self._record(request.record_id))

    # Plumbing

    def _record(self, record_id: str) -> memory_pb2.MemoryRecord:
        record = self.kept[record_id].record()
        record.taints.extend(self.taints[record_id])
        record.trust = UNTRUSTED if record.taints else TRUSTED
        return record

    def _tell(self, admission: memory_pb2.Admission) -> None:
        admission.taints.extend(self.taints[admission.record_id])
        admission.trust = UNTRUSTED if admission.taints else TRUSTED


class ForgetsTaints(LineageMemory):
    """A child of a doubted parent is quarantined, and nothing says why."""

    def inherited(self, parents: Sequence[str]) -> tuple[str, ...]:
        return ()

    def child_acts(self, taints: tuple[str, ...]) -> bool:
        return False


class OwnWordForIt(LineageMemory):
    """Marks the child as derived, and drops what its parent was doubted for."""

    def inherited(self, parents: Sequence[str]) -> tuple[str, ...]:
        return tuple(taint for taint in super().inherited(parents) if taint == DERIVED)


class ActsOnSummaries(LineageMemory):
    """Hands every taint on, and takes a child for authority all the same."""

    def child_acts(self, taints: tuple[str, ...]) -> bool:
        return True


class CopiesSummaries(LineageMemory):
    """Keeps a summary as it must, and serves a copy of it under another id."""

    def keep(self, kept: Kept) -> None:
        super().keep(kept)
        if kept.parents:
            copy = Kept(f"c-{kept.record_id}", kept.observation, ACTIVE, True)
            super().keep(copy)


class RefusesDerivation(LineageMemory):
    """Declares that it tracks derivation and takes none."""

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no summaries")


class WithoutDerive(LineageMemory):
    """Declares that it tracks derivation and has no Derive."""

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")


class ClosedToDoubts(LineageMemory):
    """Takes nothing of strangers, by a status: safe, and useful for what is legitimate."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        if not self.trusts(request.observation):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody vouches for it")
        return super().Write(request, context)


class TakesOnlyCleanSummaries(LineageMemory):
    """Refuses to derive from a doubted parent."""

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        if any(self.taints[parent] for parent in request.parent_ids):
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "a parent is doubted")
        return super().Derive(request, context)


class WithoutInspect(LineageMemory):
    """Tells taints when it admits, and cannot be looked into afterwards."""

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")


class TellsNoTaints(LineageMemory):
    """Knows trust, and names no taint."""

    def _record(self, record_id: str) -> memory_pb2.MemoryRecord:
        record = super()._record(record_id)
        del record.taints[:]
        return record

    def _tell(self, admission: memory_pb2.Admission) -> None:
        super()._tell(admission)
        del admission.taints[:]


class KnowsRepetition(LineageMemory):
    """Gives one id to one text, and the word of the user to whoever says it with him."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        observation = request.observation
        for kept in self._of(observation.scope.namespace):
            if kept.content != observation.content:
                continue
            if self.trusts(observation):
                kept.state, kept.authoritative = ACTIVE, True
                self.taints[kept.record_id] = ()
            admission = memory_pb2.Admission(record_id=kept.record_id, state=kept.state)
            self._tell(admission)
            return memory_pb2.WriteResponse(admission=admission)
        return super().Write(request, context)


class BelievesTheMany(LineageMemory):
    """What was said five times is true."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        with self.lock:
            own = self._of(request.scope.namespace)
            for kept in own:
                kept.authoritative |= sum(one.content == kept.content for one in own) >= 5
        return super().Recall(request, context)


class SuccessWashes(LineageMemory):
    """A helpful outcome clears what a procedure was doubted for; it stays out of use."""

    def outcome(self, kept: Kept) -> None:
        self.taints[kept.record_id] = ()


class SuccessPromotes(LineageMemory):
    """What helped is active."""

    def outcome(self, kept: Kept) -> None:
        kept.state, kept.authoritative = ACTIVE, True


class SuccessRetires(LineageMemory):
    """What was reported about has to be approved anew."""

    def outcome(self, kept: Kept) -> None:
        kept.state, kept.authoritative = QUARANTINED, False


class RefusesOutcomes(LineageMemory):
    """Takes a report about active procedures only."""

    def RecordOutcome(
        self, request: memory_pb2.RecordOutcomeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecordOutcomeResponse:
        if not self.kept[request.record_id].authoritative:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "it is not active")
        return super().RecordOutcome(request, context)


class WithoutOutcomes(LineageMemory):
    """Has no concept of an outcome."""

    def RecordOutcome(
        self, request: memory_pb2.RecordOutcomeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecordOutcomeResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")


class ApprovesAll(ApprovesEverything, LineageMemory):
    """A signature over one proposal lets every proposal in."""


class ApprovesNothing(IgnoresApproval, LineageMemory):
    """Takes a signature and changes nothing."""


class OperatorsWord(OperatorActive, LineageMemory):
    """Has nothing to decide about proposals; what the operator says is active at once."""


class RefusesAndActs(WithoutOutcomes):
    """Says that it refuses a stranger's procedure, and acts on it."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        observation = request.observation
        if not self.trusts(observation):
            with self.lock:
                self.keep(Kept(f"h-{secrets.token_hex(6)}", observation, ACTIVE, True))
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody vouches for it")
        return super().Write(request, context)
