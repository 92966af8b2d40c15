"""Trials of one parity group are compared over all of its cells; others never are."""

from orchestrator.model import Cell, TrialRecord, Verdict
from orchestrator.scoring.parity import parity_violations
from orchestrator.suites.continuity.cells import case_of, sub_seed
from orchestrator.suites.continuity.families import CASES

GROUP = [case for case in CASES.values() if case.parity_group == "telemetry"]


def trial(cell: Cell, number: int, *decisions: str) -> TrialRecord:
    return TrialRecord(
        trial_id=f"vendor:{cell.cell_id}#{number}",
        cell=cell,
        subject="vendor",
        batch_id="b",
        sub_seed=1,
        verdict=Verdict.PASS,
        decisions=decisions,
    )


def test_cells_of_a_group_get_the_same_operations() -> None:
    cells = [cell for case in GROUP for cell in case.cells()]
    assert len(cells) > len(GROUP)
    for capability in {cell.capability for cell in cells}:
        alike = [cell for cell in cells if cell.capability is capability]
        assert len({sub_seed(1, cell, 0) for cell in alike}) == 1
    assert len({sub_seed(1, cell, 0) for cell in cells}) == 3


def test_cases_without_a_group_keep_their_own_operations() -> None:
    alone = [case for case in CASES.values() if not case.parity_group]
    seeds = {case_of(case.cells()[0]) for case in alone}
    assert len(seeds) == len(alone)


def test_a_trial_that_decides_otherwise_in_one_cell_of_a_group_is_told() -> None:
    first, second = (case.cells()[0] for case in GROUP[1:3])
    same = [trial(first, 0, "WAIT:lease_live:0"), trial(second, 0, "WAIT:lease_live:0")]
    other = [*same, trial(second, 1, "WAIT:other:0"), trial(first, 1, "WAIT:lease_live:0")]
    assert parity_violations(same) == ()
    (told,) = parity_violations(other)
    assert "#1" in told
    assert "WAIT:other:0" in told


def test_cases_of_their_own_are_not_compared() -> None:
    cell = CASES["network.reset"].cells()[0]
    assert parity_violations([trial(cell, 0, "a"), trial(cell, 0, "b")]) == ()
