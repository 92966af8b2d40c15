"""Each checkpoint with what holds it and what does not; properties of the two readings of CP8."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import narrative_pb2
from orchestrator.suites.narrative.checkpoints import (
    CANDIDATES_COUNTED,
    Checkpoint,
    answer_points,
    predicted_point,
    reading_points,
    storage_points,
    words_allowed,
    writing_points,
)
from orchestrator.suites.narrative.stories import Adaptation, Batch, Question, Temporal
from orchestrator.suites.narrative.vocabulary import (
    EmotionName,
    QuestionType,
    TagType,
    TemporalStatus,
    TurnType,
    Warmth,
)
from tests.orchestrator.suites.narrative.tiny_stories import LOOM

WORDS = st.lists(st.sampled_from(["loom", "wool", "attic", "Isaura", "ferry"]), max_size=40)


def batch(**changes: Any) -> Batch:
    return Batch(batch=1, time="2026-03-09T10:00", user_input="It rains.", **changes)


def question(**changes: Any) -> Question:
    fields: dict[str, Any] = {
        "question_id": "q1",
        "question": "Who?",
        "expected_type": QuestionType.FACTUAL,
        "expected_contains": ("Isaura",),
        **changes,
    }
    return Question(**fields)


def answer(text: str, *, declined: bool = False) -> narrative_pb2.Answer:
    return narrative_pb2.Answer(text=text, declined=declined)


def test_what_is_not_expected_yields_no_point() -> None:
    trace = narrative_pb2.WriteTrace(classification=narrative_pb2.TURN_CLASS_NOISE)

    assert writing_points(batch(), trace) == ()
    assert storage_points(batch(), ["anything"]) == ()
    bare = question(expected_type=None, expected_contains=())
    assert reading_points(LOOM, bare, narrative_pb2.ReadTrace(), {}) == ()


@pytest.mark.parametrize("expected", list(TurnType))
def test_cp1_is_the_class_of_the_turn(expected: TurnType) -> None:
    for name, number in narrative_pb2.TurnClass.items():
        trace = narrative_pb2.WriteTrace(classification=number)
        (point,) = writing_points(batch(expected_type=expected), trace)
        assert point.checkpoint is Checkpoint.CLASSIFICATION
        assert point.held == (name == f"TURN_CLASS_{expected.value.upper()}")


def test_cp2_wants_every_string_in_some_item() -> None:
    told = batch(expected_stores=("Mill Lane", "180 euros"))

    (point,) = storage_points(told, ["the studio in mill lane", "costs 180  Euros"])
    assert point.held
    (point,) = storage_points(told, ["Mill Lane 180", "euros"])
    assert (point.held, point.seen) == (False, "'180 euros'")


def test_cp3_wants_one_query_that_finds_its_fact() -> None:
    assert predicted_point("a", [("b",), ("c", "a")]).held
    assert not predicted_point("a", [("b",), ()]).held
    assert not predicted_point("a", []).held


@pytest.mark.parametrize(
    ("tags", "held"),
    [
        ([("Dr. Lindqvist", "PERSON")], True),
        ([("Lindqvist", "PERSON")], True),
        ([("Dr", "ROLE"), ("Lindqvist", "PERSON")], True),
        ([("with Dr. Lindqvist today", "PERSON")], True),
        ([("Dr. Lindqvist", "PLACE")], False),
        ([("Dr. Lindqvist", "PERSON"), ("Dr. Lindqvist", "PLACE")], False),
        # The words themselves decide, whatever stands around them.
        ([("Dr. Lindqvist", "PERSON"), ("Tea with Dr. Lindqvist on Friday", "EVENT")], True),
        ([("Dr. Lindqvist", "PERSON"), ("Lindqvist", "PLACE")], True),
        # A whole turn says nothing of a name in it.
        ([("I had tea with Dr. Lindqvist and then we went home", "PERSON")], False),
        ([("", "PERSON"), ("qvist", "PERSON")], False),
        ([], False),
    ],
)
def test_cp4_is_the_one_type_of_what_shares_most(tags: list[tuple[str, str]], held: bool) -> None:
    trace = narrative_pb2.WriteTrace(
        tags=[narrative_pb2.Tag(text=text, type=type_) for text, type_ in tags]
    )
    told = batch(expected_tags={"Dr. Lindqvist": TagType.PERSON})

    (point,) = writing_points(told, trace)
    assert (point.checkpoint, point.held) == (Checkpoint.TAGGING, held)


def test_cp4_tells_names_apart_of_which_one_holds_the_other() -> None:
    names = {"Lisbon University": TagType.ORGANIZATION, "Lisbon": TagType.PLACE}
    tags = [narrative_pb2.Tag(text=text, type=type_.value) for text, type_ in names.items()]

    for ordered in (tags, tags[::-1]):
        points = writing_points(batch(expected_tags=names), narrative_pb2.WriteTrace(tags=ordered))
        assert [point.held for point in points] == [True, True]


@pytest.mark.parametrize("expected", list(QuestionType))
def test_cp5_is_the_class_of_the_question(expected: QuestionType) -> None:
    for name, number in narrative_pb2.QueryClass.items():
        trace = narrative_pb2.ReadTrace(query_class=number)
        asked = question(expected_type=expected, expected_contains=())
        (point,) = reading_points(LOOM, asked, trace, {})
        assert point.checkpoint is Checkpoint.QUERY
        assert point.held == (name == f"QUERY_CLASS_{expected.value.upper()}")


def matched(contains: tuple[str, ...], candidates: list[str], facts: dict[str, str]) -> bool:
    asked = question(expected_type=None, expected_contains=contains)
    trace = narrative_pb2.ReadTrace(candidate_fact_ids=candidates)
    (point,) = reading_points(LOOM, asked, trace, facts)
    assert point.checkpoint is Checkpoint.MATCHING
    return point.held


def test_cp6_wants_the_fact_among_the_first_candidates() -> None:
    others = {f"f{number}": "other" for number in range(CANDIDATES_COUNTED)}
    facts = {**others, "right": "Isaura dyes wool"}

    assert matched(("isaura",), ["right"], facts)
    assert matched(("isaura",), [*list(others)[1:], "right"], facts)
    assert not matched(("isaura",), [*others, "right"], facts)
    assert not matched(("isaura", "attic"), ["right"], facts)
    assert not matched(("isaura",), ["unknown"], facts)


def test_cp6_takes_the_words_of_a_turn_for_the_date_that_they_mean() -> None:
    named = Temporal(text="next Friday", resolves_to="2026-03-13", status=TemporalStatus.UPCOMING)
    story = LOOM.model_copy(update={"batches": (batch(expected_temporal=(named,)),)})
    asked = question(expected_type=None, expected_contains=("2026-03-13",))
    trace = narrative_pb2.ReadTrace(candidate_fact_ids=["f"])

    (point,) = reading_points(story, asked, trace, {"f": "the exam is next Friday"})
    assert point.held
    (point,) = reading_points(story, asked, trace, {"f": "the exam is on Friday"})
    assert not point.held


def test_cp7_counts_distinct_facts_that_the_memory_stored() -> None:
    facts = {"a": "one", "b": "two", "c": "ONE"}
    asked = question(expected_type=None, expected_contains=(), min_facts=2)

    def held(*ids: str) -> bool:
        trace = narrative_pb2.ReadTrace(converged_fact_ids=ids, candidate_fact_ids=ids)
        (point,) = reading_points(LOOM, asked, trace, facts)
        assert point.checkpoint is Checkpoint.CONVERGENCE
        return point.held

    assert held("a", "b")
    assert not held("a", "a")
    assert not held("a", "c")
    assert not held("a", "unknown")


def test_cp7_counts_candidates_of_the_speaker_that_hold_what_is_expected() -> None:
    own = {"a": "Isaura dyes wool", "b": "the attic is cold", "c": "a ferry sails"}
    others = {f"o{number}": f"fact {number} of another one" for number in range(97)}
    asked = question(expected_type=None, expected_contains=("Isaura",), min_facts=2)

    def held(joined: list[str], candidates: list[str]) -> bool:
        trace = narrative_pb2.ReadTrace(converged_fact_ids=joined, candidate_fact_ids=candidates)
        points = reading_points(LOOM, asked, trace, {**own, **others}, own)
        (point,) = [one for one in points if one.checkpoint is Checkpoint.CONVERGENCE]
        return point.held

    assert held(["a", "b"], ["a", "b"])
    assert not held(["a", "b"], ["a"])
    assert not held(["b", "c"], ["b", "c"])
    assert not held(["a", *others], ["a", *others])
    assert not held(list(others), list(others))


def timed(resolves_to: str, status: narrative_pb2.TemporalStatus.ValueType, *, to: str) -> bool:
    expected = Temporal(text="next Friday", resolves_to=to, status=TemporalStatus.UPCOMING)
    trace = narrative_pb2.WriteTrace(
        temporal=[
            narrative_pb2.TemporalReference(text="Friday", resolves_to=resolves_to, status=status)
        ]
    )
    (point,) = writing_points(batch(expected_temporal=(expected,)), trace)
    assert point.checkpoint is Checkpoint.TEMPORAL
    return point.held


def test_cp9_is_the_day_and_the_status_and_the_minute_where_it_is_expected() -> None:
    upcoming, past = narrative_pb2.TEMPORAL_STATUS_UPCOMING, narrative_pb2.TEMPORAL_STATUS_PAST

    assert timed("2026-03-13", upcoming, to="2026-03-13")
    assert timed("2026-03-13T09:00", upcoming, to="2026-03-13")
    assert timed("2026-03-13T09:00", upcoming, to="2026-03-13T09:00")
    assert not timed("2026-03-13", upcoming, to="2026-03-13T09:00")
    assert not timed("2026-03-14", upcoming, to="2026-03-13")
    assert not timed("2026-03-13", past, to="2026-03-13")


def referred(said: str, expected: Temporal, *references: tuple[str, str]) -> bool:
    """Whether CP9 holds of a turn with some references, all of them upcoming."""
    told = Batch(batch=1, time="2026-03-09T10:00", user_input=said, expected_temporal=(expected,))
    upcoming = narrative_pb2.TEMPORAL_STATUS_UPCOMING
    trace = narrative_pb2.WriteTrace(
        temporal=[
            narrative_pb2.TemporalReference(text=text, resolves_to=to, status=upcoming)
            for text, to in references
        ]
    )
    (point,) = writing_points(told, trace)
    return point.held


def test_cp9_takes_no_guesses() -> None:
    saturday = Temporal(text="Saturday", resolves_to="2026-03-14", status=TemporalStatus.UPCOMING)
    right, wrong = ("Saturday", "2026-03-14"), ("Saturday", "2026-03-21")

    assert referred("See you Saturday.", saturday, right)
    assert referred("See you Saturday.", saturday, right, ("Saturday", "2026-03-14T18:00"))
    assert not referred("See you Saturday.", saturday, right, wrong)
    assert not referred("See you Saturday.", saturday, wrong, ("you Saturday", "2026-03-14"))
    guesses = [("Saturday", f"2026-03-{day:02d}") for day in range(1, 32)]
    assert not referred("See you Saturday.", saturday, *guesses)


def test_cp9_lets_words_that_are_said_twice_mean_two_times() -> None:
    first = Temporal(text="this Friday", resolves_to="2026-03-13", status=TemporalStatus.UPCOMING)
    said = "Not this Friday, the Friday after."
    both = [("Friday", "2026-03-13"), ("Friday", "2026-03-20")]

    assert referred(said, first, *both)
    assert not referred(said, first, *both, ("Friday", "2026-03-27"))


def test_cp9_takes_the_minute_from_a_reference_beside_the_day() -> None:
    expected = Temporal(
        text="Friday at nine", resolves_to="2026-03-13T09:00", status=TemporalStatus.UPCOMING
    )
    day, minute = ("Friday", "2026-03-13"), ("at nine", "2026-03-13T09:00")

    assert referred("It is Friday at nine.", expected, day, minute)
    assert not referred("It is Friday at nine.", expected, day)


@pytest.mark.parametrize(
    ("seen", "expected", "held"),
    [
        (("proud", "INCREASE"), (EmotionName.PROUD, Warmth.INCREASE), True),
        (("proud", "NEUTRAL"), (EmotionName.PROUD, Warmth.INCREASE), False),
        (("sad", "INCREASE"), (EmotionName.PROUD, Warmth.INCREASE), False),
        (None, (EmotionName.NEUTRAL, Warmth.NEUTRAL), True),
        (None, (EmotionName.CALM, Warmth.NEUTRAL), False),
    ],
)
def test_cp10_is_feeling_and_warmth(
    seen: tuple[str, str] | None, expected: tuple[EmotionName, Warmth], held: bool
) -> None:
    trace = narrative_pb2.WriteTrace()
    if seen is not None:
        trace.emotion.name = seen[0]
        trace.emotion.warmth_direction = narrative_pb2.WarmthDirection.Value(
            f"WARMTH_DIRECTION_{seen[1]}"
        )
    feeling = Adaptation(emotion_detected=expected[0], warmth_direction=expected[1])

    (point,) = writing_points(batch(expected_adaptation=feeling), trace)
    assert (point.checkpoint, point.held) == (Checkpoint.ADAPTATION, held)


def test_returning_everything_is_published_and_not_strict() -> None:
    asked = question(must_not_contain=("Pascoe",))
    whole = " ".join(each.user_input for each in LOOM.batches) * 3

    published, strict = answer_points(asked, answer(whole))
    assert (published.held, strict.held) == (True, False)
    assert "holds Pascoe" in strict.seen
    assert "words of at most 25" in strict.seen


def test_general_knowledge_is_declined_through_the_field() -> None:
    asked = question(expected_type=QuestionType.GENERAL_KNOWLEDGE, expected_contains=())

    for given_answer, held in ((answer("", declined=True), True), (answer("I decline"), False)):
        published, strict = answer_points(asked, given_answer)
        assert (published.held, strict.held) == (True, held)


@pytest.mark.parametrize("kind", [None, *QuestionType])
def test_a_situation_and_a_change_may_be_told_at_length(kind: QuestionType | None) -> None:
    longer = kind in (QuestionType.SITUATION, QuestionType.CHANGE)
    assert words_allowed(kind) == (150 if longer else 25)
    asked = question(expected_type=kind, expected_contains=())
    declined = kind is QuestionType.GENERAL_KNOWLEDGE
    for words, held in ((words_allowed(kind), True), (words_allowed(kind) + 1, False)):
        _, strict = answer_points(asked, answer("w " * words, declined=declined))
        assert strict.held is held


@pytest.mark.parametrize("between", ["/", "\u2014", "\u200b", "_", "-", "|", "\u00a0", " "])
def test_no_sign_between_words_makes_one_of_them(between: str) -> None:
    asked = question(expected_contains=())
    for count, held in ((25, True), (26, False)):
        _, strict = answer_points(asked, answer(between.join(["word"] * count)))
        assert strict.held is held


@given(said=WORDS, contains=WORDS, forbidden=WORDS)
def test_what_is_strict_is_published_and_short_and_clean(
    said: list[str], contains: list[str], forbidden: list[str]
) -> None:
    asked = question(expected_contains=tuple(contains), must_not_contain=tuple(forbidden))
    text = " ".join(said)

    published, strict = answer_points(asked, answer(text))
    assert published.held == all(one.lower() in text.lower() for one in contains)
    clean = not any(one.lower() in text.lower() for one in forbidden)
    assert strict.held == (published.held and clean and len(said) <= 25)
    assert bool(strict.seen) != strict.held


@given(said=WORDS, more=WORDS, contains=WORDS)
def test_more_words_never_take_a_published_point_away(
    said: list[str], more: list[str], contains: list[str]
) -> None:
    asked = question(expected_contains=tuple(contains))
    short, _ = answer_points(asked, answer(" ".join(said)))
    long, _ = answer_points(asked, answer(" ".join([*said, *more])))
    assert long.held or not short.held
