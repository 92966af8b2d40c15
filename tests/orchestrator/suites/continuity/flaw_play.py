"""Plays a flawed memory: its own check must fail where its cases are, and nothing else anywhere."""

from collections.abc import Sequence
from pathlib import Path

from orchestrator.model import CapabilityVariant, Verdict
from services.controls.flaw import Flaw
from tests.orchestrator.suites.continuity.ground import ground, not_passed, violated

CHECKS = {
    "unsafe_decision": "continuity.safety",
    "needless_decision": "continuity.liveness",
    "malformed_answer": "continuity.form",
}


def assert_caught(
    folder: Path,
    name: str,
    flaw: Flaw,
    shown: Sequence[tuple[str, CapabilityVariant | None]],
    hidden: tuple[str, CapabilityVariant | None],
) -> None:
    """Plays the cases that must show a flaw, and one that must not."""
    own = CHECKS.get(flaw.primary_check, flaw.primary_check)
    allowed = {own, *(CHECKS.get(one, one) for one in flaw.consequences)}
    with ground(folder, name) as on:
        for case, capability in shown:
            records = on.play(case, capability, 1)
            assert own in violated(records) <= allowed, (case, not_passed(records))
            assert Verdict.FAIL in {record.verdict for record in records}
        case, capability = hidden
        if case:
            assert not_passed(on.play(case, capability, 1)) == [], case
