"""Several holds as one: each is asked for its own share."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from chaos.client import Fate
from chaos.errors import NotInTime
from chaos.held_together import HeldTogether, Share


@dataclass
class Standing:
    """A hold with so many operations; answers what is there or says that it is too few."""

    names: tuple[str, ...]
    in_host: bool = False
    fates: list[Fate] = field(default_factory=list)

    @property
    def dies_with_agent(self) -> bool:
        return self.in_host

    def await_held(self, count: int, timeout_seconds: float) -> tuple[str, ...]:
        if len(self.names) < count:
            raise NotInTime("AwaitHeld", "DEADLINE_EXCEEDED", f"holds {len(self.names)}")
        return self.names

    def release(self, fate: Fate, await_done_seconds: float) -> int:
        self.fates.append(fate)
        return len(self.names)


def test_everything_that_is_held_is_told_in_order() -> None:
    together = HeldTogether((Share(Standing(("a", "b")), 2), Share(Standing(("c",)), 1)))
    assert together.await_held(3, 1.0) == ("a", "b", "c")
    assert together.await_held(0, 0.0) == ("a", "b", "c")
    assert not together.dies_with_agent


def test_a_share_that_is_not_complete_is_waited_for() -> None:
    together = HeldTogether((Share(Standing(("a", "b")), 2), Share(Standing(()), 1)))
    assert together.await_held(0, 0.0) == ("a", "b")
    with pytest.raises(NotInTime):
        together.await_held(3, 0.0)


def test_one_fate_is_given_to_all() -> None:
    first, second = Standing(("a", "b"), in_host=True), Standing(("c",), in_host=True)
    together = HeldTogether((Share(first, 2), Share(second, 1)))
    assert together.release(Fate.DROP, 0.0) == 3
    assert first.fates == second.fates == [Fate.DROP]
    assert together.dies_with_agent


def test_nobody_else_is_waited_for_once_it_is_taken_as_it_stands() -> None:
    together = HeldTogether((Share(Standing(("a", "b")), 2), Share(Standing(("c",)), 3)))
    with pytest.raises(NotInTime):
        together.await_held(3, 0.0)
    assert together.as_it_stands().await_held(3, 0.0) == ("a", "b", "c")
