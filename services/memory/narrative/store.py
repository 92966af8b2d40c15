"""The narrative part's tables: one row a turn with its parse, and which speaker uses which word.

Functions take a connection inside the caller's transaction and never commit. Facts, references and
supersession are functions of the turns (`book`), so nothing here depends on the order of arrival.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from services.memory.narrative.analysis import from_json, to_json
from services.memory.narrative.book import Told
from services.memory.narrative.model import TurnClass

__all__ = [
    "Counted",
    "count",
    "create_tables",
    "delete_namespace",
    "keep",
    "load",
    "load_before",
    "namespace_turns",
    "rank_speakers",
    "speakers",
]

SCHEMA = """
CREATE TABLE IF NOT EXISTS nar_turns (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    speaker TEXT NOT NULL,
    time TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    text TEXT NOT NULL,
    turn_class TEXT NOT NULL,
    analysis TEXT NOT NULL,
    UNIQUE (namespace, speaker, turn_id)
);
CREATE INDEX IF NOT EXISTS nar_turns_in_order ON nar_turns (namespace, speaker, time, turn_id);
CREATE TABLE IF NOT EXISTS nar_words (
    namespace TEXT NOT NULL,
    lemma TEXT NOT NULL,
    speaker TEXT NOT NULL,
    uses INTEGER NOT NULL,
    PRIMARY KEY (namespace, lemma, speaker)
) WITHOUT ROWID;
"""
INSERT_TURN = (
    "INSERT OR IGNORE INTO nar_turns"
    " (namespace, speaker, time, turn_id, text, turn_class, analysis) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
ADD_WORD = (
    "INSERT INTO nar_words VALUES (?, ?, ?, 1)"
    " ON CONFLICT (namespace, lemma, speaker) DO UPDATE SET uses = uses + 1"
)
LOAD = (
    "SELECT turn_id, time, text, turn_class, analysis FROM nar_turns"
    " WHERE namespace = ? AND speaker = ? ORDER BY time, turn_id"
)
LOAD_BEFORE = (
    "SELECT turn_id, time, text, turn_class, analysis FROM nar_turns"
    " WHERE namespace = ? AND speaker = ? AND time <= ? AND turn_id <> ?"
    " ORDER BY time DESC, turn_id DESC LIMIT ?"
)
COUNT = "SELECT COUNT(*), MAX(row) FROM nar_turns WHERE namespace = ? AND speaker = ?"
COUNT_ALL = "SELECT COUNT(*), MAX(row) FROM nar_turns WHERE namespace = ?"
SPEAKERS = "SELECT DISTINCT speaker FROM nar_turns WHERE namespace = ? ORDER BY speaker"
USES = "SELECT speaker, uses FROM nar_words WHERE namespace = ? AND lemma = ? LIMIT 2000"


@dataclass(frozen=True, slots=True)
class Counted:
    """State of a shelf: equal values mean equal turns, since no row's number comes twice.

    Attributes:
        turns: how many.
        last: number of the newest row.
    """

    turns: int
    last: int


def create_tables(conn: sqlite3.Connection) -> None:
    """Creates what is missing, statement by statement, inside the caller's transaction."""
    for statement in SCHEMA.split(";"):
        if statement.strip():
            conn.execute(statement)


def keep(
    conn: sqlite3.Connection, namespace: str, speaker: str, told: Told, lemmas: Sequence[str]
) -> bool:
    """Keeps a turn with its words; a turn that is kept already stays as it is.

    Returns:
        True when it was new.
    """
    row = (
        namespace,
        speaker,
        told.time,
        told.turn_id,
        told.text,
        str(told.turn_class),
        to_json(told.analysis),
    )
    if not conn.execute(INSERT_TURN, row).rowcount:
        return False
    conn.executemany(ADD_WORD, [(namespace, lemma, speaker) for lemma in lemmas])
    return True


def load(conn: sqlite3.Connection, namespace: str, speaker: str) -> tuple[Told, ...]:
    """A speaker's turns in the order of their times."""
    return _read(conn.execute(LOAD, (namespace, speaker)))


def load_before(
    conn: sqlite3.Connection, namespace: str, speaker: str, told: Told, most: int
) -> tuple[Told, ...]:
    """The latest turns, other than this one, that are no later than it; the latest is first."""
    return _read(conn.execute(LOAD_BEFORE, (namespace, speaker, told.time, told.turn_id, most)))


def _read(rows: Iterable[tuple[str, str, str, str, str]]) -> tuple[Told, ...]:
    return tuple(
        Told(turn_id, time, text, TurnClass(turn_class), from_json(analysis))
        for turn_id, time, text, turn_class, analysis in rows
    )


def count(conn: sqlite3.Connection, namespace: str, speaker: str | None = None) -> Counted:
    """State of a speaker's turns, or of a whole namespace."""
    found = (
        conn.execute(COUNT_ALL, (namespace,))
        if speaker is None
        else conn.execute(COUNT, (namespace, speaker))
    ).fetchone()
    return Counted(found[0], found[1] or 0)


def speakers(conn: sqlite3.Connection, namespace: str) -> tuple[str, ...]:
    """Everybody who told something, sorted."""
    return tuple(name for (name,) in conn.execute(SPEAKERS, (namespace,)))


def rank_speakers(
    conn: sqlite3.Connection, namespace: str, lemmas: Sequence[str], most: int
) -> tuple[str, ...]:
    """The speakers whose words fit best: each word counts by how few speakers use it."""
    points: dict[str, float] = {}
    for lemma in lemmas:
        using = conn.execute(USES, (namespace, lemma)).fetchall()
        for speaker, uses in using:
            points[speaker] = points.get(speaker, 0.0) + (1 + 0.1 * min(uses, 5)) / len(using)
    ordered = sorted(points.items(), key=lambda item: (-item[1], item[0]))
    return tuple(speaker for speaker, _ in ordered[:most])


def namespace_turns(conn: sqlite3.Connection, namespace: str) -> Iterator[tuple[str, Told]]:
    """Every turn of a namespace with its speaker, by speaker and time."""
    for speaker in speakers(conn, namespace):
        for told in load(conn, namespace, speaker):
            yield speaker, told


def delete_namespace(conn: sqlite3.Connection, namespace: str) -> None:
    """Removes all of a namespace."""
    conn.execute("DELETE FROM nar_turns WHERE namespace = ?", (namespace,))
    conn.execute("DELETE FROM nar_words WHERE namespace = ?", (namespace,))
