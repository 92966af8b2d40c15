import json

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import vendor_pb2
from services.common.canonical import digest_hex
from services.common.errors import ServiceError
from services.memory.records import lifecycle, reporting, schema
from services.memory.records.model import Kind, Outcome, Outcomes, Source, Standing, State, Trust
from services.memory.records.policy import Policy
from services.memory.records.policy_replace import COUNT_MAX
from services.memory.records.recalling import Viewed
from tests.services.memory.records.rig import ALICE, BOB, USER, WEB, Memory

STEPS = "Open the zanzibar valve, then close the pump"
POLICY = Policy()


def reported(memory: Memory, record_id: str) -> object:
    for item_id, content in reporting.export(memory.database, "n", vendor_pb2.SURFACE_CANONICAL):
        if item_id == record_id:
            return json.loads(content)["outcomes"]
    return None


def report(memory: Memory, record_id: str, outcome: Outcome = Outcome.HELPFUL) -> Viewed:
    return memory.lifecycle.record_outcome(ALICE, record_id, outcome, 1.0)


@pytest.mark.parametrize("source", [USER, WEB])
def test_outcomes_are_counted_and_change_nothing(memory: Memory, source: Source) -> None:
    record_id = memory.write(STEPS, source, kind=Kind.PROCEDURE).record_id
    before = memory.look(record_id)
    listed = memory.recalling.procedures(ALICE)
    ranked = [hit.score for hit in memory.recall("zanzibar valve")]
    for _ in range(20):
        assert report(memory, record_id) == before
    memory.lifecycle.record_outcome(ALICE, record_id, Outcome.HARMFUL, 0.25)
    memory.lifecycle.record_outcome(ALICE, record_id, Outcome.NEUTRAL, 0.0)
    memory.restart()
    assert memory.look(record_id) == before
    assert memory.recalling.procedures(ALICE) == listed
    assert [hit.score for hit in memory.recall("zanzibar valve")] == ranked
    counted = {"helpful": 20, "harmful": 1, "neutral": 1, "utility_micros": 20_250_000}
    assert reported(memory, record_id) == counted


def test_a_review_that_is_under_way_stays_good(memory: Memory) -> None:
    record_id = memory.write(STEPS, WEB, kind=Kind.PROCEDURE).record_id
    challenge = memory.review.request(ALICE, (record_id,), "promote")
    report(memory, record_id)
    assert challenge.subject_ids == [record_id]
    memory.approve(record_id)
    assert len(memory.recalling.procedures(ALICE)) == 1


def test_the_state_hash_and_the_audit_trail_know_of_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "AUDITED_OUTCOMES_MAX", 3)
    record_id = memory.write(STEPS, kind=Kind.PROCEDURE).record_id
    digests = {digest_hex(list(reporting.digest_parts(memory.database, "n")))}
    for _ in range(5):
        report(memory, record_id)
        digests.add(digest_hex(list(reporting.digest_parts(memory.database, "n"))))
    assert len(digests) == 6
    entries = [
        json.loads(content)
        for _, content in reporting.export(memory.database, "n", vendor_pb2.SURFACE_AUDIT)
    ]
    noted = [entry for entry in entries if entry["action"] == "outcome_recorded"]
    assert [entry["outcomes"]["helpful"] for entry in noted] == [1, 2, 3]


def test_only_kept_procedures_have_outcomes(memory: Memory) -> None:
    fact = memory.write("Alice likes tea").record_id
    forgotten = memory.write(STEPS, kind=Kind.PROCEDURE).record_id
    report(memory, forgotten)
    memory.lifecycle.forget(ALICE, forgotten)
    rejected = memory.write("my password is hunter22", kind=Kind.PROCEDURE).record_id
    for record_id in (fact, forgotten, rejected):
        with pytest.raises(ServiceError) as error:
            report(memory, record_id)
        assert error.value.code is grpc.StatusCode.FAILED_PRECONDITION
    of_bob = memory.write(STEPS, scope=BOB, kind=Kind.PROCEDURE).record_id
    with pytest.raises(ServiceError, match="no such record"):
        report(memory, of_bob)
    assert reported(memory, forgotten) == {
        "helpful": 0,
        "harmful": 0,
        "neutral": 0,
        "utility_micros": 0,
    }


def test_a_reset_removes_them(memory: Memory) -> None:
    record_id = memory.write(STEPS, kind=Kind.PROCEDURE).record_id
    report(memory, record_id)
    with memory.database.transaction() as conn:
        schema.purge_namespace(conn, "n")
    assert memory.write(STEPS, kind=Kind.PROCEDURE).record_id == record_id
    assert reported(memory, record_id) == {
        "helpful": 0,
        "harmful": 0,
        "neutral": 0,
        "utility_micros": 0,
    }


class _OutcomesCount(Policy):
    def outcome_standing(self, standing: Standing, outcomes: Outcomes) -> Standing:
        if outcomes.helpful < 2:
            return standing
        return Standing(State.ACTIVE, Trust.TRUSTED)


def test_a_flawed_policy_would_be_seen(make_memory: object) -> None:
    memory: Memory = make_memory(_OutcomesCount())  # type: ignore[operator] # a factory
    record_id = memory.write(STEPS, WEB, kind=Kind.PROCEDURE).record_id
    report(memory, record_id)
    assert memory.recalling.procedures(ALICE) == []
    report(memory, record_id)
    assert len(memory.recalling.procedures(ALICE)) == 1


COUNTS = st.integers(0, COUNT_MAX)


@given(
    st.builds(Outcomes, COUNTS, COUNTS, COUNTS, COUNTS), st.sampled_from(Outcome), st.floats(0, 1)
)
def test_counters_never_fall_and_are_bounded(
    before: Outcomes, outcome: Outcome, utility: float
) -> None:
    after = POLICY.counted(before, outcome, utility)
    assert after.total >= before.total
    assert after.utility_micros >= before.utility_micros
    assert max(after.helpful, after.harmful, after.neutral, after.utility_micros) <= COUNT_MAX
