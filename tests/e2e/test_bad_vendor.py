"""A vendor's memory that is broken in one way: every run ends with the cause and the next step.

Whatever a healthy memory leaves unanswered or answers malformed is its FAIL; what keeps a run from
being judged is never one (DESIGN §7, §9). Hanging ones wait out deadlines and run at night.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaos.clock import shared_object
from orchestrator.cli import main
from tests.e2e.runs import Bench, expect, trials_of, verdicts_of
from tests.e2e.vendors.broken import LAST_WORDS

pytestmark = [pytest.mark.e2e_process, pytest.mark.timeout(400)]

NOT_QUALIFIED, WRONG_USAGE, INCOMPLETE = 1, 2, 4
NEXT_STEP = "Next step: "


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


NEEDS_SKEW = pytest.mark.skipif(
    shared_object() is None, reason="no libfaketime here: no clock is moved and no lease ends"
)


@dataclass(frozen=True)
class Broken:
    """A memory that never lets a run begin.

    Attributes:
        arguments: Of the broken memory.
        words: What the person is told.
    """

    arguments: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Wrong:
    """A memory that is healthy and does not answer one method as it must.

    Attributes:
        arguments: Of the broken memory.
        cells: Parts of the ids of the cells that are run.
        words: What every trial's cause names.
    """

    arguments: tuple[str, ...]
    cells: str
    words: str


def _params(cases: Mapping[str, Broken | Wrong]) -> list[object]:
    """The cases by name; those that need a clock that can be moved only where there is one."""
    return [
        pytest.param(
            case,
            id=name,
            marks=NEEDS_SKEW
            if "Now" in case.arguments or (isinstance(case, Wrong) and "in_request" in case.cells)
            else (),
        )
        for name, case in cases.items()
    ]


UNANSWERED = "The memory is healthy but does not answer VendorService."
SERVE_ALL = "Next step: Serve memqual.v1.VendorService, every method of it"
NEVER_BEGIN = {
    "crash at start": Broken(
        ("--start", "dies"),
        ("'memory' ended by itself with exit code 3", LAST_WORDS, "Next step: Mend what its last"),
    ),
    "no Vendor service": Broken(
        ("--start", "no_vendor"), (f"{UNANSWERED}Describe: UNIMPLEMENTED", SERVE_ALL)
    ),
    "Describe has 100 MB": Broken(
        ("--method", "Describe", "--how", "huge"),
        (f"{UNANSWERED}Describe: RESOURCE_EXHAUSTED", "more than 4194304 bytes", SERVE_ALL),
    ),
    "Now is malformed": Broken(
        ("--method", "Now", "--how", "malformed"),
        (f"{UNANSWERED}Now: INTERNAL: Exception deserializing response", SERVE_ALL),
    ),
}
NEVER_BEGIN_SLOWLY = {
    "Describe is malformed": Broken(
        ("--method", "Describe", "--how", "malformed"),
        (f"{UNANSWERED}Describe: INTERNAL: Exception deserializing response", SERVE_ALL),
    ),
    "Describe ends it": Broken(
        ("--method", "Describe", "--how", "die"),
        ("'memory' ended by itself with exit code 3", LAST_WORDS, NEXT_STEP),
    ),
    "never healthy": Broken(
        ("--start", "never_healthy"),
        ("did not become healthy within 30 s", "its health is NOT_SERVING", "grpc.health.v1"),
    ),
    "wrong port": Broken(
        ("--start", "wrong_port"),
        ("did not become healthy within 30 s", "refused", "MEMQUAL_LISTEN"),
    ),
    "Describe hangs": Broken(
        ("--method", "Describe", "--how", "hang"),
        (f"{UNANSWERED}Describe: DEADLINE_EXCEEDED", SERVE_ALL),
    ),
    "Now hangs": Broken(
        ("--method", "Now", "--how", "hang"), (f"{UNANSWERED}Now: DEADLINE_EXCEEDED", SERVE_ALL)
    ),
    "Now has 100 MB": Broken(
        ("--method", "Now", "--how", "huge"), (f"{UNANSWERED}Now: RESOURCE_EXHAUSTED", SERVE_ALL)
    ),
    "Now ends it": Broken(
        ("--method", "Now", "--how", "die"),
        ("'memory' ended by itself with exit code 3", LAST_WORDS, NEXT_STEP),
    ),
}


def check_never_begins(bench: Bench, broken: Broken) -> None:
    expect(
        bench.qualify("--vendor", str(bench.vendor(*broken.arguments))), INCOMPLETE, broken.words
    )
    assert trials_of(bench.run_folders()[0]) == []
    assert bench.left() == []


@pytest.mark.parametrize("broken", _params(NEVER_BEGIN))
def test_a_memory_that_lets_no_run_begin(bench: Bench, broken: Broken) -> None:
    check_never_begins(bench, broken)


@pytest.mark.nightly
@pytest.mark.parametrize("broken", _params(NEVER_BEGIN_SLOWLY))
def test_a_memory_that_lets_no_run_begin_slowly(bench: Bench, broken: Broken) -> None:
    check_never_begins(bench, broken)


def test_what_never_began_goes_on_once_it_is_mended(bench: Bench) -> None:
    mended = bench.folder / "mended"
    vendor = str(bench.vendor("--start", "dies", "--until", str(mended)))
    expect(bench.qualify("--vendor", vendor), INCOMPLETE, ["ended by itself"])
    mended.touch()
    (run,) = bench.run_folders()
    expect(bench.qualify("--vendor", vendor, "--resume", run.name), 0, ["QUALIFIED"])
    assert bench.run_folders() == [run]
    assert set(verdicts_of(run).values()) == {"PASS"}


FAILS = {
    "Begin is malformed": Wrong(
        ("--method", "Begin", "--how", "malformed"), "after_receipt/none", "unreadable message"
    ),
    "Begin has 100 MB": Wrong(
        ("--method", "Begin", "--how", "huge"), "after_receipt/none", "longer than a message may be"
    ),
    "RecordReceipt is malformed": Wrong(
        ("--method", "RecordReceipt", "--how", "malformed"),
        "after_receipt/none",
        "unreadable message",
    ),
}
FAILS_BY_ITS_WORDS = {
    "a decision of no known kind": Wrong(
        ("--method", "Begin", "--how", "unknown_decision"), "after_receipt/none", "MALFORMED"
    ),
    "a lease in the past": Wrong(
        ("--method", "Begin", "--how", "past_lease"), "after_receipt/none", "lease"
    ),
    "one token for every attempt": Wrong(
        ("--method", "Begin", "--how", "same_token"), "in_request/idempotent", "token"
    ),
    "attempt zero": Wrong(
        ("--method", "Begin", "--how", "attempt_zero"), "after_receipt/none", "attempt"
    ),
    "a decision without a reason": Wrong(
        ("--method", "Begin", "--how", "no_reason"), "after_receipt/none", "reason"
    ),
    "a receipt for nobody": Wrong(
        ("--method", "Begin", "--how", "receipt_for_nobody"), "after_receipt/none", "REUSE"
    ),
}
FAILS_SLOWLY = {
    "Begin hangs": Wrong(
        ("--method", "Begin", "--how", "hang"),
        "after_receipt/none,after_receipt/idempotent",
        "NO ANSWER(4)",
    ),
    "RecordReceipt hangs": Wrong(
        ("--method", "RecordReceipt", "--how", "hang"),
        "in_request/idempotent,after_receipt/none",
        "NO ANSWER(4)",
    ),
    "RecordReceipt has 100 MB": Wrong(
        ("--method", "RecordReceipt", "--how", "huge"),
        "in_request/idempotent,after_receipt/none",
        "longer than a message may be",
    ),
    "RecordReceipt is refused": Wrong(
        ("--method", "RecordReceipt", "--how", "refuse"), "in_request/idempotent", "NO ANSWER(13)"
    ),
    "RecordReceipt is of a later contract": Wrong(
        ("--method", "RecordReceipt", "--how", "odd"), "after_receipt/none", "without a disposition"
    ),
    "RecordQuery hangs": Wrong(
        ("--method", "RecordQuery", "--how", "hang"), "in_request/query_fenced", "NO ANSWER(4)"
    ),
    "RecordReceipt ends it": Wrong(
        ("--method", "RecordReceipt", "--how", "die"), "in_request/idempotent", "NO ANSWER(14)"
    ),
}


def check_fails(bench: Bench, wrong: Wrong) -> None:
    bench.cells = wrong.cells
    ended = bench.qualify("--vendor", str(bench.vendor(*wrong.arguments)))
    expect(ended, NOT_QUALIFIED, ["NOT_QUALIFIED", "memqual replay"])
    (run,) = bench.run_folders()
    found = trials_of(run)
    assert len(found) == 5 * len(wrong.cells.split(","))
    assert [trial for trial in found if trial.verdict.value != "FAIL"] == []
    assert [trial.cause for trial in found if wrong.words not in trial.cause] == []
    assert bench.left() == []


@pytest.mark.parametrize("wrong", _params(FAILS))
def test_an_answer_that_is_none_is_the_memorys_failure(bench: Bench, wrong: Wrong) -> None:
    check_fails(bench, wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("wrong", _params(FAILS_BY_ITS_WORDS))
def test_a_decision_that_is_none_is_the_memorys_failure(bench: Bench, wrong: Wrong) -> None:
    check_fails(bench, wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("wrong", _params(FAILS_SLOWLY))
def test_a_missing_answer_is_the_memorys_failure_and_the_run_goes_on(
    bench: Bench, wrong: Wrong
) -> None:
    check_fails(bench, wrong)


@pytest.mark.nightly
def test_a_memory_that_ends_at_every_first_question_fails_by_its_last_words(
    bench: Bench,
) -> None:
    bench.cells = "after_receipt/none,after_receipt/idempotent,A"
    ended = bench.qualify("--vendor", str(bench.vendor("--method", "Begin", "--how", "die")))
    expect(ended, NOT_QUALIFIED, ["NOT_QUALIFIED", LAST_WORDS])
    (run,) = bench.run_folders()
    found = trials_of(run)
    crashed = [trial for trial in found if trial.cell.window is not None]
    assert {trial.verdict.value for trial in crashed} == {"FAIL"}
    assert all("continuity.alive: 3 times, at Begin" in trial.cause for trial in crashed)
    # Each crash cost its stack and nothing else.
    assert {trial.verdict.value for trial in found if trial.cell.case == "A"} == {"PASS"}
    assert bench.left() == []


@pytest.mark.nightly
def test_a_memory_that_ends_once_is_no_failure_and_no_pass(bench: Bench) -> None:
    bench.cells = "after_receipt/none"
    vendor = bench.vendor("--start", "dies_soon", "--seconds", "20")
    ended = bench.qualify("--vendor", str(vendor))
    assert ended.code in (0, INCOMPLETE)
    (run,) = bench.run_folders()
    assert "FAIL" not in set(verdicts_of(run).values())
    assert bench.left() == []


@NEEDS_SKEW
@pytest.mark.nightly
def test_a_memory_that_stops_telling_the_time_later_spoils_trials_and_not_the_run(
    bench: Bench,
) -> None:
    bench.cells = "in_request/none"
    # Two for the preflight, two for the batch's beginning and its kill; then the lease is to end.
    vendor = bench.vendor("--method", "Now", "--how", "hang", "--after", "4")
    ended = bench.qualify("--vendor", str(vendor))
    expect(ended, INCOMPLETE, ["INCOMPLETE", "the memory does not answer VendorService.Now"])
    found = trials_of(bench.run_folders()[0])
    assert {(trial.verdict.value, trial.error_kind) for trial in found} == {("ERROR", "trial")}
    assert bench.left() == []


@pytest.mark.nightly
def test_a_declaration_of_a_later_contract_is_read_as_far_as_it_is_known(bench: Bench) -> None:
    vendor = bench.vendor("--method", "Describe", "--how", "odd")
    vendor.write_text(f"{vendor.read_text()}capabilities: [continuity]\n")
    expect(bench.qualify("--vendor", str(vendor)), 0, ["QUALIFIED"])
    (run,) = bench.run_folders()
    findings = json.loads((run / "manifest.json").read_bytes())["findings"]
    assert "Describe claims capability 99, vendor.yaml does not" in findings


UNUSABLE = {
    "unknown key": ("name: v\nimages: x:1\nprocess: {module: m}\n", "images"),
    "no YAML": ("name: [v\n", "line"),
    "nothing to start": ("name: v\n", "name an image, a recipe or a process"),
    "a reserved variable": (
        "name: v\nimage: x:1\nenvironment: {MEMQUAL_RUN: x}\n",
        "MEMQUAL_RUN is set by memqual",
    ),
}


@pytest.mark.parametrize(("text", "words"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_vendor_yaml_that_cannot_be_used_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    vendor = tmp_path / "vendor.yaml"
    vendor.write_text(text)
    code = main(["qualify", "--vendor", str(vendor), "--runs", str(tmp_path / "runs")])
    said = capsys.readouterr().err
    assert code == WRONG_USAGE
    assert words in said
    assert NEXT_STEP in said
    assert not (tmp_path / "runs").exists()
