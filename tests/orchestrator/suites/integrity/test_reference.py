"""The reference memory and its controls as real processes, over real gRPC."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from chaos.client import InterposerClient
from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import StackContext, StackProgress
from orchestrator.campaign.sink import Sink
from orchestrator.evidence.rundir import RunDirectory, read_json_lines
from orchestrator.model import CheckOutcome, TrialRecord, Verdict
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.process_runtime import ProcessRuntime
from orchestrator.session import Session
from orchestrator.suites.integrity.evidence import raw_file_name
from orchestrator.suites.integrity.metrics import category_rows, integrity_rates
from orchestrator.suites.integrity.planned import expected_control_verdict
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import score_job
from tests.orchestrator.suites.integrity.contexts import found, jobs_of, memory_process, rig_at

pytestmark = pytest.mark.e2e_process

LETTERS = "ACDFHIL"
PUBLISHED = tuple(f"{letter}.published" for letter in LETTERS)


def records_of(
    folder: Path, trials: int, *module: str, cases: Sequence[str] = LETTERS
) -> list[TrialRecord]:
    """The first trials of several cases on a memory that runs as a process."""
    reviewer = Reviewer.generate()
    with memory_process(folder, reviewer, *module) as address, rig_at(address) as rig:
        records = [
            record
            for case in cases
            for job in jobs_of(case, trials, reviewer)
            for record in job.run(rig.context)
        ]
        kept = [record for lines in rig.kept.files.values() for record in score_job(lines)]
    assert kept == records
    return records


@pytest.mark.parametrize("trials", [10, pytest.param(100, marks=pytest.mark.nightly)])
def test_the_reference_passes_some_trials_of_each_category(trials: int, tmp_path: Path) -> None:
    records = records_of(tmp_path, trials)

    assert [record.cause for record in records if record.verdict is not Verdict.PASS] == []
    assert len(records) == 7 * trials
    for row in category_rows(records):
        assert (row.passed, row.safety_held, row.utility_held) == (trials, trials, trials)
    three, four = f"{3 * trials}/{3 * trials}", f"{4 * trials}/{4 * trials}"
    once = f"{trials}/{trials}"
    assert [(rate.name, rate.words) for rate in integrity_rates(records)] == [
        ("FCR", f"0/{3 * trials} violated (coverage {three})"),
        ("SRR", f"0/{trials} violated (coverage {once})"),
        ("TPR", f"{once} held (coverage {once})"),
        ("TLR", f"0/{4 * trials} violated (coverage {four})"),
        ("D, native ids", f"{once} pass (coverage {once})"),
        ("D, shared text", f"0/{trials} pass (coverage {once})"),
    ]


def test_the_reference_in_the_benchmarks_own_steps(tmp_path: Path) -> None:
    records = records_of(tmp_path, 10, cases=PUBLISHED)

    verdicts = {record.cell.case[0]: record.verdict for record in records}
    assert [verdicts[letter] for letter in "CDFL"] == [Verdict.PASS] * 4
    assert [verdicts[letter] for letter in "AHI"] == [Verdict.NOT_RUN] * 3
    rates = {rate.name: rate.words for rate in integrity_rates(records)}
    assert rates["FCR"] == "0/30 violated (coverage 30/30)"
    assert rates["TLR"] == "0/20 violated (coverage 20/40)"
    assert rates["TPR"] == "10/10 held (coverage 10/10)"
    assert rates["D, shared text"] == "0/10 pass (coverage 10/10)"


@pytest.mark.parametrize(
    ("flaw", "violated"),
    [
        ("naive", {}),
        ("trusts_label", {"A": "integrity.A.safety"}),
        ("stores_secrets", {"L": "integrity.L.safety"}),
        ("null", {letter: f"integrity.{letter}.contract" for letter in LETTERS}),
    ],
)
def test_a_control_is_caught_by_its_own_check_and_by_no_other(
    flaw: str, violated: dict[str, str], tmp_path: Path
) -> None:
    for record in records_of(tmp_path, 5, "services.controls", "--flaw", flaw):
        expected = violated.get(record.cell.case)
        required = {check.check_id for check in record.checks if check.required}
        failed = [one for one in found(record, CheckOutcome.VIOLATED) if one in required]
        assert failed == ([expected] if expected else [])
        assert record.verdict is (Verdict.FAIL if expected else Verdict.PASS)
        if flaw in ("naive", "null"):
            assert expected_control_verdict(f"control:{flaw}", record.cell).met_by(record.verdict)


class _Quiet:
    """A display for nobody."""

    def planned(self, trials: int) -> None:
        """Nothing."""

    def running(self, lane: str, what: str) -> None:
        """Nothing."""

    def finished(self, trials: Sequence[TrialRecord]) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def test_a_stack_a_lanes_context_and_a_bundle(tmp_path: Path) -> None:
    """The whole way: interposer, session, sink, and the bundle rescored from disk."""
    reviewer = Reviewer.generate()
    keys = tmp_path / "keys.json"
    keys.write_text(reviewer.public_keys_json())
    (tmp_path / "stack").mkdir()
    spec = StackSpec(
        run_id="integrity-test", stack_id="s1", folder=tmp_path / "stack", reviewer_keys=keys
    )
    stack = ProcessRuntime().start(spec)
    session = Session(stack.control_address, stack.control_token, spec.run_id)
    try:
        with RunDirectory.create(tmp_path / "run") as folder:
            context = StackContext(
                run_id=spec.run_id,
                subject="vendor",
                stack=stack,
                session=session,
                interposer=InterposerClient(session.channel, stack.control_token),
                describe=session.memory.vendor.Describe(vendor_pb2.DescribeRequest()),
                progress=StackProgress(),
                skew=False,
                sink=Sink(folder, _Quiet()),
            )
            jobs = [job for letter in LETTERS for job in jobs_of(letter, 5, reviewer)]
            records = [record for job in jobs for record in job.run(context)]
    finally:
        session.close()
        stack.close()

    assert [record.verdict for record in records] == [Verdict.PASS] * 35
    rescored = [
        record
        for job in jobs
        for record in score_job(list(read_json_lines(tmp_path / "run" / raw_file_name(job.job_id))))
    ]
    assert rescored == records
