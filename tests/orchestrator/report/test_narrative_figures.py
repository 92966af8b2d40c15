"""Figures of the narrative axis: the same in terminal, page, junit.xml, claims and aggregate."""

from __future__ import annotations

from pathlib import Path

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.evidence.claims import claims_of
from orchestrator.evidence.records import message_to_json
from orchestrator.evidence.slim import slim
from orchestrator.model import Arm, Cell, Suite, TrialRecord, Verdict
from orchestrator.plan import VENDOR, trial_id
from orchestrator.report.console import ConsoleTable
from orchestrator.report.html import render_html
from orchestrator.report.junit import render_junit
from orchestrator.scoring.run import Aggregate, aggregate
from orchestrator.suites.narrative.checkpoints import Checkpoint, Point
from orchestrator.suites.narrative.gauge import Gauge
from tests.orchestrator.evidence.bundles import manifest
from tests.orchestrator.report.pages import planned
from tests.orchestrator.report.test_html import section
from tests.orchestrator.suites.narrative.tiny_stories import LOOM

CORE, CELL = 50, "level.core"
"""As many stories as the level is defined on, so that it can be claimed."""
WRONG = 6
"""Of 150 questions: Silver."""


def trial(number: int, *, wrong: bool = False, played: bool = True) -> TrialRecord:
    """A story whose first question is answered with too much, or rightly."""
    cell = Cell(suite=Suite.NARRATIVE, arm=Arm.MEMORY, case=CELL)
    gauge = Gauge(LOOM)
    for at, question in enumerate(LOOM.questions):
        told = "holds <b>attic</b>" if wrong and not at else ""
        gauge.asked(
            question,
            (
                Point(Checkpoint.QUERY, at != 1, "" if at != 1 else "change seen as factual"),
                Point(Checkpoint.PUBLISHED, True),
                Point(Checkpoint.STRICT, not told, told),
            ),
        )
    return TrialRecord(
        trial_id=trial_id(VENDOR, cell, number),
        cell=cell,
        subject=VENDOR,
        batch_id="n1",
        sub_seed=number,
        verdict=Verdict.UNSCORED if played else Verdict.NOT_RUN,
        figures=gauge.figures() if played else (),
    )


@pytest.fixture(scope="module")
def told() -> list[TrialRecord]:
    return [trial(number, wrong=number < WRONG) for number in range(CORE)]


@pytest.fixture(scope="module")
def result(told: list[TrialRecord]) -> Aggregate:
    return aggregate(told, planned(told))


def test_a_graded_level_decides_no_verdict(result: Aggregate) -> None:
    (row,) = result.narrative

    assert (row.questions, row.strict, row.published, row.stories_strict) == (150, 144, 150, 44)
    assert result.rates["narrative"].denominator == 0
    assert list(result.rates) == ["narrative"]


def test_verify_adds_up_the_same_from_slim_records(told: list[TrialRecord]) -> None:
    assert aggregate([slim(one) for one in told], planned(told)) == aggregate(told, planned(told))


def test_a_whole_level_supports_a_claim_with_both_readings(result: Aggregate) -> None:
    (sentence,) = (one for one in claims_of(manifest(), result).supported if "Core" in one)

    assert "strict 144/150 (96.0 %), Silver; published 150/150 (100.0 %), Gold" in sentence
    assert "stories 50 of 50" in sentence


def test_what_lacks_a_story_or_is_ones_own_supports_none(told: list[TrialRecord]) -> None:
    few = aggregate(told[1:], planned(told[1:]))
    own = manifest().model_copy(update={"stories_own": True})

    for claims in (
        claims_of(manifest(), few),
        claims_of(own, aggregate(told, planned(told))),
    ):
        assert not any("Core" in sentence for sentence in claims.supported)
        assert any("Core" in sentence for sentence in claims.not_supported)


def test_the_page_shows_levels_checkpoints_groups_and_wrong_answers(
    told: list[TrialRecord], result: Aggregate
) -> None:
    page = section(render_html(manifest(), result, told), "narrative")

    assert "Highest level with a tier: Core, Silver strict, Core, Gold published." in page
    assert "Core 50 of 50 150 144/150 (96.0 %) Silver 150/150 (100.0 %) Gold" in page
    assert "44 of 50 stories without a wrong answer" in page
    assert "100/150 (66.7 %)" in page
    assert "pattern temporal_update 150 150/150 (100.0 %) 144/150 (96.0 %)" in page
    assert "CP5 query classification multi_fact 50" in page
    assert "r1-01 q1 factual cp8 alone holds <b>attic</b>" in page


def test_a_model_in_the_loop_is_said_beside_the_tier(
    told: list[TrialRecord], result: Aggregate
) -> None:
    describe = vendor_pb2.DescribeResponse(name="m", llm_in_loop=True)
    assisted = manifest().model_copy(update={"describe_json": message_to_json(describe)})

    assert "Silver (Assisted)" in section(render_html(assisted, result, told), "narrative")


def test_a_memory_without_stories_has_no_level() -> None:
    trials = [trial(number, played=False) for number in range(2)]
    result = aggregate(trials, planned(trials))
    page = section(render_html(manifest(), result, trials), "narrative")

    assert "2 N/R" in page
    assert "Highest level" not in page
    assert not any("Core" in sentence for sentence in claims_of(manifest(), result).supported)


def test_without_narrative_trials_the_page_says_so() -> None:
    result = aggregate([], planned([]))
    assert "schedules no narrative trial" in section(
        render_html(manifest(), result, []), "narrative"
    )


def test_the_file_for_a_ci_carries_levels_and_cells(
    told: list[TrialRecord], result: Aggregate
) -> None:
    text = render_junit(manifest(), result, told)

    assert 'name="narrative core strict" value="144/150 (96.0 %), Silver"' in text
    assert 'name="narrative level" value="Core, Silver"' in text
    assert "UNSCORED: graded: strict 144/150 (96.0 %), published 150/150 (100.0 %)" in text


def test_the_terminal_shows_both_readings_side_by_side(
    told: list[TrialRecord],
    result: Aggregate,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = ConsoleTable()
    for one in told:
        table.add(one)
    table.print(tmp_path, manifest(), result)
    printed = capsys.readouterr().out

    assert "level.core" in printed
    assert "144/150 (96.0 %)" in printed
    assert "highest level with a tier, strict: Core, Silver" in printed
