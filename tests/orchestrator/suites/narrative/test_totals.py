"""What narrative trials amount to: tiers, levels, and figures that are read back as written."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model import Arm, Cell, Figure, Suite, TrialRecord, Verdict
from orchestrator.suites.narrative.cases import CASES, LEVEL_CASES, cases_of_level, level_of
from orchestrator.suites.narrative.checkpoints import Checkpoint, Point
from orchestrator.suites.narrative.gauge import AskedFigure, Gauge, rate_of, read_asked
from orchestrator.suites.narrative.levels import LevelName
from orchestrator.suites.narrative.stories import Form
from orchestrator.suites.narrative.tiers import LevelRow, Tier, levels_of, reached
from orchestrator.suites.narrative.totals import NarrativeTotals, is_graded
from tests.orchestrator.suites.narrative.tiny_stories import LOOM

CORE = "level.core"
NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=9)


def record(
    case: str,
    number: int,
    strict: Sequence[bool | None],
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
        AskedFigure(
            f"q{at}", "factual", published, held, (), "lacks x" if held is False else ""
        ).figure()
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
        (0, 0, Tier.NOT_SCORED),
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
        strict=st.one_of(st.none(), st.booleans()),
        failed=st.lists(st.sampled_from(["cp5", "cp6", "cp7"]), max_size=3).map(tuple),
        seen=st.lists(NAMES, max_size=4).map(" ".join),
    )
)
def test_a_questions_figure_is_read_back_as_it_was(asked: AskedFigure) -> None:
    assert read_asked(asked.figure()) == asked


@pytest.mark.parametrize(
    "value", ["", "factual", "factual yes no", "factual maybe no -", "factual - no -"]
)
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


def test_what_a_case_does_not_ask_is_not_owed() -> None:
    gauge = Gauge(LOOM, LOOM.questions[1:2])
    gauge.unasked()

    named = {figure.name: figure.value for figure in gauge.figures()}
    assert {name for name in named if name.startswith("asked")} == {"asked q2"}
    assert named["cp8_strict"] == "0/1"


def test_a_published_story_is_read_as_published_alone() -> None:
    gauge = Gauge(LOOM.model_copy(update={"form": Form.PUBLISHED}))
    wrong = Point(Checkpoint.PUBLISHED, False, "lacks Isaura")
    gauge.asked(LOOM.questions[0], [wrong, Point(Checkpoint.STRICT, False, "30 words")])
    right = [Point(Checkpoint.PUBLISHED, True), Point(Checkpoint.STRICT, False, "30 words")]
    gauge.asked(LOOM.questions[1], right)

    named = {figure.name: figure.value for figure in gauge.figures()}
    assert named["cp8_published"] == "1/2"
    assert "cp8_strict" not in named
    assert named["asked q1"] == "factual no - - lacks Isaura"
    assert named["asked q2"] == "change yes - -"


def test_a_question_that_expects_nothing_has_no_point() -> None:
    bare = LOOM.questions[0].model_copy(update={"expected_contains": (), "expected_type": None})
    gauge = Gauge(LOOM, (bare,))
    gauge.asked(bare, [Point(Checkpoint.PUBLISHED, True), Point(Checkpoint.STRICT, True)])
    gauge.unasked()
    assert gauge.figures() == ()

    declined = LOOM.questions[2]
    assert (declined.scored, declined.expected_contains) == (True, ())
    gauge.asked(declined, [Point(Checkpoint.PUBLISHED, True), Point(Checkpoint.STRICT, False)])
    assert [figure.name for figure in gauge.figures()][-1] == "asked q3"


def test_published_stories_add_up_beside_ours() -> None:
    (row,) = totals(record(CORE, 0, [None, None]), record(CORE, 1, [True, False])).rows()

    assert (row.questions, row.published, row.questions_strict, row.strict) == (4, 4, 2, 1)
    assert (row.stories_asked, row.stories_published) == (2, 2)
    assert (row.stories_asked_strict, row.stories_strict) == (1, 0)
    assert {(one.by, one.name): one.questions_strict for one in row.groups} == {
        ("type", "factual"): 2,
        ("pattern", "negation"): 2,
        ("pattern", "shared_subject"): 2,
        ("round", "r1"): 2,
    }
    (level,) = levels_of([row])
    assert (level.tier_published, level.tier_strict) == (Tier.GOLD, Tier.NOT_SCORED)


def test_a_cell_adds_up_by_type_pattern_and_round() -> None:
    (row,) = totals(
        record(CORE, 0, [True, False]),
        record(CORE, 1, [True]),
        record(CORE, 2, [], verdict=Verdict.NOT_RUN),
        record(CORE, 3, [False], verdict=Verdict.ERROR),
    ).rows()

    assert (row.trials, row.stories, row.not_run, row.errors) == (4, 2, 1, 1)
    assert (row.questions, row.questions_strict, row.published, row.strict) == (3, 3, 3, 2)
    assert (row.stories_asked, row.stories_asked_strict) == (2, 2)
    assert (row.stories_published, row.stories_strict) == (2, 1)
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
    assert (level.stories, level.wanted) == (50, 50)
    assert [(cell.case, cell.questions, cell.strict) for cell in level.cells] == [
        (scoped, 50, 50),
        (open_, 50, 46),
    ]
    assert [(cell.stories_published, cell.stories_strict) for cell in level.cells] == [
        (50, 50),
        (50, 46),
    ]
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


def test_a_cell_that_nobody_could_be_asked_in_decides_nothing() -> None:
    records = [record(CORE, n, [None]) for n in range(50)]
    records += [record("level.stress", n, [None]) for n in range(250)]
    for level, stories in ((LevelName.CUMULATIVE, 50), (LevelName.SCALE, 250)):
        scoped, open_ = cases_of_level(level)
        records += [record(scoped, n, [None]) for n in range(stories)]
        records += [record(open_, n, [], verdict=Verdict.NOT_RUN) for n in range(stories)]
    levels = levels_of(totals(*records).rows())

    best = reached(levels, strict=False)
    assert best is not None
    assert (best.level, best.tier_published, best.stories) == (LevelName.SCALE, Tier.GOLD, 250)
    assert reached(levels, strict=True) is None


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.UNSCORED])
def test_a_cell_of_which_something_could_have_been_asked_does(verdict: Verdict) -> None:
    scoped, open_ = cases_of_level(LevelName.CUMULATIVE)
    records = [record(scoped, n, [True]) for n in range(50)]
    records += [record(open_, n, [], verdict=Verdict.NOT_RUN) for n in range(49)]
    records.append(record(open_, 49, [], verdict=verdict))
    (level,) = levels_of(totals(*records).rows())
    assert not level.whole


def test_stories_of_which_nothing_was_asked_are_no_stories_of_a_level() -> None:
    records = [record(CORE, n, [True] if n else []) for n in range(50)]
    (level,) = levels_of(totals(*records).rows())
    assert (level.stories, level.whole) == (49, False)


def _row(level: LevelName, strict: Tier, *, whole: bool = True) -> LevelRow:
    return LevelRow(
        level=level,
        cells=(),
        stories=1,
        wanted=1,
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
