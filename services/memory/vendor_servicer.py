"""VendorService of the reference: who it is, its clocks, and all that it holds (DESIGN §4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import grpc

from memqual.v1 import vendor_pb2, vendor_pb2_grpc
from services.common import clock
from services.common.canonical import JsonValue, digest_hex
from services.common.database import Database
from services.common.errors import ServiceError
from services.common.limits import check_id
from services.memory.model import Policy
from services.memory.operations import Operations
from services.memory.parts import NarrativePart, RecordsPart

__all__ = ["REFERENCE_NAME", "REFERENCE_VERSION", "VendorServicer", "describe"]

REFERENCE_NAME = "memqual-reference"
REFERENCE_VERSION = "1.0.0"
EXPORT_MESSAGE_BYTES = 1024 * 1024

OPERATION_SURFACES = (vendor_pb2.SURFACE_CANONICAL, vendor_pb2.SURFACE_AUDIT)
RECORD_SURFACES = (
    vendor_pb2.SURFACE_CANONICAL,
    vendor_pb2.SURFACE_GRAPH,
    vendor_pb2.SURFACE_INDEX,
    vendor_pb2.SURFACE_AUDIT,
    vendor_pb2.SURFACE_MEDIA,
)


@dataclass(frozen=True, slots=True)
class _Declared:
    """A capability that operations support, with what it does not cover."""

    capability: vendor_pb2.Capability.ValueType
    limitation: str = ""


SUPPORTED = (
    _Declared(vendor_pb2.CAPABILITY_CONTINUITY),
    _Declared(vendor_pb2.CAPABILITY_BEGIN_REPLAY),
    _Declared(
        vendor_pb2.CAPABILITY_FINAL_ABSENCE,
        "believes ABSENT_FINAL of the destination for the latest attempt and every one before",
    ),
    _Declared(vendor_pb2.CAPABILITY_DECISION_PEEK),
    _Declared(
        vendor_pb2.CAPABILITY_INTENT_MATCHING,
        "within one workflow, where the asking host says what its checkpoint holds",
    ),
)


def _declaration(
    capability: vendor_pb2.Capability.ValueType,
    status: vendor_pb2.CapabilityStatus.ValueType,
    limitation: str,
) -> vendor_pb2.CapabilityDeclaration:
    supported = status == vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    return vendor_pb2.CapabilityDeclaration(
        capability=capability,
        status=status,
        enforcement=vendor_pb2.ENFORCEMENT_NATIVE
        if supported
        else vendor_pb2.ENFORCEMENT_UNSPECIFIED,
        limitation=limitation,
    )


def _capabilities(
    records: RecordsPart | None, narrative: NarrativePart | None
) -> list[vendor_pb2.CapabilityDeclaration]:
    """Every capability of the contract, once: supported by a part, or absent."""
    declared = [
        _declaration(
            supported.capability, vendor_pb2.CAPABILITY_STATUS_SUPPORTED, supported.limitation
        )
        for supported in SUPPORTED
    ]
    if records is not None:
        declared.extend(records.capabilities())
    if narrative is not None:
        declared.extend(narrative.capabilities())
    known = {declaration.capability for declaration in declared}
    absent = [
        _declaration(value, vendor_pb2.CAPABILITY_STATUS_ABSENT, "")
        for value in vendor_pb2.Capability.values()
        if value != vendor_pb2.CAPABILITY_UNSPECIFIED and value not in known
    ]
    return sorted([*declared, *absent], key=lambda declaration: declaration.capability)


def describe(
    policy: Policy,
    records: RecordsPart | None,
    narrative: NarrativePart | None,
    name: str = REFERENCE_NAME,
) -> vendor_pb2.DescribeResponse:
    """What the reference declares; equal on every call of one process."""
    surfaces = OPERATION_SURFACES if records is None else RECORD_SURFACES
    return vendor_pb2.DescribeResponse(
        name=name,
        version=REFERENCE_VERSION,
        limits=vendor_pb2.Limits(
            lease_seconds=policy.lease_seconds,
            max_renewals=policy.max_renewals,
            max_operations_per_workflow=policy.max_operations_per_workflow,
            max_attempts_per_operation=policy.max_attempts,
            max_revisions_per_operation=policy.max_revisions,
            max_uncertain_queries=policy.max_uncertain_queries,
            key_margin_seconds=policy.key_margin_seconds,
        ),
        lease_clock=vendor_pb2.LEASE_CLOCK_WALL,
        llm_in_loop=False,
        deterministic=True,
        scored_surfaces=surfaces,
        capabilities=_capabilities(records, narrative),
        taint_order=() if records is None else records.taint_order,
        model_disclosure="" if narrative is None else narrative.model_disclosure,
    )


class VendorServicer(vendor_pb2_grpc.VendorServiceServicer):
    """The contract's VendorService over the parts of one process."""

    def __init__(
        self,
        database: Database,
        operations: Operations,
        records: RecordsPart | None,
        narrative: NarrativePart | None,
        description: vendor_pb2.DescribeResponse,
    ) -> None:
        """Serves the parts that share this database, under this description."""
        self._database = database
        self._operations = operations
        self._records = records
        self._narrative = narrative
        self._description = description

    def Describe(
        self, request: vendor_pb2.DescribeRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.DescribeResponse:
        """Name, version, limits and declared capabilities."""
        return self._description

    def Now(
        self, request: vendor_pb2.NowRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.NowResponse:
        """This process's clocks; reading them moves no mark."""
        return vendor_pb2.NowResponse(clock=clock.reading())

    def StateHash(
        self, request: vendor_pb2.StateHashRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.StateHashResponse:
        """Digest over the content of a namespace, without times and tokens."""
        namespace = check_id("namespace", request.namespace)
        # A digest of digests: one item at a time is in memory, whatever the namespace holds.
        digests: dict[str, JsonValue] = {
            "operations": [
                digest_hex(document) for document in self._operations.state_documents(namespace)
            ],
            "records": [digest_hex(part) for part in self._record_parts(namespace)],
        }
        if self._narrative is not None:
            digests["narrative"] = [
                digest_hex(part) for part in self._narrative.digest_parts(namespace)
            ]
        return vendor_pb2.StateHashResponse(digest=digest_hex(digests))

    def Export(
        self, request: vendor_pb2.ExportRequest, context: grpc.ServicerContext
    ) -> Iterator[vendor_pb2.ExportResponse]:
        """Streams everything that one scored surface of a namespace holds."""
        namespace = check_id("namespace", request.namespace)
        if request.surface not in self._description.scored_surfaces:
            raise ServiceError(
                grpc.StatusCode.INVALID_ARGUMENT,
                "surface is none of the scored surfaces; ask for one that Describe names",
            )
        for item_id, content, kind in self._items(namespace, request.surface):
            for start in range(0, max(len(content), 1), EXPORT_MESSAGE_BYTES):
                yield vendor_pb2.ExportResponse(
                    item_id=item_id,
                    content=content[start : start + EXPORT_MESSAGE_BYTES],
                    kind=kind,
                )

    def Reset(
        self, request: vendor_pb2.ResetRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.ResetResponse:
        """Removes everything of one namespace, of all parts at once."""
        namespace = check_id("namespace", request.namespace)
        with self._database.transaction() as conn:
            self._operations.reset(conn, namespace)
            if self._records is not None:
                self._records.reset(conn, namespace)
            if self._narrative is not None:
                self._narrative.reset(conn, namespace)
        return vendor_pb2.ResetResponse()

    def _record_parts(self, namespace: str) -> Iterator[JsonValue]:
        if self._records is not None:
            yield from self._records.digest_parts(namespace)

    def _items(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes, vendor_pb2.ExportKind.ValueType]]:
        for item_id, content in self._plain_items(namespace, surface):
            yield item_id, content, vendor_pb2.EXPORT_KIND_UNSPECIFIED
        if self._narrative is not None:
            yield from self._narrative.export(namespace, surface)

    def _plain_items(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes]]:
        if surface == vendor_pb2.SURFACE_CANONICAL:
            yield from self._operations.export_canonical(namespace)
        if surface == vendor_pb2.SURFACE_AUDIT:
            yield from self._operations.export_audit(namespace)
        if self._records is not None:
            yield from self._records.export(namespace, surface)
