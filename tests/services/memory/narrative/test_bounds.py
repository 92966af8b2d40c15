"""Whatever is said, in whatever script and length: a clean answer within its limits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memqual.v1 import narrative_pb2
from services.memory.narrative.part import Evaluated, open_part

ANSWER_WORDS = 25
LONG_ANSWER_WORDS = 150
FACTS_MAX = 1_000
SPEAKER = "Ottoline Vane-Marsh"
LONG_CLASSES = {narrative_pb2.QUERY_CLASS_SITUATION, narrative_pb2.QUERY_CLASS_CHANGE}
# gRPC carries text as UTF-8, which has no surrogates.
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300).filter(str.strip)


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evaluated]:
    opened = open_part(tmp_path_factory.mktemp("narrative"))
    yield opened
    opened.close()


def _tell(part: Evaluated, namespace: str, text: str) -> narrative_pb2.WriteTrace:
    turn = narrative_pb2.Turn(
        namespace=namespace, speaker=SPEAKER, time="2026-04-01T08:00", text=text
    )
    return part.ingest(turn).trace


def _ask(part: Evaluated, namespace: str, question: str) -> narrative_pb2.Answer:
    request = narrative_pb2.AskRequest(namespace=namespace, question=question, speaker=SPEAKER)
    return part.ask(request).answer


def _is_clean(answer: narrative_pb2.Answer) -> bool:
    long = answer.trace.query_class in LONG_CLASSES
    within = len(answer.text.split()) <= (LONG_ANSWER_WORDS if long else ANSWER_WORDS)
    return within and (answer.declined is (answer.text == ""))


@settings(max_examples=40, deadline=None)
@given(told=TEXTS, asked=TEXTS)
def test_any_text_is_taken_and_any_question_answered_within_limits(
    part: Evaluated, told: str, asked: str
) -> None:
    trace = _tell(part, "any", told)
    assert all(fact.text in told for fact in trace.facts)
    answer = _ask(part, "any", asked)
    assert len(answer.trace.candidate_fact_ids) <= 100
    assert answer.declined or len(answer.text.split()) <= LONG_ANSWER_WORDS


@pytest.mark.parametrize(
    "told",
    [
        "Ich wohne seit März in Graz und habe zwei Katzen.",
        "明日は大阪へ行きます。姉は医者です。",
        "🎉🎉 got the keys!!! 🗝️ moving to Zadar on Friday 😭",
        "Моя сестра lives in تونس now, она is a baker 🙂",
        "…",
        "?!",
        "a" * 4_000,
        "no full stop " * 400,
    ],
    ids=["german", "japanese", "emoji", "mixed", "dots", "marks", "one word", "endless"],
)
def test_odd_turns_get_clean_answers(part: Evaluated, told: str) -> None:
    namespace = f"odd-{len(told)}"
    _tell(part, namespace, told)
    for question in ("Where do I live now?", "What is going on with my sister?", "Who am I?"):
        assert _is_clean(_ask(part, namespace, question))


def test_the_longest_turn_is_taken_with_a_bounded_number_of_facts(part: Evaluated) -> None:
    sentence = "On day {} my neighbour planted a row of leeks. "
    text = "".join(sentence.format(number) for number in range(1_300))[:65_000]
    trace = _tell(part, "long", text)
    assert 1 <= len(trace.facts) <= FACTS_MAX
    assert "leeks" in _ask(part, "long", "What did my neighbour plant?").text


def test_a_reset_namespace_forgets_even_what_was_cached(tmp_path: Path) -> None:
    part = open_part(tmp_path)
    _tell(part, "n", "My boat is called Heron.")
    assert "Heron" in _ask(part, "n", "What is my boat called?").text
    part.reset("n")
    _tell(part, "n", "My boat is called Plover.")
    assert "Plover" in _ask(part, "n", "What is my boat called?").text
    part.close()
