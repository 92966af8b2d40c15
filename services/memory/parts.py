"""What the reference memory's process asks of the parts that it is composed of.

The process owns the database file and the Vendor service; a part owns its tables and its own
service. The records part (`services.memory.records.registrar.create`) serves MemoryService, the
integrity axis of DESIGN §4.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import grpc

from memqual.v1 import vendor_pb2
from services.common.canonical import JsonValue

__all__ = ["NarrativePart", "RecordsPart"]


class RecordsPart(Protocol):
    """The part that keeps records and serves MemoryService beside Vendor and Continuity.

    `services.memory.records.registrar.create(database, reviewer_keys_path)` returns one. Its tables
    are created there, in the process's own database file, so that one durable transaction can span
    parts.
    """

    @property
    def registrar(self) -> Callable[[grpc.Server], None]:
        """Adds MemoryService to a server that has not started."""

    @property
    def taint_order(self) -> Sequence[str]:
        """Published taints, least restrictive first (DESIGN §4), as Describe tells them."""

    def capabilities(self) -> list[vendor_pb2.CapabilityDeclaration]:
        """The integrity capabilities that this part declares; equal on every call."""

    def export(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes]]:
        """Yields (item id, raw content) of all that the part keeps on one surface of a namespace.

        Item ids are at most 128 bytes and stable; content may be of any length (the caller cuts
        it). An unknown namespace, or a surface that the part does not have, yields nothing.
        """

    def reset(self, conn: sqlite3.Connection, namespace: str) -> None:
        """Removes all of a namespace inside the caller's transaction; an unknown one is empty."""

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        """Yields what enters StateHash: the namespace's content in a stable order.

        Times, tokens and nonces stay out, so that the digest is equal across restarts.
        """


class NarrativePart(Protocol):
    """The part that keeps what people told, and serves NarrativeService.

    `services.memory.narrative.part.create(database)` returns one; its tables are in the process's
    own database file.
    """

    @property
    def registrar(self) -> Callable[[grpc.Server], None]:
        """Adds NarrativeService to a server that has not started."""

    @property
    def model_disclosure(self) -> str:
        """What statistical models answer, as Describe tells it."""

    def capabilities(self) -> list[vendor_pb2.CapabilityDeclaration]:
        """The narrative capabilities that this part declares; equal on every call."""

    def export(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes, vendor_pb2.ExportKind.ValueType]]:
        """Yields (item id, raw content, kind) of all that the part keeps on one surface.

        An unknown namespace, or a surface that the part does not have, yields nothing.
        """

    def reset(self, conn: sqlite3.Connection, namespace: str) -> None:
        """Removes all of a namespace inside the caller's transaction; an unknown one is empty."""

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        """Yields what enters StateHash: the turns in the order of their speakers and times."""
