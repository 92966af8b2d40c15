import grpc
import pytest

from services.common.errors import ServiceError
from services.memory.records.model import (
    Kind,
    Reason,
    Source,
    State,
    Surface,
    Taint,
    Trust,
)
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

FACT = "Alice prefers the zanzibar seat on long flights"
OTHER = "Alice wants vegetarian meals"


def test_archived_is_kept_and_says_nothing_with_authority(memory: Memory) -> None:
    record_id, other = memory.write(FACT).record_id, memory.write(OTHER).record_id
    child = memory.derive(f"Summary: {FACT}. {OTHER}.", record_id, other).record_id
    memory.lifecycle.archive(ALICE, record_id)
    memory.restart()
    assert memory.said("Alice zanzibar seat") == []
    assert memory.said("vegetarian meals") == [OTHER]
    assert FACT in memory.said("Alice zanzibar seat", Surface.EVIDENCE)
    stored = memory.look(record_id).stored
    assert (stored.standing.state, stored.standing.trust) == (State.ARCHIVED, Trust.TRUSTED)
    assert stored.record.content == FACT
    below = memory.look(child).stored.standing
    assert below.state is State.QUARANTINED
    assert Taint.INACTIVE_PARENT in below.taints
    assert below.reasons[-1] == Reason.ANCESTOR_ARCHIVED


def test_archiving_again_changes_nothing(memory: Memory) -> None:
    record_id = memory.write(FACT).record_id
    memory.lifecycle.archive(ALICE, record_id)
    before = memory.look(record_id)
    memory.lifecycle.archive(ALICE, record_id)
    assert memory.look(record_id) == before


def test_what_is_gone_or_replaced_cannot_be_archived(memory: Memory) -> None:
    rejected = memory.write("my password is hunter22").record_id
    forgotten = memory.write(OTHER).record_id
    memory.lifecycle.forget(ALICE, forgotten)
    replaced = memory.write(FACT).record_id
    memory.supersede(replaced, "Alice takes any seat")
    for record_id in (rejected, forgotten, replaced):
        with pytest.raises(ServiceError) as error:
            memory.lifecycle.archive(ALICE, record_id)
        assert error.value.code is grpc.StatusCode.FAILED_PRECONDITION
    with pytest.raises(ServiceError, match="no such record"):
        memory.lifecycle.archive(BOB, replaced)


@pytest.mark.parametrize("source", [AGENT, TOOL, WEB, CLAIMED, RECEIPT])
def test_rewriting_does_not_bring_it_back_and_the_user_does(memory: Memory, source: Source) -> None:
    record_id = memory.write(FACT).record_id
    memory.lifecycle.archive(ALICE, record_id)
    memory.write(FACT, source)
    memory.derive(f"Summary: {FACT}", record_id)
    assert memory.said("Alice zanzibar seat") == []
    anew = memory.write(FACT)
    assert anew.record_id != record_id
    assert memory.said("Alice zanzibar seat") == [FACT]
    assert memory.state(record_id) is State.ARCHIVED


@pytest.mark.parametrize("action", ["promote", "release"])
def test_a_signed_review_brings_it_back(memory: Memory, action: str) -> None:
    record_id = memory.write(FACT).record_id
    memory.lifecycle.archive(ALICE, record_id)
    memory.approve(record_id, action=action)
    assert memory.said("Alice zanzibar seat") == [FACT]
    assert memory.look(record_id).stored.standing.trust is Trust.REVIEWED


def test_what_never_was_trusted_is_not_released_from_the_archive(memory: Memory) -> None:
    record_id = memory.write(FACT, WEB).record_id
    memory.lifecycle.archive(ALICE, record_id)
    with pytest.raises(ServiceError, match="nothing to release"):
        memory.review.request(ALICE, (record_id,), "release")


def test_an_archived_procedure_is_not_listed(memory: Memory) -> None:
    record_id = memory.write("Close the valve first", kind=Kind.PROCEDURE).record_id
    memory.lifecycle.archive(ALICE, record_id)
    assert memory.recalling.procedures(ALICE) == []


def test_archiving_touches_no_other_record(memory: Memory) -> None:
    record_id = memory.write(FACT).record_id
    similar = memory.write("Alice prefers the zanzibar seat on short flights").record_id
    of_bob = memory.write(FACT, USER, scope=BOB).record_id
    memory.lifecycle.archive(ALICE, record_id)
    assert memory.look(similar).stored.authoritative
    assert memory.look(of_bob, BOB).stored.authoritative
    assert memory.write(f"{FACT} indeed", RECEIPT, scope=BOB).standing.state is State.ACTIVE


def test_quarantine_leaves_history_what_it_is(memory: Memory) -> None:
    old = memory.write(FACT).record_id
    new = memory.supersede(old, "Alice takes any seat").record_id
    memory.lifecycle.quarantine(ALICE, old, "suspected")
    assert memory.state(old) is State.SUPERSEDED
    assert memory.look(new).stored.authoritative
