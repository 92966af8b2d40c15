"""What a host may report and what it may not, on real processes; each flaw fails its own check."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant
from orchestrator.scoring.families.receipts import JUDGES
from orchestrator.suites.continuity.families.receipts import CASES
from services.controls.receipt_flaws import FLAWS
from tests.orchestrator.suites.continuity.flaw_play import assert_caught
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, sampled

NONE = CapabilityVariant.NONE
KEYED = CapabilityVariant.IDEMPOTENT
FENCED = CapabilityVariant.QUERY_FENCED
UNFENCED = CapabilityVariant.QUERY_UNFENCED

# Each flaw: the cases that must show it by its own check, and one that must not show it at all.
SHOWN = {
    "any_token": ((("receipts.forged", NONE),), ("receipts.repeat", NONE)),
    "any_life": ((("receipts.other_life", NONE),), ("receipts.forged", NONE)),
    "any_operation": ((("receipts.foreign", KEYED),), ("receipts.forged", NONE)),
    "any_attempt": ((("receipts.wrong_attempt", NONE),), ("receipts.forged", NONE)),
    "any_arguments": ((("receipts.other_arguments", NONE),), ("receipts.forged", NONE)),
    "any_digest": ((("receipts.wrong_digest", NONE),), ("receipts.oversize", NONE)),
    "any_size": ((("receipts.oversize", NONE),), ("receipts.wrong_digest", NONE)),
    "takes_once": ((("receipts.repeat", NONE),), ("receipts.forged", NONE)),
    "last_one_wins": ((("receipts.other_result", NONE),), ("receipts.repeat", NONE)),
    "forgets_refusals": ((("receipts.tool_error", NONE),), ("receipts.repeat", NONE)),
    "refuses_late": ((("receipts.late", None),), ("receipts.repeat", NONE)),
    "any_attempt_completes": ((("receipts.superseded", KEYED),), ("receipts.late", NONE)),
    "any_ticket": ((("receipts.wrong_ticket", UNFENCED),), ("receipts.unknown", FENCED)),
    "any_asked_attempt": ((("receipts.query_attempt", FENCED),), ("receipts.unknown", FENCED)),
    "any_presence": ((("receipts.query_foreign", FENCED),), ("receipts.unknown", FENCED)),
    "unknown_is_absent": ((("receipts.unknown", FENCED),), ("receipts.present", UNFENCED)),
    "old_absence_counts": ((("receipts.old_absence", FENCED),), ("receipts.present", FENCED)),
    "doubt_is_final": ((("receipts.present", UNFENCED),), ("receipts.unknown", FENCED)),
    "never_doubts": ((("receipts.uncertain", UNFENCED),), ("receipts.unknown", FENCED)),
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("receipts")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", [one.name for one in CASES if not one.own_stack])
def test_the_reference_passes(reference: Ground, case: str) -> None:
    assert not_passed(reference.play(case, None, 2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_each_flaw_fails_its_own_check_and_no_other(tmp_path: Path, flaw: str) -> None:
    shown, hidden = SHOWN[flaw]
    assert_caught(tmp_path, flaw, FLAWS[flaw], shown, hidden)


def test_every_flaw_has_its_cases_and_every_case_its_judge() -> None:
    assert set(SHOWN) == set(FLAWS)
    assert {one.name for one in CASES} == set(JUDGES)
