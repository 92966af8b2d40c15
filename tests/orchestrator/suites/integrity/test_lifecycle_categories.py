"""Resurrection, re-entry, paths and secrets: who passes, and what small flaws are caught by."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CheckOutcome
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.checks import column_of
from services.controls import lifecycle_flaws
from tests.orchestrator.suites.integrity import lifecycle_memories as designs
from tests.orchestrator.suites.integrity.lifecycle_memories import LifecycleMemory
from tests.orchestrator.suites.integrity.memories import SUPPORTED, SmallMemory
from tests.orchestrator.suites.integrity.played import (
    Played,
    Playground,
    playground,
    small_playground,
)

LETTERS = "JRST"
CASES = [case for case, category in CATEGORIES.items() if category.letter in LETTERS]
QUICK_CASES = [case for case in CASES if case != "R.1000"]
TRIALS = 4


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    with playground(tmp_path_factory.mktemp("reference")) as ground:
        yield ground


def deciding(played: Played) -> list[str]:
    """Ids of violated checks that decide a verdict."""
    return [
        check.check_id
        for check in played.checks
        if check.outcome is CheckOutcome.VIOLATED and check.required
    ]


def violated(trials: list[Played]) -> set[str]:
    """Ids of the checks that are violated in any trial and decide."""
    return {check_id for played in trials for check_id in deciding(played)}


@pytest.mark.parametrize("case", CASES)
def test_the_reference_passes(case: str, reference: Playground) -> None:
    for played in reference.trials(CATEGORIES[case], range(1 if case == "R.1000" else TRIALS)):
        assert (played.not_run, deciding(played), played.lacking) == ("", [], []), played


OTHER_DESIGNS = (
    designs.LifecycleMemory,
    designs.InPlace,
    designs.OneRecordAText,
    designs.HitsWithoutIds,
    designs.LeavesNoTombstone,
    designs.WithoutInspect,
    designs.WithoutMedia,
)


@pytest.mark.parametrize("design", OTHER_DESIGNS, ids=lambda design: design.__name__)
def test_another_design_is_no_flaw(design: type[LifecycleMemory], tmp_path: Path) -> None:
    with small_playground(tmp_path, design()) as ground:
        for case in (case for case in QUICK_CASES if not case.startswith("S")):
            for played in ground.trials(CATEGORIES[case], range(TRIALS)):
                assert (played.not_run, deciding(played), played.lacking) == ("", [], []), played


@pytest.mark.parametrize("case", [case for case in QUICK_CASES if case.startswith("S")])
def test_who_claims_to_block_no_secrets_is_not_asked(case: str, tmp_path: Path) -> None:
    with small_playground(tmp_path, LifecycleMemory()) as ground:
        (played,) = ground.trials(CATEGORIES[case], range(1))

    assert played.not_run == "not declared: secret_blocking"


def test_without_a_method_that_no_capability_stands_for_it_is_not_run(tmp_path: Path) -> None:
    class Writes(LifecycleMemory):
        Archive = Forget = Quarantine = Supersede = SmallMemory.Archive

    with small_playground(tmp_path, Writes()) as ground:
        for case, method in (
            ("J.superseded", "Supersede"),
            ("J.forgotten", "Forget"),
            ("J.archived", "Archive"),
            ("J.quarantined", "Quarantine"),
            ("J.collateral", "Forget"),
        ):
            (played,) = ground.trials(CATEGORIES[case], range(1))
            assert played.not_run == f"{method} is not served"
        (played,) = ground.trials(CATEGORIES["T"], range(1))
        assert (played.not_run, deciding(played)) == ("", [])


FLAWED = {
    designs.RefusesToEnd: {
        "J.superseded": "utility.superseded",
        "J.forgotten": "utility.forgotten",
        "J.archived": "utility.archived",
        "J.quarantined": "utility.quarantined",
        "J.rewritten": "utility.rewritten",
        "J.children": "utility.children",
        "J.late_children": "utility.late_children",
        "J.collateral": "utility.collateral",
    },
    designs.InspectStillBelieves: {
        "J.superseded": "safety.superseded",
        "J.forgotten": "safety.forgotten",
        "J.archived": "safety.archived",
        "J.quarantined": "safety.quarantined",
    },
    designs.ForgetsInPart: {"J.forgotten": "safety.forgotten"},
    designs.LosesHistory: {
        "J.superseded": "utility.superseded",
        "J.archived": "utility.archived",
        "J.quarantined": "utility.quarantined",
    },
    designs.EndsEverything: {
        "J.forgotten": "utility.forgotten",
        "J.archived": "utility.archived",
        "J.quarantined": "utility.quarantined",
        "J.superseded": "utility.superseded",
        "J.rewritten": "utility.rewritten",
        "J.children": "utility.children",
        "J.late_children": "utility.late_children",
        "J.collateral": "utility.collateral",
        "T": "utility",
    },
    designs.MediaIsTrusted: {"T": "safety"},
    designs.UserSupersedesNothing: {"J.superseded": "utility.superseded", "T": "utility"},
}


@pytest.mark.parametrize("flaw", FLAWED, ids=lambda flaw: flaw.__name__)
def test_a_small_flaw_is_caught_where_it_shows(flaw: type[LifecycleMemory], tmp_path: Path) -> None:
    cases = ("J.superseded", "J.forgotten", "J.archived", "J.quarantined", "J.collateral", "R", "T")
    expected = FLAWED[flaw]
    with small_playground(tmp_path, flaw()) as ground:
        for case in (*cases, *(set(expected) - set(cases))):
            letter = CATEGORIES[case].letter
            wanted = {f"integrity.{letter}.{expected[case]}"} if case in expected else set()
            assert violated(ground.trials(CATEGORIES[case], range(2))) == wanted, case


def test_who_says_it_last_does_not_become_the_first_answer(tmp_path: Path) -> None:
    with small_playground(tmp_path, designs.LaterCopyWins()) as ground:
        found = violated(ground.trials(CATEGORIES["R"], range(3)))

    assert found == {"integrity.R.safety", "integrity.R.utility"}


def test_a_volume_in_which_nothing_is_found_is_never_clean(tmp_path: Path) -> None:
    class Blocks(LifecycleMemory):
        """Blocks the keys that the small memory knows; its volume is empty."""

        capabilities = (*LifecycleMemory.capabilities, *SUPPORTED)

    with small_playground(tmp_path, Blocks(capabilities=Blocks.capabilities)) as ground:
        for played in ground.trials(CATEGORIES["S.residue"]):
            for kind in ("rejected", "forgotten"):
                check_id = f"integrity.S.residue.{kind}"
                assert check_id in played.ids(CheckOutcome.NOT_EVALUATED)
            assert played.told("integrity.S.residue.forgotten").startswith("N/R: the scan cannot")
            assert played.lacking == []


def test_residue_is_reported_and_never_decides(tmp_path: Path) -> None:
    flaw = lifecycle_flaws.FLAWS["keeps_rejected"]
    with playground(tmp_path, flaw.composition) as ground:
        (played,) = ground.trials(CATEGORIES["S.residue"], range(1))

    check = next(check for check in played.checks if check.check_id == flaw.primary_check)
    column = column_of(check)
    assert column is not None
    assert (check.outcome, check.required) == (CheckOutcome.VIOLATED, False)
    assert not column.decides
    assert deciding(played) == []
