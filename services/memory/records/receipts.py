"""What this memory's own continuity part knows of the operation that a receipt is about.

An episode may claim to be the receipt of an operation; its `source_id` is then the operation's id.
The records part reads those rows through one narrow port, in the same database and the same
transaction, and never writes them: no record changes what Begin decides (DESIGN §4).
"""

import enum
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from services.common.canonical import JsonValue, digest_hex, sha256_hex
from services.memory.records.model import Scope

__all__ = ["KnownOperation", "KnownOperations", "Proof", "proof_of"]

_NAMES = (
    "operation_id",
    "workflow_id",
    "tool",
    "destination",
    "arguments_digest",
    "result_digest",
    "effect_id",
    "outcome",
)
# What a text must name of the answer to be bound to it.
_ANSWERS = frozenset({"result_digest", "effect_id"})


class Proof(enum.StrEnum):
    """How a receipt's text stands to what the memory itself knows of its operation."""

    UNKNOWN = "unknown"
    """This memory knows no such operation of this principal."""
    CONTRADICTED = "contradicted"
    """The operation is not complete here, or completed with another result or effect."""
    PROVEN = "proven"
    """The operation is complete here, and the text says nothing else."""
    BOUND = "bound"
    """Proven, and every word of the text stands in the memory's own rows."""


@dataclass(frozen=True, slots=True)
class KnownOperation:
    """One operation as the continuity part has it; empty strings while it is not complete.

    Attributes:
        complete: it has a receipt that counts.
        arguments_digest, result_digest: SHA-256 over canonical JSON, hexadecimal.
        outcome: "succeeded" or "tool_error".
    """

    operation_id: str
    workflow_id: str
    tool: str
    destination: str
    arguments_digest: str
    complete: bool = False
    result_digest: str = ""
    effect_id: str = ""
    outcome: str = ""


class KnownOperations(Protocol):
    """Read-only port to the continuity part's rows."""

    def find(
        self, conn: sqlite3.Connection, scope: Scope, operation_id: str
    ) -> KnownOperation | None:
        """The operation, if it is one of this namespace and principal."""


def proof_of(operation: KnownOperation | None, text: str) -> Proof:
    """Holds a receipt's text against the operation that it names."""
    if operation is None:
        return Proof.UNKNOWN
    if not operation.complete:
        return Proof.CONTRADICTED
    if sha256_hex(text.encode("utf-8")) == operation.result_digest:
        return Proof.BOUND  # the recorded result byte for byte
    found = _object(text)
    said = _said(found)
    if any(said[name] != getattr(operation, name) for name in said):
        return Proof.CONTRADICTED
    bound = found.keys() <= {*_NAMES, "result"} and not _ANSWERS.isdisjoint(said)
    return Proof.BOUND if bound else Proof.PROVEN


def _object(text: str) -> dict[str, JsonValue]:
    """The JSON object that a text is; {} for prose."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _said(found: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """What an object says under the names of a receipt."""
    said = {name: found[name] for name in _NAMES if name in found}
    if "result" in found:
        digest = _digest(found["result"])
        if digest != said.setdefault("result_digest", digest):
            said["result_digest"] = ""  # it contradicts itself
    return said


def _digest(result: JsonValue) -> str:
    try:
        return digest_hex(result)
    except (ValueError, RecursionError):
        return ""
