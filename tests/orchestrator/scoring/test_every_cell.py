"""Every cell of the table, played from start to end and scored: the right memory passes everywhere.

And the controls come to what the control table says, cell by cell.
"""

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.model import Arm, Cell, Fate, TargetSet, Verdict
from orchestrator.scoring.controls import ControlExpectation, expectation
from orchestrator.suites.continuity.cells import cell_table
from tests.orchestrator.scoring.mini_memory import Conservative, Naive, Null
from tests.orchestrator.scoring.mini_rig import trial

MEMORY_CELLS = [one.cell for one in cell_table() if one.cell.arm.has_memory]
QUIET_CELLS = [cell for cell in MEMORY_CELLS if cell.arm is Arm.MEMORY]


@pytest.mark.parametrize("cell", MEMORY_CELLS, ids=lambda cell: cell.cell_id)
def test_a_right_memory_passes(cell: Cell) -> None:
    record = trial(cell).scored()
    assert (record.verdict, record.cause) == (Verdict.PASS, "")
    assert record.unsafe_decisions == record.needless_decisions == 0
    assert not record.boundary


@pytest.mark.parametrize("cell", QUIET_CELLS, ids=lambda cell: cell.cell_id)
def test_a_memory_that_claims_less_passes_too(cell: Cell) -> None:
    declares = (vendor_pb2.CAPABILITY_CONTINUITY,)
    record = trial(cell, Conservative(), declares=declares).scored()
    assert (record.verdict, record.cause) == (Verdict.PASS, "")


@pytest.mark.parametrize("cell", QUIET_CELLS, ids=lambda cell: cell.cell_id)
def test_naive_comes_to_what_the_table_says(cell: Cell) -> None:
    record = trial(cell, Naive()).scored()
    wanted = expectation("control:naive", cell)
    assert wanted.met_by(record.verdict), record.cause
    assert record.verdict in (Verdict.PASS, Verdict.FAIL)
    assert (record.unsafe_decisions > 0) == (record.verdict is Verdict.FAIL)


@pytest.mark.parametrize("cell", QUIET_CELLS[::5], ids=lambda cell: cell.cell_id)
def test_null_passes_nowhere(cell: Cell) -> None:
    record = trial(cell, Null()).scored()
    assert expectation("control:null", cell) is ControlExpectation.MUST_FAIL
    assert record.verdict is Verdict.FAIL
    assert "continuity.form" in record.cause


def test_an_extra_effect_after_the_keys_end_is_the_networks() -> None:
    late = [cell for cell in MEMORY_CELLS if cell.fate is Fate.LATE_AFTER_KEY_END]
    assert {cell.target for cell in late} == {
        TargetSet.AGENT,
        TargetSet.AGENT_MEMORY,
        TargetSet.ALL,
    }
    for cell in late:
        record = trial(cell).scored()
        assert (record.verdict, record.effects, record.hazard) == (Verdict.PASS, 2, "network")
