"""Narrative jobs on a memory that is right about the contract, and on some that are not."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import pytest

from memqual.v1 import narrative_pb2, vendor_pb2
from orchestrator.model import CheckOutcome, NotRunSubtype, TrialRecord, Verdict
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.properties.bad_input import INPUTS
from orchestrator.suites.narrative.stories import Form, Question
from orchestrator.suites.narrative.tiers import Tier, levels_of
from orchestrator.suites.narrative.told import FactsTold
from orchestrator.suites.narrative.totals import NarrativeRow, NarrativeTotals
from tests.orchestrator.suites.integrity.contexts import check_of, found, rig_at
from tests.orchestrator.suites.narrative.rigs import play, played_on
from tests.orchestrator.suites.narrative.small_memory import SmallNarrative, serve
from tests.orchestrator.suites.narrative.tiny_stories import FERRY, LOOM

LEVELS = (
    "level.core",
    "level.stress",
    "level.cumulative_scoped",
    "level.cumulative_open",
    "level.scale_scoped",
    "level.scale_open",
)
GRADED = (
    *LEVELS,
    "property.update",
    "property.reconstruction",
    "property.operational_usefulness",
)


def figures_of(record: TrialRecord) -> dict[str, str]:
    return {figure.name: figure.value for figure in record.figures}


def test_a_level_is_graded_with_a_figure_for_each_checkpoint_and_question() -> None:
    (record,) = play("level.core")

    assert record.verdict is Verdict.UNSCORED
    assert figures_of(record) == {
        "story": "r1-01",
        "round": "r1",
        "patterns": "multi_fact temporal_update",
        "cp1": "2/3",
        "cp2": "3/3",
        "cp3": "4/4",
        "cp4": "0/1",
        "cp5": "1/3",
        "cp6": "2/2",
        "cp8_published": "3/3",
        "cp8_strict": "3/3",
        "asked q1": "factual yes yes -",
        "asked q2": "change yes yes cp5",
        "asked q3": "general_knowledge yes yes cp5",
    }


@pytest.mark.parametrize("case", GRADED)
def test_nothing_that_is_graded_passes_or_fails(case: str) -> None:
    records = play(case)

    assert records
    assert {record.verdict for record in records} == {Verdict.UNSCORED}
    assert all(figures_of(record)["story"] for record in records)


def test_in_one_memory_scoped_and_open_questions_share_what_was_told() -> None:
    records = play("level.scale_scoped", "level.scale_open")

    assert [record.cell.case for record in records] == ["level.scale_scoped"] * 2 + [
        "level.scale_open"
    ] * 2
    assert [figures_of(record)["story"] for record in records] == ["r1-01", "r2-01"] * 2
    assert len({record.batch_id for record in records}) == 1
    assert figures_of(records[2])["cp6"] == "2/2"
    assert not any("cp2" in figures_of(record) for record in records)


def test_the_largest_level_is_filled_up_with_derived_stories() -> None:
    records = play("level.scale_1000_scoped", "level.scale_1000_open")

    assert {record.verdict for record in records} == {Verdict.UNSCORED}


def test_one_story_fills_the_largest_level_up_by_itself() -> None:
    # 999 derived stories of three turns and its own: more calls than a script of fixed length has.
    records = play("level.scale_1000_scoped", corpus=Corpus((LOOM,), own=True))

    assert [record.verdict for record in records] == [Verdict.UNSCORED]
    assert figures_of(records[0])["cp8_published"] == "3/3"


@pytest.mark.parametrize("case", [*GRADED, "property.disambiguation", "property.bad_input"])
@pytest.mark.parametrize("flaw", ["empty", "both"])
def test_an_answer_that_is_neither_text_nor_declined_is_none(case: str, flaw: str) -> None:
    for record in play(case, flaw=flaw):
        assert record.verdict is Verdict.FAIL
        assert found(record, CheckOutcome.VIOLATED) == [f"narrative.{record.cell.case}.contract"]


def test_a_healthy_memory_that_raises_fails() -> None:
    (record,) = play("level.core", flaw="raises")

    assert record.verdict is Verdict.FAIL
    assert "INTERNAL" in record.cause


def test_what_breaks_off_lowers_every_rate_and_raises_none() -> None:
    (whole,) = play("level.core")
    (broken,) = play("level.core", flaw="raises")

    names = [name for name in figures_of(whole) if name.startswith("cp")]
    for name in names:
        counted = figures_of(whole)[name].partition("/")[2]
        # Of no fact that was told one is looked for.
        assert figures_of(broken)[name] == ("0/1" if name == "cp3" else f"0/{counted}")


def test_a_memory_that_tells_of_no_fact_fails_cp3() -> None:
    (record,) = play("level.core", flaw="factless")

    assert figures_of(record)["cp3"] == "0/1"


def test_declared_traces_are_owed() -> None:
    (record,) = play("level.core", flaw="untraced")

    assert record.verdict is Verdict.FAIL
    assert "gives no trace" in record.cause


def test_without_traces_only_answers_are_scored() -> None:
    (record,) = play("level.core", flaw="no_traces")

    names = figures_of(record)
    assert record.verdict is Verdict.UNSCORED
    assert {name for name in names if name.startswith("cp")} == {"cp8_published", "cp8_strict"}


def test_a_memory_without_a_narrative_path_is_not_asked() -> None:
    (record,) = play("level.core", flaw="undeclared")

    assert (record.verdict, record.subtype) == (
        Verdict.NOT_RUN,
        NotRunSubtype.CAPABILITY_ABSENT,
    )
    assert record.figures == ()


def test_speakers_are_kept_apart() -> None:
    assert {record.verdict for record in play("property.disambiguation")} == {Verdict.PASS}


def test_a_memory_that_mixes_speakers_is_caught() -> None:
    records = play("property.disambiguation", flaw="mixes")

    caught = {check for record in records for check in found(record, CheckOutcome.VIOLATED)}
    assert caught == {"narrative.property.disambiguation.others"}


COMPARING = ("property.arrival_order", "property.determinism", "property.disambiguation")


@pytest.mark.parametrize("case", COMPARING)
def test_a_memory_that_declines_everything_shows_no_property(case: str) -> None:
    for record in play(case, flaw="declines"):
        assert record.verdict is Verdict.FAIL
        assert found(record, CheckOutcome.VIOLATED) == [f"narrative.{case}.answered"]


@pytest.mark.parametrize("case", COMPARING)
def test_answers_that_hold_nothing_of_what_was_told_are_no_evidence(case: str) -> None:
    for record in play(case, flaw="guesses"):
        assert record.verdict is Verdict.ERROR
        assert "no answer holds what was told" in record.cause


def test_a_story_that_a_weak_memory_answers_nothing_of_is_carried_by_the_others() -> None:
    hard = tuple(
        one.model_copy(update={"question": "Quid est?"})
        for one in LOOM.questions
        if one.expected_contains
    )
    corpus = Corpus((LOOM.model_copy(update={"questions": hard}), FERRY), own=True)

    records = play("property.determinism", corpus=corpus)

    assert [record.verdict for record in records] == [Verdict.PASS, Verdict.PASS]


def test_without_a_question_that_expects_an_answer_none_is_owed() -> None:
    trap = tuple(one for one in LOOM.questions if not one.expected_contains)
    corpus = Corpus((LOOM.model_copy(update={"questions": trap}),), own=True)

    (record,) = play("property.determinism", flaw="declines", corpus=corpus)

    assert record.verdict is Verdict.PASS


def test_equal_questions_have_equal_answers() -> None:
    assert {record.verdict for record in play("property.determinism")} == {Verdict.PASS}


def test_a_memory_that_rolls_dice_is_caught() -> None:
    for record in play("property.determinism", flaw="dice"):
        assert found(record, CheckOutcome.VIOLATED) == [
            "narrative.property.determinism.again",
            "narrative.property.determinism.twin",
        ]


def test_bad_input_is_refused_and_unusual_input_is_taken() -> None:
    records = play("property.bad_input")

    assert [record.cause for record in records if record.verdict is not Verdict.PASS] == []


def test_a_memory_that_takes_everything_is_caught_where_it_must_not() -> None:
    records = play("property.bad_input", flaw="takes_all")

    failed = [record for record in records if record.verdict is Verdict.FAIL]
    # The largest is refused by gRPC itself.
    assert len(failed) == 14
    for record in failed:
        check = check_of(record, "narrative.property.bad_input.refused")
        assert check.outcome is CheckOutcome.VIOLATED


def test_only_what_is_too_long_is_over_a_limit() -> None:
    over = {one.name for one in INPUTS if "RESOURCE_EXHAUSTED" in one.refusals}

    assert over == {
        "speaker too long",
        "text too long",
        "text too long in bytes alone",
        "a megabyte",
        "question too long",
    }
    assert all("INVALID_ARGUMENT" in one.refusals for one in INPUTS)


def test_unusual_input_that_harms_what_was_told_is_caught() -> None:
    records = play("property.bad_input", flaw="drops")

    (failed,) = [record for record in records if record.verdict is Verdict.FAIL]
    assert found(failed, CheckOutcome.VIOLATED) == ["narrative.property.bad_input.taken"]
    assert "gone" in failed.cause


def test_turns_that_come_in_reverse_are_of_their_own_times() -> None:
    assert {record.verdict for record in play("property.arrival_order")} == {Verdict.PASS}


def test_a_memory_that_takes_what_comes_last_for_the_latest_is_caught() -> None:
    asked = LOOM.questions[1].model_copy(update={"question": "Where stands the loom?"})
    corpus = Corpus((LOOM.model_copy(update={"questions": (asked,)}),), own=True)
    assert play("property.arrival_order", corpus=corpus)[0].verdict is Verdict.PASS

    records = play("property.arrival_order", flaw="arrival", corpus=corpus)

    caught = {check for record in records for check in found(record, CheckOutcome.VIOLATED)}
    assert caught == {"narrative.property.arrival_order.reversed"}


PUBLISHED = Corpus(
    tuple(
        story.model_copy(
            update={
                "story_id": number,
                "form": Form.PUBLISHED,
                "narrator": None,
                "patterns": (),
                "questions": tuple(
                    Question(
                        question_id=asked.question_id,
                        question=asked.question,
                        expected_contains=asked.expected_contains,
                    )
                    for asked in story.questions
                ),
            }
        )
        for number, story in (("1", LOOM), ("2", FERRY))
    ),
    own=True,
)
"""As ATANT publishes stories: one reading, no question without a speaker, no types."""


def test_a_published_story_is_scored_by_the_published_reading() -> None:
    first, second = play("level.core", corpus=PUBLISHED)

    assert {first.verdict, second.verdict} == {Verdict.UNSCORED}
    named = figures_of(first)
    assert named["cp8_published"] == "2/2"
    assert "cp8_strict" not in named
    # The third expects nothing: it is asked, and no answer to it is right or wrong.
    assert {name: value for name, value in named.items() if name.startswith("asked")} == {
        "asked q1": "untyped yes - -",
        "asked q2": "untyped yes - -",
    }


def test_published_stories_cannot_be_asked_without_a_speaker() -> None:
    records = play("level.cumulative_scoped", "level.cumulative_open", corpus=PUBLISHED)

    by_case = {record.cell.case: record for record in records}
    assert by_case["level.cumulative_scoped"].verdict is Verdict.UNSCORED
    open_ = by_case["level.cumulative_open"]
    assert (open_.verdict, open_.subtype) == (Verdict.NOT_RUN, NotRunSubtype.NOT_EXPRESSIBLE)
    assert open_.cause == "the story has no question that can be asked"
    (level,) = levels_of(_rows(records))
    assert [cell.case for cell in level.cells] == ["level.cumulative_scoped"]
    assert (level.tier_published, level.tier_strict) == (Tier.GOLD, Tier.NOT_SCORED)


@pytest.mark.parametrize("flaw", ["none", "dice"])
def test_properties_compare_published_stories_by_the_published_reading(flaw: str) -> None:
    # With dice each answer has another number: the same to a memory that claims no determinism.
    memory = SmallNarrative(flaw=flaw)
    describe = memory.describe()
    describe.deterministic = False
    records = _played_by(memory, "property.arrival_order", corpus=PUBLISHED, describe=describe)

    assert {record.verdict for record in records} == {Verdict.PASS}


def test_what_a_case_does_not_ask_is_not_counted_when_it_breaks_off() -> None:
    for case, owed in (
        ("property.update", {"r1-01": 2}),
        ("property.reconstruction", {"r1-01": 1, "r2-01": 1}),
    ):
        for record in play(case, flaw="empty"):
            named = figures_of(record)
            asked = [name for name in named if name.startswith("asked")]
            assert record.verdict is Verdict.FAIL
            assert len(asked) == owed[named["story"]]


def test_open_questions_that_do_not_exist_are_not_owed() -> None:
    first, *rest = LOOM.questions
    loom = LOOM.model_copy(
        update={"questions": (first.model_copy(update={"question_open": None}), *rest)}
    )
    records = play(
        "level.cumulative_scoped",
        "level.cumulative_open",
        flaw="empty",
        corpus=Corpus((loom,), own=True),
    )

    assert [figures_of(record)["cp8_strict"] for record in records] == ["0/3", "0/2"]


class CountingFacts(SmallNarrative):
    """Numbers the facts of each namespace from 1."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[tuple[str, str], str] = {}

    def Ingest(
        self, request: narrative_pb2.IngestRequest, context: grpc.ServicerContext
    ) -> narrative_pb2.IngestResponse:
        response = super().Ingest(request, context)
        for fact in response.trace.facts:
            fact.fact_id = self._number(request.turn.namespace, fact.fact_id)
        return response

    def Ask(
        self, request: narrative_pb2.AskRequest, context: grpc.ServicerContext
    ) -> narrative_pb2.AskResponse:
        response = super().Ask(request, context)
        answer = response.answer
        for ids in (
            answer.fact_ids,
            answer.trace.candidate_fact_ids,
            answer.trace.converged_fact_ids,
        ):
            ids[:] = [self._number(request.namespace, it) for it in ids]
        return response

    def _number(self, namespace: str, fact_id: str) -> str:
        known = sum(space == namespace for space, _ in self._numbers)
        return self._numbers.setdefault((namespace, fact_id), str(known + 1))


def test_ids_of_facts_are_of_their_namespace_alone() -> None:
    ferry = FERRY.model_copy(update={"story_id": "r1-02"})
    corpus = Corpus((LOOM, ferry), own=True)

    counted = _played_by(CountingFacts(), "level.core", corpus=corpus)
    hashed = play("level.core", corpus=corpus)

    assert [record.figures for record in counted] == [record.figures for record in hashed]
    assert [figures_of(record)["cp6"] for record in counted] == ["2/2", "2/2"]
    facts = FactsTold()
    facts.add("one", [narrative_pb2.StoredFact(fact_id="1", text="a loom")])
    facts.add("two", [narrative_pb2.StoredFact(fact_id="1", text="a ferry")])
    assert (facts.of("one"), facts.of("three")) == ({"1": "a loom"}, {})


def _rows(records: Sequence[TrialRecord]) -> Sequence[NarrativeRow]:
    added = NarrativeTotals()
    for record in records:
        added.add(record)
    return added.rows()


def _played_by(
    memory: SmallNarrative,
    *cases: str,
    corpus: Corpus,
    describe: vendor_pb2.DescribeResponse | None = None,
) -> list[TrialRecord]:
    running = serve(memory)
    try:
        with rig_at(f"127.0.0.1:{running.port}", describe or memory.describe()) as rig:
            return played_on(rig, *cases, corpus=corpus)
    finally:
        running.stop()
