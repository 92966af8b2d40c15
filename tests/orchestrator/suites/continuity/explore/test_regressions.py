"""The regression list: every case passes with a right memory and fails with the one it is about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.suites.continuity.families.regression import CASES, EXPLORED
from tests.orchestrator.suites.continuity.explore.finding_flaws import exploration_of
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, sampled

SHOWN_BY = {
    "superseded_receipt": "completes_by_superseded",
    "renewal_after_the_end": "renews_ended",
    "receipt_with_another_token": "any_token",
    "receipt_of_another_life": "any_life",
    "same_begin_after_a_restart": "forgets_begin_ids",
    "attempts_count_up": "reuses_attempts",
    "absence_of_an_earlier_attempt": "takes_old_absences",
    "other_arguments": "takes_other_arguments",
    "complete_while_behind": "confirm_hides_receipts",
    "doubt_is_no_absence": "uncertain_licenses",
    "begins_at_one_moment": "grants_in_a_race",
    "superseded_receipt_when_complete": "last_receipt_wins",
    "one_renewal_after_the_last": "one_renewal_more",
    "refusal_is_a_result": "forgets_refusals",
    "other_key": "overlooks_key",
    "bound_after_a_restart": "binds_in_process",
    "present_of_another_operation": "any_presence",
    "questions_end": "never_doubts",
    "long_id": "cuts_long_ids",
    "lease_is_not_restarted": "restarts_lease_when_asked",
    "key_from_the_first_grant": "counts_key_from_latest_grant",
}


def test_every_case_of_the_list_has_its_flaw() -> None:
    assert {f"regression.{name}" for name in SHOWN_BY} == set(EXPLORED)
    assert [case.name for case in CASES] == list(EXPLORED)
    assert all(len(case.schedule.capabilities) == 1 for case in EXPLORED.values())


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("regression")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", EXPLORED)
def test_a_right_memory_passes(reference: Ground, case: str) -> None:
    assert not_passed(reference.play(case, operations=2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("name", sampled(SHOWN_BY))
def test_the_memory_that_it_is_about_fails(name: str, tmp_path: Path) -> None:
    case = EXPLORED[f"regression.{name}"]
    with exploration_of(SHOWN_BY[name], tmp_path) as exploration:
        (result,) = exploration.play(case.schedule)
    assert result.broken is not None, result.record.cause
    assert result.broken.rule == case.rule
