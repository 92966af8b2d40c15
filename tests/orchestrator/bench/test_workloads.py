"""What benchmarks carry out: ids that never meet, valid operations, synthetic trials."""

import pytest

from memqual.v1 import continuity_pb2
from orchestrator.bench.bench import PaceMeter
from orchestrator.bench.crashes import CAPABILITIES, batch_of, crash_cells, matrix_cells
from orchestrator.bench.memory import operation_spec, receipt_for
from orchestrator.bench.orchestrator_memory import extrapolated, synthetic_trials
from orchestrator.model import Fate, TargetSet, TrialRecord, Verdict, WindowName
from services.common.canonical import operation_id, sha256_hex


def test_cells_are_every_window_with_every_capability_once() -> None:
    windows = (WindowName.IN_REQUEST, WindowName.AFTER_COMMIT, WindowName.AFTER_RECEIPT)
    cells = crash_cells(windows)
    found = {(cell.window, cell.capability) for cell in cells}
    assert found == {(window, one) for window in windows for one in CAPABILITIES}
    assert {(cell.target, cell.fate) for cell in cells} == {(TargetSet.AGENT, Fate.DROP)}


def test_a_sample_of_the_matrix_meets_many_targets_and_windows_and_none_twice() -> None:
    cells = matrix_cells(16)
    assert len({cell.cell_id for cell in cells}) == 16
    assert {TargetSet.AGENT, TargetSet.AGENT_MEMORY} <= {cell.target for cell in cells}
    assert TargetSet.MEMORY not in {cell.target for cell in cells}
    assert len({cell.window for cell in cells}) >= 6
    assert all(cell.arm.has_memory for cell in cells)


def test_no_two_batches_share_an_id() -> None:
    cells = crash_cells((WindowName.IN_REQUEST,))
    batches = [
        batch_of(cell, label, number, 3)
        for cell in cells
        for label in ("held", "single")
        for number in range(3)
    ]
    workflows = [member.workflow_id for batch in batches for member in batch.members]
    assert len({batch.batch_id for batch in batches}) == len(batches)
    assert len(set(workflows)) == len(workflows) == 3 * len(batches)
    assert batches[0] == batch_of(cells[0], "held", 0, 3)


def test_an_operation_is_bound_as_the_contract_says() -> None:
    spec = operation_spec(41)
    receipt = receipt_for(spec)
    assert spec.operation_id == operation_id(spec.identity)
    assert spec != operation_spec(42)
    assert receipt.arguments_digest == spec.arguments_digest
    assert receipt.result_digest == sha256_hex(receipt.result_json.encode())
    assert receipt.outcome == continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED


def test_synthetic_trials_are_records_of_their_own() -> None:
    trials = list(synthetic_trials(200))
    assert len({trial.trial_id for trial in trials}) == 200
    assert {trial.verdict for trial in trials} == {Verdict.PASS}
    assert TrialRecord.model_validate_json(trials[7].model_dump_json()) == trials[7]


def test_an_extrapolation_grows_by_what_was_added() -> None:
    assert extrapolated(100, 300, 10, 100) == 2_100
    with pytest.raises(ValueError, match="nothing was measured"):
        extrapolated(1, 2, 0, 10)


def test_a_pace_counts_evaluated_trials_only() -> None:
    meter = PaceMeter()
    assert meter.pace().per_second == 0.0
    trial = next(synthetic_trials(1))
    error = trial.model_copy(update={"verdict": Verdict.ERROR})
    meter.running("a", "something")
    meter.finished([trial, trial, error])
    pace = meter.pace()
    assert pace.evaluated == 2
    assert pace.text == "2 PASS, 1 ERROR"
    assert pace.per_second == pytest.approx(2 / pace.seconds)
