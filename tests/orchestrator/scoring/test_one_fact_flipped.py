"""A good trial, and the same with one fact changed: the memory's doing is FAIL."""

from typing import Any

import pytest

from memqual.v1 import agent_pb2, vendor_pb2
from orchestrator.evidence.records import message_to_json
from orchestrator.model import (
    CapabilityVariant,
    Fate,
    FaultKind,
    TargetSet,
    Verdict,
    WindowName,
)
from tests.orchestrator.scoring.mini_memory import (
    Confirms,
    ExpiredNoneExecutes,
    ForgetsReceipts,
    MiniMemory,
    WaitsAfterDoubt,
    WaitsForEver,
)
from tests.orchestrator.scoring.mini_rig import Evidence, trial
from tests.orchestrator.scoring.support import (
    COMPLETE,
    FENCED,
    KEYED,
    NEVER,
    UNFENCED,
    cell,
    unevaluated,
    violated,
    with_payload,
)


def test_the_good_trial_passes_and_says_what_it_saw() -> None:
    record = trial(KEYED).scored()
    assert (record.verdict, record.cause, record.error_kind) == (Verdict.PASS, "", "")
    assert record.decisions == (
        "EXECUTE:granted:1",
        "WAIT:lease_live:0",
        "EXECUTE:granted:2",
    )
    assert (record.dispatches, record.effects, record.tool_errors) == (2, 1, 0)
    assert record.operation_id.startswith(record.workflow_id)
    assert record.fault_receipt_id == "b0"
    assert record.resolution_ms is not None
    assert record.resolution_ms > 0
    assert {check.outcome.value for check in record.checks} == {"held"}
    assert len({check.check_id for check in record.checks}) == len(record.checks) == 11


def test_the_same_evidence_gives_the_same_record_byte_for_byte() -> None:
    evidence = trial(FENCED)
    assert evidence.scored().model_dump_json() == evidence.scored().model_dump_json()


@pytest.mark.parametrize(
    ("place", "memory", "check"),
    [
        (cell(), ExpiredNoneExecutes(), "continuity.safety"),
        (FENCED, ExpiredNoneExecutes(), "continuity.safety"),
        (cell(), WaitsForEver(), "continuity.liveness"),
        (FENCED, WaitsForEver(), "continuity.liveness"),
        (KEYED, WaitsForEver(), "continuity.liveness"),
        (NEVER, Confirms(), "continuity.liveness"),
        (COMPLETE, Confirms(), "continuity.liveness"),
        (COMPLETE, ForgetsReceipts(), "continuity.liveness"),
    ],
)
def test_a_wrong_memory_fails_by_the_check_that_names_it(
    place: Any, memory: MiniMemory, check: str
) -> None:
    record = trial(place, memory).scored()
    assert record.verdict is Verdict.FAIL
    assert check in violated(record)
    assert check in record.cause


def test_execute_after_an_expired_none_makes_the_extra_effect_the_memorys() -> None:
    place = cell(window=WindowName.AFTER_COMMIT)
    record = trial(place, ExpiredNoneExecutes()).scored()
    assert (record.verdict, record.effects, record.hazard) == (Verdict.FAIL, 2, "")
    assert violated(record) == {"continuity.safety", "continuity.extra_effect"}


def test_waiting_for_ever_after_doubt_is_allowed_each_time_and_fails_in_the_end() -> None:
    record = trial(UNFENCED, WaitsAfterDoubt()).scored()
    assert record.verdict is Verdict.FAIL
    assert violated(record) == {"continuity.end"}
    assert "parked" in record.cause


def test_a_memory_that_never_lets_the_window_come_fails_and_is_no_error() -> None:
    record = trial(cell(), Confirms()).scored()
    assert (record.verdict, record.error_kind) == (Verdict.FAIL, "")
    assert "rig.window" in violated(record)
    assert record.cause.startswith("kill: nobody came to the window")


def test_continuity_without_a_declared_lease_fails() -> None:
    evidence = trial(cell())
    describe = vendor_pb2.DescribeResponse()
    describe.capabilities.add(
        capability=vendor_pb2.CAPABILITY_CONTINUITY,
        status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
    )
    record = evidence.changed(describe_json=message_to_json(describe)).scored()
    assert record.verdict is Verdict.FAIL
    assert "continuity.declaration" in violated(record)


def test_a_lost_effect_fails() -> None:
    evidence = trial(COMPLETE)
    journal = [one for one in evidence.journal if '"applied"' not in one.payload_json]
    record = Evidence(evidence.evidence, evidence.trace, journal).scored()
    assert (record.verdict, violated(record)) == (Verdict.FAIL, {"continuity.lost_effect"})


def test_a_refusal_by_the_tool_is_no_lost_effect() -> None:
    evidence = trial(COMPLETE)
    journal = [one for one in evidence.journal if '"applied"' not in one.payload_json]
    status = agent_pb2.WorkflowStatus.FromString(b"")
    status.workflow_id = evidence.evidence.batch.members[0].workflow_id
    status.state = agent_pb2.WORKFLOW_STATE_COMPLETED
    status.operations.add(operation_id="op", tool_error_code="insufficient_funds")
    snapshot = evidence.evidence.snapshots[0].model_copy(
        update={"status_json": (message_to_json(status),)}
    )
    refused = Evidence(evidence.evidence, evidence.trace, journal).changed(snapshots=(snapshot,))
    assert refused.scored().verdict is Verdict.PASS


def test_a_wrong_effect_fails() -> None:
    evidence = trial(KEYED)
    for record in evidence.journal:
        told = record.payload_json
        record.payload_json = told.replace('"arguments_digest": "', '"arguments_digest": "f')
    scored = evidence.scored()
    assert (scored.verdict, violated(scored)) == (Verdict.FAIL, {"continuity.wrong_effect"})


def test_an_unexplained_extra_effect_is_an_error_and_nobodys_fault() -> None:
    record = with_payload(trial(KEYED)).scored()
    assert (record.verdict, record.error_kind, record.hazard) == (Verdict.ERROR, "trial", "")
    assert unevaluated(record) == {"continuity.extra_effect"}


@pytest.mark.parametrize(
    ("fields", "account"),
    [
        ({"fate": Fate.LATE_AFTER_DECISION}, "network"),
        ({"fault": FaultKind.CLOCK_JUMP}, "clock"),
    ],
)
def test_a_hazard_of_the_cell_goes_to_its_own_account(
    fields: dict[str, object], account: str
) -> None:
    place = cell(capability=CapabilityVariant.IDEMPOTENT, **fields)
    record = with_payload(trial(place)).scored()
    assert (record.verdict, record.hazard) == (Verdict.PASS, account)


def test_effects_of_other_workflows_do_not_count() -> None:
    record = with_payload(trial(KEYED), workflow_id="another").scored()
    assert (record.verdict, record.effects) == (Verdict.PASS, 1)


def test_what_works_and_is_not_declared_is_a_finding() -> None:
    declares = (vendor_pb2.CAPABILITY_CONTINUITY,)
    replayed = cell(window=WindowName.AFTER_LEASE, target=TargetSet.MEMORY)
    assert trial(FENCED, declares=declares).scored().findings == (
        "stale_declaration: final_absence",
    )
    assert trial(replayed, declares=declares).scored().findings == (
        "stale_declaration: begin_replay",
    )
    assert trial(FENCED).scored().findings == ()


def test_the_oracle_counts_what_was_decided() -> None:
    record = trial(cell(), WaitsForEver()).scored()
    assert record.needless_decisions == 6
    assert record.unsafe_decisions == 0
