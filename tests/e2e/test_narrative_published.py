"""A whole run on 250 stories in ATANT's published form: every level is reached, as published."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from orchestrator.evidence.rundir import read_json_lines
from orchestrator.model import NotRunSubtype, TrialRecord, Verdict
from tests.e2e.runs import SMALL_MEMORY, memqual

pytestmark = [pytest.mark.e2e_process, pytest.mark.nightly, pytest.mark.timeout(3_600)]

STORIES = 250
FIRST = ("Bel", "Dor", "Fen", "Gar", "Hul", "Jor", "Kel", "Lun", "Mir", "Nor")
LAST = ("da", "len", "mund", "ris", "vik")
PLACES = ("fjord", "holm", "sund", "vang", "dal")


def _story(number: int) -> dict[str, object]:
    """A story as ATANT publishes them: nothing but what its form has."""
    name = FIRST[number % 10] + LAST[number // 10 % 5]
    place = FIRST[number // 5 % 10] + PLACES[number % 5]
    return {
        "story_id": number + 1,
        "story_name": f"The clocks of {name}",
        "category": "Daily Life",
        "batches": [
            {
                "batch": 1,
                "time": "Monday 9:00 AM",
                "user_input": f"My cousin {name} repairs clocks in {place}.",
                "expected_memory_stores": [name, place],
            },
            {"batch": 2, "time": "Friday evening", "user_input": "My neighbour Olaf keeps bees."},
        ],
        "questions": [
            {
                "question_id": "q1",
                "question": "Where does my cousin repair clocks?",
                "expected_contains": [place],
            },
            {"question_id": "q2", "question": "Who keeps bees?", "expected_contains": ["Olaf"]},
            # Nothing says that it is to be declined: it is asked and not scored.
            {"question_id": "q3", "question": "How hot is lava?", "expected_contains": []},
        ],
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    stories = folder / "stories"
    stories.mkdir()
    for number in range(STORIES):
        path = stories / f"{number + 1:03d}.yaml"
        path.write_text(json.dumps(_story(number), indent=1), encoding="utf-8")
    vendor = folder / "vendor.yaml"
    vendor.write_text(SMALL_MEMORY, encoding="utf-8")
    ended = memqual(
        *("qualify", "--profile", "atant", "--runtime", "process", "--json-progress"),
        *("--stories", str(stories), "--vendor", str(vendor), "--runs", str(folder / "runs")),
    )
    assert ended.returncode == 0, ended.stdout[-4_000:] + ended.stderr[-4_000:]
    (found,) = (folder / "runs").iterdir()
    return found


def test_what_has_no_open_question_is_not_run_and_all_else_is_played(run: Path) -> None:
    trials = [
        TrialRecord.model_validate_json(line) for line in read_json_lines(run / "trials.jsonl")
    ]
    of_vendor = [trial for trial in trials if trial.subject == "vendor"]

    assert {trial.verdict for trial in of_vendor} <= {
        Verdict.PASS,
        Verdict.UNSCORED,
        Verdict.NOT_RUN,
    }
    open_ = Counter(
        (trial.verdict, trial.subtype)
        for trial in of_vendor
        if (trial.cell.case or "").startswith("level.") and (trial.cell.case or "").endswith("open")
    )
    # Cumulative has 50 stories, Scale and Scale 1000 have 250 each.
    assert open_ == {(Verdict.NOT_RUN, NotRunSubtype.NOT_EXPRESSIBLE): 550}


def test_the_report_reaches_the_largest_level_by_the_published_reading(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    junit = (run / "junit.xml").read_text(encoding="utf-8")
    claims = json.loads((run / "claims.json").read_text(encoding="utf-8"))

    assert "<b>N/R</b> strict, Scale 1000, Gold published" in page
    for level in ("core", "stress", "cumulative", "scale"):
        assert f'name="narrative {level} tier published" value="Gold"' in junit
        assert f'name="narrative {level} tier strict" value="N/R"' in junit
    assert 'name="narrative scale scoped published" value="500/500 (100.0 %)"' in junit
    assert 'name="narrative scale scoped stories published" value="250/250 (100.0 %)"' in junit
    # Somebody's own stories support no claim about a level.
    assert not any("narrative level" in sentence for sentence in claims["supported"])
    assert any("highest with a tier" in sentence for sentence in claims["not_supported"])


def test_the_bundle_is_verified_and_scored_alike(run: Path) -> None:
    verified = memqual("verify", str(run))
    assert verified.returncode == 0, verified.stdout
    assert "highest level with a tier, published: Scale 1000, Gold" in verified.stdout
    rescored = memqual("rescore", str(run))
    assert rescored.returncode == 0, rescored.stdout
