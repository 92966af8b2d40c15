"""Cells of the window table whose target is not the agent's, on real processes."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from orchestrator.model import Arm, CapabilityVariant, Fate, TargetSet, Verdict, WindowName
from orchestrator.plan import batches_for
from orchestrator.suites.continuity.cells import PlannedCell, trials_of
from orchestrator.suites.continuity.job import ContinuityJob
from orchestrator.suites.continuity.table import TableCell, cell_table
from tests.orchestrator.suites.continuity.ground import SEED, Ground, ground

pytestmark = pytest.mark.e2e_process

FENCED = CapabilityVariant.QUERY_FENCED
KEYED = CapabilityVariant.IDEMPOTENT
NONE = CapabilityVariant.NONE
OPERATIONS = 3


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("table")) as on:
        yield on


def _cell(
    arm: Arm, window: WindowName, capability: CapabilityVariant, target: TargetSet, fate: Fate
) -> TableCell:
    return next(
        one
        for one in cell_table()
        if (one.cell.arm, one.cell.window, one.cell.capability) == (arm, window, capability)
        and (one.cell.target, one.cell.fate) == (target, fate)
    )


@pytest.mark.parametrize(
    ("cell", "dispatches", "effects"),
    [
        # The dispatch died with the destination, and one that is known to be absent is made again.
        (
            _cell(Arm.MEMORY, WindowName.IN_REQUEST, FENCED, TargetSet.DESTINATION, Fate.DROP),
            2,
            1,
        ),
        # Nothing was lost: the host dispatches once the destination is back.
        (
            _cell(Arm.MEMORY, WindowName.AFTER_LEASE, NONE, TargetSet.DESTINATION, Fate.DELIVER),
            1,
            1,
        ),
        # The effect outlived its destination: the retry on the key is answered from it.
        (
            _cell(Arm.BOTH, WindowName.AFTER_COMMIT, KEYED, TargetSet.DESTINATION, Fate.DROP),
            2,
            1,
        ),
        (_cell(Arm.BOTH, WindowName.AFTER_COMMIT, NONE, TargetSet.OBSERVER, Fate.DELIVER), 1, 1),
        # What was held arrives when another attempt is complete, and meets its fence.
        (
            _cell(
                Arm.MEMORY,
                WindowName.IN_REQUEST,
                FENCED,
                TargetSet.ALL,
                Fate.LATE_AFTER_COMPLETION,
            ),
            2,
            1,
        ),
        # Without a memory the host calls again, and the effect is there twice.
        (
            _cell(Arm.BASELINE, WindowName.AFTER_COMMIT, NONE, TargetSet.DESTINATION, Fate.DROP),
            2,
            2,
        ),
    ],
    ids=lambda value: value.cell.cell_id if isinstance(value, TableCell) else "",
)
def test_a_right_memory_passes_with_these_dispatches_and_effects(
    right: Ground, cell: TableCell, dispatches: int, effects: int
) -> None:
    planned = PlannedCell(cell=cell.cell, rows=cell.rows, kills=1, operations_per_kill=OPERATIONS)
    mark = secrets.randbits(32)
    plans = [
        plan.model_copy(update={"sub_seed": plan.sub_seed ^ mark})
        for plan in trials_of([planned], SEED)
    ]
    (batch,) = batches_for(right.context.subject, plans, join_capabilities=False)
    records = ContinuityJob(batch, right.reviewer).run(right.context)
    wanted = Verdict.PASS if cell.cell.arm.has_memory else Verdict.UNSCORED
    assert [(record.verdict, record.cause) for record in records] == [(wanted, "")] * OPERATIONS
    assert {(record.dispatches, record.effects) for record in records} == {(dispatches, effects)}
