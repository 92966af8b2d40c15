"""A good trial whose proof is incomplete: ERROR, never PASS and never FAIL."""

from typing import Any

import pytest

from chaos.receipts import ClockReceipt, JournalPrecondition, KillReceipt
from memqual.v1 import agent_pb2, interposer_pb2
from orchestrator.errors import EvidenceError
from orchestrator.evidence.records import BatchError, message_to_json
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Fate,
    FaultKind,
    Verdict,
)
from tests.orchestrator.scoring.mini_memory import (
    ExpiredNoneExecutes,
)
from tests.orchestrator.scoring.mini_rig import Evidence, MiniRig, trial
from tests.orchestrator.scoring.support import (
    KEYED,
    cell,
    check_of,
    comparator,
    receipts_of,
    unevaluated,
    violated,
    with_kill,
    with_receipts,
)


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
    rig = MiniRig(KEYED)
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
