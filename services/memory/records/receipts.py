"""What this memory's own continuity part knows of the operation that a receipt is about.

An episode may claim to be the receipt of an operation; its `source_id` is then the operation's id.
The records part reads those rows through one narrow port, in the same database and the same
transaction, and never writes them: no record changes what Begin decides (DESIGN §4).
"""

import enum
import json
import sqlite3
from dataclasses import dataclass
from typing import Protocol

from services.common.canonical import JsonValue, digest_hex, sha256_hex
from services.memory.records.model import Scope

__all__ = ["KnownOperation", "KnownOperations", "Proof", "proof_of"]

_NAMES = ("operation_id", "arguments_digest", "result_digest", "effect_id", "outcome")


class Proof(enum.StrEnum):
    """How a receipt's text stands to what the memory itself knows of its operation."""

    UNKNOWN = "unknown"
    """This memory knows no such operation of this principal."""
    CONTRADICTED = "contradicted"
    """The operation is not complete here, or completed with another result or effect."""
    PROVEN = "proven"
    """The operation is complete here, and the text says nothing else."""
    RESULT = "result"
    """Proven, and the text is the recorded result byte for byte."""


@dataclass(frozen=True, slots=True)
class KnownOperation:
    """One operation as the continuity part has it; empty strings while it is not complete.

    Attributes:
        complete: it has a receipt that counts.
        outcome: "succeeded" or "tool_error".
    """

    operation_id: str
    complete: bool
    arguments_digest: str
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
        return Proof.RESULT
    known = {name: getattr(operation, name) for name in _NAMES}
    said = _said(text)
    contradicted = any(said[name] != known[name] for name in _NAMES if name in said)
    return Proof.CONTRADICTED if contradicted else Proof.PROVEN


def _said(text: str) -> dict[str, JsonValue]:
    """What a text that is a JSON object says under the names of a receipt; {} for prose."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
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
