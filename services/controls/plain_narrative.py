"""The narrative part of memories that do no more than keep turns: NarrativeService without traces.

What is said to a question is the one thing that such memories differ in.
"""

import datetime as dt
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

import grpc

from memqual.v1 import narrative_pb2, narrative_pb2_grpc, vendor_pb2
from services.common.canonical import JsonValue
from services.common.database import Database, Synchronous
from services.controls import plain_turns
from services.controls.plain_turns import PlainTurn
from services.memory.narrative.requests import CheckedServicer, checked_question, checked_turn

__all__ = ["Plain", "PlainEvaluated", "PlainMemory", "PlainServicer"]


class PlainMemory(Protocol):
    """What keeps turns in the table of `plain_turns`, and answers from them.

    What it keeps beside them goes with them (ON DELETE CASCADE).
    """

    def ingest(self, namespace: str, speaker: str, time: str, text: str) -> None:
        """Takes a turn; durable when it returns."""

    def ask(self, namespace: str, question: str, speaker: str) -> str:
        """An answer; empty where there is none, which is told as declined."""

    def chunks(self, namespace: str) -> tuple[str, ...]:
        """What is kept beside the turns themselves."""


class PlainServicer(CheckedServicer):
    """Checks what arrives as narrative.proto wants it, and hands it on."""

    def __init__(self, memory: Callable[[], PlainMemory]) -> None:
        """Serves the memory that the callable gives."""
        self._memory = memory

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Checks and takes a turn; raises ServiceError INVALID_ARGUMENT."""
        told = checked_turn(turn)
        self._memory().ingest(told.namespace, told.speaker, _local(told.time), told.text)
        return narrative_pb2.IngestResponse()

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Checks and answers a question; raises ServiceError INVALID_ARGUMENT."""
        asked = checked_question(request)
        text = self._memory().ask(asked.namespace, asked.question, asked.speaker)
        return narrative_pb2.AskResponse(
            answer=narrative_pb2.Answer(text=text, declined=not text.strip())
        )


class Plain:
    """A `parts.NarrativePart` over a plain memory.

    Args:
        database: where the turns are; their table is made here.
        make: makes the memory, at the first turn or question.
        disclosure: what statistical models answer, for Describe.
        limitation: what the memory does not do, for Describe.
    """

    def __init__(
        self,
        database: Database,
        make: Callable[[Database], PlainMemory],
        disclosure: str,
        limitation: str,
    ) -> None:
        self._database = database
        self._make = make
        self._lock = threading.Lock()
        self._made: PlainMemory | None = None
        self._disclosure = disclosure
        self._limitation = limitation
        self.servicer = PlainServicer(self.memory)
        with database.transaction() as conn:
            plain_turns.create_tables(conn)

    def memory(self) -> PlainMemory:
        """The memory, made at the first call."""
        with self._lock:
            if self._made is None:
                self._made = self._make(self._database)
            return self._made

    @property
    def registrar(self) -> Callable[[grpc.Server], None]:
        """Adds NarrativeService to a server that has not started."""
        return self._register

    @property
    def model_disclosure(self) -> str:
        """What statistical models answer, as Describe tells it."""
        return self._disclosure

    def capabilities(self) -> list[vendor_pb2.CapabilityDeclaration]:
        """Narrative without traces."""
        return [
            vendor_pb2.CapabilityDeclaration(
                capability=vendor_pb2.CAPABILITY_NARRATIVE,
                status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
                enforcement=vendor_pb2.ENFORCEMENT_NATIVE,
                limitation=self._limitation,
            )
        ]

    def export(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes, vendor_pb2.ExportKind.ValueType]]:
        """Turns, and what was made of them, on the canonical surface."""
        turns = self._turns(namespace) if surface == vendor_pb2.SURFACE_CANONICAL else ()
        for turn in turns:
            item_id = f"narrative.turn.{turn.row}"
            yield item_id, turn.text.encode("utf-8"), vendor_pb2.EXPORT_KIND_RAW_TURN
        for place, chunk in enumerate(self.memory().chunks(namespace) if turns else ()):
            item_id = f"narrative.chunk.{place}"
            yield item_id, chunk.encode("utf-8"), vendor_pb2.EXPORT_KIND_FACT

    def reset(self, conn: sqlite3.Connection, namespace: str) -> None:
        """Removes all of a namespace inside the caller's transaction."""
        plain_turns.delete_namespace(conn, namespace)

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        """Every turn: a narrative's times are content."""
        for turn in self._turns(namespace):
            yield {"speaker": turn.speaker, "text": turn.text, "time": turn.time}

    def _turns(self, namespace: str) -> tuple[PlainTurn, ...]:
        with self._database.read() as conn:
            return tuple(plain_turns.load(conn, namespace, ""))

    def _register(self, server: grpc.Server) -> None:
        narrative_pb2_grpc.add_NarrativeServiceServicer_to_server(self.servicer, server)


class PlainEvaluated:
    """A plain part without a server, for `tests.orchestrator.suites.narrative.evaluate`.

    Args:
        folder: a new folder.
        create: makes the part on a database.
    """

    def __init__(self, folder: Path, create: Callable[[Database], Plain]) -> None:
        self._database = Database(folder / "memory.db", synchronous=Synchronous.NORMAL)
        self._part = create(self._database)

    def ingest(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Takes one turn."""
        return self._part.servicer.take(turn)

    def ask(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Answers one question."""
        return self._part.servicer.reply(request)

    def export(self, namespace: str) -> list[str]:
        """What is kept beside the turns themselves."""
        return list(self._part.memory().chunks(namespace))

    def close(self) -> None:
        """Closes the store."""
        self._database.close()


def _local(time: str) -> str:
    """A local date-time to the second, so that texts sort as times do."""
    return dt.datetime.fromisoformat(time).replace(tzinfo=None).isoformat(timespec="seconds")
