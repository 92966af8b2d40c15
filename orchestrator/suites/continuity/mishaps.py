"""What a batch that did not go well is put down to (DESIGN §7).

Trouble of the infrastructure is nobody's verdict. What may be the memory's own doing is the
trial's: the trace then shows whether an answer was wrong or missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from chaos.errors import ChaosError
from orchestrator.errors import MemqualError
from orchestrator.evidence.records import BatchError
from orchestrator.runtimes.base import Stack

__all__ = ["INFRASTRUCTURE", "TRIAL", "MemoryEnd", "end_of_memory", "error_of", "with_end"]

INFRASTRUCTURE = "infrastructure"
TRIAL = "trial"

_EXIT_SECONDS = 5.0
_LAST_LINES = 5
_LAST_WORDS_CHARACTERS = 300


@dataclass(frozen=True)
class MemoryEnd:
    """How a memory ended that nobody had killed.

    Attributes:
        cause: In words, with the last of what it wrote.
        starved: The kernel ended it for want of memory.
    """

    cause: str
    starved: bool


def error_of(step: str, error: MemqualError | ChaosError | grpc.RpcError) -> BatchError:
    """The record of an error that cut a batch short.

    Args:
        step: What was under way.
        error: What was raised.
    """
    match error:
        case ChaosError():
            return BatchError(kind=TRIAL, step=step, cause=str(error))
        case MemqualError():
            return BatchError(kind=INFRASTRUCTURE, step=step, cause=error.diagnosis)
        case _:
            cause = f"{error.code().name}: {error.details()}"
            return BatchError(kind=INFRASTRUCTURE, step=step, cause=cause)


def end_of_memory(stack: Stack) -> MemoryEnd | None:
    """How the memory ended, or None while it lives.

    Raises:
        MemqualError: It cannot be looked at.
    """
    memory = stack.service("memory")
    if memory.running():
        return None
    ended = memory.wait_exit(_EXIT_SECONDS)
    words = " ".join(memory.logs_tail(_LAST_LINES).split())[-_LAST_WORDS_CHARACTERS:]
    want = " for want of memory" if ended.oom_killed else ""
    return MemoryEnd(
        cause=f"the memory ended by itself{want} with exit code {ended.exit_code}: "
        f"{words or '(it wrote nothing)'}",
        starved=ended.oom_killed,
    )


def with_end(error: BatchError | None, step: str, end: MemoryEnd) -> BatchError | None:
    """A batch's error when its memory ended by itself meanwhile.

    Want of memory is the infrastructure's. Any other end is the memory's own doing: an error that
    follows from it is the trial's, and a batch that got to its end without one is judged as it is.
    """
    if end.starved:
        return BatchError(kind=INFRASTRUCTURE, step=step, cause=end.cause)
    if error is None:
        return None
    return BatchError(kind=TRIAL, step=error.step, cause=f"{end.cause}; {error.cause}")
