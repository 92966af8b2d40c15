import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import continuity_pb2
from services.common.canonical import (
    JsonValue,
    canonical_json,
    digest_hex,
    operation_id,
    parse_canonical_object,
    sha256_hex,
)

JSON_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_keys_are_sorted_and_numbers_take_their_shortest_form() -> None:
    assert (
        canonical_json({"b": 1.0, "a": [True, None, "é"]}) == '{"a":[true,null,"é"],"b":1}'.encode()
    )


@pytest.mark.parametrize("value", [2**53, -(2**53), float("nan"), float("inf"), "\ud800"])
def test_what_canonical_json_cannot_hold_is_refused(value: JsonValue) -> None:
    with pytest.raises(ValueError, match="no canonical JSON"):
        canonical_json({"value": value})


@given(JSON_VALUES)
def test_a_canonical_object_is_its_own_canonical_form(value: JsonValue) -> None:
    text = canonical_json({"value": value}).decode("utf-8")
    assert canonical_json(parse_canonical_object(text)).decode("utf-8") == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        '{"a": 1}',
        '{"b":1,"a":2}',
        '{"a":1,"a":1}',
        '{"a":1.0}',
        '{"a":NaN}',
        '{"a":9007199254740993}',
        '{"a":1' + "0" * 400 + "}",
        '{"a":1' + "0" * 5000 + "}",
        "[" * 100_000,
        '{"a":"\\ud800"}',
    ],
)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_canonical_object(text)


def test_digest_is_sha256_of_the_canonical_bytes() -> None:
    assert digest_hex({"b": 1, "a": 2}) == hashlib.sha256(b'{"a":2,"b":1}').hexdigest()
    assert sha256_hex(b"") == hashlib.sha256(b"").hexdigest()


@given(*[st.text(min_size=1, max_size=20).filter(str.isprintable) for _ in range(5)])
def test_operation_id_is_the_digest_of_the_five_named_fields(
    deployment: str, thread: str, namespace: str, message: str, call: str
) -> None:
    identity = continuity_pb2.OperationIdentity(
        deployment=deployment,
        thread_id=thread,
        checkpoint_namespace=namespace,
        message_id=message,
        tool_call_id=call,
    )
    # Python's own serialiser is a second opinion: for plain text both forms are the same.
    document = json.dumps(
        {
            "checkpoint_namespace": namespace,
            "deployment": deployment,
            "message_id": message,
            "thread_id": thread,
            "tool_call_id": call,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    assert operation_id(identity) == hashlib.sha256(document.encode("utf-8")).hexdigest()
