"""Content flow: which kept, doubted or forgotten texts a new text repeats (DESIGN §4).

Fingerprints lie in three kinds of spaces: all kept records of a principal (rank 0: nothing speaks
against the record), those doubted in the whole namespace, and the forgotten ones of a principal.
Every question is a point look-up, so that its cost does not grow with what is kept.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.memory.records.places import Place

__all__ = ["Doubt", "Followed", "bury", "drop", "follow", "put"]

# Records that share one fingerprint and are looked at; the oldest and least doubted first.
SHARERS_MAX = 32
FOUND_PARENTS_MAX = 16
DOUBTED_MAX = 64

_INSERT = (
    "INSERT OR IGNORE INTO mem_flow (space, fingerprint, rank, row, total) VALUES (?, ?, ?, ?, ?)"
)
_DELETE = "DELETE FROM mem_flow WHERE space = ? AND fingerprint = ? AND rank = ? AND row = ?"
# Most runs of a new text are new: the few that are not are picked out in one statement a space.
_KNOWN = (
    "SELECT value FROM json_each(?) WHERE EXISTS"
    " (SELECT 1 FROM mem_flow WHERE space = ? AND fingerprint = value)"
)
_SHARERS = (
    "SELECT rank, row, total FROM mem_flow WHERE space = ? AND fingerprint = ?"
    f" ORDER BY rank, row LIMIT {SHARERS_MAX}"
)
_WORST = (
    "SELECT row FROM mem_flow WHERE space = ? AND fingerprint = ? ORDER BY rank DESC, row LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What speaks against a record's words.

    Attributes:
        rank: how much, 0 for nothing.
        everywhere: it holds in the whole namespace, not for this principal only.
    """

    rank: int
    everywhere: bool


@dataclass(frozen=True, slots=True)
class Followed:
    """What a new text repeats.

    Attributes:
        doubted: rows of doubted records of this principal, or doubted in the whole namespace,
            whose words it shares, where no clean record of the same principal has those words.
        contained: rows of the same principal's kept records whose whole text it contains.
        forgotten: rows of the same principal's forgotten records whose whole text it contains.
    """

    doubted: tuple[int, ...]
    contained: tuple[int, ...]
    forgotten: tuple[int, ...]


def put(
    conn: sqlite3.Connection, place: Place, row: int, prints: Sequence[int], doubt: Doubt
) -> None:
    """Keeps a record's fingerprints with what speaks against it."""
    conn.executemany(_INSERT, _rows(place, row, prints, doubt))


def drop(
    conn: sqlite3.Connection, place: Place, row: int, prints: Sequence[int], doubt: Doubt
) -> None:
    """Removes what `put` kept with the same arguments."""
    conn.executemany(_DELETE, [values[:4] for values in _rows(place, row, prints, doubt)])


def bury(conn: sqlite3.Connection, place: Place, row: int, prints: Sequence[int]) -> None:
    """Keeps a forgotten record's fingerprints, so that its text is known when it comes again."""
    space = _forgotten_space(place)
    conn.executemany(_INSERT, [(space, value, 0, row, len(prints)) for value in prints])


def follow(conn: sqlite3.Connection, place: Place, asked: Iterable[int]) -> Followed:
    """Finds what a text with these fingerprints repeats."""
    every = json.dumps(list(asked))
    shared: Counter[tuple[int, int]] = Counter()
    explained: set[int] = set()
    doubted: Counter[int] = Counter()
    for value in _known(conn, _kept_space(place), every):
        sharers = conn.execute(_SHARERS, (_kept_space(place), value)).fetchall()
        shared.update((row, total) for _, row, total in sharers)
        if sharers[0][0] == 0:
            explained.add(value)  # a clean record of this principal says the same words
        else:
            doubted[_worst(conn, _kept_space(place), value)] += 1
    for value in _known(conn, _doubted_space(place), every):
        if value not in explained:
            doubted[_worst(conn, _doubted_space(place), value)] += 1
    buried = Counter(
        (row, total)
        for value in _known(conn, _forgotten_space(place), every)
        if value not in explained
        for _, row, total in conn.execute(_SHARERS, (_forgotten_space(place), value))
    )
    return Followed(
        doubted=tuple(row for row, _ in doubted.most_common(DOUBTED_MAX)),
        contained=_whole(shared)[:FOUND_PARENTS_MAX],
        forgotten=_whole(buried),
    )


def _known(conn: sqlite3.Connection, space: int, asked_json: str) -> list[int]:
    return [value for (value,) in conn.execute(_KNOWN, (asked_json, space))]


def _worst(conn: sqlite3.Connection, space: int, value: int) -> int:
    return int(conn.execute(_WORST, (space, value)).fetchone()[0])


def _whole(found: Counter[tuple[int, int]]) -> tuple[int, ...]:
    """Rows of which every fingerprint was found, the longest text first."""
    whole = [(total, row) for (row, total), count in found.items() if count >= total]
    return tuple(row for _, row in sorted(whole, key=lambda pair: (-pair[0], pair[1])))


def _rows(
    place: Place, row: int, prints: Sequence[int], doubt: Doubt
) -> list[tuple[int, int, int, int, int]]:
    total = len(prints)
    rows = [(_kept_space(place), value, doubt.rank, row, total) for value in prints]
    if doubt.rank and doubt.everywhere:
        rows += [(_doubted_space(place), value, doubt.rank, row, total) for value in prints]
    return rows


def _doubted_space(place: Place) -> int:
    return place.namespace_id * 4


def _kept_space(place: Place) -> int:
    return place.principal_id * 4 + 1


def _forgotten_space(place: Place) -> int:
    return place.principal_id * 4 + 2
