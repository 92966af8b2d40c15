"""Statements, their forms, and nonces that are found in every form."""

import json

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.suites.integrity.search.moves import Kind
from orchestrator.suites.integrity.search.texts import (
    FORMS,
    TOPICS,
    WRAPPINGS,
    carried,
    new_statement,
    plain_form,
    renamed,
    turned,
    wrapped,
)

SEEDS = st.integers(0, 2**31 - 1)
TOPIC_NUMBERS = st.integers(0, TOPICS - 1)
KINDS = st.sampled_from(Kind)


@given(SEEDS, TOPIC_NUMBERS, KINDS, st.sampled_from(FORMS), st.sampled_from(WRAPPINGS))
def test_a_nonce_is_found_in_every_form_and_wrapping(seed, topic, kind, form, wrapping):  # type: ignore[no-untyped-def] # drawn
    first = new_statement(seed, 0, topic, kind, doubtful=True)
    other = new_statement(seed, 1, topic, kind, doubtful=False)
    text = form(wrapped(wrapping, [first.text, other.text]))

    expected = {first.nonce} | ({other.nonce} if "{1}" in wrapping else set())
    assert carried(text, [first.nonce, other.nonce]) == expected


@given(SEEDS, TOPIC_NUMBERS, KINDS, st.sampled_from(FORMS))
def test_all_forms_of_a_text_are_one(seed, topic, kind, form):  # type: ignore[no-untyped-def] # drawn
    text = new_statement(seed, 0, topic, kind, doubtful=True).text

    assert plain_form(form(text)) == plain_form(text)


@given(SEEDS, TOPIC_NUMBERS, KINDS)
def test_a_topic_asks_for_its_statements_and_names_none(seed, topic, kind):  # type: ignore[no-untyped-def] # drawn
    statement = new_statement(seed, 0, topic, kind, doubtful=True)
    words = set(statement.topic.lower().rstrip("?").split()) - {"what", "about", "the"}

    assert statement.nonce in statement.text
    assert statement.nonce in statement.question
    assert statement.nonce not in statement.topic
    said = statement.text.lower()
    assert sum(word in said for word in words) >= len(words) / 2


@given(SEEDS, SEEDS, TOPIC_NUMBERS, KINDS, st.sampled_from(FORMS))
def test_renaming_reaches_every_form_within_json(seed, again, topic, kind, form):  # type: ignore[no-untyped-def] # drawn
    old = new_statement(seed, 0, topic, kind, doubtful=True)
    new = new_statement(again, 1, topic, kind, doubtful=True)
    document = json.dumps({"text": form(old.text)}, ensure_ascii=False)

    changed = json.loads(
        renamed(document, dict(zip(old.nonce.split(), new.nonce.split(), strict=True)))
    )["text"]

    assert changed == form(new.text)


@given(SEEDS, TOPIC_NUMBERS, KINDS)
def test_a_turned_statement_has_the_same_words_and_not_the_nonce(seed, topic, kind):  # type: ignore[no-untyped-def] # drawn
    statement = new_statement(seed, 0, topic, kind, doubtful=True)
    other = turned(statement)

    assert sorted(other.text.split()) == sorted(statement.text.split())
    assert carried(other.text, [statement.nonce, other.nonce]) == {other.nonce}
    assert carried(statement.text, [statement.nonce, other.nonce]) == {statement.nonce}
