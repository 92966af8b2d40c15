"""Canonical JSON and the digests over it (DESIGN §4: RFC 8785, SHA-256, lower-case hexadecimal).

RFC 8785 numbers are IEEE doubles: integers beyond 2**53 - 1 are refused. Nanosecond times and other
64-bit numbers therefore go into canonical documents as decimal strings.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

from memqual.v1 import continuity_pb2

__all__ = [
    "EXACT_INTEGER_MAX",
    "JsonObject",
    "JsonValue",
    "canonical_json",
    "digest_hex",
    "operation_id",
    "parse_canonical_object",
    "sha256_hex",
]

EXACT_INTEGER_MAX = 2**53 - 1

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)
JsonObject: TypeAlias = Mapping[str, JsonValue]


def canonical_json(value: JsonValue) -> bytes:
    """RFC 8785 form of a JSON value, UTF-8.

    Raises:
        ValueError: not expressible (integer beyond 2**53 - 1, NaN, infinity, a lone surrogate, a
            value that is no JSON).
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise ValueError(f"no canonical JSON: {error}") from error


def sha256_hex(data: bytes) -> str:
    """SHA-256 of bytes, 64 lower-case hexadecimal characters."""
    return hashlib.sha256(data).hexdigest()


def digest_hex(value: JsonValue) -> str:
    """SHA-256 of a value's canonical JSON; raises ValueError as `canonical_json` does."""
    return sha256_hex(canonical_json(value))


def parse_canonical_object(text: str) -> dict[str, JsonValue]:
    """The JSON object that a canonical text holds.

    Raises:
        ValueError: no JSON, no object, or not byte for byte the canonical form (so two texts are
            equal exactly when what they hold is).
    """
    try:
        value = json.loads(text, parse_int=_number)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    if canonical_json(value) != text.encode("utf-8"):
        raise ValueError("not in canonical form (RFC 8785)")
    return value


def _number(text: str) -> int | float:
    """JSON has doubles only: a whole number beyond the exact ones stays one of them."""
    value = int(text)
    return value if abs(value) <= EXACT_INTEGER_MAX else float(text)


def operation_id(identity: continuity_pb2.OperationIdentity) -> str:
    """Operation id of an identity: the digest of its five fields by name (DESIGN §4)."""
    return digest_hex(
        {
            "deployment": identity.deployment,
            "thread_id": identity.thread_id,
            "checkpoint_namespace": identity.checkpoint_namespace,
            "message_id": identity.message_id,
            "tool_call_id": identity.tool_call_id,
        }
    )
