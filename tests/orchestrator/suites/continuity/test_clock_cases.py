"""Wrong clocks on real processes: the reference passes, each flaw fails on its own check.

Slow and similar cases are sampled here; every one of them is a cell of the full profile.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant, TrialRecord, Verdict
from orchestrator.scoring.families.clock import JUDGES
from orchestrator.suites.continuity.families import CASES
from services.controls.clock_flaws import FLAWS
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

PLAYED = [
    ("clock.around_lease_end", None),
    ("clock.across_lease_end", FENCED),
    ("clock.memory_ahead_5_minutes", UNFENCED),
    ("clock.memory_back_5_minutes", None),
    ("clock.memory_back_1_second", KEYED),
    ("clock.memory_back_1_day", ENDED_KEY),
    ("clock.restart_back_5_minutes", None),
    ("clock.restart_back_1_second", NONE),
    ("clock.memory_fast", KEYED),
    ("clock.memory_slow", FENCED),
    ("clock.key_covers_by_1_second", KEYED),
    ("clock.key_short_by_1_second", KEYED),
    ("clock.memory_ahead_destination_behind_5_minutes", None),
    ("clock.destination_ahead_memory_behind_5_minutes", KEYED),
    ("clock.destination_back_1_second", FENCED),
    ("clock.destination_ahead_1_day", UNFENCED),
    ("clock.destination_back_1_day", NONE),
    ("clock.destination_fast", KEYED),
    ("clock.destination_slow", FENCED),
    ("clock.memory_fast_destination_slow", NONE),
    ("clock.deadline_destination_ahead", None),
    ("clock.deadline_destination_ahead_memory_back", KEYED),
    ("clock.deadline_destination_behind", NONE),
    ("clock.memory_ahead_1_day", None),
]

# Each flaw: the cases that must show it by its own check, and one that must not show it at all.
SHOWN = {
    "restarts_lease_when_asked": (
        (("clock.around_lease_end", NONE), ("clock.around_lease_end", KEYED)),
        ("clock.memory_ahead_1_day", NONE),
    ),
    "ends_lease_early": (
        (("clock.around_lease_end", KEYED),),
        ("clock.memory_ahead_5_minutes", NONE),
    ),
    "ends_lease_late": (
        (("clock.around_lease_end", NONE), ("clock.around_lease_end", FENCED)),
        ("clock.memory_ahead_5_minutes", NONE),
    ),
    "keeps_no_mark": (
        (("clock.memory_back_5_minutes", NONE), ("clock.restart_back_5_minutes", FENCED)),
        ("clock.around_lease_end", KEYED),
    ),
    "forgets_mark_at_restart": (
        (("clock.restart_back_5_minutes", NONE), ("clock.restart_back_5_minutes", KEYED)),
        ("clock.memory_back_5_minutes", KEYED),
    ),
    "hides_complete_when_behind": (
        (("clock.memory_back_5_minutes", NONE), ("clock.restart_back_1_day", KEYED)),
        ("clock.memory_ahead_1_day", NONE),
    ),
    "retries_on_key_when_behind": (
        (("clock.memory_back_5_minutes", KEYED), ("clock.restart_back_5_minutes", KEYED)),
        ("clock.memory_back_5_minutes", NONE),
    ),
    "stays_behind": (
        (("clock.memory_back_5_minutes", KEYED),),
        ("clock.around_lease_end", KEYED),
    ),
    "counts_key_from_latest_grant": (
        (("clock.key_short_by_1_second", KEYED),),
        ("clock.around_lease_end", FENCED),
    ),
    "leases_by_uptime": (
        (("clock.around_lease_end", NONE), ("clock.memory_fast", NONE)),
        ("clock.deadline_destination_behind", NONE),
    ),
}
CHECKS = {
    "unsafe_decision": "continuity.safety",
    "needless_decision": "continuity.liveness",
    "malformed_answer": "continuity.form",
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("clock")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize(("case", "capability"), PLAYED)
def test_the_reference_passes(
    reference: Ground, case: str, capability: CapabilityVariant | None
) -> None:
    assert not_passed(reference.play(case, capability, 2)) == []


def counts(records: list[TrialRecord]) -> set[tuple[int, str]]:
    return {(record.effects, record.hazard) for record in records}


@pytest.mark.e2e_process
@pytest.mark.parametrize(
    "case", ["clock.key_over_at_destination", "clock.memory_set_back_above_mark"]
)
def test_a_key_that_is_over_for_the_destination_alone_is_the_clocks(
    reference: Ground, case: str
) -> None:
    records = reference.play(case, KEYED, 2)
    assert not_passed(records) == []
    assert counts(records) == {(2, "clock")}


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", ["clock.agent_back_5_minutes", "clock.agent_ahead_1_day"])
def test_the_hosts_clock_changes_no_decision(tmp_path: Path, case: str) -> None:
    with ground(tmp_path) as on:
        records = on.play(case, FENCED, 4)
        compared = [
            check.check_id
            for record in records
            for check in record.checks
            if "host" in check.check_id
        ]
        assert on.context.progress.spoiled != ""
    assert not_passed(records) == []
    assert compared == ["continuity.clock.host"] * 2


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", ["clock.agent_fast", "clock.memory_ahead_agent_behind_5_minutes"])
def test_the_reference_passes_under_a_hosts_clock(tmp_path: Path, case: str) -> None:
    with ground(tmp_path) as on:
        assert not_passed(on.play(case, FENCED, 2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(FLAWS))
def test_each_flaw_fails_on_its_own_check_and_on_no_other(tmp_path: Path, flaw: str) -> None:
    check = CHECKS[FLAWS[flaw].primary_check]
    allowed = {check, *(CHECKS.get(one, one) for one in FLAWS[flaw].consequences)}
    shown, hidden = SHOWN[flaw]
    with ground(tmp_path, flaw) as on:
        # Before anything else: some of them remember what was done to them.
        assert not_passed(on.play(*hidden, 2)) == [], hidden
        for case, capability in shown:
            records = on.play(case, capability, 2)
            assert check in violated(records) <= allowed, (case, not_passed(records))
            assert {record.verdict for record in records} == {Verdict.FAIL}, not_passed(records)


def test_every_flaw_has_its_cases() -> None:
    assert set(SHOWN) == set(FLAWS)


def test_every_case_of_the_family_says_whether_its_fault_met_the_operation() -> None:
    assert {name for name, case in CASES.items() if case.family == "clock"} == set(JUDGES)
