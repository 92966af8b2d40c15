"""Each flawed memory is caught by its one check, and is the reference everywhere else."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memqual.v1 import common_pb2
from orchestrator.oracle.judgement import CallJudgement, Classification
from services.controls.registry import FLAWS
from services.memory.model import Capability
from tests.services.memory.oracle_rig import (
    STEPS,
    Answered,
    Begin,
    Elapse,
    OracleRig,
    Renewal,
    Report,
    Step,
)

FIRST = Begin("life-1", "b1")
AGAIN = Begin("life-1", "b1")
SECOND = Begin("life-2", "b2")
THIRD = Begin("life-2", "b3")
EXPIRE = Elapse(122)
ABSENT = Answered(0, common_pb2.EFFECT_PRESENCE_ABSENT_FINAL)
UNSAFE, NEEDLESS = Classification.UNSAFE, Classification.NEEDLESS

# Everything that can happen to an operation in the order in which a run makes it happen, for each
# flaw the calls at which it must show, and only those.
LIFE: dict[Capability, list[Step]] = {
    Capability.NONE: [FIRST, AGAIN, SECOND, Renewal(0), EXPIRE, EXPIRE, THIRD, Report(0), THIRD],
    Capability.QUERY: [FIRST, AGAIN, SECOND, EXPIRE, THIRD, ABSENT, THIRD, Report(-1), SECOND],
    Capability.IDEMPOTENT: [FIRST, AGAIN, SECOND, EXPIRE, THIRD, Report(-1), FIRST],
}


def classes(name: str, folder: Path, capability: Capability) -> list[tuple[str, str]]:
    """(answer, class) of every answer that is outside the table."""
    composition = FLAWS[name].composition
    rig = OracleRig(folder, composition.decisions, composition.recordings)
    try:
        judgement = rig.judge(capability, LIFE[capability])
    finally:
        rig.database.close()
    return [(call.observed, call.classification) for call in judgement.violations]


@pytest.mark.parametrize(
    ("name", "capability", "found"),
    [
        # A replay that is a new attempt, a live lease, an expiry, a completion.
        ("naive", Capability.NONE, [("EXECUTE", UNSAFE)] * 4),
        ("naive", Capability.IDEMPOTENT, [("EXECUTE", UNSAFE)] * 3),
        ("expired_none_executes", Capability.NONE, [("EXECUTE", UNSAFE)]),
        ("expired_none_executes", Capability.QUERY, []),
        ("expired_none_executes", Capability.IDEMPOTENT, []),
        ("ignores_lease", Capability.IDEMPOTENT, [("EXECUTE", UNSAFE)]),
        ("ignores_lease", Capability.QUERY, [("EXECUTE", UNSAFE)]),
        ("forgets_receipts", Capability.NONE, [("CONFIRM", NEEDLESS)]),
        ("forgets_receipts", Capability.IDEMPOTENT, [("WAIT", NEEDLESS)]),
        ("always_confirm", Capability.NONE, [("CONFIRM", NEEDLESS)] * 5),
        ("always_wait", Capability.NONE, [("WAIT", NEEDLESS)] * 5),
    ],
)
def test_a_flaw_shows_where_it_must_and_nowhere_else(
    tmp_path: Path, name: str, capability: Capability, found: list[tuple[str, str]]
) -> None:
    assert classes(name, tmp_path, capability) == found


# What a family's flaws need beyond one life is played by the family's own tests.
OF_ONE_LIFE = (
    "naive",
    "expired_none_executes",
    "ignores_lease",
    "forgets_receipts",
    "always_confirm",
    "always_wait",
)
CLASS_OF_CHECK = {"unsafe_decision": UNSAFE, "needless_decision": NEEDLESS}


@pytest.mark.parametrize("name", OF_ONE_LIFE)
def test_the_table_names_the_check_that_catches_it(tmp_path: Path, name: str) -> None:
    found = {
        classification
        for capability in Capability
        for _, classification in classes(name, _made(tmp_path / capability.value), capability)
    }
    assert found == {CLASS_OF_CHECK[FLAWS[name].primary_check]}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(["expired_none_executes", "ignores_lease", "forgets_receipts"]),
    capability=st.sampled_from(list(Capability)),
    steps=st.lists(STEPS, max_size=20),
)
def test_whatever_happens_the_first_finding_is_the_flaw(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    capability: Capability,
    steps: list[Step],
) -> None:
    composition = FLAWS[name].composition
    rig = OracleRig(tmp_path_factory.mktemp("flaw"), composition.decisions, composition.recordings)
    try:
        violations = rig.judge(capability, steps).violations
    finally:
        rig.database.close()
    if violations:
        assert is_the_flaw(name, capability, violations[0])


def is_the_flaw(name: str, capability: Capability, first: CallJudgement) -> bool:
    begins = ("Begin", "Peek")
    match name:
        case "expired_none_executes":
            return (
                capability is Capability.NONE
                and first.method in begins
                and first.observed == "EXECUTE"
            )
        case "ignores_lease":
            return first.method in begins and first.observed == "EXECUTE"
        case _:
            # What was acknowledged and is gone: no REUSE, or a second receipt taken again.
            return first.classification is not Classification.MALFORMED
