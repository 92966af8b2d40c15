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
from orchestrator.report.narrative_words import narrative_claims, narrative_lines
from orchestrator.scoring.run import Aggregate, aggregate
from orchestrator.suites.narrative.checkpoints import Checkpoint, Point
from orchestrator.suites.narrative.gauge import Gauge
from orchestrator.suites.narrative.totals import NarrativeRow
from tests.orchestrator.evidence.bundles import manifest
from tests.orchestrator.report.pages import planned
from tests.orchestrator.report.test_html import section
from tests.orchestrator.suites.narrative.tiny_stories import LOOM

CORE, CELL = 50, "level.core"
"""As many stories as the level is defined on, so that it can be claimed."""
WRONG = 6
"""Of 150 questions: Silver."""
SUBJECT = f"{manifest().subject_name} {manifest().subject_version}"

_COUNTS = (
    *("trials", "stories", "passed", "failed", "not_run", "errors", "stories_asked"),
    *("stories_asked_strict", "stories_published", "stories_strict", "questions"),
    *("questions_strict", "published", "strict"),
)


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


def row(
    case: str, stories: int, questions: int, *, published: int, strict: int, **changes: int
) -> NarrativeRow:
    """A cell that was played whole, with a wrong answer in every story."""
    counts = {
        "trials": stories,
        "stories": stories,
        "stories_asked": stories,
        "stories_asked_strict": stories,
        "questions": questions,
        "questions_strict": questions,
        "published": published,
        "strict": strict,
    }
    fields = dict.fromkeys(_COUNTS, 0) | counts | changes
    return NarrativeRow(
        case=case, title="", graded=True, checkpoints=(), groups=(), failures=(), **fields
    )


def not_run_row(case: str, trials: int) -> NarrativeRow:
    """A cell in which nobody could be asked."""
    return row(case, 0, 0, published=0, strict=0, trials=trials, not_run=trials)


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
    claims = claims_of(manifest(), result)

    assert [sentence for sentence in claims.supported if "narrative level" in sentence] == [
        f"{SUBJECT}, narrative level {told}."
        for told in (
            "Core: strict 144/150 (96.0 %) of questions, 44/50 (88.0 %) of stories; published "
            "150/150 (100.0 %) of questions, 50/50 (100.0 %) of stories (50 of general knowledge, "
            "never wrong as published); stories 50 of 50",
            "Core, tier by the strict reading: Silver",
            "Core, tier by the published reading: Gold",
            "highest with a tier by the strict reading: Core, Silver",
            "highest with a tier by the published reading: Core, Gold",
        )
    ]
    assert not any("narrative level" in sentence for sentence in claims.not_supported)


def test_a_tier_without_the_level_before_is_neither_shown_nor_claimed() -> None:
    # The audit's figures: Core has no tier, so nothing after it counts by either reading.
    rows = (
        row("level.core", 50, 400, published=352, strict=352),
        row("level.stress", 250, 2054, published=1900, strict=1900),
        row("level.cumulative_scoped", 50, 400, published=400, strict=400),
        row("level.cumulative_open", 50, 400, published=400, strict=380),
    )

    assert narrative_lines(rows, assisted=False)[-6:] == (
        "Stress: tier strict none: requires Core, published none: requires Core",
        "Cumulative scoped: strict 400/400 (100.0 %) of questions, 0/50 (0.0 %) of stories; "
        "published 400/400 (100.0 %) of questions, 0/50 (0.0 %) of stories; stories 50 of 50",
        "Cumulative open: strict 380/400 (95.0 %) of questions, 0/50 (0.0 %) of stories; "
        "published 400/400 (100.0 %) of questions, 0/50 (0.0 %) of stories; stories 50 of 50",
        "Cumulative: tier strict none: requires Core, published none: requires Core",
        "highest level with a tier, strict: none",
        "highest level with a tier, published: none",
    )
    claimed = {one.sentence: one.carried for one in narrative_claims(rows, assisted=False)}
    tiers = {sentence: held for sentence, held in claimed.items() if ", tier" in sentence}
    assert len(tiers) == 6
    assert not any(tiers.values())
    assert claimed["highest with a tier by the strict reading: none"]


def test_levels_of_published_stories_have_no_strict_reading() -> None:
    whole = {"questions_strict": 0, "stories_asked_strict": 0, "stories_strict": 0}
    rows = (
        row("level.core", 50, 300, published=300, strict=0, **whole),
        row("level.stress", 250, 1835, published=1835, strict=0, **whole),
        row("level.cumulative_scoped", 50, 300, published=300, strict=0, **whole),
        not_run_row("level.cumulative_open", 50),
        row("level.scale_scoped", 250, 1835, published=1835, strict=0, **whole),
        not_run_row("level.scale_open", 250),
    )

    assert narrative_lines(rows, assisted=False)[-4:] == (
        "Scale scoped: strict N/R of questions, N/R of stories; published 1835/1835 (100.0 %) of "
        "questions, 0/250 (0.0 %) of stories; stories 250 of 250",
        "Scale: tier strict N/R, published Gold",
        "highest level with a tier, strict: N/R",
        "highest level with a tier, published: Scale, Gold",
    )


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
    assert (
        "Core 50 of 50 150 50 of general knowledge, never wrong as published 144/150 (96.0 %) "
        "44/50 (88.0 %) Silver 150/150 (100.0 %) 50/50 (100.0 %) Gold" in page
    )
    assert (
        "stories without a wrong answer: strict 44/50 (88.0 %), published 50/50 (100.0 %)" in page
    )
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

    assert 'name="narrative core strict" value="144/150 (96.0 %)"' in text
    assert 'name="narrative core stories strict" value="44/50 (88.0 %)"' in text
    assert 'name="narrative core tier strict" value="Silver"' in text
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
