"""Puts the narrative part together for the memory's process (see `services.memory.parts`).

The parser, the vectors and numpy are imported at the first turn or question: a memory that never
sees one starts as fast as it would without this part.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import grpc

from memqual.v1 import narrative_pb2, narrative_pb2_grpc, vendor_pb2
from services.common.canonical import JsonValue
from services.common.database import Database, Synchronous
from services.memory.narrative import store
from services.memory.narrative.language import DISCLOSURE
from services.memory.narrative.servicer import NarrativeServicer

if TYPE_CHECKING:
    from services.memory.narrative.facts import Fact
    from services.memory.narrative.memory import Memory

__all__ = ["Evaluated", "Narrative", "create", "open_part"]

CAPABILITIES: tuple[tuple[vendor_pb2.Capability.ValueType, str], ...] = (
    (
        vendor_pb2.CAPABILITY_NARRATIVE,
        "English; answers are verbatim stretches of what was told, never a summary.",
    ),
    (vendor_pb2.CAPABILITY_NARRATIVE_TRACES, ""),
)


class Narrative:
    """The narrative part: NarrativeService, and what Vendor asks of it (`parts.NarrativePart`)."""

    def __init__(self, database: Database) -> None:
        """Creates what is missing of its tables; raises DatabaseError."""
        self._database = database
        self._lock = threading.Lock()
        self._made: Memory | None = None
        self.servicer = NarrativeServicer(self.memory)
        with database.transaction() as conn:
            store.create_tables(conn)

    def memory(self) -> "Memory":
        """The memory, made at the first call."""
        with self._lock:
            if self._made is None:
                _keep_to_one_thread()
                from services.memory.narrative.memory import Memory

                self._made = Memory(self._database)
            return self._made

    @property
    def registrar(self) -> Callable[[grpc.Server], None]:
        """Adds NarrativeService to a server that has not started."""
        return self._register

    @property
    def model_disclosure(self) -> str:
        """What statistical models answer, as Describe tells it."""
        return DISCLOSURE

    def capabilities(self) -> list[vendor_pb2.CapabilityDeclaration]:
        """The narrative capabilities; equal on every call."""
        return [
            vendor_pb2.CapabilityDeclaration(
                capability=capability,
                status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
                enforcement=vendor_pb2.ENFORCEMENT_NATIVE,
                limitation=limitation,
            )
            for capability, limitation in CAPABILITIES
        ]

    def export(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes, vendor_pb2.ExportKind.ValueType]]:
        """(item id, raw content, kind) of all that is kept of a namespace on one surface."""
        if surface != vendor_pb2.SURFACE_CANONICAL or not self._holds(namespace):
            return
        for _, told in self.memory().turns(namespace):
            turn = f"narrative.turn.{told.turn_id}"
            yield turn, told.text.encode("utf-8"), vendor_pb2.EXPORT_KIND_RAW_TURN
        for speaker, fact in self.memory().facts(namespace):
            content = fact_document(speaker, fact).encode("utf-8")
            yield f"narrative.fact.{fact.fact_id}", content, vendor_pb2.EXPORT_KIND_FACT

    def reset(self, conn: sqlite3.Connection, namespace: str) -> None:
        """Removes all of a namespace inside the caller's transaction."""
        store.delete_namespace(conn, namespace)

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        """What enters StateHash: every turn by speaker and time."""
        with self._database.read() as conn:
            for speaker, told in store.namespace_turns(conn, namespace):
                yield {
                    "speaker": speaker,
                    "text": told.text,
                    "turn": told.turn_id,
                    "turn_class": str(told.turn_class),
                }

    def _holds(self, namespace: str) -> bool:
        with self._database.read() as conn:
            return bool(store.count(conn, namespace).turns)

    def _register(self, server: grpc.Server) -> None:
        narrative_pb2_grpc.add_NarrativeServiceServicer_to_server(self.servicer, server)


def _keep_to_one_thread() -> None:
    """Products of vectors are small here: more threads wait for each other longer than they work.

    On two processors a question took twice as long with two; and sums are added up in one order on
    every machine. Read by numpy's libraries when they are loaded, so later it changes nothing.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ.setdefault(name, "1")


def fact_document(speaker: str, fact: "Fact") -> str:
    """A fact as Export shows it: canonical enough to be equal for equal facts."""
    return json.dumps(
        {
            "about": list(fact.about),
            "modality": fact.modality,
            "negated": fact.negated,
            "object": fact.object,
            "predicate": fact.predicate,
            "speaker": speaker,
            "subject": fact.subject,
            "text": fact.text,
            "time": fact.time,
            "times": [[time.text, time.resolves_to, str(time.status)] for time in fact.times],
        },
        ensure_ascii=False,
        sort_keys=True,
    )


def create(database: Database) -> Narrative:
    """Creates the part's tables and its operations; raises DatabaseError where it cannot."""
    return Narrative(database)


class Evaluated:
    """The part without a server, for `tests.orchestrator.suites.narrative.evaluate`."""

    def __init__(self, folder: Path) -> None:
        """Opens a store in a folder."""
        self._database = Database(folder / "memory.db", synchronous=Synchronous.NORMAL)
        self._part = Narrative(self._database)

    def ingest(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Takes one turn."""
        return self._part.servicer.take(turn)

    def ask(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Answers one question."""
        return self._part.servicer.reply(request)

    def export(self, namespace: str) -> list[str]:
        """All facts as Export shows them."""
        memory = self._part.memory()
        return [fact_document(speaker, fact) for speaker, fact in memory.facts(namespace)]

    def reset(self, namespace: str) -> None:
        """Removes a namespace."""
        with self._database.transaction() as conn:
            self._part.reset(conn, namespace)

    def close(self) -> None:
        """Closes the store."""
        self._database.close()


def open_part(folder: Path) -> Evaluated:
    """The part on a new folder."""
    return Evaluated(folder)
