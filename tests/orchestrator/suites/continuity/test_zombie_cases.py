"""Attempts that wake up late, on real processes: the reference passes, each flaw fails its check.

Host cases that differ in the point at which the host falls behind are sampled here.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant, TrialRecord, Verdict
from orchestrator.scoring.families.zombie import JUDGES
from orchestrator.suites.continuity.families import CASES
from services.controls import network_flaws, zombie_flaws
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
    ("zombie.stopped_after_lease", NONE),
    ("zombie.stopped_after_lease", FENCED),
    ("zombie.stopped_in_request", KEYED),
    ("zombie.stopped_in_request", UNFENCED),
    ("zombie.stopped_after_commit", ENDED_KEY),
    ("zombie.hanging_grant", KEYED),
    ("zombie.hanging_dispatch", NONE),
    ("zombie.hanging_answer", FENCED),
    ("zombie.hanging_receipt", UNFENCED),
    ("zombie.late_receipt", None),
    ("zombie.late_renewal", None),
    ("zombie.late_answer", None),
    ("zombie.late_question", None),
]

# Each flaw: the cases that must show it by its own check, and one that must not show it at all.
SHOWN = {
    "completes_by_superseded": (
        (("zombie.late_receipt", KEYED), ("zombie.late_receipt", FENCED)),
        ("zombie.late_receipt", NONE),
    ),
    "last_receipt_wins": ((("zombie.late_receipt", KEYED),), ("zombie.late_receipt", NONE)),
    "frees_lease_by_old_receipt": (
        (("zombie.late_receipt", KEYED),),
        ("zombie.late_receipt", NONE),
    ),
    "question_supersedes": (
        (("zombie.late_receipt", UNFENCED), ("zombie.stopped_in_request", UNFENCED)),
        ("zombie.late_receipt", KEYED),
    ),
    "renews_ended": ((("zombie.late_renewal", None),), ("zombie.late_receipt", KEYED)),
    "renews_for_superseded": ((("zombie.late_renewal", KEYED),), ("zombie.late_renewal", NONE)),
    "replays_ended_grants": ((("zombie.late_question", None),), ("zombie.late_receipt", KEYED)),
    "takes_old_absences": ((("zombie.late_answer", FENCED),), ("zombie.late_receipt", FENCED)),
}
# Of a flaw of another family: what follows a grant that was none is judged by it.
ALSO = {"replays_ended_grants": {"continuity.liveness", "continuity.form"}}
FLAWS = {**network_flaws.FLAWS, **zombie_flaws.FLAWS}
CHECKS = {"unsafe_decision": "continuity.safety", "needless_decision": "continuity.liveness"}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("zombie")) as on:
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
    ("case", "capability", "counted"),
    [
        ("zombie.past_key", KEYED, (2, "network")),
        ("zombie.past_key_and_deadline", KEYED, (1, "")),
        ("zombie.past_deadline", NONE, (0, "")),
        ("zombie.past_deadline", FENCED, (1, "")),
        ("zombie.late_copy", NONE, (2, "network")),
        ("zombie.late_copy", KEYED, (1, "")),
        ("zombie.late_copy_refused", NONE, (1, "")),
        ("zombie.late_copy_refused", UNFENCED, (1, "")),
    ],
)
def test_what_reaches_the_destination_is_counted_and_charged(
    reference: Ground, case: str, capability: CapabilityVariant, counted: tuple[int, str]
) -> None:
    records = reference.play(case, capability, 2)
    assert not_passed(records) == []
    assert counts(records) == {counted}


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_each_flaw_fails_on_its_own_check_and_on_no_other(tmp_path: Path, flaw: str) -> None:
    check = CHECKS[FLAWS[flaw].primary_check]
    allowed = {check, *(CHECKS.get(one, one) for one in FLAWS[flaw].consequences)}
    allowed |= ALSO.get(flaw, set())
    shown, hidden = SHOWN[flaw]
    with ground(tmp_path, flaw) as on:
        # Before anything else: some of them remember what was done to them.
        assert not_passed(on.play(*hidden, 2)) == [], hidden
        for case, capability in shown:
            records = on.play(case, capability, 2)
            assert check in violated(records) <= allowed, (case, not_passed(records))
            assert {record.verdict for record in records} == {Verdict.FAIL}, not_passed(records)


def test_every_flaw_has_its_cases() -> None:
    assert set(zombie_flaws.FLAWS) <= set(SHOWN)


def test_every_case_of_the_family_says_whether_its_fault_met_the_operation() -> None:
    assert {name for name, case in CASES.items() if case.family == "zombie"} == set(JUDGES)
