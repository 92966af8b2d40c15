"""Declared limits of the contract (DESIGN §4) and the checks that refuse what is beyond them.

Every check raises `ServiceError` INVALID_ARGUMENT with the field's name, never its value.
"""

import re

import grpc

from services.common.canonical import EXACT_INTEGER_MAX, JsonValue, parse_canonical_object
from services.common.errors import ServiceError

__all__ = [
    "ATTEMPT_MAX",
    "CONTENT_BYTES",
    "DIGEST_CHARACTERS",
    "EVENTS_A_REQUEST",
    "ID_BYTES",
    "JOURNAL_PAYLOAD_BYTES",
    "JSON_BYTES",
    "PROVENANCE_BYTES",
    "TOOL_ERROR_BYTES",
    "check_attempt",
    "check_content",
    "check_digest",
    "check_id",
    "check_json_object",
    "check_optional_id",
]

ID_BYTES = 128
CONTENT_BYTES = 65_536
JSON_BYTES = 65_536
DIGEST_CHARACTERS = 64
JOURNAL_PAYLOAD_BYTES = 131_072
TOOL_ERROR_BYTES = 1_024
PROVENANCE_BYTES = 64
EVENTS_A_REQUEST = 1_000
# The largest integer that canonical JSON can hold exactly (RFC 8785).
ATTEMPT_MAX = EXACT_INTEGER_MAX

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def _refuse(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def check_id(name: str, value: str) -> str:
    """An opaque id of 1 to 128 bytes; returns it."""
    if not value:
        raise _refuse(f"{name} is empty; send an id of 1 to {ID_BYTES} bytes")
    return check_optional_id(name, value)


def check_optional_id(name: str, value: str) -> str:
    """An opaque id of at most 128 bytes, or nothing; returns it."""
    size_bytes = len(value.encode("utf-8"))
    if size_bytes > ID_BYTES:
        raise _refuse(f"{name} has {size_bytes} bytes; at most {ID_BYTES} are allowed")
    return value


def check_digest(name: str, value: str) -> str:
    """A digest: 64 lower-case hexadecimal characters; returns it."""
    if _DIGEST.fullmatch(value) is None:
        raise _refuse(f"{name} is no digest; send {DIGEST_CHARACTERS} lower-case hex characters")
    return value


def check_content(name: str, value: str) -> str:
    """Content of at most 64 KiB; returns it."""
    size_bytes = len(value.encode("utf-8"))
    if size_bytes > CONTENT_BYTES:
        raise _refuse(f"{name} has {size_bytes} bytes; at most {CONTENT_BYTES} are allowed")
    return value


def check_attempt(name: str, value: int) -> int:
    """An attempt that canonical JSON can hold; returns it."""
    if not 0 <= value <= ATTEMPT_MAX:
        raise _refuse(f"{name} is out of range; send 0 to {ATTEMPT_MAX}")
    return value


def check_json_object(name: str, text: str) -> dict[str, JsonValue]:
    """One canonical JSON object of at most 64 KiB (RFC 8785); returns what it holds."""
    size_bytes = len(text.encode("utf-8"))
    if size_bytes > JSON_BYTES:
        raise _refuse(f"{name} has {size_bytes} bytes; at most {JSON_BYTES} are allowed")
    try:
        return parse_canonical_object(text)
    except ValueError as error:
        raise _refuse(
            f"{name} is no canonical JSON object (RFC 8785); serialise it with sorted keys and "
            "without blanks"
        ) from error
