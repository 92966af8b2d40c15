"""The baseline of the narrative axis: nearest sentences, of whom is asked, until they are full."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import vendor_pb2
from services.common.errors import ServiceError
from services.controls.chunks import ANSWER_WORDS, sentences
from tests.services.controls.narrative_part import LATER, talk

OTHER = "Torvald Quist"


def test_the_nearest_sentence_comes_first(tmp_path: Path) -> None:
    with talk(tmp_path, "rag") as on:
        on.tell("My aunt breeds alpacas in Devon. The tram was late. I ate a pear.")

        assert on.ask("Who breeds alpacas?").text.startswith("My aunt breeds alpacas in Devon.")


def test_an_answer_is_filled_and_never_longer_than_it_may_be(tmp_path: Path) -> None:
    with talk(tmp_path, "rag") as on:
        on.tell(" ".join(f"I have seen {count} herons by the old canal." for count in range(30)))

        words = on.ask("How many herons?").text.split()

        assert ANSWER_WORDS - 8 <= len(words) <= ANSWER_WORDS


def test_of_equal_sentences_the_later_one_comes_first(tmp_path: Path) -> None:
    with talk(tmp_path, "rag") as on:
        on.tell("It snowed. " + "The quay was empty. " * 3, time=LATER)
        on.tell("It snowed. It hailed.")
        shelf = on.part.memory()  # type: ignore[attr-defined]  # of plain parts

        assert on.ask("It snowed.").text.startswith("It snowed. It snowed.")
        assert shelf.chunks("n")[:2] == ("It snowed.", "It hailed.")


def test_a_speaker_is_answered_out_of_own_turns_and_nobody_out_of_all(tmp_path: Path) -> None:
    with talk(tmp_path, "rag") as on:
        on.tell("I sing in a choir.")
        on.tell("I repair accordions.", speaker=OTHER)

        assert on.ask("What do I repair?").text == "I sing in a choir."
        assert on.ask(f"What does {OTHER} repair?", speaker="").text.startswith(
            "I repair accordions."
        )


def test_it_declines_only_where_nothing_was_told(tmp_path: Path) -> None:
    with talk(tmp_path, "rag") as on:
        assert on.ask("Who breeds alpacas?").declined
        on.tell("I ate a pear.")
        answer = on.ask("How far away is the moon?")
        assert (answer.text, answer.declined, answer.HasField("trace")) == (
            "I ate a pear.",
            False,
            False,
        )


@pytest.mark.parametrize("flaw", ["rag", "transcript_dump"])
def test_what_is_told_survives_its_process_and_is_exported_hashed_and_reset(
    tmp_path: Path, flaw: str
) -> None:
    with talk(tmp_path, flaw) as on:
        on.tell("I sing in a choir. We meet on Mondays.")
        before = on.ask("When do we meet?").text, list(on.part.digest_parts("n"))
    with talk(tmp_path, flaw) as on:
        assert (on.ask("When do we meet?").text, list(on.part.digest_parts("n"))) == before
        assert on.exported(vendor_pb2.EXPORT_KIND_RAW_TURN) == [
            "I sing in a choir. We meet on Mondays."
        ]
        facts = on.exported(vendor_pb2.EXPORT_KIND_FACT)
        assert facts == (["I sing in a choir.", "We meet on Mondays."] if flaw == "rag" else [])
        on.reset()
        assert on.ask("When do we meet?").declined
        assert list(on.part.digest_parts("n")) == []
        assert on.exported(vendor_pb2.EXPORT_KIND_FACT) == []


@pytest.mark.parametrize("flaw", ["rag", "transcript_dump"])
def test_a_turn_that_is_told_twice_is_one(tmp_path: Path, flaw: str) -> None:
    with talk(tmp_path, flaw) as on:
        on.tell("I sing in a choir.")
        on.tell("I sing in a choir.")

        assert on.ask("What do I do?").text == "I sing in a choir."


@pytest.mark.parametrize("flaw", ["rag", "transcript_dump"])
def test_a_namespace_that_was_reset_takes_other_turns(tmp_path: Path, flaw: str) -> None:
    with talk(tmp_path, flaw) as on:
        on.tell("I sing in a choir.")
        assert on.ask("What do I do?").text == "I sing in a choir."
        on.reset()
        on.tell("I repair accordions.")

        assert on.ask("What do I do?").text == "I repair accordions."


@pytest.mark.parametrize("flaw", ["rag", "transcript_dump"])
def test_what_breaks_the_formats_is_refused(tmp_path: Path, flaw: str) -> None:
    with talk(tmp_path, flaw) as on:
        for text, time, speaker in [
            ("", LATER, OTHER),
            ("I sing.", "noonish", OTHER),
            ("I sing.", LATER, ""),
            ("a" * 65_537, LATER, OTHER),
        ]:
            with pytest.raises(ServiceError):
                on.tell(text, time=time, speaker=speaker)
        for question in ["", "q" * 4_097]:
            with pytest.raises(ServiceError):
                on.ask(question)


def test_the_dump_tells_all_that_the_speaker_said_in_the_order_of_its_times(tmp_path: Path) -> None:
    with talk(tmp_path, "transcript_dump") as on:
        on.tell("Later I sang.", time=LATER)
        on.tell("First I hummed.")
        on.tell("I never sing.", speaker=OTHER)

        assert on.ask("Did I sing?").text == "First I hummed.\nLater I sang."
        assert "I never sing." in on.ask("Who sings?", speaker="").text


def test_sentences_end_where_people_end_them() -> None:
    text = 'Dr. Fox said "no." Then J. Brae left… Why?! I stayed\nuntil 5 p.m. and slept'

    assert sentences(text) == [
        'Dr. Fox said "no."',
        "Then J. Brae left…",
        "Why?!",
        "I stayed",
        "until 5 p.m. and slept",
    ]


def test_a_long_sentence_is_cut_at_the_end_of_a_clause() -> None:
    text = "word " * 14 + "first, " + "word " * 14 + "last"

    assert [len(chunk.split()) for chunk in sentences(text)] == [15, 15]


@given(st.text(alphabet="ab.,;!? \n\u2026\"')AMr", max_size=600))
def test_chunks_hold_every_word_once_and_in_order(text: str) -> None:
    chunks = sentences(text)

    assert " ".join(chunks).split() == text.split()
    assert all(0 < len(chunk.split()) <= ANSWER_WORDS for chunk in chunks)
