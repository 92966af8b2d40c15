"""Keeps back everything from and to a frozen service (DESIGN §5: part of every kill)."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from chaos.interposer.calls import Call
from chaos.interposer.limits import HOLD_SECONDS_MAX
from memqual.v1 import interposer_pb2

__all__ = ["FreezeGate"]

PHASE_REQUEST = interposer_pb2.MESSAGE_PHASE_REQUEST


@dataclass(frozen=True, slots=True, eq=False)
class _KeptBack:
    call: Call
    phase: int
    # The evaluator released it: it has left its source already, and goes on without its client.
    released: bool
    goes_on: asyncio.Future[bool] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class FreezeGate:
    """Stands before every message; open unless one of its ends is frozen."""

    def __init__(self) -> None:
        self._frozen: set[str] = set()
        self._kept_back: list[_KeptBack] = []

    def freeze(self, services: Collection[str]) -> list[str]:
        """Closes the gate for these services; returns those that were open."""
        closed = sorted(set(services) - self._frozen)
        self._frozen.update(closed)
        return closed

    def sender_frozen(self, call: Call, phase: int) -> bool:
        """True when the message comes from a service that is frozen."""
        return _ends(call, phase)[0] in self._frozen

    def blocks(self, call: Call, phase: int, *, released: bool = False) -> bool:
        """True when a message must not pass now.

        Args:
            call: the message's call.
            phase: request or response.
            released: the evaluator let it go: it has left its sender already.
        """
        if not self._frozen:
            return False
        sender, receiver = _ends(call, phase)
        return receiver in self._frozen or (not released and sender in self._frozen)

    async def keep_back(self, call: Call, phase: int, *, released: bool = False) -> bool:
        """Waits for the thaw; False when the message must be dropped then.

        A message whose client is gone at the thaw is dropped, unless the evaluator released it. One
        that nobody thaws within the bound of a hold is dropped, too.
        """
        kept = _KeptBack(call, phase, released)
        self._kept_back.append(kept)
        try:
            return await asyncio.wait_for(kept.goes_on, HOLD_SECONDS_MAX)
        except TimeoutError:
            return False
        finally:
            if kept in self._kept_back:
                self._kept_back.remove(kept)

    def thaw(self, services: Collection[str]) -> tuple[list[str], int]:
        """Opens the gate for these services.

        Returns:
            The services that were frozen, and how many requests of dead clients are dropped.
        """
        opened = sorted(self._frozen & set(services))
        self._frozen.difference_update(opened)
        strays = 0
        still_kept = []
        for kept in self._kept_back:
            if self.blocks(kept.call, kept.phase, released=kept.released):
                still_kept.append(kept)
                continue
            goes_on = kept.released or not kept.call.client_gone
            strays += kept.phase == PHASE_REQUEST and not goes_on
            if not kept.goes_on.done():
                kept.goes_on.set_result(goes_on)
        self._kept_back = still_kept
        return opened, strays


def _ends(call: Call, phase: int) -> tuple[str, str]:
    """Sender and receiver of a call's request or response, by service name."""
    source, service = call.info.source, call.info.service
    return (source, service) if phase == PHASE_REQUEST else (service, source)
