"""Faults of the network on real processes: the reference passes, each flaw fails on its own check.

The slow cases (a message that is lost is heard of after ten seconds) are sampled here; every one of
them is a cell of the full profile.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant, TrialRecord, Verdict
from orchestrator.scoring.families.network import JUDGES
from orchestrator.suites.continuity.families import CASES
from orchestrator.suites.continuity.families.network_points import (
    ALL_POINTS,
    MESSAGES,
    PARTITIONS,
    STANDS,
)
from services.controls.network_flaws import FLAWS
from tests.orchestrator.suites.continuity.ground import (
    Ground,
    ground,
    not_passed,
    sampled,
    violated,
)

NONE = CapabilityVariant.NONE
FENCED = CapabilityVariant.QUERY_FENCED
UNFENCED = CapabilityVariant.QUERY_UNFENCED
KEYED = CapabilityVariant.IDEMPOTENT
ENDED_KEY = CapabilityVariant.IDEMPOTENT_EXPIRED
ALL = len(ALL_POINTS)
EVERYWHERE = len(STANDS)

PLAYED = [
    ("network.reset", None, ALL),
    ("network.reordered", FENCED, ALL),
    ("network.lost", FENCED, ALL),
    ("network.duplicated.begin", None, 2),
    ("network.duplicated.receipt", NONE, 2),
    ("network.query.reset", FENCED, ALL),
    ("network.query.duplicated", UNFENCED, ALL),
    ("network.renew.duplicated", NONE, 2),
    ("network.renew.reset", NONE, 2),
    ("network.cut.memory.both", NONE, EVERYWHERE),
    ("network.cut.memory.responses", NONE, EVERYWHERE),
    ("network.cut.destination.responses", FENCED, EVERYWHERE),
    ("network.cut.agent.requests", FENCED, EVERYWHERE),
    ("network.cut.observer.both", FENCED, EVERYWHERE),
    ("network.silent.observer.both", FENCED, EVERYWHERE),
    ("network.late_copy.begin", None, 2),
    ("network.late_copy.receipt", ENDED_KEY, 2),
    ("network.late_copy.query", FENCED, 2),
    ("network.begin_id_of_another_life", None, 2),
]

# Each flaw: the cases that must show it, by the one check.
SHOWN = {
    "grants_repeats": (("network.reset", NONE), ("network.duplicated.begin", KEYED)),
    "confirms_repeats": (("network.reset", NONE), ("network.cut.memory.responses", NONE)),
    "replays_to_other_lives": (("network.begin_id_of_another_life", FENCED),),
    "replays_ended_grants": (("network.late_copy.begin", NONE),),
    "refuses_repeated_receipts": (("network.duplicated.receipt", NONE), ("network.reset", KEYED)),
    "takes_old_absences": (("network.late_copy.query", FENCED),),
}
CHECKS = {"unsafe_decision": "continuity.safety", "needless_decision": "continuity.liveness"}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("network")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize(("case", "capability", "operations"), PLAYED)
def test_the_reference_passes(
    reference: Ground, case: str, capability: CapabilityVariant | None, operations: int
) -> None:
    records = reference.play(case, capability, operations)
    assert not_passed(records) == []


def counts(records: list[TrialRecord]) -> set[tuple[int, str]]:
    return {(record.effects, record.hazard) for record in records}


@pytest.mark.e2e_process
def test_a_duplicated_invoke_is_the_networks_where_nothing_removes_it(reference: Ground) -> None:
    for capability in (NONE, FENCED, UNFENCED):
        records = reference.play("network.duplicated.invoke", capability, 2)
        assert not_passed(records) == []
        assert counts(records) == {(2, "network")}


@pytest.mark.e2e_process
def test_a_key_and_one_apply_an_attempt_remove_the_second_effect(reference: Ground) -> None:
    for case, capability in (
        ("network.duplicated.invoke_with_key", KEYED),
        ("network.duplicated.invoke_applied_once", NONE),
        ("network.late_copy.invoke_fenced", FENCED),
    ):
        records = reference.play(case, capability, 2)
        assert not_passed(records) == []
        assert counts(records) == {(1, "")}


@pytest.mark.e2e_process
def test_an_invoke_that_comes_again_after_the_end_is_the_networks(reference: Ground) -> None:
    records = reference.play("network.late_copy.invoke", NONE, 2)
    assert not_passed(records) == []
    assert counts(records) == {(2, "network")}


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(FLAWS))
def test_each_flaw_fails_on_its_own_check_and_on_no_other(tmp_path: Path, flaw: str) -> None:
    check = CHECKS[FLAWS[flaw].primary_check]
    with ground(tmp_path, flaw) as on:
        for case, capability in SHOWN[flaw]:
            records = on.play(case, capability, ALL)
            assert violated(records) == {check}, not_passed(records)
            assert any(record.verdict is Verdict.FAIL for record in records)
            assert all(record.verdict in (Verdict.FAIL, Verdict.PASS) for record in records), (
                not_passed(records)
            )


def test_every_flaw_has_its_cases() -> None:
    assert set(SHOWN) == set(FLAWS)
    assert {case for shown in SHOWN.values() for case, _ in shown} <= set(CASES)


def test_every_case_of_the_family_says_whether_its_fault_met_the_operation() -> None:
    family = {name for name, case in CASES.items() if case.family == "network"}
    # What another life asks is the case's own question: there is nothing that could be missed.
    assert family - set(JUDGES) == {"network.begin_id_of_another_life"}
    assert set(MESSAGES) | set(PARTITIONS) <= family
