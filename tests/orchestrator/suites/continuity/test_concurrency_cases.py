"""Many agents on one operation, on real processes: the reference passes, each flaw is caught."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant, Verdict
from orchestrator.scoring.families.concurrency import JUDGES
from orchestrator.suites.continuity.families import CASES
from services.controls.concurrency_flaws import FLAWS
from tests.orchestrator.suites.continuity.ground import (
    Ground,
    ground,
    not_passed,
    sampled,
    violated,
)

CONCURRENT = [name for name in CASES if name.startswith("concurrency.")]
CHECKS = {"unsafe_decision": "continuity.safety"}
SHOWN = {
    "grants_in_a_race": ("concurrency.agents_2", "concurrency.agents_16"),
    "tells_each_its_own": ("concurrency.agents_4", "concurrency.memory_killed"),
}
OPERATIONS = 2


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("concurrency")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", CONCURRENT)
def test_the_reference_passes(reference: Ground, case: str) -> None:
    assert not_passed(reference.play(case, operations=OPERATIONS)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(FLAWS))
def test_each_flaw_is_caught_by_its_check_and_by_nothing_beyond_its_consequences(
    flaw: str, tmp_path: Path
) -> None:
    primary = CHECKS[FLAWS[flaw].primary_check]
    with ground(tmp_path, flaw) as on:
        for case in SHOWN[flaw]:
            records = on.play(case, CapabilityVariant.NONE, OPERATIONS)
            assert {record.verdict for record in records} == {Verdict.FAIL}, not_passed(records)
            assert primary in violated(records)
            assert violated(records) <= {primary, *FLAWS[flaw].consequences}


@pytest.mark.e2e_process
def test_the_standby_is_woken_when_each_message_is_in_the_checkpoint(tmp_path: Path) -> None:
    """Before that each host asks the model itself, and has a call of its own."""
    with ground(tmp_path) as on:
        records = on.play("concurrency.two_hosts", CapabilityVariant.NONE, OPERATIONS)
        assert not_passed(records) == []
        _, trace, _ = on.kept.batches[0]
    received = [line for line in trace if "TRACE_KIND_REQUEST_RECEIVED" in line]
    asked = [at for at, line in enumerate(received) if "ContinuityService/Begin" in line]
    woken = [at for at, line in enumerate(received) if "AgentService/Resume" in line]
    assert max(asked[:OPERATIONS]) < min(woken)
    assert {record.decisions[0] for record in records} == {"EXECUTE:first_grant:1"}


def test_every_flaw_is_shown_and_every_case_judged() -> None:
    assert set(SHOWN) == set(FLAWS)
    assert set(JUDGES) == set(CONCURRENT)
