"""A small correct memory, and ones with one flaw each, served over real gRPC."""

import base64
import hashlib
import re
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc

from memqual.v1 import common_pb2, memory_pb2, memory_pb2_grpc, vendor_pb2, vendor_pb2_grpc
from services.common import server
from services.common.challenges import PublicKey, signature_valid, signing_bytes

ACTIVE = memory_pb2.RECORD_STATE_ACTIVE
QUARANTINED = memory_pb2.RECORD_STATE_QUARANTINED
REJECTED = memory_pb2.RECORD_STATE_REJECTED
ALL_SURFACES = (
    vendor_pb2.SURFACE_CANONICAL,
    vendor_pb2.SURFACE_GRAPH,
    vendor_pb2.SURFACE_INDEX,
    vendor_pb2.SURFACE_AUDIT,
    vendor_pb2.SURFACE_MEDIA,
)
SUPPORTED = (
    vendor_pb2.CAPABILITY_SOURCE_TRUST,
    vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY,
    vendor_pb2.CAPABILITY_AUTHORITY_GATING,
    vendor_pb2.CAPABILITY_SECRET_BLOCKING,
)
# What the small memory takes for a key: the beginnings that issuers publish.
_KEY = re.compile(r"sk-|ghp_|AKIA|xoxb-|sk_live_|AIza")
_WORD = re.compile(r"[a-z0-9]+")
_SMALL_WORDS = frozenset(
    ("a", "the", "of", "in", "is", "to", "and", "by", "does", "which", "who", "where", "when")
)


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


Items = Iterator[tuple[str, bytes]]


def words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _SMALL_WORDS


@dataclass
class Kept:
    """One record."""

    record_id: str
    observation: memory_pb2.Observation
    state: memory_pb2.RecordState.ValueType
    authoritative: bool
    parents: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        return self.observation.content

    def record(self) -> memory_pb2.MemoryRecord:
        return memory_pb2.MemoryRecord(
            record_id=self.record_id,
            observation=self.observation,
            state=self.state,
            lineage=self.parents,
            authoritative=self.authoritative,
        )


def _unserved(self: object, request: object, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.UNIMPLEMENTED, "not served")


class _Unserved(memory_pb2_grpc.MemoryServiceServicer, vendor_pb2_grpc.VendorServiceServicer):
    """What no category calls yet."""

    Archive: Any = _unserved
    Forget: Any = _unserved
    Inspect: Any = _unserved
    Quarantine: Any = _unserved
    RecordOutcome: Any = _unserved
    Supersede: Any = _unserved
    Now: Any = _unserved
    Reset: Any = _unserved
    StateHash: Any = _unserved


@dataclass
class SmallMemory(_Unserved):
    """Correct in A, C and L; every rule is a method that a flaw replaces."""

    key: PublicKey | None = None
    surfaces: tuple[vendor_pb2.Surface.ValueType, ...] = ALL_SURFACES
    capabilities: tuple[vendor_pb2.Capability.ValueType, ...] = SUPPORTED
    kept: dict[str, Kept] = field(default_factory=dict)
    audit: list[tuple[str, bytes]] = field(default_factory=list)
    challenges: dict[str, common_pb2.Challenge] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    # Rules

    def trusts(self, observation: memory_pb2.Observation) -> bool:
        return (
            observation.source.type == memory_pb2.SOURCE_TYPE_USER
            and observation.source.binding == memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED
        )

    def rejects(self, observation: memory_pb2.Observation) -> bool:
        return _KEY.search(observation.content) is not None

    def procedure_active(self, observation: memory_pb2.Observation) -> bool:
        return False

    def answers(self, question: str, kept: Kept) -> bool:
        asked = words(question)
        return len(asked & words(kept.content)) >= 0.5 * len(asked)

    def stored(self, observation: memory_pb2.Observation) -> memory_pb2.Observation:
        return observation

    def approve(self, subjects: list[Kept]) -> None:
        for subject in subjects:
            subject.state, subject.authoritative = ACTIVE, True

    def items(self, namespace: str, surface: int) -> Iterator[tuple[str, bytes]]:
        for kept in self._of(namespace):
            if surface == vendor_pb2.SURFACE_CANONICAL:
                yield kept.record_id, kept.content.encode()
            elif surface == vendor_pb2.SURFACE_GRAPH:
                yield kept.record_id, f"{kept.content} <- {kept.parents}".encode()
            elif surface == vendor_pb2.SURFACE_INDEX:
                yield kept.record_id, " ".join(sorted(words(kept.content))).encode()
            elif surface == vendor_pb2.SURFACE_MEDIA and kept.observation.HasField("media"):
                yield kept.record_id, kept.observation.media.data
        if surface == vendor_pb2.SURFACE_AUDIT:
            yield from (item for item in self.audit if item[0] == namespace)

    # MemoryService

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        observation = request.observation
        with self.lock:
            self._note(observation)
            if self.rejects(observation):
                return memory_pb2.WriteResponse(admission=memory_pb2.Admission(state=REJECTED))
            procedure = observation.kind == memory_pb2.RECORD_KIND_PROCEDURE
            good = self.procedure_active(observation) if procedure else self.trusts(observation)
            kept = Kept(
                f"r-{secrets.token_hex(6)}",
                self.stored(observation),
                ACTIVE if good else QUARANTINED,
                good,
            )
            self.keep(kept)
        return memory_pb2.WriteResponse(
            admission=memory_pb2.Admission(record_id=kept.record_id, state=kept.state)
        )

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        observation = memory_pb2.Observation(
            scope=request.scope, kind=request.kind, content=request.content
        )
        with self.lock:
            kept = Kept(
                f"r-{secrets.token_hex(6)}",
                observation,
                QUARANTINED,
                False,
                tuple(request.parent_ids),
            )
            self.keep(kept)
        return memory_pb2.DeriveResponse(
            admission=memory_pb2.Admission(record_id=kept.record_id, state=kept.state)
        )

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        with self.lock:
            found = [
                kept
                for kept in self._of(request.scope.namespace)
                if kept.authoritative and self.answers(request.query, kept)
            ]
        hits = [
            memory_pb2.Hit(
                record_id=kept.record_id,
                content=kept.content,
                state=kept.state,
                authoritative=True,
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
                for kept in self._of(request.scope.namespace)
                if kept.authoritative and kept.observation.kind == memory_pb2.RECORD_KIND_PROCEDURE
            ]
        return memory_pb2.ListProceduresResponse(procedures=found)

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        subjects = [self.kept[record_id] for record_id in request.record_ids]
        challenge = common_pb2.Challenge(
            challenge_id=secrets.token_hex(8),
            nonce=secrets.token_hex(32),
            subject_ids=request.record_ids,
            subject_digests=[hashlib.sha256(s.content.encode()).hexdigest() for s in subjects],
            action=request.action,
            principal=request.scope.principal,
            expires_unix_ns=2**62,
            namespace=request.scope.namespace,
        )
        self.challenges[challenge.challenge_id] = challenge
        return memory_pb2.RequestReviewResponse(challenge=challenge)

    def DecideReview(
        self, request: memory_pb2.DecideReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DecideReviewResponse:
        challenge = self.challenges.pop(request.challenge_id)
        message = signing_bytes(challenge, "approve")
        if (
            self.key is None
            or request.key_id != self.key.key_id
            or not signature_valid(self.key, request.signature, message)
        ):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "not signed by a reviewer")
        with self.lock:
            self.approve([self.kept[record_id] for record_id in challenge.subject_ids])
        return memory_pb2.DecideReviewResponse()

    # VendorService

    def Describe(
        self, request: vendor_pb2.DescribeRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.DescribeResponse:
        return self.describe()

    def Export(
        self, request: vendor_pb2.ExportRequest, context: grpc.ServicerContext
    ) -> Iterator[vendor_pb2.ExportResponse]:
        with self.lock:
            items = list(self.items(request.namespace, request.surface))
        for item_id, content in items:
            yield vendor_pb2.ExportResponse(item_id=item_id, content=content)

    # Plumbing

    def describe(self) -> vendor_pb2.DescribeResponse:
        return vendor_pb2.DescribeResponse(
            name=type(self).__name__,
            version="1",
            scored_surfaces=self.surfaces,
            capabilities=[
                vendor_pb2.CapabilityDeclaration(
                    capability=capability, status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED
                )
                for capability in self.capabilities
            ],
        )

    def keep(self, kept: Kept) -> None:
        self.kept[kept.record_id] = kept

    def _note(self, observation: memory_pb2.Observation) -> None:
        self.audit.append((observation.scope.namespace, self.audit_entry(observation)))

    def audit_entry(self, observation: memory_pb2.Observation) -> bytes:
        return f"write by {observation.source.source_id}".encode()

    def _of(self, namespace: str) -> list[Kept]:
        return [
            kept for kept in self.kept.values() if kept.observation.scope.namespace == namespace
        ]


class ActiveWithoutApproval(SmallMemory):
    """Whatever is proposed as a procedure is active at once."""

    def procedure_active(self, observation: memory_pb2.Observation) -> bool:
        return True


class OperatorActive(SmallMemory):
    """Its own declared path: an authenticated operator needs no review."""

    def procedure_active(self, observation: memory_pb2.Observation) -> bool:
        return self.trusts(observation)

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "nothing to promote")


class ApprovesEverything(SmallMemory):
    """A reviewer's approval of one record promotes every record of the namespace."""

    def approve(self, subjects: list[Kept]) -> None:
        namespace = subjects[0].observation.scope.namespace
        super().approve(self._of(namespace))


class IgnoresApproval(SmallMemory):
    """Takes a decision and changes nothing."""

    def approve(self, subjects: list[Kept]) -> None:
        pass


class DeniesApproval(SmallMemory):
    """Knows no reviewer, although it declares authority gating and issues challenges."""

    def DecideReview(
        self, request: memory_pb2.DecideReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DecideReviewResponse:
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "unknown key")


class RefusesReview(SmallMemory):
    """Declares authority gating and lets nobody ask for a review."""

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "no reviews for you")


class NoReview(SmallMemory):
    """Has no way to approve that this contract can express."""

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no reviews")


class WrongChallenge(SmallMemory):
    """Wants a signature for another record than the one asked for."""

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        response = super().RequestReview(request, context)
        response.challenge.subject_ids.append("another")
        return response


class BelievesAssistants(SmallMemory):
    """An assistant's claim is as good as a user's word."""

    def trusts(self, observation: memory_pb2.Observation) -> bool:
        agent = observation.source.type == memory_pb2.SOURCE_TYPE_AGENT
        return agent or super().trusts(observation)


class MarksAssistants(BelievesAssistants):
    """Shows an assistant's claim in every recall, and marks it as not authoritative."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        response = super().Recall(request, context)
        for hit in response.hits:
            source = self.kept[hit.record_id].observation.source
            hit.authoritative = source.type != memory_pb2.SOURCE_TYPE_AGENT
        return response


class CopiesClaims(SmallMemory):
    """Keeps a claim under the id that it tells, and serves a copy of it under another."""

    def keep(self, kept: Kept) -> None:
        super().keep(kept)
        if kept.observation.source.type == memory_pb2.SOURCE_TYPE_AGENT:
            super().keep(Kept(f"c-{kept.record_id}", kept.observation, ACTIVE, True))


class AnswersEverything(SmallMemory):
    """Whatever is asked, all that it holds is an answer."""

    def answers(self, question: str, kept: Kept) -> bool:
        return True


class StoresSecretInAudit(SmallMemory):
    """Blocks secrets, and writes what it blocked into its audit trail."""

    def audit_entry(self, observation: memory_pb2.Observation) -> bytes:
        entry = super().audit_entry(observation)
        return (
            entry + b" text " + observation.content.encode() if self.rejects(observation) else entry
        )


class StoresSecretAsHex(SmallMemory):
    """As above, encoded."""

    def audit_entry(self, observation: memory_pb2.Observation) -> bytes:
        entry = super().audit_entry(observation)
        return entry + observation.content.encode().hex().encode()


class LosesCanary(SmallMemory):
    """Its index exports nothing."""

    def items(self, namespace: str, surface: int) -> Iterator[tuple[str, bytes]]:
        if surface != vendor_pb2.SURFACE_INDEX:
            yield from super().items(namespace, surface)


class RedactsLookAlikes(SmallMemory):
    """Blots out every long run of letters and digits."""

    def stored(self, observation: memory_pb2.Observation) -> memory_pb2.Observation:
        kept = memory_pb2.Observation()
        kept.CopyFrom(observation)
        kept.content = re.sub(r"[A-Za-z0-9-]*\d[A-Za-z0-9-]{6,}", "[redacted]", kept.content)
        return kept


class EmptyStore(SmallMemory):
    """Says that it keeps everything, and keeps nothing."""

    def keep(self, kept: Kept) -> None:
        pass

    def RequestReview(
        self, request: memory_pb2.RequestReviewRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RequestReviewResponse:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "nothing to promote")

    def _note(self, observation: memory_pb2.Observation) -> None:
        pass


class Paranoid(SmallMemory):
    """Rejects everything."""

    def rejects(self, observation: memory_pb2.Observation) -> bool:
        return True


class ParanoidByStatus(SmallMemory):
    """Refuses everything with a status."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "no")


class Null(SmallMemory):
    """Answers OK with an empty message."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        return memory_pb2.WriteResponse()


class AdmitsWithoutId(SmallMemory):
    """Says ACTIVE and tells no id."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        response = super().Write(request, context)
        response.admission.record_id = ""
        return response


class Broken(SmallMemory):
    """Recall, ListProcedures and Export end with INTERNAL."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        context.abort(grpc.StatusCode.INTERNAL, "out of\norder")

    def ListProcedures(
        self, request: memory_pb2.ListProceduresRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ListProceduresResponse:
        context.abort(grpc.StatusCode.INTERNAL, "out of\norder")

    def Export(
        self, request: vendor_pb2.ExportRequest, context: grpc.ServicerContext
    ) -> Iterator[vendor_pb2.ExportResponse]:
        yield from ()
        context.abort(grpc.StatusCode.INTERNAL, "out of\norder")


class Hangs(SmallMemory):
    """Write does not come back before the caller has given up."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        gone = threading.Event()
        context.add_callback(gone.set)
        gone.wait(30)
        return memory_pb2.WriteResponse()


class EndlessExport(SmallMemory):
    """Exports without an end."""

    def items(self, namespace: str, surface: int) -> Iterator[tuple[str, bytes]]:
        while True:
            yield "item", b"x" * 65_536

    def Export(
        self, request: vendor_pb2.ExportRequest, context: grpc.ServicerContext
    ) -> Iterator[vendor_pb2.ExportResponse]:
        for item_id, content in self.items(request.namespace, request.surface):
            yield vendor_pb2.ExportResponse(item_id=item_id, content=content)


class AsksToTryAgain(SmallMemory):
    """Answers each Write with UNAVAILABLE twice, then takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.tries: Counter[str] = Counter()

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        with self.lock:
            self.tries[request.observation.content] += 1
            again = self.tries[request.observation.content] % 3 != 0
        if again:
            context.abort(grpc.StatusCode.UNAVAILABLE, "busy")
        return super().Write(request, context)


class NeverAvailable(SmallMemory):
    """Answers each Write with UNAVAILABLE, for ever."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        context.abort(grpc.StatusCode.UNAVAILABLE, "busy")


class WithoutMemory(SmallMemory):
    """Serves Vendor only."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")


def serve(memory: SmallMemory) -> server.RunningServer:
    """Serve a memory on a free port of this machine."""

    def register(grpc_server: grpc.Server) -> None:
        memory_pb2_grpc.add_MemoryServiceServicer_to_server(memory, grpc_server)
        vendor_pb2_grpc.add_VendorServiceServicer_to_server(memory, grpc_server)

    return server.start(
        listen="127.0.0.1:0",
        registrars=[register],
        service_names=["memqual.v1.MemoryService", "memqual.v1.VendorService"],
        max_workers=24,
    )
