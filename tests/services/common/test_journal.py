import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.canonical import JsonObject, digest_hex, parse_canonical_object
from services.common.database import Database
from services.common.journal import (
    EMPTY_HEAD,
    PAGE_RECORDS,
    ZERO_DIGEST,
    ChainError,
    Journal,
    JournalError,
    JournalHead,
    JournalRecord,
    chain_digest,
    verify_chain,
)

PAYLOADS: st.SearchStrategy[JsonObject] = st.dictionaries(
    st.text(max_size=6), st.text(max_size=12) | st.integers(-1000, 1000) | st.booleans(), max_size=4
)
CHAINS = st.lists(PAYLOADS, min_size=2, max_size=12)


def write(payloads: list[JsonObject]) -> list[JournalRecord]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    journal = Journal()
    journal.create(connection)
    connection.execute("BEGIN")
    written = [journal.append(connection, payload) for payload in payloads]
    connection.execute("COMMIT")
    assert journal.read(connection, 1, len(payloads) + 1) == written
    connection.close()
    return written


def head_of(records: list[JournalRecord]) -> JournalHead:
    return JournalHead(records[-1].sequence, records[-1].digest)


def position_of_break(records: list[JournalRecord], expected_head: JournalHead | None) -> int:
    with pytest.raises(ChainError) as caught:
        verify_chain(records, expected_head=expected_head)
    return caught.value.position


@given(CHAINS)
def test_a_written_chain_verifies_against_its_head(payloads: list[JsonObject]) -> None:
    records = write(payloads)
    verify_chain(records, expected_head=head_of(records))
    verify_chain(records[1:], after=JournalHead(1, records[0].digest))


@given(CHAINS)
def test_digests_are_those_of_the_contract(payloads: list[JsonObject]) -> None:
    previous_digest = ZERO_DIGEST
    for sequence, record in enumerate(write(payloads), start=1):
        document: JsonObject = {
            "payload": parse_canonical_object(record.payload_json),
            "previous_digest": previous_digest,
            "sequence": sequence,
        }
        assert record == JournalRecord(
            sequence, previous_digest, digest_hex(document), record.payload_json
        )
        previous_digest = record.digest


@given(CHAINS, st.data())
def test_any_flipped_character_is_found_where_it_is(
    payloads: list[JsonObject], data: st.DataObject
) -> None:
    records = write(payloads)
    index = data.draw(st.integers(0, len(records) - 1))
    field = data.draw(st.sampled_from(["payload_json", "digest", "previous_digest"]))
    text: str = getattr(records[index], field)
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(exclude_categories=["Cs"]).filter(lambda c: c != text[place]))
    flipped = text[:place] + other + text[place + 1 :]
    forged = [*records]
    changes: dict[str, Any] = {field: flipped}
    forged[index] = replace(records[index], **changes)
    assert position_of_break(forged, None) == index + 1


@given(CHAINS, st.data())
def test_a_blank_put_into_a_payload_is_found(
    payloads: list[JsonObject], data: st.DataObject
) -> None:
    records = write(payloads)
    index = data.draw(st.integers(0, len(records) - 1))
    forged = [*records]
    forged[index] = replace(records[index], payload_json=records[index].payload_json + " ")
    assert position_of_break(forged, None) == index + 1


@given(CHAINS, st.data())
def test_a_dropped_record_is_found(payloads: list[JsonObject], data: st.DataObject) -> None:
    records = write(payloads)
    index = data.draw(st.integers(0, len(records) - 2))
    assert position_of_break(records[:index] + records[index + 1 :], None) == index + 1


@given(CHAINS, st.data())
def test_a_cut_end_is_found_against_the_head(
    payloads: list[JsonObject], data: st.DataObject
) -> None:
    records = write(payloads)
    kept = data.draw(st.integers(0, len(records) - 1))
    verify_chain(records[:kept])
    assert position_of_break(records[:kept], head_of(records)) == kept + 1


@given(CHAINS, st.data())
def test_two_records_in_the_wrong_order_are_found(
    payloads: list[JsonObject], data: st.DataObject
) -> None:
    records = write(payloads)
    first = data.draw(st.integers(0, len(records) - 2))
    second = data.draw(st.integers(first + 1, len(records) - 1))
    forged = [*records]
    forged[first], forged[second] = forged[second], forged[first]
    assert position_of_break(forged, None) == first + 1


@given(CHAINS, PAYLOADS, st.data())
def test_an_inserted_record_is_found_however_well_it_is_made(
    payloads: list[JsonObject], payload: JsonObject, data: st.DataObject
) -> None:
    records = write(payloads)
    index = data.draw(st.integers(0, len(records)))
    before = records[index - 1].digest if index else ZERO_DIGEST
    text = write([payload])[0].payload_json
    inserted = JournalRecord(index + 1, before, chain_digest(index + 1, before, text), text)
    forged = [*records[:index], inserted, *records[index:]]
    # In the middle the next record gives it away, at the end the head does.
    assert position_of_break(forged, head_of(records)) == index + 2 - (index == len(records))


@given(CHAINS)
def test_another_chain_of_the_same_length_is_found_against_the_head(
    payloads: list[JsonObject],
) -> None:
    records = write(payloads)
    other = write([*payloads[:-1], {"another": "payload of its own"}])
    assert position_of_break(other, head_of(records)) == len(records)


def test_append_needs_a_transaction_and_a_payload_within_limits() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    journal = Journal("events")
    journal.create(connection)
    with pytest.raises(JournalError, match="transaction"):
        journal.append(connection, {})
    connection.execute("BEGIN")
    with pytest.raises(JournalError, match="at most 131072"):
        journal.append(connection, {"text": "x" * 131_072})
    with pytest.raises(JournalError, match="no canonical JSON"):
        journal.append(connection, {"number": 2**60})
    assert journal.head(connection) == EMPTY_HEAD
    connection.close()


def test_a_table_name_cannot_carry_statements() -> None:
    with pytest.raises(ValueError, match="lower-case"):
        Journal("journal; DROP TABLE journal")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "journal.db")
    yield database
    database.close()


def test_stream_pages_from_a_sequence_to_the_head(database: Database) -> None:
    journal = Journal()
    count = 2 * PAGE_RECORDS + 3
    with database.transaction() as connection:
        journal.create(connection)
        for number in range(count):
            journal.append(connection, {"number": number})
    streamed = list(journal.stream(database, 0))
    verify_chain(streamed)
    assert [record.sequence for record in streamed] == list(range(1, count + 1))
    assert list(journal.stream(database, count)) == streamed[-1:]
    assert list(journal.stream(database, count + 1)) == []


def test_stream_ends_at_the_head_of_the_call(database: Database) -> None:
    journal = Journal()
    with database.transaction() as connection:
        journal.create(connection)
        journal.append(connection, {"number": 1})
    stream = journal.stream(database, 1)
    first = next(stream)
    with database.transaction() as connection:
        journal.append(connection, {"number": 2})
    assert [first.sequence, *(record.sequence for record in stream)] == [1]


def test_a_record_survives_its_message() -> None:
    record = write([{"event": "applied"}])[0]
    assert JournalRecord.from_proto(record.to_proto()) == record
