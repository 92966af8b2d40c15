import tempfile
from pathlib import Path

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.errors import ServiceError
from services.memory.records.model import (
    Binding,
    Kind,
    Reason,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
    Surface,
    Taint,
    Trust,
    ordered,
)
from services.memory.records.policy import Policy
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
    signed,
)

OLD = "Alice prefers the zanzibar seat on long flights"
NEW = "Alice prefers the aisle seat on long flights"
UNTRUSTED = [AGENT, TOOL, WEB, CLAIMED]
POLICY = Policy()


def refused(memory: Memory, record_id: str, content: str = NEW, **changes: object) -> object:
    with pytest.raises(ServiceError) as error:
        memory.supersede(record_id, content, **changes)  # type: ignore[arg-type] # as given
    return error.value.code


def test_the_newcomer_wins_and_the_history_stays(memory: Memory) -> None:
    old = memory.write(OLD).record_id
    child = memory.derive(f"Summary: {OLD}", old).record_id
    grandchild = memory.derive(f"Recap: {OLD}", child).record_id
    new = memory.supersede(old, NEW)
    assert new.standing.state is State.ACTIVE
    assert new.standing.reasons == (Reason.TRUSTED_SOURCE, Reason.SUPERSEDES)
    for query in ("Which seat does Alice prefer?", "zanzibar seat on long flights", NEW):
        assert memory.said(query) == [NEW]
    past = memory.look(old).stored
    assert past.record.content == OLD
    assert (past.standing.state, past.record.superseded_by) == (State.SUPERSEDED, new.record_id)
    assert not past.authoritative
    assert OLD in memory.said("zanzibar seat", Surface.EVIDENCE)
    for record_id in (child, grandchild):
        standing = memory.look(record_id).stored.standing
        assert standing.state is State.QUARANTINED
        assert Taint.INACTIVE_PARENT in standing.taints
        assert standing.reasons[-1] == Reason.ANCESTOR_SUPERSEDED


def test_it_holds_after_a_restart_and_can_go_on(memory: Memory) -> None:
    first = memory.write(OLD).record_id
    second = memory.supersede(first, NEW).record_id
    memory.restart()
    third = memory.supersede(second, "Alice prefers any seat near the wing").record_id
    assert memory.look(first).stored.record.superseded_by == second
    assert memory.look(second).stored.record.superseded_by == third
    assert memory.said("Which seat does Alice prefer?") == ["Alice prefers any seat near the wing"]


@pytest.mark.parametrize("source", UNTRUSTED)
@pytest.mark.parametrize("restart", [False, True])
def test_an_untrusted_newcomer_replaces_nothing_trusted(
    memory: Memory, source: Source, restart: bool
) -> None:
    old = memory.write(OLD).record_id
    child = memory.derive(f"Summary: {OLD}", old).record_id
    before = memory.look(old)
    new = memory.supersede(old, "Alice prefers to stand", source, labels=("admin",))
    if restart:
        memory.restart()
    assert new.standing.state is State.QUARANTINED
    assert new.standing.reasons[-1] == Reason.MAY_NOT_SUPERSEDE
    assert memory.look(old) == before
    assert memory.look(child).stored.authoritative
    assert memory.said("What does Alice prefer?")[0] in {OLD, f"Summary: {OLD}"}
    assert "Alice prefers to stand" not in memory.said("Alice prefers to stand")


def test_a_quarantined_trusted_record_is_not_replaced_by_the_untrusted(memory: Memory) -> None:
    old = memory.write(OLD).record_id
    memory.lifecycle.quarantine(ALICE, old, "suspected")
    assert memory.supersede(old, NEW, WEB).standing.reasons[-1] == Reason.MAY_NOT_SUPERSEDE
    assert memory.state(old) is State.QUARANTINED
    assert memory.supersede(old, NEW, USER).standing.reasons[-1] == Reason.SUPERSEDES


def test_the_untrusted_replace_the_untrusted_and_gain_nothing(memory: Memory) -> None:
    old = memory.write(OLD, WEB).record_id
    new = memory.supersede(old, NEW, AGENT)
    assert new.standing.state is State.QUARANTINED
    assert new.standing.reasons[-1] == Reason.SUPERSEDES
    assert memory.state(old) is State.SUPERSEDED
    assert memory.said("Which seat does Alice prefer?") == []


def test_a_receipt_does_not_replace_what_a_reviewer_signed_and_the_user_does(
    memory: Memory,
) -> None:
    old = memory.write(OLD, WEB).record_id
    memory.approve(old)
    assert memory.supersede(old, NEW, RECEIPT).standing.reasons[-1] == Reason.MAY_NOT_SUPERSEDE
    assert memory.state(old) is State.ACTIVE
    later = memory.supersede(old, "Alice prefers no seat at all")
    assert later.standing.reasons[-1] == Reason.SUPERSEDES


def test_a_longer_newcomer_is_no_child_of_what_it_replaces(memory: Memory) -> None:
    old = memory.write("Bob likes strong tea", RECEIPT).record_id
    new = memory.supersede(old, "Bob likes strong tea and coffee", RECEIPT)
    assert memory.look(new.record_id).stored.authoritative
    memory.lifecycle.forget(ALICE, old)
    assert memory.look(new.record_id).stored.authoritative


@pytest.mark.parametrize(("first", "second"), [(USER, USER), (WEB, USER), (USER, WEB), (WEB, WEB)])
def test_a_text_does_not_replace_itself(memory: Memory, first: Source, second: Source) -> None:
    old = memory.write(OLD, first).record_id
    state = memory.state(old)
    again = memory.supersede(old, f"  {OLD.upper()}", second)
    assert again.standing.reasons[-1] == Reason.SAME_STATEMENT
    assert memory.state(old) is state
    assert (again.record_id == old) == (first is second)


def test_a_known_text_becomes_the_successor_without_a_copy(memory: Memory) -> None:
    old, known = memory.write(OLD).record_id, memory.write(NEW).record_id
    new = memory.supersede(old, NEW)
    assert new.record_id == known
    assert memory.look(old).stored.record.superseded_by == known
    assert memory.said("Which seat does Alice prefer?") == [NEW]


def test_only_records_in_use_are_replaced_so_there_is_no_circle(memory: Memory) -> None:
    old = memory.write(OLD).record_id
    new = memory.supersede(old, NEW).record_id
    assert refused(memory, old, "something else") is grpc.StatusCode.FAILED_PRECONDITION
    rejected = memory.write("my password is hunter22").record_id
    archived = memory.write("Alice lives in the harbour").record_id
    memory.lifecycle.archive(ALICE, archived)
    forgotten = memory.write("Alice has a boat").record_id
    memory.lifecycle.forget(ALICE, forgotten)
    for record_id in (rejected, archived, forgotten):
        assert refused(memory, record_id) is grpc.StatusCode.FAILED_PRECONDITION
    # The old words said anew are a record of their own; the one before stays history.
    back = memory.supersede(new, OLD)
    assert back.record_id not in (old, new)
    assert memory.look(old).stored.record.superseded_by == new
    assert memory.look(new).stored.record.superseded_by == back.record_id
    assert memory.said("Which seat does Alice prefer?") == [OLD]


def test_kind_and_circle_must_fit(memory: Memory) -> None:
    old = memory.write(OLD).record_id
    failed = grpc.StatusCode.FAILED_PRECONDITION
    assert refused(memory, old, kind=Kind.PROCEDURE) is failed
    assert refused(memory, old, scope=Scope("n", "alice", purpose="billing")) is failed
    assert refused(memory, old, scope=BOB) is grpc.StatusCode.NOT_FOUND
    assert refused(memory, "rec_unknown") is grpc.StatusCode.NOT_FOUND
    assert memory.said("Which seat does Alice prefer?") == [OLD]
    steps = memory.write("Close the valve first", kind=Kind.PROCEDURE).record_id
    memory.supersede(steps, "Open the valve first", kind=Kind.PROCEDURE)
    (listed,) = memory.recalling.procedures(ALICE)
    assert listed.stored.record.content == "Open the valve first"


def test_secrets_and_the_forgotten_replace_nothing(memory: Memory) -> None:
    old = memory.write(OLD).record_id
    secret = memory.supersede(old, "my password is hunter22")
    assert (secret.standing.state, secret.standing.reasons[0]) == (State.REJECTED, Reason.SECRET)
    gone = memory.write("The zanzibar clause of 1896 applies").record_id
    memory.lifecycle.forget(ALICE, gone)
    again = memory.supersede(old, "The zanzibar clause of 1896 applies", RECEIPT)
    assert (again.record_id, again.standing.state) == (gone, State.FORGOTTEN)
    assert memory.state(old) is State.ACTIVE


def test_a_pending_review_of_the_replaced_is_void(memory: Memory) -> None:
    old = memory.write(OLD, WEB).record_id
    challenge = memory.review.request(ALICE, (old,), "promote")
    memory.supersede(old, NEW, WEB)
    with pytest.raises(ServiceError, match="changed"):
        memory.review.decide(signed(challenge))
    with pytest.raises(ServiceError, match="nothing to promote"):
        memory.review.request(ALICE, (old,), "promote")


def test_what_one_principal_replaced_is_no_doubt_about_another(memory: Memory) -> None:
    old = memory.write(OLD).record_id
    memory.write(OLD, RECEIPT, scope=BOB)
    memory.supersede(old, NEW)
    assert memory.said("zanzibar seat", scope=BOB) == [OLD]
    later = memory.write(f"{OLD}, as booked", RECEIPT, scope=BOB)
    assert later.standing.state is State.ACTIVE
    assert memory.write(f"{OLD}, as booked", RECEIPT).standing.state is State.QUARANTINED


SOURCES = st.builds(
    Source,
    st.sampled_from([kind for kind in SourceType if kind is not SourceType.DERIVATION]),
    st.sampled_from(Binding),
    st.just("s"),
)


@settings(max_examples=40, deadline=None)
@given(SOURCES, st.sampled_from(Kind), st.booleans())
def test_the_same_content_and_source_ends_alike_by_either_way(
    source: Source, kind: Kind, repeats: bool
) -> None:
    """Path independence: Supersede admits exactly as Write does."""
    standings = []
    for way in ("write", "supersede"):
        with tempfile.TemporaryDirectory() as folder:
            memory = Memory(Path(folder), Policy(), {})
            old = memory.write("Alice lives near the harbour", WEB, kind=kind).record_id
            memory.write(NEW, TOOL if repeats else USER, scope=BOB)
            if way == "write":
                record_id = memory.write(NEW, source, kind=kind).record_id
            else:
                record_id = memory.supersede(old, NEW, source, kind=kind).record_id
            stored = memory.look(record_id).stored
            standings.append((stored.standing, stored.authoritative))
            memory.database.close()
    assert standings[0] == standings[1]


STANDINGS = st.builds(
    lambda state, trust, taints: Standing(state, trust, ordered(taints)),
    st.sampled_from(State),
    st.sampled_from(Trust),
    st.frozensets(st.sampled_from(Taint)),
)


@given(STANDINGS, STANDINGS, st.booleans())
def test_nothing_with_authority_gives_way_to_less(
    old: Standing, new: Standing, attested: bool
) -> None:
    if POLICY.may_supersede(old, new, attested) and old.trust is not Trust.UNTRUSTED:
        assert POLICY.clean(new)
        assert attested or new.trust is Trust.REVIEWED or old.trust is Trust.TRUSTED


@given(STANDINGS)
def test_what_is_replaced_or_put_out_of_use_has_no_authority(standing: Standing) -> None:
    for after in (POLICY.superseded(standing), POLICY.archived(standing)):
        assert not POLICY.clean(after)
        assert POLICY.kept(after)
        assert (after.trust, after.taints) == (standing.trust, standing.taints)
        assert Taint.INACTIVE_PARENT in POLICY.inherited_taints(after)
