"""Several holds that make one window: operations that pass it at different calls of their own."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from chaos.client import Fate
from chaos.holding import Hold

__all__ = ["HeldTogether", "Share"]


@dataclass(frozen=True, slots=True)
class Share:
    """One of the holds.

    Attributes:
        hold: what keeps the operations.
        operations: how many stand there when all have come.
    """

    hold: Hold
    operations: int


@dataclass(frozen=True, slots=True)
class HeldTogether:
    """A `chaos.holding.Hold` that is made of others of one kind.

    Attributes:
        shares: the holds, at least one.
    """

    shares: Sequence[Share]

    @property
    def dies_with_agent(self) -> bool:
        """The holds are within the agent host."""
        return all(share.hold.dies_with_agent for share in self.shares)

    def as_it_stands(self) -> "HeldTogether":
        """The same for those that are there now: nobody else is waited for."""
        return HeldTogether(
            tuple(Share(one.hold, len(one.hold.await_held(0, 0.0))) for one in self.shares)
        )

    def await_held(self, count: int, timeout_seconds: float) -> tuple[str, ...]:
        """See `Hold`; a count of 0 asks for those that are there now.

        Raises:
            NotInTime: of one of the holds fewer are there than are to come.
        """
        deadline = time.monotonic() + timeout_seconds
        held: list[str] = []
        for share in self.shares:
            left_seconds = max(deadline - time.monotonic(), 0.0)
            held += share.hold.await_held(min(count, share.operations), left_seconds)
        return tuple(held)

    def release(self, fate: Fate, await_done_seconds: float) -> int:
        """See `Hold`."""
        return sum(share.hold.release(fate, await_done_seconds) for share in self.shares)
