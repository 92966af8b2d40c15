"""Tasks that go on to their known state over a kill, and destinations that refuse and lag."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CapabilityVariant, Verdict
from orchestrator.vendors import VendorConfig, VendorProcess
from services.controls.registry import FLAWS
from tests.orchestrator.suites.continuity import stopping_memory
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, violated

pytestmark = pytest.mark.e2e_process

_DECISIONS = {
    "unsafe_decision": "continuity.safety",
    "needless_decision": "continuity.liveness",
    "malformed_answer": "continuity.form",
}
NONE = CapabilityVariant.NONE
FENCED = CapabilityVariant.QUERY_FENCED


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("right")) as on:
        yield on


@pytest.mark.parametrize(
    ("case", "capability"),
    [
        ("matrix.key_reused", None),
        ("matrix.visible_later", None),
        ("golden.before_intent_checkpoint", FENCED),
        ("golden.in_request", FENCED),
        ("golden.after_commit", NONE),
        ("golden.before_checkpoint", CapabilityVariant.IDEMPOTENT),
    ],
)
def test_the_reference_passes(right: Ground, case: str, capability: CapabilityVariant) -> None:
    records = right.play(case, capability, operations=12)
    assert not_passed(records) == []
    if case.startswith("matrix"):
        assert {record.effects for record in records} == {1}


@pytest.mark.parametrize(
    ("flaw", "case", "capability"),
    [
        ("forgets_tool_errors", "matrix.key_reused", None),
        ("takes_doubt_for_absence", "matrix.visible_later", None),
        ("invents_receipts", "golden.in_request", NONE),
    ],
)
def test_a_flaw_fails_its_own_check_and_no_other(
    tmp_path: Path, flaw: str, case: str, capability: CapabilityVariant | None
) -> None:
    with ground(tmp_path, flaw) as on:
        records = on.play(case, capability, operations=4)
    wanted = FLAWS[flaw]
    found = violated(records)
    assert {record.verdict for record in records} == {Verdict.FAIL}
    assert _DECISIONS[wanted.primary_check] in found
    allowed = {_DECISIONS.get(name, name) for name in wanted.consequences}
    assert found <= allowed | {_DECISIONS[wanted.primary_check]}


@pytest.mark.parametrize("window", ["before_checkpoint", "in_request"])
def test_a_task_that_a_wrong_answer_stops_keeps_no_other_from_its_kill(
    tmp_path: Path, window: str
) -> None:
    """It fails on that answer; the others are judged."""
    process = VendorProcess(module=stopping_memory.__name__)
    vendor = VendorConfig(name="stopping", recipe="memory", process=process)
    with ground(tmp_path, vendor=vendor) as on:
        records = on.play(f"golden.{window}", NONE, operations=10)
    verdicts = {record.verdict for record in records}
    assert verdicts == {Verdict.FAIL, Verdict.PASS}, not_passed(records)
    assert violated(records) <= {*_DECISIONS.values(), "rig.window", "continuity.end"}
