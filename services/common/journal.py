"""A hash-chained journal in a SQLite table (DESIGN §10, JournalRecord in common.proto).

Each record's digest covers its payload, its position and the digest before it: a record that was
flipped, dropped, reordered or inserted breaks the chain at a position that can be named. A cut at
the end is found against a head that was kept elsewhere.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memqual.v1 import common_pb2
from services.common.canonical import (
    JsonObject,
    canonical_json,
    parse_canonical_object,
    sha256_hex,
)
from services.common.database import Database
from services.common.limits import JOURNAL_PAYLOAD_BYTES

__all__ = [
    "EMPTY_HEAD",
    "ZERO_DIGEST",
    "ChainError",
    "Journal",
    "JournalError",
    "JournalHead",
    "JournalRecord",
    "chain_digest",
    "verify_chain",
]

ZERO_DIGEST = "0" * 64
PAGE_RECORDS = 500
_TABLE_NAME = re.compile(r"[a-z_]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One record.

    Attributes:
        sequence: position, from 1, without a gap.
        previous_digest: digest of the record before; ZERO_DIGEST for the first.
        digest: SHA-256 over the canonical JSON of {"payload", "previous_digest", "sequence"}.
        payload_json: canonical JSON object, at most 131,072 bytes.
    """

    sequence: int
    previous_digest: str
    digest: str
    payload_json: str

    @classmethod
    def from_proto(cls, record: common_pb2.JournalRecord) -> "JournalRecord":
        """The record that a message carries, unchecked."""
        return cls(record.sequence, record.previous_digest, record.digest, record.payload_json)

    def to_proto(self) -> common_pb2.JournalRecord:
        """The message that carries this record."""
        return common_pb2.JournalRecord(
            sequence=self.sequence,
            previous_digest=self.previous_digest,
            digest=self.digest,
            payload_json=self.payload_json,
        )


@dataclass(frozen=True, slots=True)
class JournalHead:
    """The last record's position (0 when there is none) and digest."""

    sequence: int
    digest: str


EMPTY_HEAD = JournalHead(sequence=0, digest=ZERO_DIGEST)


class JournalError(Exception):
    """A record cannot be appended: too large, not canonical, or outside a transaction."""


class ChainError(Exception):
    """The chain is broken.

    Attributes:
        position: the sequence at which the record does not fit.
        cause: what is wrong there, for a person.
    """

    def __init__(self, position: int, cause: str) -> None:
        super().__init__(f"journal broken at sequence {position}: {cause}")
        self.position = position
        self.cause = cause


class Journal:
    """Appends to and reads one journal table; holds no state beside the table."""

    def __init__(self, table: str = "journal") -> None:
        if _TABLE_NAME.fullmatch(table) is None:
            raise ValueError("a journal table's name is 1 to 64 lower-case letters and underscores")
        self._create = (
            f"CREATE TABLE IF NOT EXISTS {table} (sequence INTEGER PRIMARY KEY, "
            "previous_digest TEXT NOT NULL, digest TEXT NOT NULL, payload_json TEXT NOT NULL)"
        )
        self._insert = f"INSERT INTO {table} VALUES (?, ?, ?, ?)"
        self._head = f"SELECT sequence, digest FROM {table} ORDER BY sequence DESC LIMIT 1"
        self._read = (
            f"SELECT sequence, previous_digest, digest, payload_json FROM {table} "
            "WHERE sequence >= ? ORDER BY sequence LIMIT ?"
        )

    def create(self, connection: sqlite3.Connection) -> None:
        """Creates the table where it is missing."""
        connection.execute(self._create)

    def append(self, connection: sqlite3.Connection, payload: JsonObject) -> JournalRecord:
        """Appends a record inside the caller's transaction; it is durable when that one is.

        Raises:
            JournalError: no transaction, or the payload is not canonical JSON or too large.
        """
        if not connection.in_transaction:
            raise JournalError("append needs the caller's transaction; it must not commit alone")
        try:
            text = canonical_json(payload)
        except ValueError as error:
            raise JournalError(str(error)) from error
        if len(text) > JOURNAL_PAYLOAD_BYTES:
            raise JournalError(
                f"payload has {len(text)} bytes; at most {JOURNAL_PAYLOAD_BYTES} are allowed"
            )
        head = self.head(connection)
        sequence = head.sequence + 1
        payload_json = text.decode("utf-8")
        digest = chain_digest(sequence, head.digest, payload_json)
        record = JournalRecord(sequence, head.digest, digest, payload_json)
        connection.execute(self._insert, (sequence, head.digest, digest, payload_json))
        return record

    def read(
        self, connection: sqlite3.Connection, from_sequence: int, limit: int
    ) -> list[JournalRecord]:
        """At most `limit` records from a sequence on, in order."""
        rows = connection.execute(self._read, (max(from_sequence, 1), limit))
        return [JournalRecord(*row) for row in rows]

    def head(self, connection: sqlite3.Connection) -> JournalHead:
        """Position and digest of the last record."""
        row = connection.execute(self._head).fetchone()
        return EMPTY_HEAD if row is None else JournalHead(*row)

    def stream(self, database: Database, from_sequence: int) -> Iterator[JournalRecord]:
        """Every record from a sequence on, up to the head at the time of the call, page by page.

        Raises:
            DatabaseError: the store failed.
        """
        with database.read() as connection:
            last = self.head(connection).sequence
        position = max(from_sequence, 1)
        while position <= last:
            limit = min(PAGE_RECORDS, last - position + 1)
            with database.read() as connection:
                records = self.read(connection, position, limit)
            if not records:
                return
            yield from records
            position = records[-1].sequence + 1


def chain_digest(sequence: int, previous_digest: str, payload_json: str) -> str:
    """Digest of a record whose payload is canonical.

    Canonical JSON is compositional and the three keys are in order, so putting the canonical parts
    together gives the canonical whole without serialising the payload a second time.
    """
    document = (
        f'{{"payload":{payload_json},"previous_digest":"{previous_digest}","sequence":{sequence}}}'
    )
    return sha256_hex(document.encode("utf-8"))


def verify_chain(
    records: Iterable[JournalRecord],
    *,
    after: JournalHead = EMPTY_HEAD,
    expected_head: JournalHead | None = None,
) -> None:
    """Checks that records are an unbroken chain.

    Args:
        records: in order, the first of them right after `after`.
        after: the head before the first record; the empty journal's by default.
        expected_head: where the chain must end (kept or signed elsewhere); None accepts any end.

    Raises:
        ChainError: at the first record that does not fit.
    """
    head = after
    for record in records:
        position = head.sequence + 1
        if record.sequence != position:
            raise ChainError(position, f"a record with sequence {record.sequence} stands here")
        if record.previous_digest != head.digest:
            raise ChainError(position, "previous_digest is not the digest of the record before")
        if record.digest != _digest_or_broken(record):
            raise ChainError(position, "the digest does not match what the record holds")
        head = JournalHead(record.sequence, record.digest)
    if expected_head is None or head == expected_head:
        return
    if head.sequence < expected_head.sequence:
        raise ChainError(
            head.sequence + 1,
            f"the journal ends at {head.sequence}, its head says {expected_head.sequence}",
        )
    if head.sequence > expected_head.sequence:
        raise ChainError(
            expected_head.sequence + 1,
            f"the journal goes on to {head.sequence}, its head says {expected_head.sequence}",
        )
    raise ChainError(head.sequence, "the last digest is not the head's")


def _digest_or_broken(record: JournalRecord) -> str:
    """The digest that the record's parts give; raises ChainError where the payload is malformed."""
    try:
        parse_canonical_object(record.payload_json)
        return chain_digest(record.sequence, record.previous_digest, record.payload_json)
    except ValueError as error:
        raise ChainError(record.sequence, f"the payload is malformed: {error}") from error
