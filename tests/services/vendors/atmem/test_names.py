"""Opaque ids become ids that atmem takes, and two never become one."""

import re

from hypothesis import given
from hypothesis import strategies as st

from services.vendors.atmem import names

IDS = st.text(min_size=1, max_size=128).filter(lambda text: 1 <= len(text.encode()) <= 128)
ATMEM_RUN = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
ATMEM_PROTOCOL = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,127}", re.ASCII)


@given(IDS)
def test_every_id_fits_the_alphabets(text: str) -> None:
    assert ATMEM_RUN.fullmatch(names.run_id(text))
    assert ATMEM_PROTOCOL.fullmatch(names.protocol_id(text))
    assert ATMEM_PROTOCOL.fullmatch(names.source_id(text, "0" * 32))


@given(IDS, IDS)
def test_two_ids_never_become_one(first: str, second: str) -> None:
    same = first == second
    assert (names.run_id(first) == names.run_id(second)) is same
    assert (names.protocol_id(first) == names.protocol_id(second)) is same


def test_a_digest_of_one_id_is_not_taken_as_another_id() -> None:
    escaped = names.protocol_id("no id: blank")
    assert escaped.startswith("mq-")
    assert names.protocol_id(escaped) != escaped


def test_an_id_that_fits_stays_readable() -> None:
    assert names.run_id("life-1") == "life-1"
    assert names.protocol_id("alice") == "alice"
    assert names.protocol_id("", default="any-agent") == "any-agent"
    assert names.source_id("chat-1", "f" * 32) == "chat-1." + "f" * 32
    assert names.source_id("", "f" * 32) == "source." + "f" * 32


def test_a_workflow_key_names_its_operation() -> None:
    assert names.workflow_key("ab12") == "call_ab12"
