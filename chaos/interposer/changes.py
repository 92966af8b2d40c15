"""A bell for coroutines that wait until something about shared state holds."""

import asyncio
from collections.abc import Callable

__all__ = ["Changes"]


class Changes:
    """Wakes everyone who waits, once for any number of changes since the last look."""

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[None]] = []

    def notify(self) -> None:
        """Says that the state changed; cheap when nobody waits."""
        if self._waiters:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    async def wait(self) -> None:
        """Waits for the next change."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    async def wait_until(self, holds: Callable[[], bool], timeout_seconds: float) -> bool:
        """Waits until ``holds()`` is true; False when the time was over first."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while not holds():
                    await self.wait()
        except TimeoutError:
            return holds()
        return True
