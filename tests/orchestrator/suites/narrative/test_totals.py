"""What narrative trials amount to: tiers, levels, and figures that are read back as written."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model import Arm, Cell, Figure, Suite, TrialRecord, Verdict
from orchestrator.suites.narrative.cases import CASES, LEVEL_CASES, cases_of_level, level_of
from orchestrator.suites.narrative.checkpoints import Checkpoint, Point
from orchestrator.suites.narrative.gauge import AskedFigure, Gauge, rate_of, read_asked
from orchestrator.suites.narrative.levels import LevelName
from orchestrator.suites.narrative.tiers import LevelRow, Tier, levels_of, reached
from orchestrator.suites.narrative.totals import NarrativeTotals, is_graded
from tests.orchestrator.suites.narrative.tiny_stories import LOOM

CORE = "level.core"
NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=9)


def record(
    case: str,
    number: int,
    strict: list[bool],
    *,
    verdict: Verdict = Verdict.UNSCORED,
    published: bool = True,
) -> TrialRecord:
    """A trial whose questions were answered so."""
    figures = [
        Figure(name="story", value=f"r1-{number:02d}"),
        Figure(name="round", value="r1"),
        Figure(name="patterns", value="negation shared_subject"),
        Figure(name="cp1", value="3/4"),
    ]
    figures += [
        AskedFigure(f"q{at}", "factual", published, held, (), "" if held else "lacks x").figure()
        for at, held in enumerate(strict)
    ]
    return TrialRecord(
        trial_id=f"vendor:narrative/memory/{case}#{number}",
        cell=Cell(suite=Suite.NARRATIVE, arm=Arm.MEMORY, case=case),
        subject="vendor",
        batch_id="n1",
        sub_seed=1,
        verdict=verdict,
        figures=tuple(figures),
    )


def totals(*records: TrialRecord) -> NarrativeTotals:
    added = NarrativeTotals()
    for one in records:
        added.add(one)
    return added


@pytest.mark.parametrize(
    ("right", "asked", "tier"),
    [
        (0, 0, Tier.NONE),
        (1, 1, Tier.GOLD),
        (999, 1000, Tier.SILVER),
        (950, 1000, Tier.SILVER),
        (949, 1000, Tier.BRONZE),
        (900, 1000, Tier.BRONZE),
        (899, 1000, Tier.NONE),
    ],
)
def test_tiers_end_where_the_standard_says(right: int, asked: int, tier: Tier) -> None:
    assert Tier.of(right, asked) is tier


@given(
    asked=st.builds(
        AskedFigure,
        question_id=NAMES,
        expected_type=NAMES,
        published=st.booleans(),
        strict=st.booleans(),
        failed=st.lists(st.sampled_from(["cp5", "cp6", "cp7"]), max_size=3).map(tuple),
        seen=st.lists(NAMES, max_size=4).map(" ".join),
    )
)
def test_a_questions_figure_is_read_back_as_it_was(asked: AskedFigure) -> None:
    assert read_asked(asked.figure()) == asked


@pytest.mark.parametrize("value", ["", "factual", "factual yes no", "factual maybe no -"])
def test_a_figure_that_no_gauge_writes_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="no figure of a question"):
        read_asked(Figure(name="asked q1", value=value))


def test_a_gauge_tells_rates_and_what_was_not_asked() -> None:
    gauge = Gauge(LOOM)
    assert gauge.figures() == ()
    gauge.note([Point(Checkpoint.TAGGING, True), Point(Checkpoint.TAGGING, False, "x")])
    held = [Point(Checkpoint.PUBLISHED, True), Point(Checkpoint.STRICT, True)]
    gauge.asked(LOOM.questions[0], held)
    gauge.unasked()

    named = {figure.name: figure for figure in gauge.figures()}
    assert rate_of(named["cp4"]) == (1, 2)
    assert rate_of(named["cp8_strict"]) == (1, 3)
    assert named["asked q1"].value == "factual yes yes -"
    assert named["asked q3"].value == "general_knowledge no no - not asked"


def test_a_cell_adds_up_by_type_pattern_and_round() -> None:
    (row,) = totals(
        record(CORE, 0, [True, False]),
        record(CORE, 1, [True]),
        record(CORE, 2, [], verdict=Verdict.NOT_RUN),
        record(CORE, 3, [False], verdict=Verdict.ERROR),
    ).rows()

    assert (row.trials, row.stories, row.not_run, row.errors) == (4, 2, 1, 1)
    assert (row.questions, row.published, row.strict, row.stories_strict) == (3, 3, 2, 1)
    assert [(one.checkpoint.value, one.held, one.counted) for one in row.checkpoints] == [
        ("cp1", 6, 8)
    ]
    assert {(one.by, one.name): (one.questions, one.strict) for one in row.groups} == {
        ("type", "factual"): (3, 2),
        ("pattern", "negation"): (3, 2),
        ("pattern", "shared_subject"): (3, 2),
        ("round", "r1"): (3, 2),
    }
    assert {(one.checkpoint.value, one.pattern): one.count for one in row.failures} == {
        ("cp1", "negation"): 2,
        ("cp1", "shared_subject"): 2,
    }


@given(st.randoms())
def test_the_order_of_trials_does_not_matter(shuffle: random.Random) -> None:
    records = [
        record(case, number, [number % 2 == 0, True])
        for case in (CORE, "level.stress", "property.update")
        for number in range(4)
    ]
    before = totals(*records).rows()
    shuffle.shuffle(records)
    assert totals(*records).rows() == before


def test_another_axis_is_passed_over_and_an_unknown_case_is_refused() -> None:
    other = record(CORE, 0, [True]).model_copy(
        update={"cell": Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="A")}
    )
    assert totals(other).rows() == ()
    with pytest.raises(ValueError, match="no narrative case"):
        totals(record("level.none", 0, [True]))


def test_the_worse_cell_decides_a_level() -> None:
    scoped, open_ = cases_of_level(LevelName.CUMULATIVE)
    rows = totals(
        *(record(scoped, number, [True]) for number in range(50)),
        *(record(open_, number, [number > 3]) for number in range(50)),
    ).rows()

    (level,) = levels_of(rows)
    assert (level.stories, level.wanted, level.questions, level.strict) == (50, 50, 100, 96)
    assert (level.tier_strict, level.tier_published) == (Tier.BRONZE, Tier.GOLD)
    assert level.whole


@pytest.mark.parametrize("lack", ["a story", "a cell", "an evaluation"])
def test_a_level_that_is_not_whole_is_said_to_be_so(lack: str) -> None:
    scoped, open_ = cases_of_level(LevelName.CUMULATIVE)
    records = [record(case, n, [True]) for case in (scoped, open_) for n in range(50)]
    if lack == "a story":
        records = records[:-1]
    elif lack == "a cell":
        records = records[:50]
    else:
        records.append(record(open_, 50, [True], verdict=Verdict.ERROR))
    (level,) = levels_of(totals(*records).rows())
    assert not level.whole


def _row(level: LevelName, strict: Tier, *, whole: bool = True) -> LevelRow:
    return LevelRow(
        level=level,
        stories=1,
        wanted=1,
        questions=1,
        published=1,
        strict=1,
        tier_published=Tier.GOLD,
        tier_strict=strict,
        whole=whole,
    )


def test_each_level_requires_the_one_before() -> None:
    core, stress = _row(LevelName.CORE, Tier.GOLD), _row(LevelName.STRESS, Tier.NONE)
    cumulative = _row(LevelName.CUMULATIVE, Tier.GOLD)
    rows = (core, stress, cumulative)

    assert reached(rows, strict=True) == core
    assert reached(rows, strict=False) == cumulative
    assert reached((stress, cumulative), strict=False) is None
    assert reached((_row(LevelName.CORE, Tier.GOLD, whole=False), stress), strict=False) is None
    assert reached((), strict=True) is None


def test_every_level_has_its_cells_and_every_property_a_pass_or_a_grade() -> None:
    assert [one.case for one in LEVEL_CASES] == [
        case for level in LevelName for case in cases_of_level(level)
    ]
    assert {level_of(one.case) for one in LEVEL_CASES} == set(LevelName)
    for case in CASES.values():
        cell = Cell(suite=Suite.NARRATIVE, arm=Arm.MEMORY, case=case.case)
        assert is_graded(cell) == case.graded
        # Whatever is not graded has a check of its own beside the contract's.
        assert case.graded == (len(case.checks) == 1)
    assert not is_graded(Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case=CORE))
