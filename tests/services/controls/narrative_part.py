"""Narrative parts of controls on databases of this process, as their servicers are called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from memqual.v1 import narrative_pb2, vendor_pb2
from services.common.database import Database
from services.controls.registry import FLAWS
from services.memory.parts import NarrativePart
from services.memory.process import Composition

__all__ = ["LATER", "Talk", "talk"]

SPEAKER = "Rosalind Achebe"
AT = "2026-05-04T09:15"
LATER = "2026-05-20T18:40"


class Servicer(Protocol):
    """What a narrative part answers with."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse: ...
    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse: ...


@dataclass(frozen=True)
class Talk:
    """One life of a part.

    Attributes:
        part: the part.
        database: where it keeps what it keeps.
    """

    part: NarrativePart
    database: Database

    @property
    def servicer(self) -> Servicer:
        """What it answers with."""
        return cast(Servicer, self.part.servicer)  # type: ignore[attr-defined]  # of every part

    def tell(
        self, text: str, time: str = AT, speaker: str = SPEAKER, namespace: str = "n"
    ) -> narrative_pb2.WriteTrace:
        """Tells a turn."""
        turn = narrative_pb2.Turn(namespace=namespace, speaker=speaker, time=time, text=text)
        return self.servicer.take(turn).trace

    def ask(
        self, question: str, speaker: str = SPEAKER, namespace: str = "n"
    ) -> narrative_pb2.Answer:
        """Asks a question."""
        request = narrative_pb2.AskRequest(
            namespace=namespace, question=question, speaker=speaker, time=LATER
        )
        return self.servicer.reply(request).answer

    def exported(self, kind: vendor_pb2.ExportKind.ValueType, namespace: str = "n") -> list[str]:
        """What the canonical surface holds of one kind."""
        items = self.part.export(namespace, vendor_pb2.SURFACE_CANONICAL)
        return [content.decode() for _, content, of_kind in items if of_kind == kind]

    def reset(self, namespace: str = "n") -> None:
        """Removes a namespace."""
        with self.database.transaction() as conn:
            self.part.reset(conn, namespace)


@contextmanager
def talk(folder: Path, flaw: str = "") -> Iterator[Talk]:
    """A life of the part of a control, or of the reference for no flaw, on a folder's store."""
    composition = FLAWS[flaw].composition if flaw else Composition()
    assert composition.narrative is not None
    database = Database(folder / "memory.db")
    try:
        yield Talk(composition.narrative(database), database)
    finally:
        database.close()
