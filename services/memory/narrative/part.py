"""Puts the narrative part together for the memory's process (see `services.memory.parts`)."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import grpc

from memqual.v1 import narrative_pb2, narrative_pb2_grpc, vendor_pb2
from services.common.canonical import JsonValue
from services.common.database import Database, Synchronous
from services.memory.narrative import language, vectors
from services.memory.narrative.facts import Fact
from services.memory.narrative.memory import Memory
from services.memory.narrative.servicer import NarrativeServicer

__all__ = ["Evaluated", "Narrative", "create", "open_part"]

CAPABILITIES: tuple[tuple[vendor_pb2.Capability.ValueType, str], ...] = (
    (
        vendor_pb2.CAPABILITY_NARRATIVE,
        "English; answers are verbatim stretches of what was told, never a summary.",
    ),
    (vendor_pb2.CAPABILITY_NARRATIVE_TRACES, ""),
)


class Narrative:
    """The narrative part: NarrativeService, and what Vendor asks of it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._servicer = NarrativeServicer(memory)

    @property
    def registrar(self) -> Callable[[grpc.Server], None]:
        """Adds NarrativeService to a server that has not started."""
        return self._register

    @property
    def model_disclosure(self) -> str:
        """What statistical models are in the loop, for Describe."""
        return (
            f"No language model. A statistical parser ({language.MODEL_NAME}), static word vectors"
            f" ({vectors.MODEL_NAME}) and a linear ranking with learned weights; all offline."
        )

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
    ) -> Iterator[tuple[str, bytes]]:
        """(item id, raw content) of all that is kept of a namespace on one surface."""
        if surface != vendor_pb2.SURFACE_CANONICAL:
            return
        for speaker, told in self._memory.turns(namespace):
            yield f"narrative.turn.{told.turn_id}", told.text.encode("utf-8")
        for speaker, fact in self._memory.facts(namespace):
            yield f"narrative.fact.{fact.fact_id}", fact_document(speaker, fact).encode("utf-8")

    def reset(self, conn: sqlite3.Connection, namespace: str) -> None:
        """Removes all of a namespace inside the caller's transaction."""
        self._memory.reset(conn, namespace)

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        """What enters StateHash: every turn by speaker and time, with its facts' source."""
        for speaker, told in self._memory.turns(namespace):
            yield {
                "speaker": speaker,
                "text": told.text,
                "time": told.time,
                "turn": told.turn_id,
            }

    def _register(self, server: grpc.Server) -> None:
        narrative_pb2_grpc.add_NarrativeServiceServicer_to_server(self._servicer, server)


def fact_document(speaker: str, fact: Fact) -> str:
    """A fact as Export shows it."""
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
    return Narrative(Memory(database))


class Evaluated:
    """The part without a server, for `tests.orchestrator.suites.narrative.evaluate`."""

    def __init__(self, folder: Path) -> None:
        self._database = Database(folder / "memory.db", synchronous=Synchronous.NORMAL)
        self._memory = Memory(self._database)
        self._servicer = NarrativeServicer(self._memory)

    def ingest(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Takes one turn."""
        return self._servicer.take(turn)

    def ask(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Answers one question."""
        return self._servicer.reply(request)

    def export(self, namespace: str) -> list[str]:
        """Texts of all facts."""
        return [fact_document(speaker, fact) for speaker, fact in self._memory.facts(namespace)]

    def close(self) -> None:
        """Closes the store."""
        self._database.close()


def open_part(folder: Path) -> Evaluated:
    """The part on a new folder."""
    return Evaluated(folder)
