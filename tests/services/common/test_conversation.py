"""A request's digest tells every difference that a model could see, and no other."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.common.canonical import JsonValue
from services.common.conversation import (
    AgentSaid,
    Asked,
    Entry,
    ToolAnswered,
    UserSaid,
    request_digest,
    trajectory_digest,
)

TEXTS = st.text(max_size=5)
DIGESTS = st.sampled_from(["a" * 64, "b" * 64])
ARGUMENTS: st.SearchStrategy[dict[str, JsonValue]] = st.dictionaries(
    st.sampled_from(["x", "y"]), st.integers(0, 2), max_size=2
)
CALLS = st.lists(st.builds(Asked, st.sampled_from(["read", "write"]), ARGUMENTS), max_size=2)
ENTRIES: st.SearchStrategy[Entry] = st.one_of(
    st.builds(lambda text, calls: AgentSaid(text, tuple(calls)), TEXTS, CALLS),
    st.builds(UserSaid, TEXTS),
    st.builds(ToolAnswered, st.integers(0, 2), st.booleans(), DIGESTS),
)
CONVERSATIONS = st.lists(ENTRIES, max_size=5)

TALK: tuple[Entry, ...] = (
    AgentSaid("welcome"),
    UserSaid("please"),
    AgentSaid("", (Asked("read", {"x": 1}),)),
    ToolAnswered(0, False, "a" * 64),
    AgentSaid("done"),
)


@given(CONVERSATIONS, CONVERSATIONS)
def test_digests_are_equal_exactly_when_conversations_are(
    one: list[Entry], other: list[Entry]
) -> None:
    assert (request_digest("agent", one) == request_digest("agent", other)) == (one == other)
    assert (trajectory_digest(one) == trajectory_digest(other)) == (one == other)


@given(CONVERSATIONS)
def test_a_user_sees_what_was_said_and_nothing_else(entries: list[Entry]) -> None:
    said = [one for one in entries if not isinstance(one, ToolAnswered) and one.text]
    assert request_digest("user", entries) == request_digest("user", said)
    assert request_digest("user", entries) != request_digest("agent", entries)


def test_each_part_of_a_request_counts() -> None:
    call = TALK[2]
    answer = TALK[3]
    assert isinstance(call, AgentSaid)
    assert isinstance(answer, ToolAnswered)
    others: list[tuple[Entry, ...]] = [
        TALK[:-1],
        (*TALK, UserSaid("more")),
        (*TALK[:2], replace(call, calls=(Asked("read", {"x": 2}),)), *TALK[3:]),
        (*TALK[:2], replace(call, calls=(Asked("write", {"x": 1}),)), *TALK[3:]),
        (*TALK[:3], replace(answer, result_digest="b" * 64), *TALK[4:]),
        (*TALK[:3], replace(answer, refused=True), *TALK[4:]),
        (*TALK[:3], replace(answer, call=1), *TALK[4:]),
        (TALK[0], UserSaid("Please"), *TALK[2:]),
        (TALK[1], TALK[0], *TALK[2:]),
    ]
    digests = {request_digest("agent", one) for one in (TALK, *others)}
    assert len(digests) == len(others) + 1
