"""A trial's tool call and settings follow from its sub-seed, workflow and cell alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import agent_pb2, common_pb2
from orchestrator.model import Arm, CapabilityVariant, Cell, Suite, WindowName
from orchestrator.plan import Batch, Member
from orchestrator.suites.continuity.workload import (
    LONG_RETENTION_SECONDS,
    SHORT_RETENTION_SECONDS,
    arguments_of,
    canary_workflow,
    model_seed,
    settings_of,
    workflow_of,
)

SEEDS = st.integers(0, 2**63 - 1)


def member(
    sub_seed: int = 2,
    *,
    arm: Arm = Arm.MEMORY,
    capability: CapabilityVariant | None = CapabilityVariant.NONE,
    workflow: str = "w1",
) -> Member:
    cell = Cell(
        suite=Suite.CONTINUITY, arm=arm, window=WindowName.IN_REQUEST, capability=capability
    )
    return Member(trial_id=f"vendor:{workflow}", cell=cell, sub_seed=sub_seed, workflow_id=workflow)


@given(SEEDS)
def test_equal_seeds_ask_for_the_same_and_every_cell_has_both_tools(sub_seed: int) -> None:
    call = arguments_of(member(sub_seed))
    assert call == arguments_of(member(sub_seed, capability=CapabilityVariant.IDEMPOTENT))
    arguments = json.loads(call.arguments_json)
    if sub_seed % 2 == 0:
        assert call.tool == "publish_document"
        assert arguments["path"] == "w1.txt"
        assert arguments.keys() == {"path", "content"}
    else:
        assert call.tool == "transfer_funds"
        assert (arguments["from"], arguments["to"]) == ("w1-a", "w1-b")
        assert 1 <= arguments["amount_cents"] <= 100_000
    # Canonical: no space, keys in order.
    assert call.arguments_json == json.dumps(arguments, sort_keys=True, separators=(",", ":"))


@given(SEEDS)
def test_no_two_workflows_share_a_file_or_an_account(sub_seed: int) -> None:
    calls = [arguments_of(member(sub_seed, workflow=name)).arguments_json for name in ("w1", "w2")]
    first, second = (
        {value for key, value in json.loads(text).items() if key in ("path", "from", "to")}
        for text in calls
    )
    assert first.isdisjoint(second)


@pytest.mark.parametrize(
    ("arm", "asked"),
    [
        (Arm.BASELINE, agent_pb2.ARM_BASELINE),
        (Arm.MEMORY, agent_pb2.ARM_MEMORY),
        (Arm.OBSERVER, agent_pb2.ARM_OBSERVER),
        (Arm.BOTH, agent_pb2.ARM_BOTH),
    ],
)
def test_a_workflow_is_one_call_in_the_cells_arm(arm: Arm, asked: int) -> None:
    made = workflow_of(member(3, arm=arm), "run-1")
    call = arguments_of(member(3, arm=arm))
    assert (made.workflow_id, made.namespace, made.run_id, made.arm) == ("w1", "w1", "run-1", asked)
    assert [(one.tool, one.arguments_json) for turn in made.turns for one in turn.calls] == [
        (call.tool, call.arguments_json)
    ]


def test_the_canary_asks_no_memory() -> None:
    made = canary_workflow("canary-1", "run-1")
    assert made.arm == agent_pb2.ARM_BASELINE
    assert [one.tool for turn in made.turns for one in turn.calls] == ["transfer_funds"]


SETTINGS = {
    None: (common_pb2.EFFECT_CAPABILITY_NONE, False, 0, 0),
    CapabilityVariant.NONE: (common_pb2.EFFECT_CAPABILITY_NONE, False, 0, 0),
    CapabilityVariant.QUERY_FENCED: (common_pb2.EFFECT_CAPABILITY_QUERY, True, 0, 0),
    CapabilityVariant.QUERY_UNFENCED: (common_pb2.EFFECT_CAPABILITY_QUERY, False, 50, 0),
    CapabilityVariant.IDEMPOTENT: (
        *(common_pb2.EFFECT_CAPABILITY_IDEMPOTENT, False, 0),
        LONG_RETENTION_SECONDS,
    ),
    CapabilityVariant.IDEMPOTENT_EXPIRED: (
        *(common_pb2.EFFECT_CAPABILITY_IDEMPOTENT, False, 0),
        SHORT_RETENTION_SECONDS,
    ),
}


def test_every_capability_has_settings() -> None:
    assert set(SETTINGS) == {None, *CapabilityVariant}


@pytest.mark.parametrize(("capability", "wanted"), SETTINGS.items())
def test_the_destination_behaves_as_the_cell_says_with_its_guard_off(
    capability: CapabilityVariant | None, wanted: tuple[int, bool, int, int]
) -> None:
    made = settings_of(member(sub_seed=4, capability=capability))
    assert (
        made.capability,
        made.fenced,
        made.visibility_delay_ms,
        made.retention_seconds,
    ) == wanted
    assert (made.workflow_id, made.guard) == ("w1", False)


def test_of_every_second_operation_an_unfenced_query_never_sees_the_effect() -> None:
    delays = [
        settings_of(member(seed, capability=CapabilityVariant.QUERY_UNFENCED)).visibility_delay_ms
        for seed in range(8)
    ]
    assert delays == [50, 50, 3_600_000, 3_600_000] * 2
    tools = {arguments_of(member(seed)).tool for seed in (2, 3)}
    assert tools == {arguments_of(member(seed)).tool for seed in (0, 1)}
    assert len(tools) == 2


def _batch(*members: Member) -> Batch:
    return Batch(batch_id="b1", subject="vendor", kill_number=0, members=members)


@given(SEEDS, st.integers(0, 5), st.integers(0, 5))
def test_a_model_asked_again_in_another_life_answers_anew(
    sub_seed: int, life: int, later: int
) -> None:
    batch = _batch(member(sub_seed))
    assert (model_seed(batch, life) == model_seed(batch, later)) == (life == later)
    # Telemetry, subject and the rest of the batch are no part of it.
    same = _batch(member(sub_seed, arm=Arm.BOTH, workflow="w2"), member(1, workflow="w3"))
    assert model_seed(same, life) == model_seed(batch, life)
