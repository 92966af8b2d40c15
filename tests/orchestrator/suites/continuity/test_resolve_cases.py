"""A person's word, on real processes; each flaw fails its own check."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant
from orchestrator.scoring.families.resolve import JUDGES
from orchestrator.suites.continuity.families.resolve import CASES
from services.controls.resolve_flaws import FLAWS
from tests.orchestrator.suites.continuity.flaw_play import assert_caught
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, sampled

NONE = CapabilityVariant.NONE
KEYED = CapabilityVariant.IDEMPOTENT
FENCED = CapabilityVariant.QUERY_FENCED
UNFENCED = CapabilityVariant.QUERY_UNFENCED

# Each flaw: the cases that must show it by its own check, and one that must not show it at all.
SHOWN = {
    "loses_results": ((("resolve.happened", None),), ("resolve.stale", NONE)),
    "loses_releases": ((("resolve.did_not_happen", None),), ("resolve.happened", NONE)),
    "abandon_releases": ((("resolve.abandon", None),), ("resolve.stale", NONE)),
    "any_mounted_key": ((("resolve.wrong_key", NONE),), ("resolve.forged", NONE)),
    "nothing_signs": ((("resolve.forged", NONE),), ("resolve.changed", NONE)),
    "signs_any_word": ((("resolve.changed", NONE),), ("resolve.forged", NONE)),
    "signs_any_challenge": ((("resolve.other_challenge", NONE),), ("resolve.forged", NONE)),
    "answers_again": ((("resolve.used", NONE),), ("resolve.stale", NONE)),
    "stale_words_count": ((("resolve.stale", NONE),), ("resolve.used", NONE)),
    "undoes_completion": ((("resolve.completed", NONE),), ("resolve.stale", NONE)),
    "endless_challenges": ((("resolve.expired", NONE),), ("", None)),
    "challenges_without_end": ((("resolve.expired", NONE),), ("", None)),
    "knows_own_challenges": ((("resolve.restart", NONE),), ("resolve.stale", NONE)),
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("resolve")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", [one.name for one in CASES if not one.own_stack])
def test_the_reference_passes(reference: Ground, case: str) -> None:
    assert not_passed(reference.play(case, None, 2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", [one.name for one in CASES if one.own_stack])
def test_the_reference_passes_where_the_stack_is_of_no_further_use(
    tmp_path: Path, case: str
) -> None:
    with ground(tmp_path) as on:
        assert not_passed(on.play(case, None, 2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_each_flaw_fails_its_own_check_and_no_other(tmp_path: Path, flaw: str) -> None:
    shown, hidden = SHOWN[flaw]
    assert_caught(tmp_path, flaw, FLAWS[flaw], shown, hidden)


def test_every_flaw_has_its_cases_and_every_case_its_judge() -> None:
    assert set(SHOWN) == set(FLAWS)
    assert {one.name for one in CASES} == set(JUDGES)
