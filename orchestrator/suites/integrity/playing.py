"""Plays a script to its end against whoever answers: a live memory, or a recording."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.suites.integrity.calls import Answer, Ask, Script, StackStep, Together, Want

__all__ = ["WANTS_MAX", "Play", "play"]

WANTS_MAX = 3_000
"""More wants than any trial of a fixed script has; one that goes on is a fault of ours."""


class Play:
    """A script that is played in pieces, from one step of the whole stack to the next.

    Args:
        script: The script, not begun.
        answer: Carries calls out.
        wants_max: More wants than it has, where what it plays decides how many those are.
    """

    def __init__(
        self,
        script: Script,
        answer: Callable[[Ask | Together], Answer],
        wants_max: int = WANTS_MAX,
    ) -> None:
        self._script = script
        self._answer = answer
        self._wants = 0
        self._wants_max = wants_max

    def advance(self, given: Answer | None) -> StackStep | None:
        """Play on until the script wants something of the whole stack.

        Args:
            given: What came of that step before; None to begin.

        Returns:
            The step, or None when the script has ended.

        Raises:
            ContractBreach, NotExpressible, NotServed, NotPossible: As the script does.
            RuntimeError: It has more wants than it may.
        """
        answer = given
        while True:
            try:
                want = next(self._script) if answer is None else self._script.send(answer)
            except StopIteration:
                return None
            self._wants += 1
            if self._wants > self._wants_max:
                raise RuntimeError(f"a script of more than {self._wants_max} wants")
            if not isinstance(want, Ask | Together):
                return want
            answer = self._answer(want)


def play(script: Script, answer: Callable[[Want], Answer], wants_max: int = WANTS_MAX) -> None:
    """Send a script the answer to each of its wants until it ends.

    Args:
        script: The script, not begun.
        answer: Carries out what it wants.
        wants_max: As of `Play`.

    Raises:
        ContractBreach, NotExpressible, NotServed, NotPossible, RuntimeError: As `Play.advance`.
    """
    playing = Play(script, answer, wants_max)
    step = playing.advance(None)
    while step is not None:
        step = playing.advance(answer(step))
