"""What a batch that went wrong is put down to: the memory's own doing is never infrastructure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import grpc
import pytest

from chaos.errors import WindowMissed
from orchestrator.errors import EngineError, MemqualError
from orchestrator.evidence.records import BatchError
from orchestrator.runtimes.base import ExitInfo, Stack
from orchestrator.suites.continuity.clocks import SilentClock
from orchestrator.suites.continuity.mishaps import MemoryEnd, end_of_memory, error_of, with_end
from orchestrator.suites.continuity.rig import NotSettled


class _Failed(grpc.RpcError):
    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNAVAILABLE

    def details(self) -> str:
        return "gone"


@pytest.mark.parametrize(
    ("error", "kind", "cause"),
    [
        (WindowMissed("held", "0 of 5"), "trial", "injection stopped at held: 0 of 5"),
        (NotSettled("still run"), "trial", "still run"),
        (
            SilentClock("INTERNAL: x"),
            "trial",
            "the memory does not answer VendorService.Now: INTERNAL: x",
        ),
        (EngineError("no engine", next_step="start it"), "infrastructure", "no engine"),
        (_Failed(), "infrastructure", "UNAVAILABLE: gone"),
    ],
)
def test_an_error_is_put_down_to_its_kind(error: Exception, kind: str, cause: str) -> None:
    assert error_of("kill", error) == BatchError(kind=kind, step="kill", cause=cause)  # type: ignore[arg-type]  # one of the three


@dataclass
class FakeMemory:
    """A stack of which only the memory is looked at."""

    alive: bool = False
    exit_code: int = 3
    oom_killed: bool = False
    words: str = ""
    error: MemqualError | None = None

    def service(self, name: str) -> FakeMemory:
        assert name == "memory"
        return self

    def running(self) -> bool:
        if self.error is not None:
            raise self.error
        return self.alive

    def wait_exit(self, timeout_seconds: float) -> ExitInfo:
        return ExitInfo(self.exit_code, self.oom_killed, 1, 2)

    def logs_tail(self, line_count: int) -> str:
        return self.words


def _end(memory: FakeMemory) -> MemoryEnd | None:
    return end_of_memory(cast(Stack, memory))


def test_a_living_memory_has_no_end() -> None:
    assert _end(FakeMemory(alive=True)) is None


@pytest.mark.parametrize(
    ("memory", "cause"),
    [
        (
            FakeMemory(words="one\n  two\n"),
            "the memory ended by itself with exit code 3: one two",
        ),
        (
            FakeMemory(exit_code=0),
            "the memory ended by itself with exit code 0: (it wrote nothing)",
        ),
        (
            FakeMemory(exit_code=137, oom_killed=True, words="x" * 400),
            f"the memory ended by itself for want of memory with exit code 137: {'x' * 300}",
        ),
    ],
)
def test_an_end_is_told_with_its_last_words(memory: FakeMemory, cause: str) -> None:
    assert _end(memory) == MemoryEnd(cause, memory.oom_killed)


def test_what_cannot_be_looked_at_is_raised() -> None:
    with pytest.raises(EngineError):
        _end(FakeMemory(error=EngineError("no engine", next_step="none")))


MISSED = BatchError(kind="trial", step="kill", cause="0 of 5")
BROKEN = BatchError(kind="infrastructure", step="expire", cause="UNAVAILABLE: gone")


@pytest.mark.parametrize(
    ("error", "starved", "wanted"),
    [
        (None, False, None),
        (MISSED, False, BatchError(kind="trial", step="kill", cause="it ended; 0 of 5")),
        (
            BROKEN,
            False,
            BatchError(kind="trial", step="expire", cause="it ended; UNAVAILABLE: gone"),
        ),
        (None, True, BatchError(kind="infrastructure", step="final", cause="it ended")),
        (MISSED, True, BatchError(kind="infrastructure", step="final", cause="it ended")),
    ],
)
def test_only_want_of_memory_is_the_infrastructures(
    error: BatchError | None, starved: bool, wanted: BatchError | None
) -> None:
    assert with_end(error, "final", MemoryEnd("it ended", starved)) == wanted
