"""The contract's opaque ids as ids that atmem takes (pure).

The contract allows any text of up to 128 bytes; atmem has an alphabet for each kind. What fits is
taken as it is, anything else becomes a digest under a prefix of its own, so that two different ids
never become one.
"""

import re
from typing import Final

from services.common.canonical import sha256_hex

__all__ = ["protocol_id", "run_id", "source_id", "workflow_key"]

_ESCAPE: Final = "mq-"
_RUN: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_PROTOCOL: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,127}", re.ASCII)
# A source's own id stays readable in front of the call's.
_SOURCE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,90}", re.ASCII)


def _fitting(alphabet: re.Pattern[str], text: str) -> str:
    if alphabet.fullmatch(text) and not text.startswith(_ESCAPE):
        return text
    return _ESCAPE + sha256_hex(text.encode())


def workflow_key(operation_id: str) -> str:
    """Key of the atmem workflow that governs one operation."""
    return f"call_{operation_id}"


def run_id(incarnation_id: str) -> str:
    """The run of atmem: one life of the asking host."""
    return _fitting(_RUN, incarnation_id)


def protocol_id(text: str, *, default: str = "") -> str:
    """An id of a subject, agent or workspace; `default` stands for an empty one."""
    return _fitting(_PROTOCOL, text or default)


def source_id(contract_source_id: str, call_id: str) -> str:
    """The id of one captured message: the source's own id, then the call that captured it.

    Args:
        contract_source_id: the caller's id of the source; may be empty.
        call_id: 32 hexadecimal characters, used once.
    """
    readable = _SOURCE.fullmatch(contract_source_id) is not None
    return f"{contract_source_id if readable else 'source'}.{call_id}"
