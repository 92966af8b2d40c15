"""Plays a script to its end against whoever answers: a live memory, or a recording."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.suites.integrity.calls import Answer, Ask, Script

__all__ = ["CALLS_MAX", "play"]

CALLS_MAX = 2_000
"""More calls than any trial makes; a script that goes on is a fault of ours."""


def play(script: Script, answer: Callable[[Ask], Answer]) -> None:
    """Send a script the answer to each of its calls until it ends.

    Raises:
        ContractBreach, NotServed: As the script does.
        RuntimeError: It made more than 2,000 calls.
    """
    try:
        ask = next(script)
        for _ in range(CALLS_MAX):
            ask = script.send(answer(ask))
    except StopIteration:
        return
    raise RuntimeError(f"a script of more than {CALLS_MAX} calls")
