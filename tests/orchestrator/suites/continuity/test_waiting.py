"""What a memory may ask for after doubt: a pause passes, an endless one and a year's are caught."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Fate,
    TargetSet,
    TrialRecord,
    Verdict,
    WindowName,
)
from orchestrator.plan import batches_for
from orchestrator.suites.continuity.cells import PlannedCell, trials_of
from orchestrator.suites.continuity.job import ContinuityJob
from orchestrator.suites.continuity.table import cell_table
from orchestrator.vendors import VendorConfig, VendorProcess
from services.controls.waiting_flaws import FLAWS
from tests.orchestrator.suites.continuity import pausing_memory
from tests.orchestrator.suites.continuity.ground import (
    SEED,
    Ground,
    ground,
    not_passed,
    sampled,
    violated,
)

pytestmark = pytest.mark.e2e_process

UNFENCED = CapabilityVariant.QUERY_UNFENCED
LAGGING = "receipts.uncertain"
CASES = (
    "receipts.uncertain",
    "matrix.visible_later",
    "receipts.present",
    "zombie.stopped_in_request",
    "clock.destination_slow",
    "clock.around_lease_end",
    "identity.after_expiry",
)
OPERATIONS = 2


@pytest.fixture(scope="module")
def pausing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    module = pausing_memory.__name__
    vendor = VendorConfig(name="pausing", recipe="memory", process=VendorProcess(module=module))
    with ground(tmp_path_factory.mktemp("pausing"), vendor=vendor) as on:
        yield on


def play_window(on: Ground, window: WindowName) -> Sequence[TrialRecord]:
    """The agent's death at a window whose destination's answers may lag."""
    found = next(
        one
        for one in cell_table()
        if (one.cell.arm, one.cell.window, one.cell.capability) == (Arm.MEMORY, window, UNFENCED)
        and (one.cell.target, one.cell.fate) == (TargetSet.AGENT, Fate.DROP)
    )
    planned = PlannedCell(cell=found.cell, rows=found.rows, kills=1, operations_per_kill=OPERATIONS)
    mark = secrets.randbits(32)
    plans = [
        plan.model_copy(update={"sub_seed": plan.sub_seed ^ mark})
        for plan in trials_of([planned], SEED)
    ]
    (batch,) = batches_for(on.context.subject, plans, join_capabilities=False)
    # Canaries are named by the batch; one window may be played twice.
    named = batch.model_copy(update={"batch_id": f"b{mark:08x}"})
    return ContinuityJob(named, on.reviewer).run(on.context)


@pytest.mark.parametrize("window", [WindowName.IN_REQUEST, WindowName.AFTER_COMMIT])
def test_a_memory_that_pauses_before_it_asks_again_passes(
    pausing: Ground, window: WindowName
) -> None:
    records = play_window(pausing, window)
    assert not_passed(records) == []
    asked = [[told.partition(":")[0] for told in record.decisions] for record in records]
    if window is WindowName.IN_REQUEST:
        assert all("WAIT" in told and told[-1] == "CONFIRM" for told in asked), asked


@pytest.mark.parametrize("case", sampled(CASES, 3))
def test_it_passes_where_somebody_else_asks(pausing: Ground, case: str) -> None:
    assert not_passed(pausing.play(case, None, OPERATIONS)) == []


def test_a_pause_that_cannot_pass_is_no_failure(pausing: Ground) -> None:
    """Where no clock can be set and no time is left to wait, that is told, and nobody is blamed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("orchestrator.suites.continuity.pausing.REAL_SECONDS_MAX", 0.0)
        patch.setattr("orchestrator.suites.continuity.pausing.Pauses._movable", lambda _: False)
        records = play_window(pausing, WindowName.IN_REQUEST)
    assert {record.verdict for record in records} == {Verdict.ERROR}
    assert all("its last WAIT asks for" in record.cause for record in records), records


@pytest.mark.parametrize("flaw", sampled(FLAWS))
def test_each_flaw_fails_its_own_check_and_no_other(tmp_path: Path, flaw: str) -> None:
    wanted = FLAWS[flaw]
    own = {"needless_decision": "continuity.liveness"}.get(
        wanted.primary_check, wanted.primary_check
    )
    with ground(tmp_path, flaw) as on:
        records = play_window(on, WindowName.IN_REQUEST)
        assert {record.verdict for record in records} == {Verdict.FAIL}, not_passed(records)
        assert own in violated(records) <= {own, *wanted.consequences}
        in_the_end = on.play(LAGGING, UNFENCED, 1)
        assert {record.verdict for record in in_the_end} == {Verdict.FAIL}
        assert violated(in_the_end) <= {own, *wanted.consequences}
        # Without doubt there is nothing to put off.
        assert not_passed(on.play("receipts.unknown", CapabilityVariant.QUERY_FENCED, 1)) == []
