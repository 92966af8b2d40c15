import math
import sqlite3
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.records import postings, schema
from services.memory.records.postings import FEW_RECORDS, Shelf

HERE = Shelf(1, postings.AUTHORITATIVE)
OTHER_TIER = Shelf(1, postings.OTHER)
ELSEWHERE = Shelf(2, postings.AUTHORITATIVE)

documents = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3), min_size=1), max_size=12
)


def half(coverage: float) -> bool:
    return coverage >= 0.5


@pytest.fixture
def conn() -> sqlite3.Connection:
    return connection()


def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    schema.create_tables(made)
    return made


def fill(
    conn: sqlite3.Connection, shelf: Shelf, kept: list[dict[str, int]], first: int = 1
) -> None:
    for row, document in enumerate(kept, first):
        postings.put(conn, shelf, row, Counter(document))


def coverages(kept: list[dict[str, int]], asked: list[str]) -> dict[int, float]:
    """Share of the question's weight, by looking at every record."""
    frequency = Counter(term for document in kept for term in document)
    weight = {
        term: math.log1p((len(kept) + FEW_RECORDS) / (frequency[term] + FEW_RECORDS))
        for term in asked
    }
    total = sum(weight.values())
    return {
        row: sum(weight[term] for term in asked if term in document) / total
        for row, document in enumerate(kept, 1)
    }


@settings(deadline=None, max_examples=40)
@given(documents, st.lists(st.sampled_from("abcdefghxy"), min_size=1, unique=True))
def test_it_finds_what_looking_at_every_record_finds(
    kept: list[dict[str, int]], asked: list[str]
) -> None:
    conn = connection()
    fill(conn, HERE, kept)
    fill(conn, ELSEWHERE, [{"a": 1}, {"b": 1}], first=100)
    found = {m.row: m.coverage for m in postings.search(conn, [HERE], asked, half)}
    expected = {row: share for row, share in coverages(kept, asked).items() if half(share + 1e-12)}
    assert found == pytest.approx(expected)


@settings(deadline=None, max_examples=40)
@given(documents, documents)
def test_what_was_put_and_dropped_leaves_no_trace(
    kept: list[dict[str, int]], gone: list[dict[str, int]]
) -> None:
    conn, expected = connection(), connection()
    fill(conn, HERE, kept)
    fill(expected, HERE, kept)
    fill(conn, HERE, gone, first=50)
    for row, document in enumerate(gone, 50):
        postings.drop(conn, HERE, row, Counter(document))
    select = "SELECT * FROM mem_postings ORDER BY 1, 2, 3, 4"
    assert conn.execute(select).fetchall() == expected.execute(select).fetchall()


def test_other_tiers_and_circles_change_nothing(conn: sqlite3.Connection) -> None:
    fill(conn, HERE, [{"window": 1, "seat": 1}, {"aisle": 1}])
    alone = postings.search(conn, [HERE], ["window", "seat"], half)
    fill(conn, OTHER_TIER, [{"window": 1, "seat": 1}] * 50, first=100)
    fill(conn, ELSEWHERE, [{"window": 1, "seat": 1}] * 50, first=200)
    assert postings.search(conn, [HERE], ["window", "seat"], half) == alone


def test_a_flood_of_common_words_does_not_hide_the_rare_one(conn: sqlite3.Connection) -> None:
    fill(conn, HERE, [{"customer": 1, "window": 1, "zx81": 1}])
    fill(conn, HERE, [{"customer": 1, "window": 1}] * (postings.CANDIDATES_MAX + 10), first=2)
    found = postings.search(conn, [HERE], ["customer", "window", "zx81"], half)
    assert [match.row for match in found] == [1]


def test_candidates_are_bounded_and_the_rarest_words_come_first(
    conn: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "CANDIDATES_MAX", 5)
    fill(conn, HERE, [{"seat": 1}] * 20)
    fill(conn, HERE, [{"window": 1, "seat": 1}] * 3, first=100)
    found = postings.search(conn, [HERE], ["window", "seat"], lambda coverage: coverage > 0)
    assert len(found) == 5
    assert {match.row for match in found[:3]} == {100, 101, 102}


def test_a_question_of_common_words_gets_an_answer(conn: sqlite3.Connection) -> None:
    count = postings.POSTINGS_MAX + 10
    fill(conn, HERE, [{"customer": 1, "window": 1}] * count)
    found = postings.search(conn, [HERE], ["customer", "window"], half)
    assert len(found) == postings.POSTINGS_MAX
    assert {match.coverage for match in found} == {1.0}
    assert max(match.row for match in found) == count


def test_nothing_is_found_without_terms_or_records(conn: sqlite3.Connection) -> None:
    assert postings.search(conn, [HERE], ["window"], half) == []
    fill(conn, HERE, [{"window": 1}])
    assert postings.search(conn, [HERE], [], half) == []
    assert postings.search(conn, [], ["window"], half) == []
