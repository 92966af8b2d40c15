"""From trials to batches: what crashes together, and names that nothing shares."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    Suite,
    TargetSet,
    WindowName,
)
from orchestrator.plan import Batch, TrialPlan, batches_for, trial_id, workflow_id

CELLS = st.builds(
    Cell,
    suite=st.just(Suite.CONTINUITY),
    arm=st.sampled_from(Arm),
    window=st.sampled_from(WindowName),
    capability=st.sampled_from(CapabilityVariant),
    target=st.sampled_from(TargetSet),
    fate=st.sampled_from(Fate),
    fault=st.sampled_from(FaultKind),
    expiry=st.sampled_from(ExpiryMode),
)


@st.composite
def plans(draw: st.DrawFn) -> list[TrialPlan]:
    """Trials of a few cells, as a schedule gives them: kill by kill, maybe cells in between."""
    cells = draw(st.lists(CELLS, min_size=1, max_size=5, unique_by=lambda cell: cell.cell_id))
    per_kill = draw(st.integers(1, 3))
    trials = [
        TrialPlan(
            cell=cell,
            number=number,
            kill_number=number // per_kill,
            sub_seed=draw(st.integers(0, 2**63 - 1)),
        )
        for cell in cells
        for number in range(draw(st.integers(1, 6)))
    ]
    return draw(st.permutations(trials)) if draw(st.booleans()) else trials


@given(plans(), st.booleans())
def test_every_trial_is_in_one_batch_with_what_crashes_with_it(
    trials: list[TrialPlan], join: bool
) -> None:
    batches = batches_for("vendor", trials, join_capabilities=join)
    members = [member for batch in batches for member in batch.members]
    assert Counter(member.trial_id for member in members) == Counter(
        trial_id("vendor", trial.cell, trial.number) for trial in trials
    )
    kills = {trial_id("vendor", trial.cell, trial.number): trial.kill_number for trial in trials}
    for batch in batches:
        assert {kills[member.trial_id] for member in batch.members} == {batch.kill_number}
        capabilities = {member.cell.capability for member in batch.members}
        assert join or len(capabilities) == 1
        injected = {member.cell.model_copy(update={"capability": None}) for member in batch.members}
        assert len(injected) == 1
    wanted = {
        (
            trial.cell.model_copy(update={"capability": None}) if join else trial.cell,
            trial.kill_number,
        )
        for trial in trials
    }
    assert len(batches) == len(wanted)


@given(plans(), st.booleans())
def test_batches_have_names_of_their_own_that_their_content_gives(
    trials: list[TrialPlan], join: bool
) -> None:
    batches = batches_for("vendor", trials, join_capabilities=join)
    again = batches_for("vendor", trials, join_capabilities=join)
    other = batches_for("control:naive", trials, join_capabilities=join)
    assert batches == again
    names = [batch.batch_id for batch in (*batches, *other)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"b[0-9a-f]{12}", name) for name in names)


@given(plans())
def test_the_order_of_the_plan_is_kept(trials: list[TrialPlan]) -> None:
    batches = batches_for("vendor", trials, join_capabilities=False)
    order = [trial_id("vendor", trial.cell, trial.number) for trial in trials]
    firsts = [min(order.index(member.trial_id) for member in batch.members) for batch in batches]
    assert firsts == sorted(firsts)
    for batch in batches:
        within = [order.index(member.trial_id) for member in batch.members]
        assert within == sorted(within)


@given(plans())
def test_no_two_trials_of_a_stack_share_a_workflow_and_none_names_the_vendor(
    trials: list[TrialPlan],
) -> None:
    names = [
        workflow_id(subject, trial.cell, trial.number, trial.sub_seed)
        for subject in ("vendor", "control:naive")
        for trial in trials
    ]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"w[0-9a-f]{23}", name) for name in names)


def test_a_trial_is_named_by_subject_cell_and_number() -> None:
    cell = Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, window=WindowName.IN_REQUEST)
    assert trial_id("control:null", cell, 3) == "control:null:continuity/memory/in_request#3"


def test_only_what_crashes_is_put_into_batches() -> None:
    cell = Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="A")
    plan = TrialPlan(cell=cell, number=0, kill_number=0, sub_seed=1)
    with pytest.raises(ValueError, match="only continuity trials"):
        batches_for("vendor", [plan], join_capabilities=False)


def test_a_batch_is_of_its_first_members_cell() -> None:
    cell = Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, window=WindowName.IN_REQUEST)
    plan = TrialPlan(cell=cell, number=0, kill_number=0, sub_seed=1)
    (batch,) = batches_for("vendor", [plan], join_capabilities=True)
    assert isinstance(batch, Batch)
    assert batch.cell == cell
