"""What is out of authority, or was recalled, gains nothing by being written again."""

import unicodedata

import pytest

from services.memory.records import reporting
from services.memory.records.model import Kind, Reason, Scope, Source, State, Surface, Taint
from tests.services.memory.records.rig import (
    AGENT,
    ALICE,
    BOB,
    CLAIMED,
    RECEIPT,
    TOOL,
    USER,
    WEB,
    Memory,
)

FACT = "Alice prefers the zanzibar s\u00e9ance on long flights"
QUERY = "Which zanzibar seance does Alice prefer on long flights?"
OTHER = "Alice wants vegetarian meals"
SOURCES = [AGENT, TOOL, WEB, CLAIMED]

VARIANTS = {
    "same": FACT,
    "capitals": FACT.upper(),
    "blanks": f"  {FACT.replace(' ', chr(0xA0) + ' ')}\n",
    "decomposed": unicodedata.normalize("NFD", FACT),
    "zero width": "\u200b".join(FACT),
    "variation selectors": "\ufe0f".join(FACT),
    "homoglyphs": FACT.replace("a", "\u0430").replace("o", "\u043e"),
    "full width": FACT.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "wrapped": f"As I recalled: {FACT}.",
}


def take_out(memory: Memory, how: str) -> str:
    """A trusted record that is out of authority."""
    record_id = memory.write(FACT).record_id
    if how == "superseded":
        memory.supersede(record_id, "Alice takes whatever is free")
    elif how == "archived":
        memory.lifecycle.archive(ALICE, record_id)
    elif how == "quarantined":
        memory.lifecycle.quarantine(ALICE, record_id, "suspected")
    else:
        memory.lifecycle.forget(ALICE, record_id)
    return record_id


@pytest.mark.parametrize("how", ["superseded", "archived", "quarantined", "forgotten"])
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_nothing_comes_back_by_rewriting(memory: Memory, how: str, variant: str) -> None:
    record_id = take_out(memory, how)
    before = memory.said(QUERY)
    for restart in (False, True):
        if restart:
            memory.restart()
        for source in (*SOURCES, RECEIPT):
            memory.write(variant, source)
            memory.write(variant, source, kind=Kind.EPISODE)
        memory.derive(variant, memory.write(OTHER).record_id)
        memory.derive(variant, record_id)
        assert memory.said(QUERY) == before
        assert memory.state(record_id) is State(how)
    assert "zanzibar" not in " ".join(str(text) for text in before)
    if how == "forgotten":
        assert memory.said(QUERY, Surface.EVIDENCE) == []


@pytest.mark.parametrize("how", ["superseded", "archived", "quarantined", "forgotten"])
def test_other_principals_and_circles_keep_the_same_words(memory: Memory, how: str) -> None:
    private = Scope("n", "alice", purpose="travel")
    of_bob = memory.write(FACT, scope=BOB)
    of_another = memory.write(FACT, scope=private)
    take_out(memory, how)
    memory.restart()
    assert memory.look(of_bob.record_id, BOB).stored.authoritative
    assert memory.look(of_another.record_id, private).stored.authoritative
    assert memory.said(QUERY, scope=BOB) == [FACT]
    assert memory.said(QUERY, scope=private) == [FACT]


@pytest.mark.parametrize("how", ["superseded", "archived", "quarantined", "forgotten"])
def test_lineage_carries_it_to_every_descendant(memory: Memory, how: str) -> None:
    """Grandchildren, mixed parents, and a child that never named its parent."""
    other = memory.write(OTHER).record_id
    memory.write(FACT)
    child = memory.derive(f"Summary: {FACT}. {OTHER}.", memory.write(FACT).record_id, other)
    grandchild = memory.derive(f"Recap: {FACT}", child.record_id, other)
    undeclared = memory.write(f"It is on file that {FACT}", RECEIPT)
    assert memory.look(undeclared.record_id).stored.record.parent_ids
    for admitted in (child, grandchild, undeclared):
        assert memory.look(admitted.record_id).stored.authoritative
    take_out(memory, how)
    expected = Taint.FORGOTTEN_PARENT if how == "forgotten" else Taint.INACTIVE_PARENT
    for admitted in (child, grandchild, undeclared):
        stored = memory.look(admitted.record_id).stored
        assert not stored.authoritative
        assert expected in stored.standing.taints
    assert memory.look(other).stored.authoritative


@pytest.mark.parametrize(
    ("source", "times"), [(AGENT, 1_000), (TOOL, 50), (WEB, 50), (CLAIMED, 50)]
)
def test_what_was_recalled_is_one_record_without_authority_however_often_it_is_written(
    memory: Memory, source: Source, times: int
) -> None:
    original = memory.write(FACT).record_id
    before = memory.recall(QUERY)
    for _ in range(times):
        (hit,) = memory.recall(QUERY, max_hits=1)
        again = memory.write(hit.viewed.stored.record.content or "", source)
    assert again.standing.reasons[-1] == Reason.DUPLICATE
    after = memory.recall(QUERY)
    assert (after[0].viewed, after[0].score) == (before[0].viewed, before[0].score)
    assert {hit.viewed.stored.record.content for hit in after} == {FACT}
    parts = list(reporting.digest_parts(memory.database, "n"))
    assert len(parts) == 2
    copy = memory.look(again.record_id)
    assert copy.lineage == (original,)
    assert not copy.stored.authoritative


def test_copies_from_every_kind_of_source_are_one_each(memory: Memory) -> None:
    memory.write(FACT)
    for _ in range(10):
        for source in SOURCES:
            memory.write(FACT, source)
    assert memory.said(QUERY) == [FACT]
    assert len(list(reporting.digest_parts(memory.database, "n"))) == 1 + len(SOURCES)


def test_copies_of_the_recalled_with_new_words_never_speak(memory: Memory) -> None:
    original = memory.write(FACT).record_id
    for number in range(50):
        memory.write(f"As recalled at {number}: {FACT}, so pay account {number}", AGENT)
    hits = memory.recall(QUERY)
    assert [hit.viewed.stored.record.record_id for hit in hits] == [original]
    assert memory.said("pay account 7") == []


def test_a_users_own_copy_is_no_second_source(memory: Memory) -> None:
    first = memory.write(FACT, USER).record_id
    again = memory.write(VARIANTS["homoglyphs"], Source(USER.type, USER.binding, "u-2"))
    assert again.record_id == first
