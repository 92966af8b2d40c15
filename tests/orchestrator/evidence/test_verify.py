"""`memqual verify`: whatever is changed in a bundle is noticed, and no rate is printed then."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import RunDirectoryError
from orchestrator.evidence.sums import write_sums
from orchestrator.evidence.verify import verify_bundle
from services.common.journal import JournalRecord
from tests.orchestrator.evidence.bundles import first_batch, small_plan
from tests.orchestrator.evidence.tampering import (
    changed,
    edit_json,
    edit_lines,
    files_of,
    line_files,
)

HELD, BROKEN = 0, 3
# The copy is put right after each example, so that examples may share it.
SHARED = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
Printed = pytest.CaptureFixture[str]


def verify(root: Path, printed: Printed) -> tuple[int, str]:
    """The exit code and what was printed."""
    printed.readouterr()
    code = verify_bundle(root, small_plan)
    return code, printed.readouterr().out


def problems(text: str) -> list[str]:
    """The problems that were printed."""
    told = [line[2:] for line in text.splitlines() if line.startswith("  ")]
    return [line for line in told if not line.startswith((" ", "note:"))]


def test_a_whole_bundle_holds(whole: Path, capsys: Printed) -> None:
    before = {path: path.stat().st_mtime_ns for path in files_of(whole)}
    code, text = verify(whole, capsys)
    assert code == HELD
    assert text.splitlines()[1:8] == [
        "sums         ok: every file is listed and unchanged",
        f"plan         ok: {small_plan().trial_count} trials of profile selftest, seed 7, "
        "revision 2027-04",
        text.splitlines()[3],
        "integrity    ok: 48 calls of 3 jobs, all in their place",
        "narrative    ok: 0 calls of 0 jobs, all in their place",
        f"trials       ok: {small_plan().trial_count} trials, each with its evidence",
        "aggregate    ok: aggregate and claims follow from the trials",
    ]
    assert text.splitlines()[3].endswith("on 2 stacks, chains unbroken")
    assert "VERIFIED: mini 1 is QUALIFIED" in text
    assert "integrity/L      2/2 passed" in text
    assert {path: path.stat().st_mtime_ns for path in files_of(whole)} == before


def test_a_bundle_of_a_failed_run_holds_too(failed: Path, capsys: Printed) -> None:
    code, text = verify(failed, capsys)
    assert (code, "VERIFIED: mini 1 is NOT_QUALIFIED" in text) == (HELD, True)


@SHARED
@given(data=st.data())
def test_any_byte_of_any_file(bundle: Path, capsys: Printed, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([one for one in files_of(bundle) if one.stat().st_size]))
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    with changed(bundle, path, bytes(content)):
        code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert "passed" not in text
    assert "NOT VERIFIED" in text


@SHARED
@given(data=st.data())
def test_any_line_of_any_file_dropped_doubled_or_moved(
    bundle: Path, capsys: Printed, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(line_files(bundle)))
    lines = path.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.integers(0, len(lines) - 1))
    kind = data.draw(st.sampled_from(["drop", "double", "swap", "cut"]))
    new = list(lines)
    if kind == "drop":
        del new[at]
    elif kind == "double":
        new.insert(other, lines[at])
    elif kind == "swap":
        new[at], new[other] = new[other], new[at]
    else:
        new = new[:at]
    if new == lines:
        return
    with changed(bundle, path, b"".join(new)):
        code, text = verify(bundle, capsys)
    assert (code, "passed" in text) == (BROKEN, False)


# What follows is done by someone who writes new sums afterwards.


def read_journal(data: bytes) -> list[JournalRecord] | None:
    """The records that a journal file holds; None when it is none."""
    try:
        lines = data.decode().split("\n")
        parsed = [json.loads(line) for line in lines[:-1]]
        return [
            JournalRecord(int(o["sequence"]), o["previous_digest"], o["digest"], o["payload_json"])
            for o in parsed
        ]
    except (ValueError, KeyError, TypeError):
        return None


@SHARED
@given(data=st.data())
def test_any_byte_of_a_journal(bundle: Path, capsys: Printed, data: st.DataObject) -> None:
    """Noticed, unless the file still says the very same (a space became another)."""
    path = data.draw(st.sampled_from(sorted((bundle / "journals").iterdir())))
    content = bytearray(path.read_bytes())
    if not content:
        return
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    same = read_journal(bytes(content)) == read_journal(path.read_bytes())
    with changed(bundle, path, bytes(content), sums=True):
        code, text = verify(bundle, capsys)
    assert code == BROKEN or same
    assert f"journals/{path.name}" in text or same


@SHARED
@given(data=st.data())
def test_any_record_of_a_journal_or_a_trace(
    bundle: Path, capsys: Printed, data: st.DataObject
) -> None:
    folder = data.draw(st.sampled_from(["journals", "traces"]))
    path = data.draw(st.sampled_from([p for p in line_files(bundle) if p.parent.name == folder]))
    lines = path.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.integers(0, len(lines) - 1))
    new = list(lines)
    if data.draw(st.booleans()) or at == other:
        del new[at]
    else:
        new[at], new[other] = new[other], new[at]
    with changed(bundle, path, b"".join(new), sums=True):
        code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert problems(text)[0].startswith(f"{folder}/{path.name}: ")


def test_a_journal_without_its_first_records_leaves_a_gap(bundle: Path, capsys: Printed) -> None:
    """Records, span and sums fit again; the stack's journal does not."""
    batch = next(
        json.loads(path.read_text())
        for path in sorted((bundle / "batches").glob("*.json"))
        if json.loads(path.read_text())["journal"]["first"] > 1
    )
    name, first = batch["batch"]["batch_id"], batch["journal"]["first"]
    edit_lines(bundle / f"journals/{name}.jsonl", lambda lines: lines[1:])
    edit_json(bundle / f"batches/{name}.json", lambda one: one["journal"].update(first=first + 1))
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert problems(text)[0] == (
        f"journals/{name}.jsonl: records {first} to {first} of stack {batch['stack_id']} "
        "are missing."
    )


def test_a_batch_that_is_left_out_is_missed(bundle: Path, capsys: Printed) -> None:
    name = first_batch(bundle).batch.batch_id
    trial = first_batch(bundle).batch.members[0].trial_id
    for folder, suffix in (("batches", "json"), ("traces", "jsonl"), ("journals", "jsonl")):
        (bundle / folder / f"{name}.{suffix}").unlink()
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert any(trial in line and "has no evidence" in line for line in problems(text))
    edit_lines(bundle / "trials.jsonl", lambda lines: [one for one in lines if trial not in one])
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert f"trials.jsonl: the expected trial {trial} is missing." in problems(text)


def test_a_trial_that_nobody_expects_any_more_is_missed(bundle: Path, capsys: Printed) -> None:
    """Everything about a trial is taken out, and all totals fit: the plan does not."""
    trial = first_batch(bundle).batch.members[0].trial_id

    def without(expected: dict[str, object]) -> None:
        groups = expected["groups"]
        assert isinstance(groups, list)
        cell, _, number = trial.rpartition("#")
        (group,) = [one for one in groups if f"{one['subject']}:{one['cell_id']}" == cell]
        assert (number, group["first_number"]) == ("0", 0)
        group |= {"first_number": 1, "sub_seeds": group["sub_seeds"][1:]}

    edit_json(bundle / "expected-cells.json", without)
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert (
        "expected-cells.json: is not what profile selftest and seed 7 schedule: 1 trials lack, "
        f"0 are too many, first {trial}."
    ) in problems(text)


def test_a_plan_of_another_revision_is_said_to_be_unknown(bundle: Path, capsys: Printed) -> None:
    for name in ("expected-cells.json", "manifest.json"):
        edit_json(bundle / name, lambda one: one.update(requirement_revision="2031-01"))
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == HELD
    assert "note: requirement revision 2031-01 is not this version's (2027-04)" in text


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("manifest.json", {"seed": 8}, "manifest.json: seed is 8, and expected-cells.json has 7."),
        ("manifest.json", {"batches": 1}, "manifest.json: counts 1 continuity batches, and the"),
        ("manifest.json", {"unknown": 1}, "manifest.json: manifest.json is no Manifest: unknown"),
        ("aggregate.json", {"verdict": "INVALID"}, "aggregate.json: is not what the lines of"),
        ("claims.json", {"prohibited": []}, "claims.json: does not follow from manifest and"),
    ],
)
def test_what_contradicts_the_rest_is_named(
    bundle: Path, capsys: Printed, name: str, change: dict[str, object], told: str
) -> None:
    edit_json(bundle / name, lambda one: one.update(change))
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert [line for line in problems(text) if line.startswith(told)] != []


@pytest.mark.parametrize("field", ["sub_seed", "subject", "workflow_id", "batch_id"])
def test_a_record_that_is_not_its_evidences(bundle: Path, capsys: Printed, field: str) -> None:
    def forge(lines: list[str]) -> list[str]:
        record = json.loads(lines[0])
        record[field] = 1 if field == "sub_seed" else "control:naive"
        return [json.dumps(record), *lines[1:]]

    edit_lines(bundle / "trials.jsonl", forge)
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert any("line 1: vendor:" in line and "does not fit its" in line for line in problems(text))


@pytest.mark.parametrize(
    "name",
    [
        "expected-cells.json",
        "manifest.json",
        "trials.jsonl",
        "aggregate.json",
        "claims.json",
        "report.html",
        "junit.xml",
    ],
)
def test_a_file_that_is_missing_is_named(bundle: Path, capsys: Printed, name: str) -> None:
    (bundle / name).unlink()
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert any(line.startswith(f"{name}: ") for line in problems(text))


def test_a_run_that_was_cut_is_said_to_be_so(bundle: Path, capsys: Printed) -> None:
    (bundle / "SHA256SUMS").unlink()
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert problems(text) == [
        "SHA256SUMS: is missing, so the run did not end, or its bundle is not whole."
    ]
    assert "Continue the run with RESUME=<run>" in text


def test_orphans_are_named(bundle: Path, capsys: Printed) -> None:
    (bundle / "traces" / "b0.jsonl").touch()
    (bundle / "journals" / "notes.txt").touch()
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert "traces/b0.jsonl: is of a batch that has no record." in problems(text)
    assert "journals: journals/notes.txt does not belong into a bundle." in problems(text)


def test_a_trial_that_two_files_hold_is_named(bundle: Path, capsys: Printed) -> None:
    jobs = sorted((bundle / "integrity").iterdir())
    jobs[1].write_bytes(jobs[0].read_bytes())
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    told = problems(text)
    assert f"integrity/{jobs[1].name}: is of job {jobs[0].stem}." in told
    assert any(f"which integrity/{jobs[0].name} holds, too" in line for line in told)


@pytest.mark.parametrize("span", [{"first": 0, "last": 3}, {"first": 5, "last": 1}])
def test_a_span_that_is_none_is_named(bundle: Path, capsys: Printed, span: dict[str, int]) -> None:
    name = first_batch(bundle).batch.batch_id
    edit_json(bundle / f"batches/{name}.json", lambda one: one.update(trace=span))
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    wanted = f"traces/{name}.jsonl: its batch declares a span {span['first']}..{span['last']} that"
    assert any(line.startswith(wanted) for line in problems(text))


def test_a_batch_under_another_name_is_named(bundle: Path, capsys: Printed) -> None:
    name = first_batch(bundle).batch.batch_id
    for folder, suffix in (("batches", "json"), ("traces", "jsonl"), ("journals", "jsonl")):
        (bundle / folder / f"{name}.{suffix}").rename(bundle / folder / f"b0.{suffix}")
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert f"batches/b0.json: batches/b0.json is of batch {name}." in problems(text)


def test_a_plan_that_names_a_trial_twice(bundle: Path, capsys: Printed) -> None:
    edit_json(
        bundle / "expected-cells.json",
        lambda one: one["groups"].append(one["groups"][0]),
    )
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert "expected-cells.json: names a trial twice." in problems(text)


def test_a_file_beyond_every_bound_is_not_read(
    bundle: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.evidence.bundle.DOCUMENT_BYTES_MAX", 10)
    monkeypatch.setattr("orchestrator.evidence.bundle.LINE_BYTES_MAX", 10)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert "manifest.json: manifest.json has more than 10 bytes." in problems(text)
    assert "trials.jsonl: trials.jsonl line 1 has no end, or more than 10 bytes." in problems(text)


def test_no_bundle_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError) as caught:
        verify_bundle(tmp_path / "nothing")
    assert caught.value.exit_code == 2


def test_an_empty_folder_is_no_bundle(tmp_path: Path, capsys: Printed) -> None:
    code, text = verify(tmp_path, capsys)
    assert (code, "passed" in text) == (BROKEN, False)


HOSTILE = "\x1b[2J\x1b]0;owned\x07 \u202eecnagurra "


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff\xfe",
        b"[" * 200_000,
        b"{}",
        b"null\n",
        json.dumps({HOSTILE: [HOSTILE]}).encode() + b"\n",
    ],
    ids=["empty", "binary", "deep", "object", "null", "hostile"],
)
@pytest.mark.parametrize(
    "name",
    [
        "manifest.json",
        "expected-cells.json",
        "trials.jsonl",
        "aggregate.json",
        "batches",
        "traces",
        "journals",
        "integrity",
        "SHA256SUMS",
    ],
)
def test_whatever_a_file_holds_it_is_a_problem_and_no_crash(
    bundle: Path, capsys: Printed, name: str, data: bytes
) -> None:
    path = bundle / name
    path = next(iter(sorted(path.iterdir()))) if path.is_dir() else path
    path.write_bytes(data)
    if name != "SHA256SUMS":
        write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert problems(text) != []
    assert all(character.isprintable() for character in text.replace("\n", ""))


def test_a_subject_or_cell_that_does_not_exist_is_a_problem(bundle: Path, capsys: Printed) -> None:
    def forge(lines: list[str]) -> list[str]:
        record = json.loads(lines[-1])
        record |= {"subject": "control:" + HOSTILE, "trial_id": HOSTILE + ":x#0"}
        return [*lines, json.dumps(record)]

    edit_lines(bundle / "trials.jsonl", forge)
    edit_json(
        bundle / "expected-cells.json",
        lambda one: one["groups"].append(
            {"subject": HOSTILE, "cell_id": "x", "first_number": 0, "sub_seeds": [1]}
        ),
    )
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert "\x1b" not in text
    assert "⟨U+001B⟩" in text


def test_what_is_no_file_is_a_problem(bundle: Path, capsys: Printed) -> None:
    """A link out of the bundle; on Windows, which lets few people make one, a folder."""
    path = bundle / "manifest.json"
    outside = bundle.parent / "outside.json"
    path.rename(outside)
    if sys.platform == "win32":
        path.mkdir()
        problem = "SHA256SUMS: manifest.json is listed and missing."
    else:
        path.symlink_to(outside)
        problem = "SHA256SUMS: manifest.json is no regular file."
    code, text = verify(bundle, capsys)
    assert code == BROKEN
    assert problem in problems(text)


def test_a_trial_that_was_run_again_is_told(bundle: Path, capsys: Printed) -> None:
    """A resumed run repeats what was cut off between its records."""
    edit_lines(bundle / "trials.jsonl", lambda lines: [lines[0], *lines])
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == HELD
    assert "was recorded before; the later record counts" in text


def test_a_retry_does_not_hide_a_failure(bundle: Path, capsys: Printed) -> None:
    def forge(lines: list[str]) -> list[str]:
        record = json.loads(lines[0])
        record["verdict"] = "FAIL"
        return [json.dumps(record), *lines]

    edit_lines(bundle / "trials.jsonl", forge)
    write_sums(bundle)
    code, text = verify(bundle, capsys)
    assert code == BROKEN  # aggregate.json does not count it
    assert "is PASS after FAIL: the FAIL counts" in text
