"""Explorations on real processes: planted flaws are found, cut short and seen again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant
from orchestrator.suites.continuity.explore.engine import Bounds
from orchestrator.suites.continuity.explore.steps import Act, Schedule, Step
from tests.orchestrator.suites.continuity.explore.finding_flaws import exploration_of, explore
from tests.orchestrator.suites.continuity.ground import sampled

RULES = {
    # A first receipt is taken, or one more after it: by its token, each should be refused.
    "any_token": r"RecordReceipt:OK\((COMPLETED|ALREADY_RECORDED)\):unsafe",
    "renews_ended": r"Renew:OK\(renewed\):unsafe",
    "reuses_attempts": r"Begin:EXECUTE:malformed:attempt_not_larger",
}
"""A flaw of receipts, of leases and of decisions; `finding_flaws` looks for all of them."""


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(RULES, 0))
def test_a_planted_flaw_is_found_in_few_steps(flaw: str) -> None:
    (case,) = explore(flaw, Bounds(cases=1)).cases
    assert re.fullmatch(RULES[flaw], case.rule)
    assert len(case.schedule.steps) <= 4
    assert case.confirmed == 2


@pytest.mark.e2e_process
def test_a_right_memory_keeps_every_rule_while_hosts_work_and_die(tmp_path: Path) -> None:
    with exploration_of("", tmp_path) as exploration:
        lanes = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED)
        steps = (
            Step(act=Act.BEGIN, lane=0),
            Step(act=Act.FAULT, lane=1, variant="Invoke/request/hold"),
            Step(act=Act.HOSTS),
            Step(act=Act.KILL, variant="agent"),
            Step(act=Act.RELEASE, lane=1, variant="deliver"),
            Step(act=Act.JUMP, variant="lease_end"),
            Step(act=Act.HOSTS),
            Step(act=Act.KILL_AT_WORK),
            Step(act=Act.BEGIN, lane=0, agent=1),
        )
        results = exploration.play(Schedule(capabilities=lanes, steps=steps))
        assert [result.record.verdict.value for result in results] == ["PASS", "PASS"]
        assert all(result.record.decisions for result in results)
        assert exploration.run(Bounds(schedules=2)).cases == ()
