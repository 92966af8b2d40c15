"""What a run will do follows from profile and seed alone, and covers what is expected exactly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

import pytest

from orchestrator.campaign.schedule import (
    LONG_LEASE_SECONDS,
    SHORT_LEASE_SECONDS,
    Schedule,
    control_config,
    expected_cells,
    schedule,
)
from orchestrator.model import Profile
from orchestrator.plan import CONTROLS, VENDOR
from orchestrator.suites.continuity.job import ContinuityJob
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import LeaseMode, VendorConfig, VendorLease, VendorProcess

PROFILES = (
    Profile.SELFTEST,
    Profile.QUICK,
    Profile.STANDARD,
    Profile.MIB,
    Profile.PAPER,
    Profile.ATANT,
)
OWN = VendorConfig(
    name="own",
    process=VendorProcess(module="m"),
    lease=VendorLease(mode=LeaseMode.REAL, seconds=40),
)
REVIEWER = Reviewer.generate()


def _plan(
    profile: Profile,
    seed: int = 1,
    vendor: VendorConfig | None = None,
    finished: Collection[str] = (),
) -> Schedule:
    return schedule(profile, seed, vendor, REVIEWER, finished)


def _trial_ids(plan: Schedule) -> list[str]:
    return [trial for piece in plan.work for job in piece.jobs for trial in job.trial_ids]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_expected_trial_is_scheduled_once_and_nothing_else(profile: Profile) -> None:
    expected = expected_cells(profile, 1)
    scheduled = Counter(_trial_ids(_plan(profile)))
    assert scheduled == Counter(trial.trial_id for trial in expected.trials())
    assert set(scheduled.values()) <= {1}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_expectation_is_one_of_profile_and_seed(profile: Profile) -> None:
    assert expected_cells(profile, 7).model_dump_json() == (
        expected_cells(profile, 7).model_dump_json()
    )
    seeds = [
        {trial.trial_id: trial.sub_seed for trial in expected_cells(profile, seed).trials()}
        for seed in (7, 8)
    ]
    common = seeds[0].keys() & seeds[1].keys()
    assert all(seeds[0][trial] != seeds[1][trial] for trial in common)


def test_a_control_plays_the_vendors_first_operations() -> None:
    by_subject: dict[str, dict[str, int]] = {}
    for trial in expected_cells(Profile.QUICK, 7).trials():
        name = trial.trial_id.removeprefix(f"{trial.subject}:")
        by_subject.setdefault(trial.subject, {})[name] = trial.sub_seed
    assert set(by_subject) == {VENDOR, *CONTROLS}
    for control in CONTROLS:
        shared = by_subject[control].keys() & by_subject[VENDOR].keys()
        assert shared
        assert all(by_subject[control][name] == by_subject[VENDOR][name] for name in shared)


def test_a_vendor_changes_nothing_of_what_is_done() -> None:
    assert _trial_ids(_plan(Profile.QUICK, vendor=OWN)) == _trial_ids(_plan(Profile.QUICK))


@pytest.mark.parametrize("profile", [Profile.SELFTEST, Profile.STANDARD])
def test_what_is_finished_is_left_out_and_a_half_finished_batch_is_not(profile: Profile) -> None:
    whole = _plan(profile)
    jobs = [job for piece in whole.work for job in piece.jobs]
    done, half = jobs[0], jobs[1]
    assert len(half.trial_ids) > 1
    finished = {*done.trial_ids, *half.trial_ids[1:]}
    left = _plan(profile, finished=finished)
    expected = Counter(_trial_ids(whole))
    expected.subtract(done.trial_ids)
    assert Counter(_trial_ids(left)) == +expected
    assert left.batches == whole.batches
    everything = _plan(profile, finished=set(_trial_ids(whole)))
    assert everything.work == ()


def test_pieces_are_small_and_of_one_subject_and_lease() -> None:
    plan = _plan(Profile.STANDARD, vendor=OWN)
    assert max(len(piece.jobs) for piece in plan.work) <= 6
    for piece in plan.work:
        assert {
            re.split(":(?:continuity|integrity|narrative)", trial)[0]
            for job in piece.jobs
            for trial in job.trial_ids
        } == {piece.subject}
    batches = [job for piece in plan.work for job in piece.jobs if isinstance(job, ContinuityJob)]
    assert plan.batches == len(batches)


def test_the_longest_jobs_come_first_and_are_shared_among_lanes() -> None:
    plan = _plan(Profile.ATANT)
    sizes = [[len(job.trial_ids) for job in piece.jobs] for piece in plan.work]
    long = [piece for piece in sizes if max(piece) >= 200]
    assert sum(map(len, long)) == len(long) >= 2
    assert sizes[: len(long)] == long


def test_a_vendor_with_a_lease_of_its_own_is_asked_for_it_in_the_long_cells_alone() -> None:
    leases = {
        (piece.subject == VENDOR, piece.lease_seconds)
        for piece in _plan(Profile.STANDARD, vendor=OWN).work
    }
    assert leases == {
        (True, 40),
        (True, SHORT_LEASE_SECONDS),
        (False, LONG_LEASE_SECONDS),
    }


@pytest.mark.parametrize("profile", [Profile.QUICK, Profile.STANDARD])
def test_without_skew_the_same_trials_have_short_leases(profile: Profile) -> None:
    usual, waited = (schedule(profile, 1, None, REVIEWER, (), skew=skew) for skew in (True, False))
    assert sorted(_trial_ids(usual)) == sorted(_trial_ids(waited))
    assert usual.batches == waited.batches

    for plan, wanted in ((usual, LONG_LEASE_SECONDS), (waited, SHORT_LEASE_SECONDS)):
        leases = {
            piece.lease_seconds
            for piece in plan.work
            for job in piece.jobs
            if any("/skewed" in trial for trial in job.trial_ids)
        }
        assert leases == {wanted}
    untouched = {
        piece.lease_seconds
        for piece in waited.work
        for job in piece.jobs
        if not re.search("/(skewed|configured)", job.trial_ids[0])
    }
    assert untouched == {LONG_LEASE_SECONDS}


def test_the_memory_of_each_piece_is_its_subjects() -> None:
    for piece in _plan(Profile.SELFTEST, vendor=OWN).work:
        assert piece.vendor == (OWN if piece.subject == VENDOR else control_config(piece.subject))
    assert control_config("control:reference") is None
    naive = control_config("control:naive")
    assert naive is not None
    assert naive.process is not None
    assert (naive.recipe, naive.command) == ("control", ("services.controls", "--flaw", "naive"))
    assert (naive.process.module, naive.process.args) == ("services.controls", ("--flaw", "naive"))
