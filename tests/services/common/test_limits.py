from collections.abc import Callable

import grpc
import pytest

from services.common.errors import ServiceError
from services.common.limits import (
    ATTEMPT_MAX,
    check_attempt,
    check_content,
    check_digest,
    check_id,
    check_json_object,
    check_optional_id,
)


def test_what_is_within_the_limits_comes_back() -> None:
    assert check_id("id", "é" * 64) == "é" * 64
    assert check_optional_id("id", "") == ""
    assert check_digest("digest", "0a" * 32) == "0a" * 32
    assert check_content("content", "x" * 65_536) == "x" * 65_536
    assert check_attempt("attempt", ATTEMPT_MAX) == ATTEMPT_MAX
    assert check_json_object("json", '{"a":[1]}') == {"a": [1]}


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (check_id, ""),
        (check_id, "x" * 129),
        (check_id, "é" * 65),
        (check_optional_id, "x" * 129),
        (check_digest, ""),
        (check_digest, "0A" * 32),
        (check_digest, "0a" * 32 + "\n"),
        (check_digest, "\u0660" * 64),
        (check_content, "x" * 65_537),
        (check_content, "é" * 32_769),
        (check_json_object, '{"a": 1}'),
        (check_json_object, ""),
        (check_json_object, '{"a":"' + "x" * 65_536 + '"}'),
    ],
)
def test_what_is_beyond_is_an_invalid_argument_that_names_the_field_only(
    check: Callable[[str, str], object], value: str
) -> None:
    with pytest.raises(ServiceError, match="field_name") as caught:
        check("field_name", value)
    assert caught.value.code == grpc.StatusCode.INVALID_ARGUMENT
    assert len(value) < 3 or value not in caught.value.message


def test_an_attempt_beyond_exact_numbers_is_refused() -> None:
    with pytest.raises(ServiceError, match="attempt"):
        check_attempt("attempt", ATTEMPT_MAX + 1)
