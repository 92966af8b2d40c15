"""Real kills and clock jumps of a real process: what is durable stands them, what is not is caught.

The reference is held to the same in `tests/services/memory/narrative`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import CheckOutcome, NotRunSubtype, Verdict
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import VendorConfig, VendorProcess
from tests.orchestrator.suites.integrity.contexts import Rig, found
from tests.orchestrator.suites.integrity.stacks import process_rig
from tests.orchestrator.suites.narrative.rigs import played_on

pytestmark = [pytest.mark.e2e_process, pytest.mark.timeout(300)]

MODULE = "tests.orchestrator.suites.narrative.small_memory"


def _small(flaw: str) -> VendorConfig:
    process = VendorProcess(module=MODULE, args=("--flaw", flaw))
    return VendorConfig(name=f"small {flaw}", process=process)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    folder = tmp_path_factory.mktemp("stack")
    with process_rig(folder, Reviewer.generate(), _small("none")) as rig:
        yield rig


@pytest.mark.parametrize(
    "case",
    ["property.persistence", "property.persistence_ingest", "property.model_independence"],
)
def test_what_is_durable_stands_a_kill_and_a_second_configuration(case: str, rig: Rig) -> None:
    records = played_on(rig, case)

    assert [record.cause for record in records] == ["", ""]
    assert {record.verdict for record in records} == {Verdict.PASS}


def test_the_clock_changes_no_answer(rig: Rig) -> None:
    records = played_on(rig, "property.temporal_order")

    for record in records:
        if record.verdict is Verdict.NOT_RUN:
            assert record.subtype is NotRunSubtype.PLATFORM
        else:
            assert (record.verdict, record.cause) == (Verdict.PASS, "")


@pytest.mark.parametrize(
    ("flaw", "case", "check"),
    [
        ("forgets", "property.persistence", "answers"),
        ("forgets", "property.persistence_ingest", "answers"),
        ("clock", "property.temporal_order", "ahead"),
        ("zoned", "property.model_independence", "answers"),
    ],
)
def test_what_is_not_is_caught(flaw: str, case: str, check: str, tmp_path: Path) -> None:
    with process_rig(tmp_path, Reviewer.generate(), _small(flaw)) as rig:
        if case == "property.temporal_order" and not rig.context.skew:
            pytest.skip("the memory's clock cannot be set on this machine")
        records = played_on(rig, case)

    caught = {one for record in records for one in found(record, CheckOutcome.VIOLATED)}
    assert f"narrative.{case}.{check}" in caught


def test_a_memory_that_dies_of_an_input_fails_there_and_goes_on(tmp_path: Path) -> None:
    with process_rig(tmp_path, Reviewer.generate(), _small("dies")) as rig:
        records = played_on(rig, "property.bad_input")

    (failed,) = [record for record in records if record.verdict is not Verdict.PASS]
    assert failed.verdict is Verdict.FAIL
    assert found(failed, CheckOutcome.VIOLATED) == ["narrative.property.bad_input.taken"]
    assert "a NUL within: UNAVAILABLE" in failed.cause
