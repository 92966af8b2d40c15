"""Evidence first, trials after it, and only then is anybody told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from orchestrator.campaign.sink import Sink
from orchestrator.evidence.records import BatchEvidence, TraceSpan
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import Arm, Cell, ExpiryMode, Suite, TrialRecord, WindowName
from orchestrator.plan import Batch, Member
from tests.orchestrator.campaign.fakes import FakeSink, trial

CELL = Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, window=WindowName.IN_REQUEST)


def _evidence() -> BatchEvidence:
    member = Member(trial_id="vendor:x#0", cell=CELL, sub_seed=1, workflow_id="w1")
    return BatchEvidence(
        batch=Batch(batch_id="b0123456789ab", subject="vendor", kill_number=0, members=(member,)),
        stack_id="a1",
        expiry=ExpiryMode.NONE,
        skew=True,
        describe_json="{}",
        trace=TraceSpan(first=1, last=2),
        journal=TraceSpan(first=1, last=1),
    )


def test_a_batch_is_kept_with_its_record_last(tmp_path: Path) -> None:
    written: list[str] = []

    class Folder(RunDirectory):
        def write_lines(self, name: str, lines: Iterable[str]) -> None:
            written.append(name)
            super().write_lines(name, lines)

        def write_json(self, name: str, value: object) -> None:
            written.append(name)
            super().write_json(name, value)

    with Folder.create(tmp_path / "run") as folder:
        Sink(folder, FakeSink()).batch(_evidence(), ["{}", "{}"], ["{}"])
        assert written == [
            "traces/b0123456789ab.jsonl",
            "journals/b0123456789ab.jsonl",
            "batches/b0123456789ab.json",
        ]
        assert folder.read_model(written[-1], BatchEvidence) == _evidence()
        assert (folder.root / written[0]).read_text() == "{}\n{}\n"


def test_trials_are_durable_before_they_are_told(tmp_path: Path) -> None:
    kept_when_told: list[list[str]] = []

    class Display(FakeSink):
        def finished(self, trials: Sequence[TrialRecord]) -> None:
            kept_when_told.append([one.trial_id for one in folder.trials()])

    with RunDirectory.create(tmp_path / "run") as folder:
        sink = Sink(folder, Display())
        sink.trials([trial("vendor:1"), trial("vendor:2")])
        sink.trials([trial("vendor:3")])
    assert kept_when_told == [["vendor:1", "vendor:2"], ["vendor:1", "vendor:2", "vendor:3"]]


def test_lines_of_other_suites_are_kept_under_their_name(tmp_path: Path) -> None:
    with RunDirectory.create(tmp_path / "run") as folder:
        Sink(folder, FakeSink()).raw_lines("integrity/i1.jsonl", ["a", "b"])
        assert (folder.root / "integrity" / "i1.jsonl").read_bytes() == b"a\nb\n"
