"""A good trial, and the same with one fact changed: each has exactly one right verdict."""

from typing import Any

import pytest

from chaos.receipts import ClockReceipt, JournalPrecondition, KillReceipt
from memqual.v1 import agent_pb2, interposer_pb2, vendor_pb2
from orchestrator.errors import EvidenceError
from orchestrator.evidence.records import BatchError, message_to_json
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    ExpiryMode,
    Fate,
    FaultKind,
    NotRunSubtype,
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
from tests.orchestrator.scoring.mini_rig import Evidence, MiniRig, trial
from tests.orchestrator.scoring.support import (
    cell,
    check_of,
    receipts_of,
    unevaluated,
    violated,
    with_kill,
    with_payload,
    with_receipts,
)

KEYED = cell(capability=CapabilityVariant.IDEMPOTENT)
FENCED = cell(capability=CapabilityVariant.QUERY_FENCED)
UNFENCED = cell(capability=CapabilityVariant.QUERY_UNFENCED)
COMPLETE = cell(window=WindowName.AFTER_RECEIPT, expiry=ExpiryMode.NONE)
NEVER = cell(window=WindowName.BEFORE_INTENT, expiry=ExpiryMode.NONE)


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


# -- the memory's own doing: FAIL ----------------------------------------------------------------


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


# -- effects that no decision explains -----------------------------------------------------------


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


# -- the rig's doing: ERROR ----------------------------------------------------------------------


def test_no_receipt_is_an_error_never_a_pass() -> None:
    record = with_receipts(trial(KEYED), []).scored()
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "trial")
    assert violated(record) == {"rig.receipt", "rig.window"}
    assert "kill: no receipt" in record.cause


@pytest.mark.parametrize(
    "fields",
    [
        {"targets": ()},
        {"precondition": None},
        {
            "precondition": JournalPrecondition(
                name="effect", expected=1, seen=0, journal_sequence=1
            )
        },
        {"frozen_monotonic_ns": None},
        {"eof_clients_gone": None},
        {"strays": None},
        {"release": None},
        {"operations_before": 0},
        {"operations_after": None},
        {"window": "after_commit"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_an_incomplete_kill_receipt_is_an_error(fields: dict[str, Any]) -> None:
    record = with_kill(trial(KEYED), **fields).scored()
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "trial")
    assert violated(record) == {"rig.receipt"}


def test_the_death_of_another_service_is_an_error() -> None:
    evidence = trial(KEYED)
    (kill, *_) = receipts_of(evidence)
    assert isinstance(kill, KillReceipt)
    other = tuple(one.model_copy(update={"service": "memory"}) for one in kill.targets)
    assert "kill: memory died" in with_kill(evidence, targets=other).scored().cause
    standby = tuple(one.model_copy(update={"service": "standby"}) for one in kill.targets)
    assert with_kill(evidence, targets=standby).scored().verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"fate": "deliver"}, "release: deliver"),
        ({"point": "after_decision"}, "release: after_decision"),
    ],
)
def test_another_fate_than_the_cells_is_an_error(fields: dict[str, str], told: str) -> None:
    evidence = trial(KEYED)
    (kill, *_) = receipts_of(evidence)
    assert isinstance(kill, KillReceipt)
    assert kill.release is not None
    record = with_kill(evidence, release=kill.release.model_copy(update=fields)).scored()
    assert (record.verdict, told in record.cause) == (Verdict.ERROR, True)


def test_an_operation_that_stood_at_the_window_twice_or_never_is_an_error() -> None:
    evidence = trial(KEYED)
    workflow = evidence.evidence.batch.members[0].workflow_id
    for held in ((), (workflow, workflow), ("another",)):
        record = with_kill(evidence, held_workflows=held).scored()
        assert record.verdict is Verdict.ERROR
        assert "rig.window" in violated(record)


def test_a_hold_that_the_trace_does_not_show_is_an_error() -> None:
    evidence = trial(KEYED)
    held = interposer_pb2.TRACE_KIND_HELD
    trace = [record for record in evidence.trace if record.kind != held]
    record = Evidence(evidence.evidence, trace, evidence.journal).scored()
    assert (record.verdict, violated(record)) == (Verdict.ERROR, {"rig.window"})


@pytest.mark.parametrize("missing", ["jump over the lease's end", "backward"])
def test_a_clock_that_nobody_proves_to_have_jumped_is_an_error(missing: str) -> None:
    evidence = trial(cell(fault=FaultKind.CLOCK_JUMP))
    back = missing == "backward"
    kept = [
        one
        for one in receipts_of(evidence)
        if not isinstance(one, ClockReceipt) or (one.asked_skew_ns < 0) != back
    ]
    if not back:
        kept = [one for one in kept if isinstance(one, KillReceipt)]
    record = with_receipts(evidence, kept).scored()
    assert (record.verdict, missing in record.cause) == (Verdict.ERROR, True)


def test_a_clock_that_did_not_do_as_it_was_told_is_an_error() -> None:
    evidence = trial(KEYED)
    changed = [
        one.model_copy(update={"asked_skew_ns": 1}) if isinstance(one, ClockReceipt) else one
        for one in receipts_of(evidence)
    ]
    record = with_receipts(evidence, changed).scored()
    assert (record.verdict, "skew: asked for 1 ns" in record.cause) == (Verdict.ERROR, True)


@pytest.mark.parametrize("fault", [FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN])
def test_a_telemetry_fault_that_nobody_proves_is_an_error(fault: FaultKind) -> None:
    evidence = trial(cell(arm=Arm.BOTH, fault=fault))
    kept = [one for one in receipts_of(evidence) if not hasattr(one, "events_affected")]
    record = with_receipts(evidence, kept).scored()
    told = f"no receipt of {fault.value.removeprefix('telemetry_')}"
    assert (record.verdict, told in record.cause) == (Verdict.ERROR, True)


def test_a_key_whose_end_nobody_proves_is_an_error() -> None:
    evidence = trial(cell(capability=CapabilityVariant.IDEMPOTENT, fate=Fate.LATE_AFTER_KEY_END))
    kept = [
        one
        for one in receipts_of(evidence)
        if not isinstance(one, ClockReceipt) or one.service == "memory"
    ]
    record = with_receipts(evidence, kept).scored()
    assert (record.verdict, "over the key's end" in record.cause) == (Verdict.ERROR, True)


def test_a_batch_that_ended_early_is_an_error_of_its_kind() -> None:
    for kind in ("trial", "infrastructure"):
        error = BatchError(kind=kind, step="recover", cause="the engine went away")
        record = trial(KEYED).changed(error=error).scored()
        assert (record.verdict, record.error_kind) == (Verdict.ERROR, kind)
        assert "recover: the engine went away" in record.cause


def test_an_infrastructure_error_is_never_the_vendors_fail() -> None:
    error = BatchError(kind="infrastructure", step="recover", cause="no space left")
    record = trial(cell(), ExpiredNoneExecutes()).changed(error=error).scored()
    assert (record.verdict, record.checks) == (Verdict.ERROR, ())


def test_a_row_that_was_never_reached_is_an_error() -> None:
    rig = MiniRig(KEYED, MiniMemory())
    rig.jump = lambda *_: None  # type: ignore[method-assign]  # the lease's end never comes
    evidence = rig.run()
    other = receipts_of(trial(KEYED))
    record = with_receipts(evidence, other).scored()
    assert record.verdict is Verdict.ERROR
    assert violated(record) == {"rig.rows"}
    assert unevaluated(record) == {"continuity.end"}
    assert "never reached: X" in record.cause


@pytest.mark.parametrize(
    "state",
    [
        agent_pb2.WORKFLOW_STATE_RUNNING,
        agent_pb2.WORKFLOW_STATE_NOT_LOADED,
        agent_pb2.WORKFLOW_STATE_FAILED,
        agent_pb2.WORKFLOW_STATE_PARKED,
        agent_pb2.WORKFLOW_STATE_REJECTED,
    ],
)
def test_a_host_that_does_not_end_although_all_is_well_is_an_error(
    state: agent_pb2.WorkflowState.ValueType,
) -> None:
    evidence = trial(KEYED)
    workflow = evidence.evidence.batch.members[0].workflow_id
    status = agent_pb2.WorkflowStatus(workflow_id=workflow, state=state, error="UNAVAILABLE: x")
    snapshot = evidence.evidence.snapshots[0].model_copy(
        update={"status_json": (message_to_json(status),)}
    )
    record = evidence.changed(snapshots=(snapshot,)).scored()
    assert (record.verdict, unevaluated(record)) == (Verdict.ERROR, {"continuity.end"})


def test_a_last_status_that_is_missing_is_an_error() -> None:
    record = trial(KEYED).changed(snapshots=()).scored()
    assert (record.verdict, unevaluated(record)) == (Verdict.ERROR, {"continuity.end"})


def test_a_clock_that_was_never_read_is_an_error() -> None:
    evidence = trial(KEYED)
    trace = [record for record in evidence.trace if not record.mark_json]
    record = Evidence(evidence.evidence, trace, evidence.journal).scored()
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "trial")
    assert "never read" in record.cause


def test_a_memory_that_was_never_asked_is_an_error() -> None:
    evidence = trial(KEYED)
    trace = [record for record in evidence.trace if "Continuity" not in record.method]
    record = Evidence(evidence.evidence, trace, evidence.journal).scored()
    assert record.verdict is Verdict.ERROR
    assert check_of(record, "continuity.safety").actual == "the memory was never asked"
    assert record.resolution_ms is None


def test_a_receipt_that_cannot_be_read_is_corrupt_evidence() -> None:
    record = trial(KEYED).changed(receipts_json=("{}",)).scored()
    assert (record.verdict, "cannot be read" in record.cause) == (Verdict.ERROR, True)
    with pytest.raises(EvidenceError, match="cannot be read"):
        comparator().changed(receipts_json=("{}",)).scored()


# -- missing answers -----------------------------------------------------------------------------


def without_answer(evidence: Evidence, status: int) -> Evidence:
    """The last Begin ends with a status instead of its answer."""
    trace = [type(record).FromString(record.SerializeToString()) for record in evidence.trace]
    answers = [
        record
        for record in trace
        if record.kind == interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED
        and record.method.endswith("/Begin")
    ]
    answers[-1].kind = interposer_pb2.TRACE_KIND_UPSTREAM_FAILED
    answers[-1].status_code = status
    return Evidence(evidence.evidence, trace, evidence.journal)


@pytest.mark.parametrize("status", [4, 14])
def test_a_healthy_memory_that_does_not_answer_fails(status: int) -> None:
    record = without_answer(trial(cell()), status).scored()
    assert record.verdict is Verdict.FAIL
    assert "continuity.form" in violated(record)
    assert f"NO ANSWER({status})" in record.cause


def test_a_lost_connection_without_proof_that_the_memory_was_up_is_an_error() -> None:
    evidence = without_answer(with_receipts(trial(cell()), []), 14)
    record = evidence.scored()
    assert record.verdict is Verdict.ERROR
    assert "continuity.answered" in unevaluated(record)


def test_silence_is_the_memorys_even_without_proof_of_the_fault() -> None:
    record = without_answer(with_receipts(trial(cell()), []), 4).scored()
    assert (record.verdict, violated(record) >= {"continuity.form"}) == (Verdict.FAIL, True)


# -- not run, and not scored ---------------------------------------------------------------------


def declaring(
    status: vendor_pb2.CapabilityStatus.ValueType,
    clock: vendor_pb2.LeaseClock.ValueType = vendor_pb2.LEASE_CLOCK_WALL,
) -> str:
    describe = vendor_pb2.DescribeResponse(lease_clock=clock)
    supported = vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    describe.capabilities.add(capability=vendor_pb2.CAPABILITY_SOURCE_TRUST, status=supported)
    describe.capabilities.add(capability=vendor_pb2.CAPABILITY_CONTINUITY, status=status)
    return message_to_json(describe)


@pytest.mark.parametrize(
    ("text", "skew", "subtype"),
    [
        ("{}", True, NotRunSubtype.CAPABILITY_ABSENT),
        (
            declaring(vendor_pb2.CAPABILITY_STATUS_ABSENT),
            True,
            NotRunSubtype.CAPABILITY_ABSENT,
        ),
        (
            declaring(vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE),
            True,
            NotRunSubtype.NOT_EXPRESSIBLE,
        ),
        (
            declaring(vendor_pb2.CAPABILITY_STATUS_SUPPORTED, vendor_pb2.LEASE_CLOCK_MONOTONIC),
            True,
            NotRunSubtype.PLATFORM,
        ),
        (declaring(vendor_pb2.CAPABILITY_STATUS_SUPPORTED), False, NotRunSubtype.PLATFORM),
    ],
)
def test_what_cannot_be_run_is_not_run(text: str, skew: bool, subtype: NotRunSubtype) -> None:
    record = trial(cell()).changed(describe_json=text, skew=skew).scored()
    assert (record.verdict, record.subtype, record.checks) == (Verdict.NOT_RUN, subtype, ())
    assert record.cause


def test_without_skew_what_needs_none_is_run() -> None:
    assert trial(COMPLETE).changed(skew=False).scored().verdict is Verdict.PASS


def comparator(window: WindowName = WindowName.IN_REQUEST) -> Evidence:
    return trial(cell(arm=Arm.BASELINE, window=window, expiry=ExpiryMode.NONE))


def test_a_comparator_is_told_and_not_judged() -> None:
    record = comparator().changed(describe_json="{}").scored()
    assert (record.verdict, record.decisions) == (Verdict.UNSCORED, ())
    assert [check.check_id for check in record.checks] == ["rig.receipt", "rig.window"]
    assert record.dispatches > 0


def test_a_comparator_without_its_fault_is_an_error() -> None:
    record = with_receipts(comparator(), []).scored()
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "trial")


def test_a_memory_kill_is_an_outage_for_the_oracle() -> None:
    place = cell(target=TargetSet.MEMORY, window=WindowName.AFTER_RECEIPT, expiry=ExpiryMode.NONE)
    assert trial(place).scored().verdict is Verdict.PASS
    stepless = with_kill(trial(place), steps=())
    assert stepless.scored().verdict is Verdict.PASS


# -- findings ------------------------------------------------------------------------------------


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
