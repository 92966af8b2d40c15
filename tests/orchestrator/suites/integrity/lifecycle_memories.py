"""A small memory whose records end: several designs that are all right, and some that are not."""

import hashlib
from dataclasses import dataclass, field

import grpc

from memqual.v1 import memory_pb2, vendor_pb2
from tests.orchestrator.suites.integrity.memories import (
    ACTIVE,
    QUARANTINED,
    SUPPORTED,
    Kept,
    SmallMemory,
)

SUPERSEDED = memory_pb2.RECORD_STATE_SUPERSEDED
ARCHIVED = memory_pb2.RECORD_STATE_ARCHIVED
FORGOTTEN = memory_pb2.RECORD_STATE_FORGOTTEN
EVIDENCE = memory_pb2.RECALL_SURFACE_EVIDENCE


@dataclass
class LifecycleMemory(SmallMemory):
    """Correct in J, R and T; knows a text again when the same kind of source says it again."""

    capabilities: tuple[vendor_pb2.Capability.ValueType, ...] = (
        *(one for one in SUPPORTED if one != vendor_pb2.CAPABILITY_SECRET_BLOCKING),
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT,
    )

    # Rules

    def identity(self, observation: memory_pb2.Observation) -> str:
        """What makes two observations one record."""
        source = observation.source
        who = (observation.scope.namespace, observation.scope.principal, source.type)
        media = hashlib.sha256(observation.media.data).hexdigest()
        said = (*who, source.binding, observation.kind, observation.content.casefold(), media)
        return "r-" + hashlib.sha256(repr(said).encode()).hexdigest()[:16]

    def ended(self, kept: Kept, state: memory_pb2.RecordState.ValueType) -> list[str]:
        """A record leaves authority, and what was made of it."""
        kept.state, kept.authoritative = state, False
        if state == FORGOTTEN:
            kept.observation.ClearField("content")
            kept.observation.ClearField("media")
        changed = [kept.record_id]
        for child in self.kept.values():
            if kept.record_id in child.parents:
                child.state, child.authoritative = QUARANTINED, False
                changed.append(child.record_id)
        return changed

    def inspected(self, kept: Kept) -> memory_pb2.MemoryRecord | None:
        """What Inspect shows; None for nothing."""
        return kept.record()

    def hit(self, kept: Kept) -> memory_pb2.Hit:
        """How a record is shown."""
        return memory_pb2.Hit(
            record_id=kept.record_id,
            content=kept.content,
            state=kept.state,
            authoritative=kept.authoritative,
        )

    # MemoryService

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        with self.lock:
            kept = self.take(request.observation, context)
        return memory_pb2.WriteResponse(admission=_admission(kept))

    def take(self, observation: memory_pb2.Observation, context: grpc.ServicerContext) -> Kept:
        """The record that stands for an observation."""
        self._note(observation)
        record_id = self.identity(observation)
        known = self.kept.get(record_id)
        good = self.trusts(observation) and observation.kind == memory_pb2.RECORD_KIND_FACT
        if known is None or (good and known.state != ACTIVE):
            known = Kept(record_id, self.stored(observation), ACTIVE if good else QUARANTINED, good)
            self.keep(known)
        return known

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        observation = memory_pb2.Observation(
            scope=request.scope, kind=request.kind, content=request.content
        )
        with self.lock:
            good = all(self.kept[parent].authoritative for parent in request.parent_ids)
            kept = Kept(
                self.identity(observation),
                observation,
                ACTIVE if good else QUARANTINED,
                good,
                tuple(request.parent_ids),
            )
            self.keep(kept)
        return memory_pb2.DeriveResponse(admission=_admission(kept))

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        scope = request.scope
        with self.lock:
            found = [
                self.hit(kept)
                for kept in self._of(scope.namespace)
                if self.belongs(kept, scope.principal)
                and (kept.authoritative or (request.surface == EVIDENCE and kept.content))
                and self.answers(request.query, kept)
            ]
        found.sort(key=lambda hit: not hit.authoritative)
        return memory_pb2.RecallResponse(hits=found[: request.max_hits])

    def belongs(self, kept: Kept, principal: str) -> bool:
        return kept.observation.scope.principal == principal

    def Supersede(
        self, request: memory_pb2.SupersedeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.SupersedeResponse:
        with self.lock:
            newer = self.take(request.observation, context)
            if newer.authoritative:
                self.ended(self.kept[request.record_id], SUPERSEDED)
        return memory_pb2.SupersedeResponse(admission=_admission(newer))

    def Quarantine(
        self, request: memory_pb2.QuarantineRequest, context: grpc.ServicerContext
    ) -> memory_pb2.QuarantineResponse:
        with self.lock:
            changed = self.ended(self.kept[request.record_id], QUARANTINED)
        return memory_pb2.QuarantineResponse(record_ids=changed)

    def Archive(
        self, request: memory_pb2.ArchiveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ArchiveResponse:
        with self.lock:
            self.ended(self.kept[request.record_id], ARCHIVED)
        return memory_pb2.ArchiveResponse()

    def Forget(
        self, request: memory_pb2.ForgetRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ForgetResponse:
        with self.lock:
            changed = self.forgotten(request.scope, request.record_id)
        return memory_pb2.ForgetResponse(record_ids=changed)

    def forgotten(self, scope: memory_pb2.Scope, record_id: str) -> list[str]:
        return self.ended(self.kept[record_id], FORGOTTEN)

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        with self.lock:
            kept = self.kept.get(request.record_id)
            record = None if kept is None else self.inspected(kept)
        if record is None:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such record")
        return memory_pb2.InspectResponse(record=record)


def _admission(kept: Kept) -> memory_pb2.Admission:
    return memory_pb2.Admission(record_id=kept.record_id, state=kept.state)


# Other designs


class InPlace(LifecycleMemory):
    """An update changes the record and keeps its id; what it said before is nowhere."""

    def Supersede(
        self, request: memory_pb2.SupersedeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.SupersedeResponse:
        with self.lock:
            kept = self.kept[request.record_id]
            if self.trusts(request.observation) or not kept.authoritative:
                self.ended(kept, SUPERSEDED)
                kept.observation.CopyFrom(request.observation)
                kept.authoritative = self.trusts(request.observation)
                kept.state = ACTIVE if kept.authoritative else QUARANTINED
        return memory_pb2.SupersedeResponse(admission=_admission(kept))


@dataclass
class OneRecordAText(LifecycleMemory):
    """Whoever says it: one text is one record of a namespace, and has those who said it."""

    sayers: dict[str, set[str]] = field(default_factory=dict)

    def identity(self, observation: memory_pb2.Observation) -> str:
        said = (observation.scope.namespace, observation.content.casefold())
        return "r-" + hashlib.sha256(repr(said).encode()).hexdigest()[:16]

    def take(self, observation: memory_pb2.Observation, context: grpc.ServicerContext) -> Kept:
        kept = super().take(observation, context)
        if self.trusts(observation):
            self.sayers.setdefault(kept.record_id, set()).add(observation.scope.principal)
        return kept

    def belongs(self, kept: Kept, principal: str) -> bool:
        sayers = self.sayers.get(kept.record_id)
        return principal in sayers if sayers is not None else super().belongs(kept, principal)

    def forgotten(self, scope: memory_pb2.Scope, record_id: str) -> list[str]:
        sayers = self.sayers.get(record_id, set())
        sayers.discard(scope.principal)
        return [record_id] if sayers else super().forgotten(scope, record_id)


class HitsWithoutIds(LifecycleMemory):
    """Shows texts, and not whose they are."""

    def hit(self, kept: Kept) -> memory_pb2.Hit:
        hit = super().hit(kept)
        hit.ClearField("record_id")
        return hit


class LeavesNoTombstone(LifecycleMemory):
    """What is forgotten was never there; what nobody vouches for is refused by a status."""

    def take(self, observation: memory_pb2.Observation, context: grpc.ServicerContext) -> Kept:
        if not self.trusts(observation):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody vouches for it")
        return super().take(observation, context)

    def inspected(self, kept: Kept) -> memory_pb2.MemoryRecord | None:
        return None if kept.state == FORGOTTEN else super().inspected(kept)


class WithoutInspect(LifecycleMemory):
    """Cannot be looked into."""

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "not served")


@dataclass
class WithoutMedia(LifecycleMemory):
    """Takes texts only."""

    surfaces: tuple[vendor_pb2.Surface.ValueType, ...] = (
        vendor_pb2.SURFACE_CANONICAL,
        vendor_pb2.SURFACE_AUDIT,
    )

    def take(self, observation: memory_pb2.Observation, context: grpc.ServicerContext) -> Kept:
        if observation.HasField("media"):
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no attachments")
        return super().take(observation, context)


# Flaws


class RefusesToEnd(LifecycleMemory):
    """Nothing can be ended by anybody."""

    def ended(self, kept: Kept, state: memory_pb2.RecordState.ValueType) -> list[str]:
        raise AssertionError("not reached")

    def _refuse(self, request: object, context: grpc.ServicerContext) -> None:
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "no")

    Supersede = Quarantine = Archive = Forget = _refuse  # type: ignore[assignment]  # one for all


class InspectStillBelieves(LifecycleMemory):
    """Recall is right, and Inspect says that an agent may act on what ended."""

    def inspected(self, kept: Kept) -> memory_pb2.MemoryRecord | None:
        record = kept.record()
        record.authoritative = True
        return record


class ForgetsInPart(LifecycleMemory):
    """A forgotten text is no authority, and still among the evidence."""

    def ended(self, kept: Kept, state: memory_pb2.RecordState.ValueType) -> list[str]:
        return super().ended(kept, QUARANTINED if state == FORGOTTEN else state)


class LosesHistory(LifecycleMemory):
    """What was replaced, archived or quarantined cannot be seen any more."""

    def ended(self, kept: Kept, state: memory_pb2.RecordState.ValueType) -> list[str]:
        changed = super().ended(kept, state)
        kept.observation.ClearField("content")
        return changed


class EndsEverything(LifecycleMemory):
    """With one record all others of the principal lose their authority."""

    def ended(self, kept: Kept, state: memory_pb2.RecordState.ValueType) -> list[str]:
        for other in self.kept.values():
            if other.observation.scope == kept.observation.scope:
                other.authoritative = False
        return super().ended(kept, state)


class LaterCopyWins(LifecycleMemory):
    """Who said it last is the first answer, whoever he is."""

    def take(self, observation: memory_pb2.Observation, context: grpc.ServicerContext) -> Kept:
        kept = super().take(observation, context)
        for other in self.kept.values():
            same = other.content == observation.content and other.record_id != kept.record_id
            if same and other.authoritative:
                other.authoritative, kept.authoritative = False, True
        return kept


class MediaIsTrusted(LifecycleMemory):
    """Who attaches something is believed."""

    def trusts(self, observation: memory_pb2.Observation) -> bool:
        return observation.HasField("media") or super().trusts(observation)


class UserSupersedesNothing(LifecycleMemory):
    """What comes in by Supersede is never authority, also the user's."""

    def Supersede(
        self, request: memory_pb2.SupersedeRequest, context: grpc.ServicerContext
    ) -> memory_pb2.SupersedeResponse:
        with self.lock:
            kept = self.take(request.observation, context)
            kept.authoritative = False
            self.ended(self.kept[request.record_id], SUPERSEDED)
        return memory_pb2.SupersedeResponse(admission=_admission(kept))
