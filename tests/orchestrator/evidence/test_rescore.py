"""`memqual rescore`: verdicts come out of the raw files again, byte for byte, or it is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from orchestrator.errors import EvidenceError, RunDirectoryError
from orchestrator.evidence.bundle import Bundle
from orchestrator.evidence.rescore import rescore_bundle
from orchestrator.evidence.rundir import json_bytes
from orchestrator.evidence.slim import slim
from orchestrator.evidence.sums import write_sums
from orchestrator.model import TrialRecord, Verdict
from orchestrator.scoring.run import aggregate
from orchestrator.suites.integrity.score import score_job
from tests.orchestrator.evidence.bundles import first_batch, small_plan
from tests.orchestrator.evidence.tampering import edit_json, edit_lines, files_of, rechain

EQUAL, DIFFERENT = 0, 3
Printed = pytest.CaptureFixture[str]


def again(root: Path, printed: Printed) -> tuple[int, str]:
    """The exit code and what was printed."""
    printed.readouterr()
    code = rescore_bundle(root)
    return code, printed.readouterr().out


def edit_record(root: Path, trial_id: str, **fields: object) -> None:
    """Change fields of one line of trials.jsonl, and the sums."""

    def change(lines: list[str]) -> list[str]:
        return [
            TrialRecord.model_validate({**json.loads(line), **fields}).model_dump_json()
            if json.loads(line)["trial_id"] == trial_id
            else line
            for line in lines
        ]

    edit_lines(root / "trials.jsonl", change)
    write_sums(root)


def with_verdict(line: str, verdict: str) -> str:
    """A record of the same trial with another verdict."""
    return TrialRecord.model_validate({**json.loads(line), "verdict": verdict}).model_dump_json()


def test_a_whole_bundle_comes_out_byte_for_byte(whole: Path, capsys: Printed) -> None:
    before = {path: path.stat().st_mtime_ns for path in files_of(whole)}
    assert again(whole, capsys) == (
        EQUAL,
        f"Bundle {whole.name}\n"
        "destination's journals and interposer's traces: 40 of 40 trials in 40 files came out "
        "byte for byte\n"
        "vendor's own account (integrity): 6 of 6 trials in 3 files came out byte for byte\n"
        "aggregate.json: came out byte for byte\n"
        "EQUAL: 46 trials and the aggregate: QUALIFIED.\n",
    )
    assert {path: path.stat().st_mtime_ns for path in files_of(whole)} == before


def test_failures_come_out_too(failed: Path, capsys: Printed) -> None:
    code, text = again(failed, capsys)
    assert (code, text.splitlines()[-1]) == (
        EQUAL,
        "EQUAL: 46 trials and the aggregate: NOT_QUALIFIED.",
    )


def test_a_verdict_that_was_made_better_is_told(
    failed: Path, tmp_path: Path, capsys: Printed
) -> None:
    root = Path(shutil.copytree(failed, tmp_path / "run"))
    records = [TrialRecord.model_validate_json(t) for t in (root / "trials.jsonl").open()]
    bad = next(one for one in records if one.effects > 1 and one.subject == "vendor")
    assert bad.verdict is Verdict.FAIL
    edit_record(root, bad.trial_id, verdict="PASS", cause="", effects=1)
    code, text = again(root, capsys)
    assert code == DIFFERENT
    assert f"  {bad.trial_id}: effects was 1, is {bad.effects}; verdict was" in text
    assert "<Verdict.PASS: 'PASS'>, is <Verdict.FAIL: 'FAIL'>" in text
    assert "Recomputed verdict: NOT_QUALIFIED." in text


def test_an_effect_taken_out_of_the_journal_comes_first(
    failed: Path, tmp_path: Path, capsys: Printed
) -> None:
    """Chain, spans and sums were made to fit again: the verdict does not follow any more."""
    root = Path(shutil.copytree(failed, tmp_path / "run"))
    records = [TrialRecord.model_validate_json(t) for t in (root / "trials.jsonl").open()]
    bad = next(one for one in records if one.effects > 1 and one.subject == "vendor")
    stack = Bundle(root).batch(bad.batch_id).stack_id
    rechain(
        root,
        stack,
        lambda one: (one.get("workflow_id"), one.get("event")) == (bad.workflow_id, "applied"),
    )
    code, text = again(root, capsys)
    assert code == DIFFERENT
    assert f"  {bad.trial_id}: effects was {bad.effects}, is 0; " in text


def test_an_aggregate_that_was_changed_is_told(bundle: Path, capsys: Printed) -> None:
    edit_json(bundle / "aggregate.json", lambda one: one.update(verdict="QUALIFIED_WITH_GAPS"))
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "  aggregate.json: verdict was 'QUALIFIED_WITH_GAPS', is 'QUALIFIED'" in text


def test_the_same_content_in_other_text_is_no_equality(bundle: Path, capsys: Printed) -> None:
    path = bundle / "aggregate.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
    edit_lines(
        bundle / "trials.jsonl", lambda lines: [json.dumps(json.loads(lines[0])), *lines[1:]]
    )
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "aggregate.json: the same content in another form of text" in text
    assert ": the same record in another form of text" in text
    assert "NOT EQUAL: 2 differences, 0 not recomputable." in text


def test_what_the_infrastructure_lost_is_never_equal(bundle: Path, capsys: Printed) -> None:
    batch = first_batch(bundle)
    name, trial = batch.batch.batch_id, batch.batch.members[0].trial_id
    for folder, suffix in (("batches", "json"), ("traces", "jsonl"), ("journals", "jsonl")):
        (bundle / folder / f"{name}.{suffix}").unlink()
    edit_record(
        bundle, trial, verdict="ERROR", error_kind="infrastructure", cause="stack: gone", checks=()
    )
    records = [TrialRecord.model_validate_json(t) for t in (bundle / "trials.jsonl").open()]
    (bundle / "aggregate.json").write_bytes(json_bytes(aggregate(records, small_plan())))
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert f"not recomputable, and so never equal (1):\n  {trial}: stack: gone\n" in text
    assert "aggregate.json: came out byte for byte" in text
    assert "NOT EQUAL: 0 differences, 1 not recomputable. Recomputed verdict: INCOMPLETE." in text


def test_a_verdict_without_raw_files_is_a_difference(bundle: Path, capsys: Printed) -> None:
    batch = first_batch(bundle)
    trial = batch.batch.members[0].trial_id
    (bundle / f"batches/{batch.batch.batch_id}.json").unlink()
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert f"  {trial}: is PASS, and no raw file holds it\n" in text


def test_a_trial_that_was_left_out_of_the_record_is_told(bundle: Path, capsys: Printed) -> None:
    batch = first_batch(bundle).batch
    trial = batch.members[0].trial_id
    edit_lines(bundle / "trials.jsonl", lambda lines: [x for x in lines if trial not in x])
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert f"{trial}: batches/{batch.batch_id}.json holds it, trials.jsonl does not" in text


@pytest.mark.parametrize("verdict", ["PASS", "ERROR", "N/R"])
def test_an_earlier_record_that_does_not_count_is_told(
    bundle: Path, capsys: Printed, verdict: str
) -> None:
    """A resumed run does again what was cut off, or what the infrastructure lost."""
    edit_lines(bundle / "trials.jsonl", lambda lines: [with_verdict(lines[0], verdict), *lines])
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == EQUAL
    assert "note: 1 earlier record of trials that were run again: their evidence was" in text


def test_an_earlier_failure_counts_and_cannot_be_recomputed(bundle: Path, capsys: Printed) -> None:
    edit_lines(bundle / "trials.jsonl", lambda lines: [with_verdict(lines[0], "FAIL"), *lines])
    records = [TrialRecord.model_validate_json(t) for t in (bundle / "trials.jsonl").open()]
    result = aggregate(records, small_plan())
    (bundle / "aggregate.json").write_bytes(json_bytes(result))
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert f"  {records[0].trial_id}: a FAIL that counts; the trial was run again" in text
    assert "aggregate.json: came out byte for byte" in text
    assert "NOT EQUAL: 0 differences, 1 not recomputable. Recomputed verdict: NOT_QUAL" in text


def test_sums_that_do_not_fit_are_told_and_no_equality(bundle: Path, capsys: Printed) -> None:
    (bundle / "report.html").write_text("")
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "  SHA256SUMS: report.html was changed\n" in text
    (bundle / "SHA256SUMS").unlink()
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "SHA256SUMS is missing" in text


@pytest.mark.parametrize("folder", ["batches", "traces", "journals", "integrity"])
@pytest.mark.parametrize("data", [b"", b"\xff\n", b"{}\n", b'{"\x1b[2J": "\xe2\x80\xae"}\n'])
def test_whatever_raw_files_hold_it_is_a_difference_and_no_crash(
    bundle: Path, capsys: Printed, folder: str, data: bytes
) -> None:
    path = next(one for one in sorted((bundle / folder).iterdir()) if one.stat().st_size)
    path.write_bytes(data)
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "differences (" in text
    assert all(character.isprintable() for character in text.replace("\n", ""))


def test_a_record_of_nobody_is_a_difference_and_no_crash(bundle: Path, capsys: Printed) -> None:
    def forge(one: dict[str, object]) -> None:
        groups = one["groups"]
        assert isinstance(groups, list)
        groups.append({"subject": "x", "cell_id": "x", "first_number": 0, "sub_seeds": [1]})

    edit_json(bundle / "expected-cells.json", forge)
    trial = first_batch(bundle).batch.members[0].trial_id
    edit_record(bundle, trial, subject="control:\u202eevil")
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "\u202e" not in text
    assert "control:\\u202eevil" in text


def test_a_trial_that_two_files_hold_is_told(bundle: Path, capsys: Printed) -> None:
    jobs = sorted((bundle / "integrity").iterdir())
    jobs[1].write_bytes(jobs[0].read_bytes())
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert f"integrity/{jobs[1].name} holds it, as another file does" in text


def test_an_aggregate_that_is_missing_is_a_difference(bundle: Path, capsys: Printed) -> None:
    (bundle / "aggregate.json").unlink()
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "  aggregate.json cannot be read: No such file or directory.\n" in text


def test_trials_that_cannot_be_added_up_are_a_difference(bundle: Path, capsys: Printed) -> None:
    """The evidence itself is of a control that does not exist."""
    name = first_batch(bundle, "control:naive").batch.batch_id

    def forge(one: dict[str, object]) -> None:
        batch = one["batch"]
        assert isinstance(batch, dict)
        batch["subject"] = "control:\u202eevil"

    edit_json(bundle / f"batches/{name}.json", forge)
    write_sums(bundle)
    code, text = again(bundle, capsys)
    assert code == DIFFERENT
    assert "the trials cannot be added up: " in text
    assert "Recomputed verdict: none." in text


def test_what_cannot_be_read_at_all_ends_with_its_cause(bundle: Path, tmp_path: Path) -> None:
    (bundle / "trials.jsonl").write_text("{}\n")
    with pytest.raises(EvidenceError, match=r"trials.jsonl line 1 is no trial record"):
        rescore_bundle(bundle)
    with pytest.raises(RunDirectoryError):
        rescore_bundle(tmp_path / "nothing")


def test_batches_are_read_one_at_a_time_and_journals_first(
    whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    order: list[tuple[str, str]] = []
    for name in ("journal", "trace", "batch"):
        read = getattr(Bundle, name)

        def noted(self: Bundle, batch_id: str, name: str = name, read: object = read) -> object:
            order.append((batch_id, name))
            assert callable(read)
            return read(self, batch_id)

        monkeypatch.setattr(Bundle, name, noted)
    read_before: list[int] = []

    def noted_job(lines: Iterable[str]) -> tuple[TrialRecord, ...]:
        read_before.append(len(order))
        return score_job(lines)

    monkeypatch.setattr("orchestrator.evidence.rescore.score_job", noted_job)
    assert again(whole, capsys)[0] == EQUAL
    ids = Bundle(whole).batch_ids()
    assert order == [(one, name) for one in ids for name in ("journal", "trace", "batch")]
    assert read_before == [len(order)] * 3


@pytest.mark.parametrize("which", ["whole", "failed"])
def test_slim_records_add_up_to_the_same(which: str, request: pytest.FixtureRequest) -> None:
    root: Path = request.getfixturevalue(which)
    records = [line.record for line in Bundle(root).trials()]
    expected = small_plan()
    assert aggregate([slim(one) for one in records], expected) == aggregate(records, expected)
    assert sum(len(slim(one).checks) for one in records) < sum(len(one.checks) for one in records)
