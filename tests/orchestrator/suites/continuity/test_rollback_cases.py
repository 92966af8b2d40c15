"""Hosts that are set back, on real processes; each flaw fails its own check."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import json_format

from memqual.v1 import common_pb2, interposer_pb2, vendor_pb2
from orchestrator.model import CapabilityVariant, Verdict
from orchestrator.scoring.batch import score_batch
from orchestrator.scoring.families.rollback import JUDGES
from orchestrator.suites.continuity.families.rollback import CASES
from services.controls.rollback_flaws import FLAWS
from tests.orchestrator.suites.continuity.flaw_play import assert_caught
from tests.orchestrator.suites.continuity.ground import (
    Ground,
    ground,
    not_passed,
    sampled,
    violated,
)

NONE = CapabilityVariant.NONE
KEYED = CapabilityVariant.IDEMPOTENT
FENCED = CapabilityVariant.QUERY_FENCED
UNFENCED = CapabilityVariant.QUERY_UNFENCED

# Each flaw: the cases that must show it by its own check, and one that must not show it at all.
SHOWN = {
    "forgets_intents": (
        (("rollback.complete", NONE), ("rollback.uncertain", FENCED), ("rollback.forked", NONE)),
        ("rollback.second_obligation", NONE),
    ),
    "blocks_repetitions": (
        (("rollback.second_obligation", NONE),),
        ("rollback.complete", NONE),
    ),
    "blocks_for_silent_hosts": (
        (("rollback.obligations", NONE),),
        ("rollback.second_obligation", NONE),
    ),
    "blocks_for_ever": ((("rollback.ruled_out", NONE),), ("rollback.intent", NONE)),
    "acknowledges_used_words": (
        (
            ("rollback.resolution", NONE),
            ("rollback.resolution_happened", NONE),
            ("rollback.resolution_abandon", UNFENCED),
        ),
        ("resolve.used", NONE),
    ),
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("rollback")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", [one.name for one in CASES if not one.own_stack])
def test_the_reference_passes(reference: Ground, case: str) -> None:
    assert not_passed(reference.play(case, None, 2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_each_flaw_fails_its_own_check_and_no_other(tmp_path: Path, flaw: str) -> None:
    shown, hidden = SHOWN[flaw]
    assert_caught(tmp_path, flaw, FLAWS[flaw], shown, hidden)


def test_every_flaw_has_its_cases_and_every_case_its_judge() -> None:
    assert set(SHOWN) == set(FLAWS)
    assert {one.name for one in CASES} == set(JUDGES)


def without_declaration(text: str) -> str:
    """A declaration that says nothing of intents."""
    described = json_format.Parse(text, vendor_pb2.DescribeResponse())
    for one in described.capabilities:
        if one.capability == vendor_pb2.CAPABILITY_INTENT_MATCHING:
            one.status = vendor_pb2.CAPABILITY_STATUS_ABSENT
    return json_format.MessageToJson(described)


@pytest.mark.e2e_process
@pytest.mark.parametrize(
    ("flaw", "found", "counted"),
    [
        ("forgets_intents", "action_replay: dispatched again, 2 effects in all", (2, "host")),
        ("", "stale_declaration: intent_matching", (1, "")),
    ],
)
def test_undeclared_what_happened_is_a_finding_and_no_failure(
    tmp_path: Path, flaw: str, found: str, counted: tuple[int, str]
) -> None:
    with ground(tmp_path, flaw) as on:
        on.play("rollback.complete", NONE, 1)
        evidence, trace, journal = on.kept.batches[-1]
    undeclared = evidence.model_copy(
        update={"describe_json": without_declaration(evidence.describe_json)}
    )
    (record,) = score_batch(
        undeclared,
        [json_format.Parse(line, interposer_pb2.TraceRecord()) for line in trace],
        [json_format.Parse(line, common_pb2.JournalRecord()) for line in journal],
    )
    assert (record.verdict, record.cause) == (Verdict.PASS, "")
    assert (record.findings, (record.effects, record.hazard)) == ((found,), counted)


@pytest.mark.e2e_process
def test_an_approval_that_comes_back_after_a_restart_fails_for_everybody(tmp_path: Path) -> None:
    with ground(tmp_path, "forgets_used_challenges") as on:
        assert violated(on.play("rollback.approval", NONE, 1)) == {"continuity.rollback.approval"}
