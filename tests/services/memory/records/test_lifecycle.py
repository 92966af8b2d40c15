import pytest

from memqual.v1 import vendor_pb2
from services.common.errors import ServiceError
from services.memory.records import desk, reporting
from services.memory.records.model import Kind, Reason, Scope, State, Surface, Taint
from tests.services.memory.records.rig import (
    AGENT,
    ALICE,
    CLAIMED,
    TOOL,
    USER,
    WEB,
    Memory,
)

FACT = "Alice prefers the zanzibar seat on long flights"
OTHER = "Alice wants vegetarian meals"
BOB = Scope("n", "bob")


def exported(memory: Memory, namespace: str = "n") -> bytes:
    """Everything on every surface."""
    return b"\n".join(
        content
        for surface in vendor_pb2.Surface.values()
        for _, content in reporting.export(memory.database, namespace, surface)
    )


def family(memory: Memory) -> tuple[str, str, str, str]:
    """A parent, another one, a child of both, a grandchild."""
    parent, other = memory.write(FACT).record_id, memory.write(OTHER).record_id
    child = memory.derive(f"Summary: {FACT}. {OTHER}.", parent, other).record_id
    grandchild = memory.derive(f"Recap: {OTHER}", child).record_id
    return parent, other, child, grandchild


def test_quarantine_takes_a_record_and_its_descendants_out_of_authority(memory: Memory) -> None:
    parent, other, child, grandchild = family(memory)
    assert len(memory.said("Alice zanzibar seat")) == 2
    changed = memory.lifecycle.quarantine(ALICE, parent, "suspected")
    assert changed == [parent, child, grandchild]
    assert memory.said("Alice zanzibar seat") == []
    assert memory.said("vegetarian meals") == [OTHER]
    assert len(memory.said("Alice zanzibar seat", Surface.EVIDENCE)) == 2
    for record_id in (child, grandchild):
        standing = memory.look(record_id).stored.standing
        assert standing.state is State.QUARANTINED
        assert Taint.INACTIVE_PARENT in standing.taints
        assert standing.reasons[-1] == Reason.ANCESTOR_QUARANTINED
    assert memory.look(other).stored.authoritative
    assert memory.lifecycle.quarantine(ALICE, parent, "suspected") == []


def test_quarantine_holds_after_a_restart_and_against_rewriting(memory: Memory) -> None:
    parent, *_ = family(memory)
    memory.lifecycle.quarantine(ALICE, parent, "suspected")
    memory.restart()
    for source in (AGENT, TOOL, WEB, CLAIMED):
        memory.write(FACT, source)
    memory.derive(f"Summary: {FACT}", parent)
    assert memory.said("Alice zanzibar seat") == []


def test_a_quarantined_procedure_is_not_listed(memory: Memory) -> None:
    record_id = memory.write("Close the valve first", kind=Kind.PROCEDURE).record_id
    memory.lifecycle.quarantine(ALICE, record_id, "")
    assert memory.recalling.procedures(ALICE) == []
    assert memory.look(record_id).stored.standing.reasons[-1] == Reason.QUARANTINED


def test_what_is_not_kept_cannot_be_quarantined(memory: Memory) -> None:
    rejected = memory.write("my password is hunter22").record_id
    forgotten = memory.write(FACT).record_id
    memory.lifecycle.forget(ALICE, forgotten)
    for record_id in (rejected, forgotten):
        with pytest.raises(ServiceError, match="only kept records"):
            memory.lifecycle.quarantine(ALICE, record_id, "")


@pytest.mark.parametrize("call", ["quarantine", "forget"])
def test_another_principals_record_is_not_found(memory: Memory, call: str) -> None:
    record_id = memory.write(FACT, scope=BOB).record_id
    calls = {
        "quarantine": lambda: memory.lifecycle.quarantine(ALICE, record_id, ""),
        "forget": lambda: memory.lifecycle.forget(ALICE, record_id),
    }
    with pytest.raises(ServiceError, match="no such record"):
        calls[call]()
    assert memory.said("Alice zanzibar seat", scope=BOB) == [FACT]


def test_forgotten_content_is_gone_from_every_surface_and_from_the_volume(memory: Memory) -> None:
    text = "The zanzibar clause of 1896 applies to harbour pilots"
    parent = memory.write(text, labels=("zanzibar-label",)).record_id
    memory.write(f"I recalled: {text}", AGENT)
    child = memory.derive(f"Summary: {text}", parent).record_id
    challenge = memory.review.request(ALICE, (child,), "promote")
    digest = challenge.subject_digests[0]
    for number in range(200):
        memory.write(f"Reading number {number} is fine")
    assert b"zanzibar" in exported(memory)
    changed = memory.lifecycle.forget(ALICE, parent)
    assert set(changed) >= {parent, child}
    assert b"zanzibar" not in exported(memory).lower()
    # Open, as a running memory is: neither the file nor its log holds the word.
    for file in memory.folder.iterdir():
        assert b"zanzibar" not in file.read_bytes().lower()
        assert digest.encode() not in file.read_bytes()
    assert memory.said("zanzibar clause harbour pilots", Surface.EVIDENCE) == []
    assert memory.look(parent).stored.standing.state is State.FORGOTTEN


def test_descendants_of_the_forgotten_are_quarantined(memory: Memory) -> None:
    parent, other, child, grandchild = family(memory)
    assert memory.lifecycle.forget(ALICE, parent) == [parent, child, grandchild]
    kept = memory.look(grandchild).stored
    assert kept.standing.state is State.QUARANTINED
    assert Taint.FORGOTTEN_PARENT in kept.standing.taints
    # It shares a name with the forgotten record, and has it from the other origin, too.
    assert kept.record.content == f"Recap: {OTHER}"
    assert memory.look(other).stored.authoritative
    erased = memory.look(child).stored
    assert erased.record.content is None
    assert erased.standing.reasons[-1] == Reason.CONTENT_ERASED
    assert memory.said("vegetarian meals") == [OTHER]


def test_a_descendant_without_a_forgotten_word_keeps_its_content(memory: Memory) -> None:
    parent, other = memory.write(FACT).record_id, memory.write(OTHER).record_id
    child = memory.derive(f"Summary: {OTHER}", parent, other).record_id
    assert memory.lifecycle.forget(ALICE, parent) == [parent, child]
    kept = memory.look(child).stored
    assert kept.standing.state is State.QUARANTINED
    assert kept.record.content == f"Summary: {OTHER}"
    assert set(memory.said("vegetarian meals", Surface.EVIDENCE)) == {OTHER, f"Summary: {OTHER}"}


@pytest.mark.parametrize("text", [FACT, "Zanzibar harbour", "First the pump, then the valve"])
def test_a_child_does_not_keep_a_forgotten_text_because_another_parent_has_its_words(
    memory: Memory, text: str
) -> None:
    turned = " ".join(reversed(text.split()))
    kept = memory.write(text).record_id
    forgotten = memory.write(turned).record_id
    summary = memory.derive(text, kept).record_id
    mixed = memory.derive(turned, forgotten, summary).record_id
    both = memory.derive(f"Summary: {text}. {turned}.", forgotten, summary).record_id
    assert memory.lifecycle.forget(ALICE, forgotten) == [forgotten, mixed, both]
    assert set(memory.said(text, Surface.EVIDENCE)) == {text}
    assert memory.look(kept).stored.authoritative
    assert memory.look(summary).stored.authoritative


def test_a_child_keeps_what_another_parent_says_in_the_same_order(memory: Memory) -> None:
    forgotten = memory.write(f"{OTHER} and a window seat").record_id
    other = memory.write(OTHER).record_id
    child = memory.derive(f"Summary: {OTHER}", forgotten, other).record_id
    assert memory.lifecycle.forget(ALICE, forgotten) == [forgotten, child]
    assert memory.look(child).stored.record.content == f"Summary: {OTHER}"


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize(
    "copy", [FACT, FACT.upper(), f"As I recalled: {FACT}.", f"{FACT} \u2014 and more of it"]
)
def test_the_forgotten_does_not_come_back_by_rewriting(
    memory: Memory, copy: str, restart: bool
) -> None:
    record_id = memory.write(FACT).record_id
    memory.lifecycle.forget(ALICE, record_id)
    if restart:
        memory.restart()
    for source in (AGENT, TOOL, WEB, CLAIMED):
        again = memory.write(copy, source)
        assert again.record_id == record_id
        assert again.standing.state is State.FORGOTTEN
        assert again.standing.reasons == (Reason.FORGOTTEN_CONTENT,)
    other = memory.write(OTHER).record_id
    assert memory.derive(copy, other).standing.state is State.FORGOTTEN
    assert memory.said(copy, Surface.EVIDENCE) == []
    assert b"zanzibar" not in exported(memory).lower()


@pytest.mark.parametrize("text", ["Zanzibar", "Zanzibar harbour"])
def test_even_one_word_does_not_come_back_through_a_child(memory: Memory, text: str) -> None:
    record_id = memory.write(text).record_id
    memory.lifecycle.forget(ALICE, record_id)
    other = memory.write(OTHER).record_id
    for parents in ((record_id,), (other, record_id)):
        again = memory.derive(f"Summary: it was {text} in the end", *parents)
        assert (again.record_id, again.standing.state) == (record_id, State.FORGOTTEN)
    assert memory.said(text, Surface.EVIDENCE) == []


def test_one_forgotten_word_does_not_forbid_longer_texts(memory: Memory) -> None:
    memory.lifecycle.forget(ALICE, memory.write("Zanzibar").record_id)
    assert memory.write("Zanzibar", AGENT).standing.state is State.FORGOTTEN
    kept = memory.write("A ship sails to Zanzibar every Monday", AGENT)
    assert kept.standing.state is State.QUARANTINED


def test_the_user_may_say_it_anew(memory: Memory) -> None:
    first = memory.write(FACT).record_id
    memory.lifecycle.forget(ALICE, first)
    anew = memory.write(FACT)
    assert anew.record_id != first
    assert anew.standing.state is State.ACTIVE
    assert memory.said("Alice zanzibar seat") == [FACT]
    assert memory.look(first).stored.standing.state is State.FORGOTTEN
    # Now there is a live record to copy from.
    assert memory.write(FACT, AGENT).standing.state is State.QUARANTINED


def test_forgetting_takes_earlier_words_of_the_same_source_along(memory: Memory) -> None:
    first = memory.write(FACT).record_id
    memory.lifecycle.quarantine(ALICE, first, "suspected")
    second = memory.write(FACT).record_id
    assert first != second
    assert set(memory.lifecycle.forget(ALICE, second)) == {first, second}
    assert memory.said("Alice zanzibar seat", Surface.EVIDENCE) == []


def test_forgetting_one_record_touches_no_other(memory: Memory) -> None:
    forgotten = memory.write(FACT).record_id
    similar = "Alice prefers the zanzibar seat on short flights"
    kept = memory.write(similar)
    of_bob = memory.write(FACT, scope=BOB)
    from_web = memory.write("Many prefer the zanzibar seat", WEB)
    assert memory.lifecycle.forget(ALICE, forgotten) == [forgotten]
    assert memory.look(kept.record_id).stored.authoritative
    assert memory.look(from_web.record_id).stored.record.content is not None
    assert memory.look(of_bob.record_id, BOB).stored.authoritative
    assert memory.write("Alice prefers the zanzibar seat on all flights", AGENT).record_id
    assert memory.write(FACT, AGENT, scope=BOB).standing.state is State.QUARANTINED


def test_forgetting_twice_changes_nothing(memory: Memory) -> None:
    record_id = memory.write(FACT).record_id
    assert memory.lifecycle.forget(ALICE, record_id) == [record_id]
    assert memory.lifecycle.forget(ALICE, record_id) == []
    rejected = memory.write("my password is hunter22").record_id
    assert memory.lifecycle.forget(ALICE, rejected) == []


def test_a_tombstone_of_a_hidden_circle_is_not_named(memory: Memory) -> None:
    private = Scope("n", "alice", purpose="health")
    record_id = memory.write(FACT, scope=private).record_id
    memory.lifecycle.forget(private, record_id)
    again = memory.write(FACT, AGENT)
    assert (again.record_id, again.standing.state) == ("", State.REJECTED)


def test_a_long_read_delays_the_cut_of_the_log_and_loses_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "TRUNCATE_BUSY_MS", 1)
    monkeypatch.setattr(desk, "TRUNCATE_WAIT_SECONDS", 0)
    record_id = memory.write(FACT, USER).record_id
    with memory.database.read() as conn:
        conn.execute("SELECT * FROM mem_records").fetchall()
        assert memory.lifecycle.forget(ALICE, record_id) == [record_id]
    assert memory.look(record_id).stored.standing.state is State.FORGOTTEN
    memory.desk.cut_log()
    for file in memory.folder.iterdir():
        assert b"zanzibar" not in file.read_bytes().lower()
