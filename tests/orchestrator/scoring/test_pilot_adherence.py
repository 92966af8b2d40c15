"""What is noted of a simulated customer, from what was said alone."""

import pytest

from orchestrator.scoring.pilot_adherence import Said, adherence

STOP = "###STOP###"
WISH = "You are Ugo Holm. Exchange item 1234567890 of #W1000000 by credit_card_1111111."


def user(text: str) -> Said:
    return Said(speaker="user", text=text)


def agent(text: str) -> Said:
    return Said(speaker="agent", text=text)


FINE = (
    agent("Hello."),
    user("Item 1234567890 of order #w1000000, please, by credit_card_1111111."),
    agent("Instead you can have 0987654321, sent to ugo.holm@example.com."),
    user("0987654321 it is; ugo.holm@example.com is mine."),
    user(STOP),
)


def test_a_customer_that_keeps_to_its_part_is_told_so() -> None:
    assert adherence(WISH, FINE, STOP) == ("simulator: kept to its part",)


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ((agent("Hello."),), "simulator: said nothing"),
        (FINE[:-1], "simulator: did not end with its stop token"),
        ((*FINE[:-1], user(f"Bye. {STOP}")), "simulator: said more than the stop token"),
        ((user(STOP), user(STOP)), "simulator: 1 earlier messages hold the stop token"),
        ((user("#W1000001?"), user(STOP)), "simulator: 1 ids that nobody told it: #w1000001"),
        ((user("a@b.example"), user(STOP)), "simulator: 1 ids that nobody told it: a@b.example"),
        ((user("paypal_7"), user(STOP)), "simulator: 1 ids that nobody told it: paypal_7"),
        ((user("0987654321"), *FINE[2:]), "simulator: 1 ids that nobody told it: 0987654321"),
        ((user("x" * 1_001), user(STOP)), "simulator: 1 messages of more than 1000 characters"),
    ],
)
def test_each_deviation_is_noted(said: tuple[Said, ...], note: str) -> None:
    notes = adherence(WISH, said, STOP)
    assert len(notes) == 1
    assert notes[0].startswith(note)


def test_many_invented_ids_are_counted_and_five_are_told() -> None:
    text = " ".join(f"#W{number}" for number in range(7))
    (note,) = adherence(WISH, (user(text), user(STOP)), STOP)
    assert note == "simulator: 7 ids that nobody told it: #w0, #w1, #w2, #w3, #w4"
