"""A memory that is silent is asked how it is before anybody says why."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from chaos.errors import NotInTime
from orchestrator.campaign.vitals import cause_of, silent_memory, why_silent
from orchestrator.errors import MemqualError, StackError
from orchestrator.runtimes.base import StackSpec
from tests.orchestrator.campaign.fakes import FakeStack, broken


class _Ill(FakeStack):
    def await_healthy(self, names: tuple[str, ...], timeout_seconds: float) -> None:
        super().await_healthy(names, timeout_seconds)
        raise broken("'memory' ended by itself with exit code 3")


def _stack(kind: type[FakeStack], log: list[str]) -> FakeStack:
    return kind(StackSpec(run_id="run", stack_id="a1", folder=Path()), log, None)


def test_the_end_of_the_memory_is_the_cause() -> None:
    log: list[str] = []
    error = silent_memory(_stack(_Ill, log), "Describe", "UNAVAILABLE: gone")
    assert error.diagnosis == "'memory' ended by itself with exit code 3"
    assert log == ["look at memory"]


def test_a_healthy_memory_lacks_the_method() -> None:
    error = silent_memory(_stack(FakeStack, []), "Now", "UNIMPLEMENTED: Method not found!")
    assert isinstance(error, StackError)
    assert error.diagnosis == (
        "The memory is healthy but does not answer VendorService.Now: "
        "UNIMPLEMENTED: Method not found."
    )
    assert "memqual.v1.VendorService" in error.next_step


def test_what_is_healthy_has_no_cause() -> None:
    assert why_silent(_stack(FakeStack, []), "agent") is None
    assert isinstance(why_silent(_stack(_Ill, []), "agent"), MemqualError)


class _Failed(grpc.RpcError):
    def __init__(self, details: str | None) -> None:
        self._details = details

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.INTERNAL

    def details(self) -> str | None:
        return self._details


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (broken("no stack"), "no stack"),
        (_Failed("broken pipe!"), "INTERNAL: broken pipe"),
        (_Failed(None), "INTERNAL"),
        (grpc.RpcError("odd"), "RpcError: odd"),
        (NotInTime("AwaitHeld", "DEADLINE_EXCEEDED", "0 of 5"), "NotInTime: AwaitHeld: "),
    ],
)
def test_a_cause_is_told_in_words(error: Exception, words: str) -> None:
    assert cause_of(error).startswith(words)
