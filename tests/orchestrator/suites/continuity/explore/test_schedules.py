"""Schedules: drawn alike from alike seeds, taken apart by lanes, cut down to what matters."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.errors import UsageError
from orchestrator.model import CapabilityVariant
from orchestrator.scoring.end_checks import ENDLESS_WAITS
from orchestrator.suites.continuity.explore.cases import ExploredCase, read_case, write_case
from orchestrator.suites.continuity.explore.drawing import Coverage, draw
from orchestrator.suites.continuity.explore.shrinking import fewest
from orchestrator.suites.continuity.explore.steps import EVERY_LANE, Act, Schedule, Step
from orchestrator.suites.continuity.explore.wearing import LONG_LIMITS
from services.controls.registry import FLAWS
from tests.orchestrator.suites.continuity.explore import flawed


def test_the_same_seed_draws_the_same() -> None:
    assert draw(7, 3, 4, Coverage()) == draw(7, 3, 4, Coverage())
    assert draw(7, 3, 4, Coverage()) != draw(8, 3, 4, Coverage())


def test_what_was_seen_often_is_drawn_less() -> None:
    coverage = Coverage()
    step = Step(act=Act.RENEW, lane=0)
    fresh = coverage.weight(CapabilityVariant.NONE, "begin:", step)
    schedule = Schedule(
        capabilities=(CapabilityVariant.NONE,), steps=(Step(act=Act.BEGIN, lane=0), step)
    )
    for _ in range(8):
        coverage.note(schedule)
    assert coverage.weight(CapabilityVariant.NONE, "begin:", step) == pytest.approx(fresh / 3)
    assert coverage.weight(CapabilityVariant.IDEMPOTENT, "begin:", step) == fresh


def test_every_act_and_every_capability_comes_up() -> None:
    coverage = Coverage()
    for number in range(30):
        coverage.note(draw(1, number, 5, coverage))
    assert {name.split(":")[0] for _, _, name in coverage.followed} == {act.value for act in Act}
    assert {capability for capability, _, _ in coverage.followed} == {
        variant.value for variant in CapabilityVariant
    }


def test_without_clocks_and_operators_nothing_needs_them() -> None:
    for number in range(6):
        steps = draw(2, number, 6, Coverage(), clocks=False).steps
        assert not {step.act for step in steps} & {Act.JUMP, Act.DRIFT}
        assert not [step for step in steps if step.act is Act.KILL and ":" in step.variant]
        acts = {step.act for step in draw(2, number, 6, Coverage(), operators=False).steps}
        assert Act.RESOLVE not in acts


def test_a_clock_that_went_forward_often_goes_back_while_some_lanes_rest() -> None:
    """What a lane held before is asked about behind the mark, in one schedule of ten at least."""
    coverage = Coverage()
    with_rest = 0
    for number in range(60):
        schedule = draw(5, number, 8, coverage)
        coverage.note(schedule)
        befell = [at for at, step in enumerate(schedule.steps) if step.act.of_all]
        with_rest += any(
            schedule.steps[there].variant in ("lease_end", "minutes")
            and schedule.steps[back].variant.removeprefix("memory:").startswith("back_")
            and 0 < len({step.lane for step in schedule.steps[there + 1 : back]}) < 8
            for there, back in pairwise(befell)
        )
    assert with_rest >= 6


def test_in_some_schedules_everybody_waits_as_long_as_is_asked_for() -> None:
    """So often in a row that WAIT each time is no end."""
    patient = 0
    for number in range(60):
        schedule = draw(5, number, 4, Coverage())
        last = [step for step in schedule.steps if step.agent > 9 or step.act is Act.JUMP][-20:]
        jumps = [step.variant for step in last if step.act is Act.JUMP]
        patient += jumps[-ENDLESS_WAITS:] == ["lease_end"] * ENDLESS_WAITS and (
            max(step.agent for step in schedule.steps) >= 11 + ENDLESS_WAITS
        )
    assert 6 <= patient <= 30


def test_a_lane_keeps_its_own_steps_and_what_befell_all() -> None:
    schedule = draw(3, 0, 3, Coverage())
    lanes = [schedule.of_lane(lane) for lane in range(3)]
    befell = sum(step.act.of_all for step in schedule.steps)
    assert sum(len(one.steps) for one in lanes) == len(schedule.steps) + 2 * befell
    assert all(step.lane in (0, EVERY_LANE) for one in lanes for step in one.steps)
    assert lanes[1].side_by_side(2).of_lane(1) == lanes[1]


def test_what_nobody_waits_for_long_is_worn_out_once_a_schedule() -> None:
    for number in range(20):
        steps = draw(6, number, 8, Coverage()).steps
        assert sum(step.variant in LONG_LIMITS for step in steps) <= 1


def test_a_superseded_attempt_reports_after_its_successor_in_one_schedule_of_ten_at_least() -> None:
    """Two grants of a lane with a lease's end between them, and reports of both."""
    coverage = Coverage()
    found = 0
    for number in range(40):
        schedule = draw(5, number, 12, coverage)
        coverage.note(schedule)
        found += any(_reports_of_both(schedule.of_lane(lane)) for lane in range(12))
    assert found >= 4


def _reports_of_both(lane: Schedule) -> bool:
    """Asked, expired, asked again, the latest reported, and then the one before it."""
    wanted = [
        (Act.BEGIN, ("",), None),
        (Act.JUMP, ("lease_end", "minutes"), None),
        (Act.BEGIN, ("",), None),
        (Act.RECORD, None, 0),
        (Act.RECORD, None, 1),
    ]
    for step in lane.steps:
        act, variants, amount = wanted[0] if wanted else (None, None, None)
        fits = step.act is act and amount in (None, step.amount)
        if fits and (variants is None or step.variant in variants):
            wanted.pop(0)
    return not wanted


STEPS = st.lists(
    st.builds(
        Step,
        act=st.sampled_from([Act.BEGIN, Act.RECORD, Act.RENEW, Act.JUMP]),
        agent=st.integers(0, 2),
        variant=st.sampled_from(["", "token"]),
    ),
    max_size=24,
)


@settings(deadline=None)
@given(STEPS, STEPS, STEPS)
def test_only_what_is_needed_is_left(
    before: list[Step], between: list[Step], after: list[Step]
) -> None:
    """A rule that is broken by a jump and a wrong renewal somewhere after it."""

    def broken(steps: tuple[Step, ...]) -> bool:
        jumps = [at for at, step in enumerate(steps) if step.act is Act.JUMP]
        return any(
            step.act is Act.RENEW and step.variant == "token"
            for step in steps[min(jumps, default=len(steps)) :]
        )

    needed = [Step(act=Act.JUMP, agent=1), *between, Step(act=Act.RENEW, agent=2, variant="token")]
    short = fewest([*before, *needed, *after], broken, tries_max=10_000, seconds=60.0)
    assert short == (Step(act=Act.JUMP), Step(act=Act.RENEW, variant="token"))


def test_shrinking_keeps_to_its_bound() -> None:
    tried = []

    def broken(steps: tuple[Step, ...]) -> bool:
        tried.append(steps)
        return True

    steps = [Step(act=Act.BEGIN, lane=0, agent=agent % 3) for agent in range(40)]
    fewest(steps, broken, tries_max=5, seconds=60.0)
    assert len(tried) == 5


def test_a_case_is_read_as_it_was_written(tmp_path: Path) -> None:
    case = ExploredCase(
        name="a", title="t", rule="r", words="w", schedule=draw(4, 0, 1, Coverage()), confirmed=2
    )
    write_case(tmp_path / "a.json", case)
    assert read_case(tmp_path / "a.json") == case


def test_what_is_no_case_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(UsageError, match="no case"):
        read_case(tmp_path / "a.json")


def test_a_planted_flaw_has_a_name_of_its_own() -> None:
    assert not set(FLAWS) & {*flawed.DECISIONS, *flawed.RECORDINGS}
