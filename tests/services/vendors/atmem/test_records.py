"""Records of atmem as the contract's messages: states, trust, ids and lineage."""

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import memory_pb2
from services.common.canonical import sha256_hex
from services.common.errors import ServiceError
from services.vendors.atmem import records
from services.vendors.atmem.finding import Shelf, find
from services.vendors.atmem.record_model import Admission
from tests.services.vendors.atmem.samples import proposal, record, scope

ACTIVE = memory_pb2.RECORD_STATE_ACTIVE
QUARANTINED = memory_pb2.RECORD_STATE_QUARANTINED


@pytest.mark.parametrize(
    ("status", "excluded", "state"),
    [
        ("active", False, ACTIVE),
        ("active", True, QUARANTINED),
        ("quarantined", False, QUARANTINED),
        ("superseded", False, memory_pb2.RECORD_STATE_SUPERSEDED),
        ("tombstoned", False, memory_pb2.RECORD_STATE_FORGOTTEN),
    ],
)
def test_the_state_is_atmems(
    status: str, excluded: bool, state: memory_pb2.RecordState.ValueType
) -> None:
    shown = record(status=status, excluded=excluded)
    assert records.state_of(shown) == state
    assert records.hit(shown, 0.5, {}).authoritative is (state == ACTIVE)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("active", memory_pb2.RECORD_STATE_ARCHIVED),
        ("superseded", memory_pb2.RECORD_STATE_ARCHIVED),
        ("tombstoned", memory_pb2.RECORD_STATE_FORGOTTEN),
    ],
)
def test_what_the_lifecycle_service_archived_is_archived_and_still_recalled(
    status: str, state: memory_pb2.RecordState.ValueType
) -> None:
    shown = record(status=status, archived=True)
    assert records.state_of(shown) == state
    # atmem's recall does not look at it, and the answer says so.
    assert records.hit(shown, 0.5, {}).authoritative is (status == "active")


def test_ids_in_answers_are_the_contracts() -> None:
    old = record("rec_1", status="superseded", superseded_by="rec_2")
    new = record("rec_2", memory_class="durable_fact", proposal_id="prop_2")
    child = record("rec_3", parents=("rec_2", "rec_1"))
    by_id = {one.record_id: one for one in (old, new, child)}
    assert records.record_message(old, by_id, scope()).superseded_by == "prop_2"
    message = records.record_message(child, by_id, scope())
    assert list(message.parent_ids) == list(message.lineage) == ["prop_2", "rec_1"]
    assert Shelf.of(by_id.values()).native_ids()["prop_2"] == "rec_2"


def test_a_committed_proposal_is_admitted_as_its_record() -> None:
    committed = record("rec_2", memory_class="durable_fact", proposal_id="prop_1")
    told = records.proposal_admission(proposal(review_state="committed"), committed)
    assert (told.record_id, told.state) == ("prop_1", ACTIVE)
    assert told.trust == memory_pb2.TRUST_TRUSTED


@pytest.mark.parametrize(
    ("tier", "trust"),
    [
        ("trusted_user", memory_pb2.TRUST_TRUSTED),
        ("user_confirmed", memory_pb2.TRUST_REVIEWED),
        ("untrusted_content", memory_pb2.TRUST_UNTRUSTED),
        ("a tier of tomorrow", memory_pb2.TRUST_UNSPECIFIED),
    ],
)
def test_the_trust_is_atmems(tier: str, trust: memory_pb2.Trust.ValueType) -> None:
    assert records.hit(record(trust_tier=tier), 0.5, {}).trust == trust


@given(st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=10, max_size=10))
def test_a_lineage_is_every_ancestor_once_nearest_first(parents: list[list[int]]) -> None:
    shelf = {
        f"rec_{number}": record(f"rec_{number}", parents=tuple(f"rec_{one}" for one in of))
        for number, of in enumerate(parents)
    }
    lineage = records.lineage_of(shelf["rec_0"], shelf)
    assert len(set(lineage)) == len(lineage)
    assert "rec_0" not in lineage
    reached, edge, distance = {"rec_0": 0}, ["rec_0"], 0
    while edge:
        distance += 1
        edge = [p for one in edge for p in shelf[one].parents if p not in reached]
        reached.update({one: distance for one in edge if one not in reached})
    assert set(lineage) == set(reached) - {"rec_0"}
    assert [reached[one] for one in lineage] == sorted(reached[one] for one in lineage)


def test_a_lineage_is_bounded() -> None:
    parents = tuple(f"rec_{number}" for number in range(1, 2_000))
    assert len(records.lineage_of(record("rec_0", parents=parents), {})) == 1_000


def test_an_admission_tells_the_record_that_atmem_has() -> None:
    admitted = Admission("duplicate", ("semantic_record_already_exists",), "rec_1")
    quarantined = record(status="quarantined", taints=("UNTRUSTED_CONTENT",))
    told = records.fact_admission(admitted, quarantined)
    assert (told.record_id, told.state) == ("rec_1", QUARANTINED)
    assert list(told.taints) == ["UNTRUSTED_CONTENT"]
    assert list(told.reasons) == ["semantic_record_already_exists"]


def test_a_refused_fact_has_no_record() -> None:
    refused = Admission("rejected", ("secret_material_detected",), "")
    told = records.fact_admission(refused, None)
    assert (told.record_id, told.state) == ("", memory_pb2.RECORD_STATE_REJECTED)


@pytest.mark.parametrize(
    ("review_state", "state"),
    [
        ("pending_review", QUARANTINED),
        ("committed", ACTIVE),
        ("rejected", memory_pb2.RECORD_STATE_REJECTED),
        ("stale", memory_pb2.RECORD_STATE_REJECTED),
    ],
)
def test_a_proposal_is_quarantined_until_it_is_settled(
    review_state: str, state: memory_pb2.RecordState.ValueType
) -> None:
    told = records.proposal_admission(proposal(review_state=review_state))
    assert (told.record_id, told.state) == ("prop_1", state)


def test_a_procedure_keeps_its_id_through_its_review() -> None:
    committed = record("rec_7", memory_class="procedure", proposal_id="prop_1")
    shelf = Shelf.of([committed])
    found = find(shelf, [proposal()], "prop_1")
    assert (found.contract_id, found.record) == ("prop_1", committed)
    assert shelf.contract_id("rec_7") == "prop_1"
    message = found.message(shelf, scope(purpose="p"))
    assert (message.record_id, message.observation.kind) == (
        "prop_1",
        memory_pb2.RECORD_KIND_PROCEDURE,
    )
    assert message.observation.scope == scope()


def test_a_record_tells_what_atmem_still_has_of_its_observation() -> None:
    shown = record(parents=("rec_0",), source_type="website", trust_tier="untrusted_content")
    message = records.record_message(shown, {}, scope())
    assert message.content_digest == sha256_hex(shown.content.encode())
    assert message.observation.source.type == memory_pb2.SOURCE_TYPE_WEB
    assert message.observation.source.source_id == "alice.rec_1"
    assert (list(message.parent_ids), list(message.lineage)) == (["rec_0"], ["rec_0"])
    gone = records.record_message(record(content="", status="tombstoned"), {}, scope())
    assert (gone.content_digest, gone.authoritative) == ("", False)


@pytest.mark.parametrize("wanted", ["prop_9", "rec_9"])
def test_what_is_nowhere_is_not_found(wanted: str) -> None:
    with pytest.raises(ServiceError) as refused:
        find(Shelf.of([record()]), [proposal()], wanted)
    assert refused.value.code is grpc.StatusCode.NOT_FOUND


def test_a_proposal_is_settled_by_a_review_only() -> None:
    found = find(Shelf.of([]), [proposal()], "prop_1")
    with pytest.raises(ServiceError) as refused:
        found.native_id()
    assert refused.value.code is grpc.StatusCode.FAILED_PRECONDITION
