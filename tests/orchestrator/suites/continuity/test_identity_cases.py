"""What the first Begin bound stays bound, on real processes; each flaw fails its own check."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant
from orchestrator.scoring.families.identity import JUDGES
from orchestrator.suites.continuity.families.identity import CASES
from services.controls.identity_flaws import FLAWS
from tests.orchestrator.suites.continuity.flaw_play import assert_caught
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, sampled

NONE = CapabilityVariant.NONE
KEYED = CapabilityVariant.IDEMPOTENT
FENCED = CapabilityVariant.QUERY_FENCED
UNFENCED = CapabilityVariant.QUERY_UNFENCED

# Each flaw: the cases that must show it by its own check, and one that must not show it at all.
SHOWN = {
    "overlooks_arguments": ((("identity.other_arguments", NONE),), ("receipts.repeat", NONE)),
    "overlooks_tool": ((("identity.other_tool", NONE),), ("receipts.repeat", NONE)),
    "overlooks_destination": ((("identity.other_destination", NONE),), ("receipts.repeat", NONE)),
    "overlooks_capability": ((("identity.other_capability", NONE),), ("receipts.repeat", NONE)),
    "overlooks_principal": ((("identity.other_principal", NONE),), ("receipts.repeat", NONE)),
    "overlooks_workflow": ((("identity.other_workflow", NONE),), ("receipts.repeat", NONE)),
    "overlooks_intent": ((("identity.other_intent", NONE),), ("receipts.repeat", NONE)),
    "overlooks_namespace": ((("identity.other_namespace", NONE),), ("receipts.repeat", NONE)),
    "overlooks_key": ((("identity.other_key", KEYED),), ("receipts.repeat", KEYED)),
    "overlooks_retention": ((("identity.other_retention", KEYED),), ("receipts.repeat", KEYED)),
    "binds_while_live": ((("identity.after_expiry", NONE),), ("identity.other_tool", NONE)),
    "binds_in_process": ((("identity.after_restart", NONE),), ("identity.other_tool", NONE)),
    "takes_any_operation_id": ((("identity.wrong_digest", KEYED),), ("identity.oversize", NONE)),
    "cuts_long_ids": ((("identity.oversize", NONE),), ("identity.wrong_digest", NONE)),
    "replays_to_anybody": ((("identity.other_life", None),), ("identity.other_tool", NONE)),
    "replays_ended": ((("identity.repeat_after_expiry", None),), ("identity.other_life", NONE)),
    "replays_wait": ((("identity.repeat_of_wait", FENCED),), ("identity.other_life", NONE)),
    "peeks_cautiously": ((("identity.peek", None),), ("identity.other_life", NONE)),
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("identity")) as on:
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
