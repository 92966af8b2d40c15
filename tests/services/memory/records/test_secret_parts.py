"""Two halves of a secret never lie together; two harmless numbers may."""

import base64
import hashlib
import string
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memqual.v1 import vendor_pb2
from services.memory.records import reporting
from services.memory.records.model import Reason, Source, State, Surface
from services.memory.records.secret_parts import find_joined
from services.memory.records.secret_scan import find_secrets
from tests.services.memory.records.rig import AGENT, ALICE, BOB, TOOL, USER, WEB, Memory

SECRETS = {
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "github": "ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ",
    "stripe": "sk_live_1234567890abcdef12345678",
    "google": "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "prefixed": "mib-secret-0123456789abcdef0123",
    "json web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    "random": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY9z",
    "base64": base64.b64encode(b"my password is hunter2 ok").decode(),
}
PROSE = [
    ("The first half of the key is {0}", "The second half of the key is {0}"),
    ("Please remember {0} for the deployment.", "And then {0} follows, as agreed."),
    ("{0}", "{0}"),
    ("Note {0} please", "Note {0} please"),
    ("Part 1: {0}", "Part 2: {0}"),
    ("I want to tell you this: {0}", "{0} was the rest of what I wanted to tell you."),
]
CARD_PROSE = [
    ("My card starts with {0}.", "It ends with {0}."),
    ("The first half of my Visa is {0}", "the remaining digits are {0}"),
    ("credit card, part one: {0}", "credit card, part two: {0}"),
]
BETWEEN = [
    "Alice likes tea in the morning",
    "The order W2378156 ships to Berlin",
    "commit 1a16ae7f2b3c4d5e6f708192a3b4c5d6e7f80910 was released",
]


def found(first: str, second: str, *between: str) -> tuple[str, ...]:
    assert find_secrets(first) == ()
    return find_joined(second, [*between, first], find_secrets)


def everything(memory: Memory) -> str:
    return "\n".join(
        content.decode("utf-8", "replace")
        for surface in vendor_pb2.Surface.values()
        for _, content in reporting.export(memory.database, "n", surface)
    )


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("prose", PROSE)
def test_the_other_half_is_found_in_either_order(secret: str, prose: tuple[str, str]) -> None:
    half = len(secret) // 2
    first, second = prose[0].format(secret[:half]), prose[1].format(secret[half:])
    assert found(first, second)
    assert found(first, second, *BETWEEN)
    assert found(second, first)


@pytest.mark.parametrize("number", ["4111111111111111", "4111 1111 1111 1111"])
@pytest.mark.parametrize("prose", CARD_PROSE)
def test_the_other_half_of_a_card_is_found(number: str, prose: tuple[str, str]) -> None:
    half = len(number) // 2
    first, second = number[:half].strip(), number[half:].strip()
    assert found(prose[0].format(first), prose[1].format(second), *BETWEEN) == ("card_number",)


@settings(deadline=None)
@given(st.sampled_from(sorted(SECRETS.values())), st.data())
def test_it_is_found_wherever_it_is_cut(secret: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(6, len(secret) - 6))
    first, second = f"one piece: {secret[:cut]}", f"the other piece: {secret[cut:]}"
    if find_secrets(first) or find_secrets(second):
        return  # one piece alone is refused already
    assert found(first, second)


def test_three_pieces_are_found_with_the_last() -> None:
    pieces = ("sk_live_12", "34567890abc", "def12345678")
    texts = [f"Remember {piece} please" for piece in pieces]
    assert find_joined(texts[1], [texts[0]], find_secrets) == ()
    assert find_joined(texts[2], [texts[1], texts[0]], find_secrets)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("my password is", "hunter2"),
        ("api_key =", "9f8a7b6c5d4e3f2a"),
        ("-----BEGIN RSA PRIVATE", "KEY-----\nMIIEowIBAAKCAQEA"),
        ("postgres://bob:s3c", "ret@db.internal/x"),
    ],
)
def test_a_text_that_breaks_off_goes_on_in_the_next(first: str, second: str) -> None:
    assert found(first, second)
    assert find_joined(second, [f"{first}.", first], find_secrets)


@pytest.mark.parametrize("source", [USER, AGENT, TOOL, WEB])
@pytest.mark.parametrize("apart", [0, 3, 10])
def test_both_halves_never_lie_together(memory: Memory, source: Source, apart: int) -> None:
    secret = SECRETS["prefixed"]
    first = memory.write(f"The first half of the string is {secret[:15]}")
    for number in range(apart):
        memory.write(f"Alice has {number} cats and likes them")
    memory.restart()
    text = f"The second half of it is {secret[15:]}"
    second = memory.write(text, source)
    assert first.standing.state is State.ACTIVE
    assert second.standing.state is State.REJECTED
    assert second.standing.reasons[:2] == (Reason.SECRET, Reason.SECRET_IN_PARTS)
    assert secret[15:] not in everything(memory)
    for file in memory.folder.iterdir():
        assert secret[15:].encode() not in file.read_bytes()
    # Asking again answers the same and keeps nothing more.
    again = memory.write(text, source)
    assert again.record_id == second.record_id
    assert memory.said("second half", Surface.EVIDENCE) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("my password is", "hunter2"),
        ("-----BEGIN RSA PRIVATE", "KEY-----\nMIIEowIBAAKCAQEA"),
        (SECRETS["random"][:20], SECRETS["random"][20:]),
    ],
)
def test_a_text_that_goes_on_in_the_next_turn_is_refused(
    memory: Memory, first: str, second: str
) -> None:
    assert memory.write(first).standing.state is State.ACTIVE
    assert memory.write(second, AGENT).standing.reasons[1] == Reason.SECRET_IN_PARTS


def test_no_other_way_in_brings_the_second_half(memory: Memory) -> None:
    secret = SECRETS["prefixed"]
    first = memory.write(f"The first half of the string is {secret[:15]}").record_id
    other = memory.write("Alice likes tea").record_id
    second = f"The second half is {secret[15:]}"
    assert memory.derive(second, other).standing.state is State.REJECTED
    assert memory.supersede(other, second).standing.state is State.REJECTED
    assert memory.write("harmless", labels=(secret[15:],)).standing.state is State.REJECTED
    assert memory.state(other) is State.ACTIVE
    # In place of the first half it would be alone only after it: it is refused all the same.
    assert memory.supersede(first, second).standing.state is State.REJECTED
    assert secret[15:] not in everything(memory)


def test_the_second_half_may_stay_once_the_first_is_forgotten(memory: Memory) -> None:
    secret = SECRETS["prefixed"]
    first = memory.write(f"The first half of the string is {secret[:15]}").record_id
    memory.lifecycle.forget(ALICE, first)
    second = memory.write(f"The second half is {secret[15:]}")
    assert second.standing.state is State.ACTIVE


def test_another_principals_half_is_not_looked_at(memory: Memory) -> None:
    secret = SECRETS["prefixed"]
    memory.write(f"The first half of the string is {secret[:15]}", scope=BOB)
    second = memory.write(f"The second half is {secret[15:]}")
    assert second.standing.state is State.ACTIVE


HEX = st.text("0123456789abcdef", min_size=7, max_size=12)
DIGITS = st.text(string.digits, min_size=4, max_size=12)
PARCEL = st.text(string.ascii_uppercase + string.digits, min_size=12, max_size=16)
HARMLESS = st.one_of(
    st.builds("commit {}".format, HEX),
    st.binary(max_size=8).map(lambda data: f"sha256 {hashlib.sha256(data).hexdigest()}"),
    st.uuids().map(lambda value: f"order {value}"),
    st.builds("The parcel number is 1Z{}".format, PARCEL),
    st.builds("Serial SN-{0}-{1}".format, st.integers(1990, 2035), DIGITS),
    st.builds("order #W{} ships".format, DIGITS),
    st.builds("Order number {} was the second order of the customer".format, DIGITS),
    st.builds("the last part of the shipment has the number {}".format, DIGITS),
    DIGITS,
    st.builds("call +49 30 {}".format, DIGITS),
    st.builds("ISBN 978-3-16-{0}-{1}".format, DIGITS, st.integers(0, 9)),
    st.builds("invoice {0}/{1}".format, st.integers(2000, 2035), DIGITS),
    st.builds("version 1.{0}.{1}".format, st.integers(0, 99), st.integers(0, 99)),
    st.builds("https://shop.example/items/{}".format, HEX),
    st.builds("sku_{0}-{1}".format, HEX, DIGITS),
)


@settings(deadline=None)
@given(st.lists(HARMLESS, min_size=2, max_size=17))
def test_harmless_numbers_stay_harmless_together(texts: list[str]) -> None:
    *earlier, text = texts
    if any(find_secrets(one) for one in texts):
        return
    assert find_joined(text, earlier, find_secrets) == ()


@settings(deadline=None)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=17))
def test_any_texts_are_read(texts: list[str]) -> None:
    *earlier, text = texts
    kinds = find_joined(text, earlier, find_secrets)
    assert list(kinds) == sorted(set(kinds))


def test_identifiers_of_one_customer_are_all_stored(memory: Memory) -> None:
    texts = [
        f"order {uuid.UUID(int=7 << 64)} of the customer",
        "commit 1a16ae7f2b3c4d5e6f708192a3b4c5d6e7f80910",
        "Serial number SN-2024-000123 of the pump",
        "The parcel 1Z999AA10123456784 is late",
        "Call the second office at +49 30 12345678",
        "The loyalty card has the number 41234567",
        "The last order was 87654321",
        "IBAN DE89 3704 0044 0532 0130 00",
        "ISBN 978-3-16-148410-0 is the second part of the trilogy",
    ]
    for text in texts:
        assert memory.write(text).standing.state is State.ACTIVE, text


@pytest.mark.parametrize(
    "greeting", ["Welcome to the canteen, it opens at nine.", "Salut, ça va ?"]
)
def test_an_encoded_harmless_text_is_no_piece(memory: Memory, greeting: str) -> None:
    encoded = base64.b64encode(greeting.encode()).decode()
    said = Source(USER.type, USER.binding, "user-1a2b3c4d")

    memory.write("The gate opens at seven.", source=said)
    kept = memory.write(f"The greeting is encoded as {encoded} on the page.", source=said)

    assert kept.standing.state is State.ACTIVE
