"""Rows of challenges: issued, decided, or void since a subject was forgotten.

A void challenge keeps no digest of what it was about.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from memqual.v1 import common_pb2
from services.memory.records.model import Scope

__all__ = ["VOID", "Issued", "close", "count_open", "find", "insert", "purge_expired", "void"]

# Decision of a challenge whose subject was forgotten.
VOID = "void"
_OPEN = ""


@dataclass(frozen=True, slots=True)
class Issued:
    """A challenge as kept.

    Attributes:
        challenge: as issued; None once it is void.
        revisions: each record's revision when it was issued, by record id.
        decision: "" while open, then "approve", "reject" or VOID.
    """

    challenge_id: str
    challenge: common_pb2.Challenge | None
    scope: Scope
    revisions: Mapping[str, int]
    decision: str


def insert(
    conn: sqlite3.Connection,
    namespace_id: int,
    challenge: common_pb2.Challenge,
    scope: Scope,
    revisions: Mapping[str, int],
) -> None:
    """Keeps a challenge that was just made."""
    conn.execute(
        "INSERT INTO mem_challenges VALUES (?, ?, ?, ?, ?, ?, ?, '')",
        (
            challenge.challenge_id,
            namespace_id,
            challenge.SerializeToString(deterministic=True),
            json.dumps(asdict(scope), ensure_ascii=False),
            json.dumps(dict(revisions)),
            challenge.expires_unix_ns,
            _OPEN,
        ),
    )


def find(conn: sqlite3.Connection, challenge_id: str) -> Issued | None:
    """The challenge of an id."""
    row = conn.execute(
        "SELECT challenge, scope_json, revisions_json, decision FROM mem_challenges"
        " WHERE challenge_id = ?",
        (challenge_id,),
    ).fetchone()
    if row is None:
        return None
    challenge = None if row[0] is None else common_pb2.Challenge.FromString(row[0])
    return Issued(challenge_id, challenge, Scope(**json.loads(row[1])), json.loads(row[2]), row[3])


def close(conn: sqlite3.Connection, challenge_id: str, decision: str, key_id: str) -> None:
    """Marks a challenge as decided, for ever."""
    conn.execute(
        "UPDATE mem_challenges SET decision = ?, key_id = ? WHERE challenge_id = ?",
        (decision, key_id, challenge_id),
    )


def count_open(conn: sqlite3.Connection, namespace_id: int) -> int:
    """How many challenges of a namespace wait for a decision."""
    row = conn.execute(
        "SELECT count(*) FROM mem_challenges WHERE namespace_id = ? AND decision = ?",
        (namespace_id, _OPEN),
    ).fetchone()
    return int(row[0])


def purge_expired(conn: sqlite3.Connection, namespace_id: int, now_unix_ns: int) -> None:
    """Removes undecided challenges whose time is over; an unknown challenge decides nothing."""
    conn.execute(
        "DELETE FROM mem_challenges"
        " WHERE namespace_id = ? AND decision = ? AND expires_unix_ns <= ?",
        (namespace_id, _OPEN, now_unix_ns),
    )


def void(conn: sqlite3.Connection, namespace_id: int, record_ids: frozenset[str]) -> None:
    """Ends every challenge about any of these records and removes their digests."""
    for challenge_id, data in conn.execute(
        "SELECT challenge_id, challenge FROM mem_challenges"
        " WHERE namespace_id = ? AND challenge IS NOT NULL",
        (namespace_id,),
    ).fetchall():
        if record_ids.intersection(common_pb2.Challenge.FromString(data).subject_ids):
            conn.execute(
                "UPDATE mem_challenges SET challenge = NULL, decision = ? WHERE challenge_id = ?",
                (VOID, challenge_id),
            )
