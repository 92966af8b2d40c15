"""The installed product publishes one document over a kill; what is not shown is no verdict."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from memqual.v1 import common_pb2, interposer_pb2
from orchestrator.evidence.records import BatchEvidence, parse_lines
from orchestrator.model import TrialRecord, Verdict
from orchestrator.runtimes.process_state import state_root
from orchestrator.scoring.batch import score_batch
from orchestrator.stacks import StackVariant
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, violated

pytestmark = pytest.mark.e2e_process

DURABLE = "paper_acceptance.receipt_durable"
UNREPORTED = "paper_acceptance.effect_unreported"
DECISIONS = {DURABLE: "execute, reuse", UNREPORTED: "execute, query, reuse"}


@dataclass
class Played:
    """A ground and what both cases came to on it."""

    on: Ground
    records: dict[str, list[TrialRecord]]

    def kept(self, case: str) -> tuple[BatchEvidence, list[str], list[str]]:
        for evidence, trace, journal in self.on.kept.batches:
            if evidence.batch.cell.case == case:
                return evidence, list(trace), list(journal)
        raise AssertionError(case)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder = tmp_path_factory.mktemp("acceptance")
    with ground(folder, variant=StackVariant.INSTALLED) as on:
        yield Played(on, {case: on.play(case, operations=3) for case in DECISIONS})


def figures(record: TrialRecord) -> dict[str, str]:
    return {figure.name: figure.value for figure in record.figures}


@pytest.mark.parametrize("case", DECISIONS)
def test_the_reference_completes_with_one_document(case: str, played: Played) -> None:
    records = played.records[case]
    assert not_passed(records) == []
    assert len(records) == 3
    for record in records:
        assert figures(record)["decisions"] == DECISIONS[case]
        assert (record.effects, figures(record)["documents"]) == (1, "1")


def test_no_secret_of_the_ingestion_is_in_the_evidence(played: Played) -> None:
    spec = played.on.context.stack.spec
    senders = json.loads(spec.environment["observer"]["MEMQUAL_INGEST_TOKENS"])
    assert sorted(senders.values()) == ["agent", "memory", "standby"]
    text = "\n".join(
        line
        for evidence, trace, journal in played.on.kept.batches
        for line in (evidence.model_dump_json(), *trace, *journal)
    )
    assert [token for token in senders if token in text] == []


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
    ("kind", "changes", "check"),
    [
        ("published_documents", {"copies": {}}, "rig.acceptance_document"),
        ("ingestion_strangers", {"answers": {}}, "rig.ingestion"),
        ("ingestion_strangers", {"answers": {"a": "OK", "b": "OK"}}, "rig.ingestion"),
        ("ingestion_strangers", {"refused": 0}, "rig.ingestion"),
        ("ingestion_events", {"strangers": 1}, "rig.ingestion"),
        ("ingestion_events", {"senders": {"": {"dispatched": 1}}}, "rig.ingestion"),
        ("ingestion_events", {"senders": {"agent": {"dispatched": 1}}}, "rig.ingestion"),
    ],
)
def test_one_other_fact_is_an_error_and_no_verdict(
    kind: str, changes: dict[str, object], check: str, played: Played
) -> None:
    evidence, trace, journal = played.kept(UNREPORTED)
    assert [one.verdict for one in rescored((evidence, trace, journal))] == [Verdict.PASS] * 3
    changed = with_mark(trace, kind, lambda mark: mark.update(changes))
    records = rescored((evidence, changed, journal))
    assert violated(records) == {check}
    assert {one.verdict for one in records} == {Verdict.ERROR}


def test_code_from_elsewhere_is_an_error(played: Played) -> None:
    evidence, trace, journal = played.kept(DURABLE)
    receipts = []
    for text in evidence.receipts_json:
        receipt = json.loads(text)
        if receipt["kind"] == "installed":
            receipt["origins"][0]["elsewhere"] = ["checkout/services/agent/app.py"]
        receipts.append(json.dumps(receipt))
    changed = evidence.model_copy(update={"receipts_json": tuple(receipts)})
    records = rescored((changed, trace, journal))
    assert violated(records) == {"rig.receipt"}
    assert {one.verdict for one in records} == {Verdict.ERROR}


def test_a_memory_that_forgets_receipts_fails_by_the_oracle(tmp_path: Path) -> None:
    with ground(tmp_path, "forgets_receipts", variant=StackVariant.INSTALLED) as on:
        records = on.play(DURABLE, operations=2)
        folders = {path.name for path in state_root().iterdir()}
    assert {one.verdict for one in records} == {Verdict.FAIL}
    assert not any(name.startswith("rig.") for name in violated(records))
    # The installation goes with its stack.
    mine = {name for name in folders if name.startswith(on.context.run_id)}
    assert mine
    assert not mine & {path.name for path in state_root().iterdir()}
