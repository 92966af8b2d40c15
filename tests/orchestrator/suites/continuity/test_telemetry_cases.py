"""Telemetry on real processes: nothing depends on it, and it carries ids only."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant, TrialRecord
from orchestrator.scoring.parity import parity_violations
from orchestrator.suites.continuity.families import CASES
from orchestrator.suites.continuity.families.telemetry import DISTURBANCES
from services.controls.telemetry_flaws import FLAWS
from tests.orchestrator.suites.continuity.ground import (
    Ground,
    ground,
    not_passed,
    sampled,
    violated,
)

NONE = CapabilityVariant.NONE
FENCED = CapabilityVariant.QUERY_FENCED
OPERATIONS = 6

# Each flaw that a single trial shows: the cases that must show it, by the one check.
SHOWN = {
    "waits_for_observer": ("telemetry.waiting",),
    "tells_results": ("telemetry.content",),
    "sends_unlisted": ("telemetry.content", "telemetry.waiting"),
    "concludes_absence": ("telemetry.errors", "telemetry.observer_down"),
}
CHECKS = {"unsafe_decision": "continuity.safety"}
# What a second EXECUTE does at a destination that asks for no key.
ALSO = {"concludes_absence": {"continuity.extra_effect"}}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("telemetry")) as on:
        yield on


@pytest.mark.e2e_process
def test_the_reference_decides_alike_under_every_trouble(reference: Ground) -> None:
    records: list[TrialRecord] = []
    for case in DISTURBANCES:
        records += reference.play(case, FENCED, OPERATIONS)
    assert not_passed(records) == []
    assert parity_violations(records) == ()
    kinds = {entry.split(":")[0] for record in records for entry in record.decisions}
    assert kinds == {"EXECUTE", "WAIT", "QUERY", "REUSE"}


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", ["telemetry.content", "telemetry.waiting"])
def test_the_reference_tells_no_content_and_waits_for_nobody(reference: Ground, case: str) -> None:
    assert not_passed(reference.play(case, None, OPERATIONS)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_each_flaw_fails_on_its_own_check_and_on_no_other(tmp_path: Path, flaw: str) -> None:
    primary = FLAWS[flaw].primary_check
    check = CHECKS.get(primary, primary)
    allowed = {check, *FLAWS[flaw].consequences, *ALSO.get(flaw, ())}
    with ground(tmp_path, flaw) as on:
        for case in SHOWN[flaw]:
            records = on.play(case, NONE, OPERATIONS)
            assert check in violated(records), case
            assert violated(records) <= allowed, not_passed(records)


@pytest.mark.e2e_process
def test_a_memory_that_answers_by_its_observer_breaks_parity_and_nothing_else(
    tmp_path: Path,
) -> None:
    with ground(tmp_path, "answers_by_observer") as on:
        records = on.play("telemetry.none", NONE, OPERATIONS)
        assert parity_violations(records) == ()
        records += on.play("telemetry.errors", NONE, OPERATIONS)
    assert not_passed(records) == []
    assert parity_violations(records)


def test_every_flaw_has_its_test() -> None:
    assert {*SHOWN, "answers_by_observer"} == set(FLAWS)
    assert {case for cases in SHOWN.values() for case in cases} <= set(CASES)
