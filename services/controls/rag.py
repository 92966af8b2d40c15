"""The baseline: sentences, their vectors, and the nearest of them; nothing else.

Turns are cut into sentences, each embedded by the reference's own sentence encoder, so that the two
differ by what they do and not by what they have: as it is, for who asks in one's own name, and
after its speaker's name, for who asks over all speakers. The answer is
what lies nearest to the question as it was asked, best first, until an answer is full. Equal
cosines go to what was said later. Nothing is declined but where nothing was told: of the variants
that docs/narrative.md compares this one scores best.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.common.database import Database
from services.controls import plain_turns
from services.controls.chunks import ANSWER_WORDS, sentences
from services.memory.narrative.encoder import SIZE, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["RagMemory", "Retrieval"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS control_chunks (
    turn INTEGER NOT NULL REFERENCES control_turns (row) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    vector BLOB NOT NULL,
    named_vector BLOB NOT NULL,
    PRIMARY KEY (turn, place)
) WITHOUT ROWID
"""
_INSERT = "INSERT INTO control_chunks VALUES (?, ?, ?, ?, ?)"
_OF_SPEAKER = (
    "SELECT c.text, c.vector FROM control_chunks c JOIN control_turns t ON t.row = c.turn"
    " WHERE t.namespace = ? AND t.speaker = ? ORDER BY t.time, t.row, c.place"
)
_OF_ALL = (
    "SELECT c.text, c.named_vector FROM control_chunks c JOIN control_turns t ON t.row = c.turn"
    " WHERE t.namespace = ? ORDER BY t.time, t.row, c.place"
)
_STORED = "<f4"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How an answer is made of the nearest sentences.

    Attributes:
        words: words that the answer may have.
        most: sentences that it may join.
        floor: cosine below which even the nearest answers nothing; None declines nothing.
    """

    words: int = ANSWER_WORDS
    most: int = ANSWER_WORDS
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Sentences in the order of their times, with their vectors, and the state they are of."""

    state: plain_turns.State
    texts: tuple[str, ...]
    matrix: "Floats"


def _vectors(texts: Sequence[str]) -> "Floats":
    """One row a text."""
    rows = [np.zeros((0, SIZE), dtype=np.float32), *(encode(text)[None, :] for text in texts)]
    return np.concatenate(rows)


class RagMemory:
    """The baseline over one database; safe for several threads."""

    def __init__(self, database: Database, retrieval: Retrieval | None = None) -> None:
        """Creates its own table where it is missing; that of turns is there.

        Args:
            database: the store.
            retrieval: how answers are made; None: as the baseline does it.
        """
        self._database = database
        self._retrieval = retrieval or Retrieval()
        self._lock = threading.Lock()
        self._shelves: dict[tuple[str, str], _Shelf] = {}
        with database.transaction() as conn:
            conn.execute(_SCHEMA)

    def ingest(self, namespace: str, speaker: str, time: str, text: str) -> None:
        """Takes a turn; durable when it returns."""
        chunks = sentences(text)
        plain = _vectors(chunks).astype(_STORED)
        named = _vectors([f"{speaker}: {chunk}" for chunk in chunks]).astype(_STORED)
        with self._database.transaction() as conn:
            turn = plain_turns.keep(conn, namespace, speaker, time, text)
            if turn:
                conn.executemany(
                    _INSERT,
                    [
                        (turn, place, chunk, plain[place].tobytes(), named[place].tobytes())
                        for place, chunk in enumerate(chunks)
                    ],
                )

    def ask(self, namespace: str, question: str, speaker: str) -> str:
        """The nearest sentences of a speaker, or of all; empty where there are none."""
        shelf = self._shelf(namespace, speaker)
        if not shelf.texts:
            return ""
        scores = shelf.matrix @ encode(question)
        floor = self._retrieval.floor
        if floor is not None and float(scores.max()) < floor:
            return ""
        # Sentences stand in the order of their times: of equals the last comes first.
        order = np.lexsort((-np.arange(len(scores)), -scores))
        return " ".join(self._fill(shelf.texts, order.tolist()))

    def chunks(self, namespace: str) -> tuple[str, ...]:
        """All sentences of a namespace."""
        return self._shelf(namespace, "").texts

    def _fill(self, texts: tuple[str, ...], order: list[int]) -> Iterator[str]:
        """The first sentence, then each that still fits."""
        room, told = self._retrieval.words, 0
        for at in order:
            size = len(texts[at].split())
            if size <= room:
                yield texts[at]
                room, told = room - size, told + 1
            if told == self._retrieval.most or room == 0:
                return

    def _shelf(self, namespace: str, speaker: str) -> _Shelf:
        key = (namespace, speaker)
        with self._database.read() as conn:
            state = plain_turns.state(conn, namespace)
            with self._lock:
                kept = self._shelves.get(key)
            if kept is not None and kept.state == state:
                return kept
            found = conn.execute(*((_OF_SPEAKER, key) if speaker else (_OF_ALL, key[:1])))
            rows = found.fetchall()
        columns = [np.frombuffer(vector, dtype=_STORED) for _, vector in rows]
        matrix = np.stack(columns).astype(np.float32) if columns else _vectors([])
        shelf = _Shelf(state, tuple(text for text, _ in rows), matrix)
        with self._lock:
            self._shelves[key] = shelf
        return shelf
