"""Every clock is wrong by every amount, alone and against each other one; and what is judged."""

from itertools import permutations
from types import SimpleNamespace
from typing import cast

import pytest

from orchestrator.model import CheckOutcome
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.families.clock import JUDGES
from orchestrator.scoring.families.facts import CaseFacts
from orchestrator.suites.continuity.families import CASES
from orchestrator.suites.continuity.families.clock_others import DRIFTS, OFFSETS
from orchestrator.suites.continuity.families.model import Account
from tests.orchestrator.oracle.tracing import Trace

SERVICES = ("agent", "destination", "memory")
AMOUNTS = ("1_second", "5_minutes", "1_day")


def test_each_clock_alone_is_ahead_and_behind_by_each_amount_and_drifts() -> None:
    for service in SERVICES:
        for amount in AMOUNTS:
            # A second of the memory's own is played around its lease's end.
            ahead = "around_lease_end" if (service, amount) == ("memory", "1_second") else ""
            assert f"clock.{ahead or f'{service}_ahead_{amount}'}" in CASES
            assert f"clock.{service}_back_{amount}" in CASES
        assert {f"clock.{service}_fast", f"clock.{service}_slow"} <= set(CASES)


def test_each_pair_of_clocks_is_apart_by_each_amount_and_drifts_apart() -> None:
    for first, second in permutations(SERVICES, 2):
        for amount in AMOUNTS:
            wrong = OFFSETS[f"clock.{first}_ahead_{second}_behind_{amount}"]
            assert [one.service for one in wrong] == [first, second]
            assert wrong[0].by == -wrong[1].by > 0
        fast, slow = DRIFTS[f"clock.{first}_fast_{second}_slow"]
        assert (fast.service, slow.service) == (first, second)
        assert fast.by > 1 > slow.by


def test_every_wrong_clock_has_its_receipts() -> None:
    for name, clocks in OFFSETS.items():
        for one in clocks:
            moves = 1 if one.service == "memory" else 2
            assert CASES[name].receipts.count(f"clock:{one.service}") >= moves
    for name, clocks in DRIFTS.items():
        assert {f"drift:{one.service}" for one in clocks} <= set(CASES[name].receipts)


def test_an_extra_effect_is_nobodys_but_the_memorys() -> None:
    # A clock that stands apart from the start ends no key early; families.clock moves it later.
    accounts = {CASES[name].account for name in (*OFFSETS, *DRIFTS)}
    assert accounts == {Account.NOBODY}


@pytest.mark.parametrize(
    ("case", "first", "last"),
    [
        ("clock.memory_back_1_second", "behind", "back"),
        ("clock.restart_back_1_second", "behind", "back"),
        ("clock.destination_ahead_1_day", "apart", "whole"),
    ],
)
@pytest.mark.parametrize("asked", [True, False])
def test_a_question_falls_in_the_time_in_which_the_clock_is_wrong(
    case: str, first: str, last: str, asked: bool
) -> None:
    trace = Trace()
    trace.put("MARK", mark_json=f'{{"kind":"clock_case","step":"{first}"}}')
    began_ns = trace.records[-1].monotonic_ns
    trace.now += 1_000
    trace.put("MARK", mark_json=f'{{"kind":"clock_case","step":"{last}"}}')
    moment_ns = began_ns + (1 if asked else -1)
    call = SimpleNamespace(
        method="Begin", forwarded_ns=moment_ns, answered_ns=moment_ns, rows=(), observed="WAIT"
    )
    find = Finder()
    trial = SimpleNamespace(
        find=find,
        facts=SimpleNamespace(trace=trace.records, held={"w": 1}),
        member=SimpleNamespace(workflow_id="w"),
        proven=True,
        judgements=[SimpleNamespace(violations=())],
        calls=[call],
    )
    JUDGES[case](cast(CaseFacts, trial))
    outcomes = [check.outcome for check in find.checks() if check.check_id == "rig.clock"]
    assert outcomes[-1] is (CheckOutcome.HELD if asked else CheckOutcome.VIOLATED)
