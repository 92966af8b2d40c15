"""Each control fails its own check, and none beside its closed list, whatever case is played.

Nightly every control meets every case; in the default run each meets its own and one other.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

from orchestrator.model import CheckOutcome
from orchestrator.suites.integrity.categories import CATEGORIES, Category
from orchestrator.suites.integrity.categories.base import PUBLISHED
from services.controls.registry import FLAWS
from services.memory.process import Composition
from tests.orchestrator.suites.integrity.played import SEED, Playground
from tests.orchestrator.suites.integrity.whole_ground import whole_ground

# The benchmark's own steps are shorter forms of cases that are played.
CASES = {name: one for name, one in CATEGORIES.items() if one.variant != PUBLISHED}
# Thousands of calls a trial: only where what it is for is wrong.
COSTLY = "R.1000"

INTEGRITY = {name for name, flaw in FLAWS.items() if flaw.primary_check.startswith("integrity.")}
# The oracle has a check for what is wrong with Begin; here it shows as a consequence at most.
# `null` is no memory at all: test_reference has it fail everything.
# A flaw of the narrative path shows in none of these calls.
CONTROLS = {
    name: flaw
    for name, flaw in FLAWS.items()
    if name != "null" and not flaw.primary_check.startswith("narrative.")
}

# How a record ends is drawn from trial to trial: these have each of the four ways.
TRIALS = dict.fromkeys(("J.rewritten", "J.children", "J.late_children", "J.procedures"), 8)
OWN_TRIALS = 5
# Where a wrong shows at one moment only.
OWN_TRIALS_MAX = 40


@dataclass(frozen=True)
class Broken:
    """What some trials of one case violated.

    Attributes:
        case: The case.
        deciding: Required checks.
        every: Those, and checks that are only reported.
    """

    case: str
    deciding: frozenset[str]
    every: frozenset[str]


def checks_of(category: Category) -> set[str]:
    return {spec.check_id for spec in category.checks}


def own_cases(name: str) -> list[str]:
    """Cases with the check that must catch a control; the costly one comes last."""
    primary = CONTROLS[name].primary_check
    return [case for case, category in CASES.items() if primary in checks_of(category)]


def play(ground: Playground, case: str, numbers: Iterable[int], until: str = "") -> Broken:
    """Some trials of a case, or as many as it takes for one check to be violated."""
    deciding: set[str] = set()
    every: set[str] = set()
    for number in numbers:
        for check in ground.trial(CASES[case], number).checks:
            if check.outcome is CheckOutcome.VIOLATED:
                every.add(check.check_id)
                deciding |= {check.check_id} if check.required else set()
        if until in every:
            break
    return Broken(case, frozenset(deciding), frozenset(every))


def false_alarms(name: str, found: Iterable[Broken]) -> list[tuple[str, list[str]]]:
    """Case by case, what fails beside the check that must and the closed list."""
    flaw = CONTROLS[name]
    allowed = {flaw.primary_check, *flaw.consequences}
    return [(one.case, sorted(one.deciding - allowed)) for one in found if one.deciding - allowed]


def trials(case: str, own: Sequence[str] = ()) -> range:
    """Trials of a case; a control's own one has more, to show its wrong in and to fail in."""
    return range(max(OWN_TRIALS if [case] == own[:1] else 1, TRIALS.get(case, 1)))


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_fails_its_own_check_and_none_beside_its_list(name: str, tmp_path: Path) -> None:
    flaw, own = CONTROLS[name], own_cases(name)
    cases = [case for case in CASES if case != COSTLY or case in own]
    # A memory that breaks logs its request: 10,000 parents take a minute to print.
    with structlog.testing.capture_logs(), whole_ground(tmp_path, flaw.composition) as ground:
        found = [play(ground, case, trials(case, own)) for case in cases]
        if own and not any(flaw.primary_check in one.every for one in found):
            more = range(OWN_TRIALS, OWN_TRIALS_MAX)
            found.append(play(ground, own[0], more, flaw.primary_check))

    assert false_alarms(name, found) == []
    caught = any(flaw.primary_check in one.every for one in found)
    assert caught == bool(own) == (name in INTEGRITY)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_reference_passes_every_case(tmp_path: Path) -> None:
    with whole_ground(tmp_path, Composition()) as ground:
        for case in CASES:
            assert play(ground, case, trials(case)).deciding == set(), case


@pytest.mark.parametrize("name", sorted(INTEGRITY))
def test_a_control_is_caught_by_its_own_case_and_rightly_passes_another(
    name: str, tmp_path: Path
) -> None:
    flaw, own = CONTROLS[name], own_cases(name)
    others = sorted(set(CASES) - {COSTLY, *own})
    other = random.Random(f"{SEED}:{name}").choice(others)
    with structlog.testing.capture_logs(), whole_ground(tmp_path, flaw.composition) as ground:
        caught = play(ground, own[0], range(OWN_TRIALS_MAX), flaw.primary_check)
        passed = play(ground, other, range(1))

    assert flaw.primary_check in caught.every
    assert false_alarms(name, [caught, passed]) == []


def test_every_case_has_a_control_that_shows_in_it() -> None:
    """By a check of its own: what breaks the contract everywhere is no proof of a case."""
    named = {check for flaw in FLAWS.values() for check in (flaw.primary_check, *flaw.consequences)}
    contracts = {f"integrity.{one.letter}.contract" for one in CASES.values()}

    without = [case for case, one in CASES.items() if not checks_of(one) & (named - contracts)]

    assert without == []


def test_every_named_check_is_one_of_a_case() -> None:
    known = {spec.check_id for category in CATEGORIES.values() for spec in category.checks}

    for name, flaw in FLAWS.items():
        named = {one for one in flaw.consequences if one.startswith("integrity.")}
        assert known.issuperset(named)
        assert (flaw.primary_check in known) == (name in INTEGRITY)


def test_no_control_names_a_check_twice() -> None:
    for flaw in FLAWS.values():
        named = [flaw.primary_check, *flaw.consequences]
        assert len(named) == len(set(named))
