"""The paper's study on real processes: parity, the interrupted exchange, and what is no verdict."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from memqual.v1 import common_pb2, interposer_pb2
from orchestrator.evidence.records import BatchEvidence, parse_lines
from orchestrator.model import Arm, TrialRecord, Verdict
from orchestrator.plan import VENDOR
from orchestrator.report.paper import PaperBuilder, PaperTable
from orchestrator.scoring.batch import score_batch
from orchestrator.suites.continuity.paper.published import PUBLISHED_FINAL_HASH
from services.controls.paper_flaws import FLAWS
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, violated

pytestmark = pytest.mark.e2e_process

PARITY = "paper_parity.recorded"
HASH = "paper_parity.published_hash"
GUARDED = "paper_interrupted.guarded_skewed"
UNGUARDED = "paper_interrupted.unguarded_skewed"
CONFIGURED = "paper_interrupted.guarded_configured"
COMPARATORS = (Arm.BASELINE, Arm.OBSERVER)
TAU2 = os.environ.get("MEMQUAL_TAU2_RETAIL", "")


@dataclass
class Played:
    """A ground and what cases came to on it."""

    on: Ground
    records: dict[str, list[TrialRecord]]

    def kept(self, case: str, arm: Arm) -> tuple[BatchEvidence, list[str], list[str]]:
        for evidence, trace, journal in self.on.kept.batches:
            if (evidence.batch.cell.case, evidence.batch.cell.arm) == (case, arm):
                return evidence, list(trace), list(journal)
        raise AssertionError(case)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with ground(tmp_path_factory.mktemp("study")) as on:
        cases = (PARITY, HASH, GUARDED, UNGUARDED)
        yield Played(on, {case: on.play(case, operations=2) for case in cases})


def figures(record: TrialRecord) -> dict[str, str]:
    return {figure.name: figure.value for figure in record.figures}


def expected(record: TrialRecord) -> bool:
    """A memory arm passes, a comparator is told and not scored."""
    wanted = Verdict.PASS if record.cell.arm.has_memory else Verdict.UNSCORED
    return record.verdict is wanted


def tables(records: Sequence[TrialRecord]) -> list[PaperTable]:
    builder = PaperBuilder()
    for record in records:
        builder.add(record)
    return list(builder.result())


def test_four_arms_come_to_one_end(played: Played) -> None:
    records = played.records[PARITY]
    assert [one.cause for one in records if not expected(one)] == []
    assert len(records) == 8
    for record in records:
        told = figures(record)
        governed = "6" if record.cell.arm.has_memory else "0"
        assert (told["requests"], told["mismatched"]) == ("18", "0")
        assert (told["calls"], told["operations"]) == ("6", governed)
    for number in (0, 1):
        of_number = [one for one in records if one.trial_id.endswith(f"#{number}")]
        for name in ("task", "graph", "trajectory", "final hash"):
            assert len({figures(one)[name] for one in of_number}) == 1, name


def test_the_published_hash_needs_the_published_store(played: Played) -> None:
    records = played.records[HASH]
    assert {one.verdict for one in records} == {Verdict.NOT_RUN}
    assert {one.subtype.value for one in records if one.subtype} == {"platform"}
    assert {one.cell.arm for one in records} == set(Arm)


@pytest.mark.parametrize(
    ("case", "comparator"),
    [(GUARDED, ("1", "0", "1", "failed")), (UNGUARDED, ("1", "1", "0", "completed"))],
)
def test_only_arms_without_a_memory_call_again(
    case: str, comparator: tuple[str, str, str, str], played: Played
) -> None:
    records = played.records[case]
    assert [one.cause for one in records if not expected(one)] == []
    for record in records:
        told = figures(record)
        seen = tuple(told[name] for name in ("new calls", "new effects", "native errors", "end"))
        memory = ("0", "0", "0", "needs_confirmation")
        assert seen == (memory if record.cell.arm.has_memory else comparator)
        assert told["final hash"] == told["recorded hash"]


def test_the_tables_tell_it_beside_the_published_values(played: Played) -> None:
    parity, interrupted = tables([one for each in played.records.values() for one in each])
    assert parity.title == "No-fault parity (recorded response)"
    assert [row.name for row in parity.rows] == ["baseline", "memory", "observer", "both"]
    for row in parity.rows:
        assert row.values[0].ours == row.values[0].published == "18 of 18"
        assert [value.ours for value in row.values[1:3]] == [
            value.published for value in row.values[1:3]
        ]
    assert any("N/R" in note for note in parity.notes)
    guarded = [row for row in interrupted.rows if "guard on" in row.name]
    assert len(guarded) == 4
    for row in guarded:
        numbers = row.values[:3]
        assert [one.ours for one in numbers] == [one.published for one in numbers]
    assert [note.partition(":")[2] for note in interrupted.notes] == [
        " arms with a new call after the restart: 2 of 4 (published 2)",
        " arms with a new call after the restart: 2 of 4 (published -)",
    ]


def rescored(kept: tuple[BatchEvidence, Sequence[str], Sequence[str]]) -> list[TrialRecord]:
    evidence, trace, journal = kept
    return list(
        score_batch(
            evidence,
            parse_lines(trace, interposer_pb2.TraceRecord, "trace"),
            parse_lines(journal, common_pb2.JournalRecord, "journal"),
        )
    )


def with_mark(
    trace: Sequence[str], kind: str, change: Callable[[dict[str, object]], None]
) -> list[str]:
    lines = []
    for line in trace:
        record = json.loads(line)
        mark = json.loads(record.get("mark_json") or "{}")
        if mark.get("kind") == kind:
            change(mark)
            record["mark_json"] = json.dumps(mark)
        lines.append(json.dumps(record))
    return lines


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("paper_task", {"task": "unknown"}),
        ("paper_task", {"task": "tau2-0"}),
        ("paper_task", {"cassette": "0" * 64}),
        ("paper_state", {"point": "elsewhere"}),
    ],
)
@pytest.mark.parametrize("case", [PARITY, GUARDED])
def test_a_study_that_is_not_told_is_an_error(
    case: str, kind: str, changes: dict[str, object], played: Played
) -> None:
    evidence, trace, journal = played.kept(case, Arm.MEMORY)
    assert rescored((evidence, trace, journal)) == [
        one for one in played.records[case] if one.cell.arm is Arm.MEMORY
    ]
    records = rescored((evidence, with_mark(trace, kind, lambda m: m.update(changes)), journal))
    assert violated(records) == {"rig.study"}
    assert {one.verdict for one in records} == {Verdict.ERROR}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("trajectory_digest", "0" * 64),
        ("model_requests", 17),
        ("model_requests_mismatched", 1),
        ("graph_digest", ""),
    ],
)
@pytest.mark.parametrize("arm", [Arm.MEMORY, Arm.BASELINE])
def test_a_conversation_that_differs_is_no_parity(
    name: str, value: object, arm: Arm, played: Played
) -> None:
    evidence, trace, journal = played.kept(PARITY, arm)
    last = evidence.snapshots[-1]
    texts = tuple(json.dumps({**json.loads(text), name: value}) for text in last.status_json)
    snapshots = (*evidence.snapshots[:-1], last.model_copy(update={"status_json": texts}))
    records = rescored((evidence.model_copy(update={"snapshots": snapshots}), trace, journal))
    scored = arm.has_memory
    assert violated(records) == {"continuity.paper.no_fault" if scored else "rig.paper_no_fault"}
    assert {one.verdict for one in records} == {Verdict.FAIL if scored else Verdict.ERROR}


def test_another_final_state_is_no_parity(played: Played) -> None:
    evidence, trace, journal = played.kept(PARITY, Arm.BOTH)

    def change(mark: dict[str, object]) -> None:
        if mark["point"] == "final":
            mark["compact"] = "0" * 64

    records = rescored((evidence, with_mark(trace, "paper_state", change), journal))
    assert violated(records) == {"continuity.paper.no_fault"}


def test_a_call_that_is_not_the_sixth_is_an_error(played: Played) -> None:
    evidence, trace, journal = played.kept(GUARDED, Arm.MEMORY)
    lines = []
    for line in journal:
        record = json.loads(line)
        payload = json.loads(record["payload_json"])
        if payload.get("event") == "read" and payload.get("tool") == "get_user_details":
            payload["event"] = "unread"
        lines.append(json.dumps({**record, "payload_json": json.dumps(payload)}))
    records = rescored((evidence, trace, lines))
    assert violated(records) == {"rig.sixth_call"}
    assert {one.verdict for one in records} == {Verdict.ERROR}


@pytest.mark.nightly
def test_a_memory_that_grants_again_fails_where_the_arms_without_one_call_again(
    tmp_path: Path,
) -> None:
    with ground(tmp_path, "naive") as on:
        parity = on.play(PARITY, operations=1)
        records = on.play(GUARDED, operations=1) + on.play(UNGUARDED, operations=1)
    assert [one.cause for one in parity if not expected(one)] == []
    for record in records:
        if not record.cell.arm.has_memory:
            assert record.verdict is Verdict.UNSCORED
            continue
        assert record.verdict is Verdict.FAIL
        assert {"continuity.safety", "continuity.paper.interrupted"} <= violated([record])


@pytest.mark.nightly
def test_a_memory_that_dispatches_after_the_lease_fails_the_interrupted_exchange(
    tmp_path: Path,
) -> None:
    with ground(tmp_path, "expired_none_executes") as on:
        parity = on.play(PARITY, operations=1)
        records = on.play(GUARDED, operations=1)
    assert [one.cause for one in parity if not expected(one)] == []
    scored = [one for one in records if one.cell.arm.has_memory]
    assert {one.verdict for one in scored} == {Verdict.FAIL}
    assert {name for name in violated(scored) if not name.startswith("rig.")} == {
        "continuity.safety",
        "continuity.paper.interrupted",
        # The second answer is not the recorded one, so the conversation cannot go on.
        "continuity.end",
    }


def test_each_flaw_of_the_family_fails_its_check_and_no_other(tmp_path: Path) -> None:
    for name, flaw in FLAWS.items():
        folder = tmp_path / name
        folder.mkdir()
        with ground(folder, name) as on:
            records = on.play(PARITY, operations=1)
        scored = [one for one in records if one.cell.arm.has_memory]
        assert {one.verdict for one in scored} == {Verdict.FAIL}
        assert flaw.primary_check == "needless_decision"
        assert all(one.needless_decisions for one in scored)
        assert violated(scored) - {"continuity.liveness"} <= set(flaw.consequences)
        others = [one for one in records if not one.cell.arm.has_memory]
        assert {one.verdict for one in others} == {Verdict.UNSCORED}


@pytest.mark.nightly
def test_the_end_of_a_short_lease_is_waited_for(tmp_path: Path) -> None:
    with ground(tmp_path, changes={"lease_seconds": 3}) as on:
        records = on.play(CONFIGURED, operations=1)
    assert [one.cause for one in records if not expected(one)] == []


def test_the_published_task_on_its_own_store(tmp_path: Path) -> None:
    if not TAU2:
        pytest.skip("MEMQUAL_TAU2_RETAIL names no folder with the benchmark's db.json")
    with ground(tmp_path, changes={"retail_store": Path(TAU2) / "db.json"}) as on:
        records = on.play(PARITY, operations=1) + on.play(HASH, operations=1)
        records += on.play(GUARDED, operations=1)
    assert [one.cause for one in records if not expected(one)] == []
    assert {one.subject for one in records} == {VENDOR}
    assert {figures(one)["final hash"] for one in records} == {PUBLISHED_FINAL_HASH}
    parity, _ = tables(records)
    for row in parity.rows:
        assert row.values[-1].ours == row.values[-1].published == PUBLISHED_FINAL_HASH[:12]
    assert not_passed([one for one in records if one.cell.arm.has_memory]) == []
