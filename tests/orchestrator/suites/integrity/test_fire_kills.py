"""Real kills of a real memory: the reference stands them, and what is not durable is caught."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from orchestrator.model import CheckOutcome, TrialRecord, Verdict
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import score_job
from orchestrator.vendors import VendorConfig, VendorProcess
from services.controls.durability_flaws import FLAWS
from tests.orchestrator.suites.integrity.contexts import Rig, found, jobs_of
from tests.orchestrator.suites.integrity.stacks import process_rig

pytestmark = [pytest.mark.e2e_process, pytest.mark.timeout(600)]


REVIEWER = Reviewer.generate()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with process_rig(tmp_path_factory.mktemp("stack"), REVIEWER) as rig:
        yield rig


def control(flaw: str) -> VendorConfig:
    process = VendorProcess(module="services.controls", args=("--flaw", flaw))
    return VendorConfig(name=flaw, process=process)


def records_of(rig: Rig, case: str, trials: int) -> list[TrialRecord]:
    """A case's first trials; what is scored from their lines is the same."""
    before = set(rig.kept.files)
    jobs = jobs_of(case, trials, REVIEWER)
    records = [record for job in jobs for record in job.run(rig.context)]
    lines = [kept for name, kept in rig.kept.files.items() if name not in before]
    assert [record for kept in lines for record in score_job(kept)] == records
    return records


def violations(records: Sequence[TrialRecord]) -> set[str]:
    return {check for record in records for check in found(record, CheckOutcome.VIOLATED)}


@pytest.mark.parametrize(
    "case",
    ["fire.supersede_request", "fire.derive_response", "fire.forget_underway", "fire.burst"],
)
def test_the_reference_stands_a_kill(case: str, rig: Rig) -> None:
    records = records_of(rig, case, 5)

    assert [record.verdict for record in records] == [Verdict.PASS] * 5, records[0].cause


@pytest.mark.parametrize(
    ("flaw", "trials"),
    [
        ("derives_in_two_steps", 40),
        pytest.param("write_behind", 40, marks=pytest.mark.nightly),
        pytest.param("supersedes_in_two_steps", 60, marks=pytest.mark.nightly),
        pytest.param("approves_in_two_steps", 60, marks=pytest.mark.nightly),
    ],
)
def test_what_is_not_durable_when_it_answers_is_caught(
    flaw: str, trials: int, tmp_path: Path
) -> None:
    """Each twenty trials have a kill of their own; one of them at the latest meets the gap."""
    check = FLAWS[flaw].primary_check
    with process_rig(tmp_path, REVIEWER, control(flaw)) as rig:
        records = records_of(rig, f"fire.{check.rpartition('.')[2]}", trials)

    assert violations(records) == {check}


def test_a_memory_that_cannot_open_its_own_volume_again_fails(tmp_path: Path) -> None:
    """And that is no trouble of the machine: it starts on an empty volume."""
    with process_rig(tmp_path, REVIEWER, control("needs_a_clean_end")) as rig:
        records = records_of(rig, "fire.receipt", 2)
        assert rig.context.progress.spoiled

    for record in records:
        assert record.verdict is Verdict.FAIL
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.fire.contract"]
        assert "the memory does not start again on its own volume" in record.cause
        assert "the store was not closed" in record.cause
