"""Why a service of a stack is silent: whoever asks in vain names the cause, not the symptom."""

from __future__ import annotations

from collections.abc import Callable

import grpc

from orchestrator.errors import MemqualError, StackError
from orchestrator.runtimes.base import Stack

__all__ = ["cause_of", "silent_memory", "why_silent"]

_MEMORY = "memory"
_LOOK_SECONDS = 5.0


def why_silent(stack: Stack, service: str) -> MemqualError | None:
    """Look at a service that did not answer.

    Returns:
        Its end with exit code and last lines, or its bad health; None when it is healthy.
    """
    try:
        stack.await_healthy((service,), _LOOK_SECONDS)
    except MemqualError as error:
        return error
    return None


def silent_memory(stack: Stack, method: str, reason: str) -> MemqualError:
    """The error for a memory that did not answer a call that every memory must answer.

    Args:
        stack: Its stack.
        method: Name of the method of VendorService.
        reason: What came in place of an answer.
    """
    found = why_silent(stack, _MEMORY)
    if found is not None:
        return found
    return StackError(
        f"The memory is healthy but does not answer VendorService.{method}: {_bare(reason)}.",
        next_step="Serve memqual.v1.VendorService, every method of it, where MEMQUAL_LISTEN says.",
    )


def cause_of(error: Exception) -> str:
    """What an error says, without its next step."""
    if isinstance(error, MemqualError):
        return error.diagnosis
    code: Callable[[], grpc.StatusCode] | None = getattr(error, "code", None)
    details: Callable[[], str] | None = getattr(error, "details", None)
    if code is None or not callable(code):
        return f"{type(error).__name__}: {error}"
    told = _bare(details() or "") if details is not None else ""
    return f"{code().name}: {told}" if told else code().name


def _bare(text: str) -> str:
    """A sentence's words, to be put into another one."""
    return text.rstrip(".! ")
