"""Puts the records part together for the memory's process (see `services.memory.parts`)."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import grpc

from memqual.v1 import memory_pb2_grpc, vendor_pb2
from services.common.canonical import JsonValue
from services.common.challenges import load_public_keys
from services.common.database import Database
from services.memory.records import reporting, schema
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import TAINT_ORDER
from services.memory.records.policy import EARLIER_TEXTS_MAX, Policy
from services.memory.records.recalling import Recalling
from services.memory.records.receipts import KnownOperations
from services.memory.records.review import Review
from services.memory.records.secret_pieces import drop_read_texts
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing

__all__ = ["Records", "create"]

_CAPABILITIES: tuple[tuple[vendor_pb2.Capability.ValueType, str], ...] = (
    (vendor_pb2.CAPABILITY_SOURCE_TRUST, ""),
    (vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT, ""),
    (
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
        "Undeclared parents are found where five meaningful words in a row, or a whole shorter"
        " text, come again; free rewording is not.",
    ),
    (vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY, ""),
    (vendor_pb2.CAPABILITY_AUTHORITY_GATING, ""),
    (vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL, ""),
    (
        vendor_pb2.CAPABILITY_SECRET_BLOCKING,
        "Published token formats, private keys, card numbers, named passwords and keys, random"
        " strings, their encodings, and two halves among a principal's last"
        f" {EARLIER_TEXTS_MAX} texts; a split plain password or unnamed card number is not.",
    ),
)


class Records:
    """The records part: MemoryService, and what Vendor asks of it (`parts.RecordsPart`)."""

    def __init__(self, desk: Desk, servicer: MemoryServicer) -> None:
        self._desk = desk
        self._servicer = servicer

    @property
    def registrar(self) -> Callable[[grpc.Server], None]:
        """Adds MemoryService to a server that has not started."""
        return self._register

    @property
    def taint_order(self) -> Sequence[str]:
        """Published taints, least restrictive first (DESIGN §4)."""
        return tuple(str(taint) for taint in TAINT_ORDER)

    def capabilities(self) -> list[vendor_pb2.CapabilityDeclaration]:
        """The integrity capabilities that this part declares; equal on every call."""
        return [
            vendor_pb2.CapabilityDeclaration(
                capability=capability,
                status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
                enforcement=vendor_pb2.ENFORCEMENT_NATIVE,
                limitation=limitation,
            )
            for capability, limitation in _CAPABILITIES
        ]

    def export(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes]]:
        """(item id, raw content) of all that is kept on one surface of a namespace."""
        return reporting.export(self._desk.database, namespace, surface)

    def reset(self, conn: sqlite3.Connection, namespace: str) -> None:
        """Removes all of a namespace inside the caller's transaction."""
        schema.purge_namespace(conn, namespace)
        drop_read_texts()

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        """What enters StateHash: the namespace's records in their order."""
        return reporting.digest_parts(self._desk.database, namespace)

    def _register(self, server: grpc.Server) -> None:
        memory_pb2_grpc.add_MemoryServiceServicer_to_server(self._servicer, server)


def create(
    database: Database,
    reviewer_keys_path: Path | None,
    policy: Policy | None = None,
    operations: KnownOperations | None = None,
) -> Records:
    """Creates the part's tables and its operations.

    Args:
        database: the memory's own file.
        reviewer_keys_path: reviewers' public keys; None or no file there means no reviewer.
        policy: the rules; the reference's own by default (controls give a flawed one).
        operations: read-only port to the continuity part; its tables in the same file by default.

    Raises:
        KeyFileError: the file of keys is malformed.
        DatabaseError: the tables cannot be created.
    """
    keys = load_public_keys(reviewer_keys_path)
    desk = Desk(database, policy or Policy(), operations)
    servicer = MemoryServicer(Writing(desk), Recalling(desk), Lifecycle(desk), Review(desk, keys))
    return Records(desk, servicer)
