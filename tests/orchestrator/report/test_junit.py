"""junit.xml: failures are the memory's, errors the testbed's, skipped is N/R."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    NotRunSubtype,
    Suite,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import VENDOR
from orchestrator.suites.continuity.cells import cell_table
from tests.orchestrator.evidence.bundles import manifest
from tests.orchestrator.report.pages import HOSTILE, cell_at, failing, junit, passing

NONE = cell_at(CapabilityVariant.NONE)
IDEMPOTENT = cell_at(CapabilityVariant.IDEMPOTENT)


def parsed(text: str) -> JUnitXml:
    """The file as a CI reads it."""
    handle, name = tempfile.mkstemp(suffix=".xml")
    os.close(handle)
    path = Path(name)
    try:
        path.write_text(text, encoding="utf-8")
        return JUnitXml.fromfile(name)
    finally:
        path.unlink()


def cases(text: str, suite: str) -> dict[str, TestCase]:
    """Testcases of one testsuite by name."""
    found: TestSuite = next(one for one in parsed(text) if one.name == suite)
    return {case.name: case for case in found}


def only_result(text: str, suite: str = "vendor continuity", cell: Cell = NONE) -> object:
    """What a cell's testcase is marked with."""
    (result,) = cases(text, suite)[cell.cell_id].result
    return result


def numbers(text: str) -> tuple[int, int, int, int]:
    """Tests, failures, errors, skipped."""
    document = parsed(text)
    return document.tests, document.failures, document.errors, document.skipped


def test_a_testcase_is_a_cell() -> None:
    text = junit([*passing(count=20), *passing("control:reference", cells=[NONE], count=5)])
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<testsuites ')
    assert [one.name for one in parsed(text)] == [
        "run",
        "vendor continuity",
        "control:reference continuity",
    ]
    found = cases(text, "vendor continuity")
    assert list(found) == [NONE.cell_id, IDEMPOTENT.cell_id]
    assert {case.classname for case in found.values()} == {"memqual.vendor.continuity"}
    assert all(case.is_passed for case in found.values())
    assert numbers(text) == (5, 0, 0, 0)


def test_the_two_axes_are_two_testsuites() -> None:
    record = passing(cells=[Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="C")])
    names = [one.name for one in parsed(junit([*passing(), *record]))]
    assert names == ["run", "vendor continuity", "vendor integrity"]


def test_a_failed_trial_makes_its_cell_a_failure_with_what_repeats_it() -> None:
    trial = failing(number=3)
    result = only_result(junit([*passing(cells=[NONE], count=2), trial]))
    assert isinstance(result, Failure)
    assert (result.message, result.type) == ("1 of 3 trials failed; coverage 3/3", "FAIL")
    assert result.text == (
        f"FAIL {trial.trial_id}\n"
        f"  cause: {trial.cause}\n"
        "  decisions: EXECUTE:first_grant:1 → EXECUTE:because:2\n"
        f"  repeat: memqual replay runs/{manifest().run_id} --trial '{trial.trial_id}'"
    )


def test_a_failure_with_errors_beside_it_stays_a_failure() -> None:
    trials = [failing(number=0), failing(number=1, verdict=Verdict.ERROR)]
    text = junit(trials)
    result = only_result(text)
    assert isinstance(result, Failure)
    assert result.message == "1 of 2 trials failed; coverage 1/2"
    assert numbers(text) == (3, 1, 0, 0)


def test_the_list_of_trials_is_bounded_and_says_how_many_are_left_out() -> None:
    result = only_result(junit([failing(number=n) for n in range(300)]))
    assert isinstance(result, Failure)
    assert result.text is not None
    assert result.text.count("repeat: ") == 5
    assert result.text.endswith("… and 295 more; all of them are in the bundle.")


@pytest.mark.parametrize(
    ("kind", "told"), [("infrastructure", "infrastructure"), ("trial", "ERROR")]
)
def test_what_could_not_be_evaluated_is_an_error(kind: str, told: str) -> None:
    text = junit([failing(verdict=Verdict.ERROR, error_kind=kind)])
    result = only_result(text)
    assert isinstance(result, Error)
    assert (result.message, result.type) == ("1 of 1 trials not evaluated; coverage 0/1", told)
    assert numbers(text) == (3, 0, 1, 0)


@pytest.mark.parametrize("subtype", NotRunSubtype)
def test_not_run_is_skipped_with_its_subtype(subtype: NotRunSubtype) -> None:
    trial = failing(verdict=Verdict.NOT_RUN, subtype=subtype, cause="that is why")
    text = junit([trial])
    result = only_result(text)
    assert isinstance(result, Skipped)
    assert (result.message, result.type) == (f"N/R {subtype.value}: that is why", subtype.value)
    assert numbers(text) == (3, 0, 0, 1)


def test_a_comparator_is_skipped() -> None:
    cell = next(one.cell for one in cell_table() if one.cell.arm is Arm.BASELINE)
    result = only_result(junit([failing(cell, verdict=Verdict.UNSCORED)]), cell=cell)
    assert isinstance(result, Skipped)
    assert result.type == "UNSCORED"


def test_a_control_that_fails_as_it_must_passes() -> None:
    text = junit([failing(subject="control:naive"), failing(subject="control:null")])
    assert numbers(text) == (4, 0, 0, 0)


def test_a_control_that_is_not_caught_is_an_error_of_the_testbed() -> None:
    text = junit(passing("control:naive", cells=[NONE], count=2))
    result = only_result(text, "control:naive continuity")
    assert isinstance(result, Error)
    assert (result.message, result.type) == (
        "2 of 2 trials did not come to: must fail",
        "control",
    )
    assert numbers(text) == (3, 0, 1, 0)


def test_a_reference_that_fails_is_an_error_of_the_testbed() -> None:
    result = only_result(
        junit([failing(subject="control:reference")]), "control:reference continuity"
    )
    assert isinstance(result, Error)
    assert result.message == "1 of 1 trials did not come to: must pass"


def test_a_control_that_could_not_be_tried_is_an_error_or_skipped() -> None:
    broken = failing(subject="control:naive", verdict=Verdict.ERROR)
    assert isinstance(only_result(junit([broken]), "control:naive continuity"), Error)
    unable = failing(
        subject="control:naive", verdict=Verdict.NOT_RUN, subtype=NotRunSubtype.PLATFORM
    )
    assert isinstance(only_result(junit([unable]), "control:naive continuity"), Skipped)


def test_missing_trials_are_an_error_of_the_run() -> None:
    text = junit(passing(), missing=[(VENDOR, IDEMPOTENT)])
    (result,) = cases(text, "run")["every expected trial is present"].result
    assert isinstance(result, Error)
    assert result.message == "1 expected trials are missing"
    assert result.text == f"vendor:{IDEMPOTENT.cell_id}#99"
    assert numbers(text) == (4, 0, 1, 0)


def test_telemetry_that_changes_a_decision_is_a_failure() -> None:
    quiet = passing(cells=[NONE])[0]
    seen = next(
        one.cell for one in cell_table() if one.cell == NONE.model_copy(update={"arm": Arm.BOTH})
    )
    other = passing(cells=[seen])[0].model_copy(update={"decisions": ("CONFIRM:other:0",)})
    (result,) = cases(junit([quiet, other]), "run")["telemetry changes no decision (P5)"].result
    assert isinstance(result, Failure)
    assert result.message == "1 decision histories differ"


def test_the_record_that_counts_is_told() -> None:
    trial = failing(number=0)
    later = trial.model_copy(update={"verdict": Verdict.PASS})
    assert isinstance(only_result(junit([trial, later])), Failure)


def test_the_run_says_what_it_was() -> None:
    suite = next(one for one in parsed(junit(passing())) if one.name == "run")
    properties = suite.properties()
    assert {one.name: one.value for one in properties} == {
        "verdict": "QUALIFIED",
        "memory": "mini 1",
        "profile": "selftest",
        "seed": "7",
        "runtime": "process",
        "requirement_revision": "2027-04",
    }
    assert suite.timestamp == "2026-11-30T10:43:08"


def test_whatever_a_vendor_says_the_file_is_xml() -> None:
    said: dict[str, Any] = {"cause": HOSTILE, "decisions": (HOSTILE,), "batch_id": HOSTILE}
    trials: list[TrialRecord] = [
        failing(**said),
        failing(IDEMPOTENT, verdict=Verdict.NOT_RUN, subtype=NotRunSubtype.PLATFORM, **said),
        failing(subject="control:reference", **said),
    ]
    text = junit(trials, subject_name=HOSTILE, run_id=HOSTILE)
    tags = {element.tag for element in ElementTree.fromstring(text.encode()).iter()}
    assert tags == {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
        "error",
        "skipped",
    }
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert "⟨U+202E⟩gnp" in text
