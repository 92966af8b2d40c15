"""Resurrection, re-entry and residue on a whole stack: real kills, real bytes, rescored."""

import json
from collections.abc import Iterator

import pytest

from orchestrator.model import CheckOutcome, Verdict
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import score_job
from tests.orchestrator.suites.integrity.contexts import Rig, check_of, jobs_of
from tests.orchestrator.suites.integrity.stacks import process_rig

pytestmark = pytest.mark.e2e_process

TRIALS = 3
STACK_STEPS = {
    "J.superseded": ["restart"],
    "J.forgotten": ["restart"],
    "J.rewritten": ["restart"],
    "R": [],
    "S.split": [],
    "S.residue": ["scan_volume"],
    "T": [],
}


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with process_rig(tmp_path_factory.mktemp("stack"), Reviewer.generate()) as rig:
        yield rig


@pytest.mark.parametrize("case", STACK_STEPS)
def test_the_reference_passes_with_proof_and_lines_alone_say_so(case: str, rig: Rig) -> None:
    (job,) = jobs_of(case, TRIALS, Reviewer.generate())
    records = list(job.run(rig.context))
    (lines,) = [lines for file, lines in rig.kept.files.items() if job.job_id in file]

    assert [record.cause for record in records if record.verdict is not Verdict.PASS] == []
    assert len(records) == TRIALS
    assert list(score_job(lines)) == records
    stack = [json.loads(line) for line in lines if '"line":"stack"' in line]
    assert [line["kind"] for line in stack] == STACK_STEPS[case]


def test_every_byte_of_the_volume_was_read(rig: Rig) -> None:
    (job,) = jobs_of("S.residue", 1, Reviewer.generate())
    (record,) = job.run(rig.context)

    check = check_of(record, "integrity.S.residue.rejected")
    assert check.outcome is CheckOutcome.HELD
    assert check.actual == "every byte was read; it is not in the volume"
    assert not check.required
