"""The inverted index: which records of a circle speak about a question's terms.

One shelf a circle and tier (authoritative or not), so that neither other principals' records nor a
flood of doubted ones changes what a question finds among the authoritative: not by rank (document
frequencies are the shelf's own) and not by time (only the shelf's postings are read).
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from services.memory.records.store import sql_list

__all__ = ["AUTHORITATIVE", "OTHER", "Match", "Shelf", "drop", "put", "search"]

# The entry of this row counts a term's records; beside them it costs no page of its own.
COUNTER_ROW = 0

AUTHORITATIVE = 1
OTHER = 0

# Of one term, the newest so many records are looked at; of a question, so many in all.
POSTINGS_MAX = 1_000
CANDIDATES_MAX = 4_000
QUERY_TERMS_MAX = 64
# Weights of a term move from equal (few records) to inverse frequency (many).
FEW_RECORDS = 10
SATURATION = 1.2
LENGTH_SHARE = 0.4
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Shelf:
    """One circle's records of one tier."""

    circle_id: int
    tier: int


@dataclass(frozen=True, slots=True)
class Match:
    """A record that shares enough of a question.

    Attributes:
        coverage: share of the question's weight that the record has, 0.0..1.0.
        score: larger is closer.
    """

    row: int
    coverage: float
    score: float


@dataclass(slots=True)
class _Candidate:
    shelf: Shelf
    length: int
    counts: dict[str, int] = field(default_factory=dict)


def put(conn: sqlite3.Connection, shelf: Shelf, row: int, terms: Counter[str]) -> None:
    """Puts a record on a shelf."""
    length = terms.total()
    where = (shelf.circle_id, shelf.tier)
    conn.executemany(
        "INSERT INTO mem_postings VALUES (?, ?, ?, ?, ?, ?)",
        [(*where, term, row, count, length) for term, count in terms.items()],
    )
    conn.executemany(
        "INSERT INTO mem_postings VALUES (?, ?, ?, ?, 1, 0)"
        " ON CONFLICT DO UPDATE SET count = count + 1",
        [(*where, term, COUNTER_ROW) for term in terms],
    )
    conn.execute(
        "INSERT INTO mem_shelves VALUES (?, ?, 1, ?)"
        " ON CONFLICT DO UPDATE SET records = records + 1, terms = terms + excluded.terms",
        (*where, length),
    )


def drop(conn: sqlite3.Connection, shelf: Shelf, row: int, terms: Counter[str]) -> None:
    """Takes a record off its shelf; a term that no other record has leaves no trace."""
    where = (shelf.circle_id, shelf.tier)
    conn.executemany(
        "DELETE FROM mem_postings WHERE circle_id = ? AND tier = ? AND term = ? AND row = ?",
        [(*where, term, row) for term in terms],
    )
    counter = "WHERE circle_id = ? AND tier = ? AND term = ? AND row = ?"
    counters = [(*where, term, COUNTER_ROW) for term in terms]
    conn.executemany(f"UPDATE mem_postings SET count = count - 1 {counter}", counters)
    conn.executemany(f"DELETE FROM mem_postings {counter} AND count = 0", counters)
    conn.execute(
        "UPDATE mem_shelves SET records = records - 1, terms = terms - ?"
        " WHERE circle_id = ? AND tier = ?",
        (terms.total(), *where),
    )


def search(
    conn: sqlite3.Connection,
    shelves: Sequence[Shelf],
    terms: Iterable[str],
    answers: Callable[[float], bool],
) -> list[Match]:
    """Records that answer a question, closest first; ties in no particular order.

    Args:
        conn: a connection in a transaction.
        shelves: where to look.
        terms: the question's terms.
        answers: whether a coverage is enough; must hold for every larger one, too.
    """
    wanted = tuple(dict.fromkeys(terms))[:QUERY_TERMS_MAX]
    records, length = _totals(conn, shelves)
    if not wanted or not records:
        return []
    known = _frequencies(conn, shelves, wanted)
    weights = {
        term: math.log1p((records + FEW_RECORDS) / (known[term] + FEW_RECORDS)) for term in wanted
    }
    total = sum(weights.values())
    rare_first = sorted((t for t in wanted if known[t]), key=lambda term: known[term])
    essential = _essential(rare_first, weights, total, answers)
    candidates = _candidates(conn, shelves, essential)
    cut = [term for term in essential if known[term] > POSTINGS_MAX]
    _complete(conn, candidates, [*cut, *rare_first[len(essential) :]])
    average = length / records
    found = [_match(row, entry, weights, total, average) for row, entry in candidates.items()]
    return sorted(
        (match for match in found if answers(match.coverage)),
        key=lambda match: match.score,
        reverse=True,
    )


def _totals(conn: sqlite3.Connection, shelves: Sequence[Shelf]) -> tuple[int, int]:
    records = length = 0
    for shelf in shelves:
        row = conn.execute(
            "SELECT records, terms FROM mem_shelves WHERE circle_id = ? AND tier = ?",
            (shelf.circle_id, shelf.tier),
        ).fetchone()
        if row is not None:
            records, length = records + row[0], length + row[1]
    return records, length


def _frequencies(
    conn: sqlite3.Connection, shelves: Sequence[Shelf], wanted: Sequence[str]
) -> Counter[str]:
    known: Counter[str] = Counter()
    for shelf in shelves:
        for term, records in conn.execute(
            "SELECT term, count FROM mem_postings WHERE circle_id = ? AND tier = ?"
            f" AND term IN ({sql_list(len(wanted))}) AND row = ?",
            (shelf.circle_id, shelf.tier, *wanted, COUNTER_ROW),
        ):
            known[term] += records
    return known


def _essential(
    rare_first: Sequence[str],
    weights: dict[str, float],
    total: float,
    answers: Callable[[float], bool],
) -> list[str]:
    """The rarest terms of which every answer has at least one: all others together are too few."""
    rest = sum(weights[term] for term in rare_first)
    essential: list[str] = []
    for term in rare_first:
        if not answers(rest / total):
            break
        essential.append(term)
        rest -= weights[term]
    return essential


def _candidates(
    conn: sqlite3.Connection, shelves: Sequence[Shelf], essential: Sequence[str]
) -> dict[int, _Candidate]:
    candidates: dict[int, _Candidate] = {}
    for term in essential:
        for shelf in shelves:
            for row, count, length in conn.execute(
                "SELECT row, count, length FROM mem_postings"
                " WHERE circle_id = ? AND tier = ? AND term = ? AND row > ?"
                " ORDER BY row DESC LIMIT ?",
                (shelf.circle_id, shelf.tier, term, COUNTER_ROW, POSTINGS_MAX),
            ):
                entry = candidates.get(row)
                if entry is None:
                    if len(candidates) >= CANDIDATES_MAX:
                        continue
                    entry = candidates[row] = _Candidate(shelf, length)
                entry.counts[term] = count
    return candidates


def _complete(
    conn: sqlite3.Connection, candidates: dict[int, _Candidate], terms: Sequence[str]
) -> None:
    """Looks up, for each candidate, the terms that were not read in full."""
    by_shelf: dict[Shelf, list[int]] = {}
    for row, entry in candidates.items():
        by_shelf.setdefault(entry.shelf, []).append(row)
    for shelf, rows in by_shelf.items():
        for term in terms:
            for start in range(0, len(rows), _CHUNK):
                chunk = rows[start : start + _CHUNK]
                for row, count in conn.execute(
                    "SELECT row, count FROM mem_postings WHERE circle_id = ? AND tier = ?"
                    f" AND term = ? AND row IN ({sql_list(len(chunk))})",
                    (shelf.circle_id, shelf.tier, term, *chunk),
                ):
                    candidates[row].counts[term] = count


def _match(
    row: int, entry: _Candidate, weights: dict[str, float], total: float, average: float
) -> Match:
    """Coverage, and a BM25 score over the same weights."""
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * entry.length / max(average, 1.0))
    covered = sum(weights[term] for term in entry.counts)
    score = sum(
        weights[term] * count * (SATURATION + 1) / (count + norm)
        for term, count in entry.counts.items()
    )
    return Match(row, covered / total, score)
