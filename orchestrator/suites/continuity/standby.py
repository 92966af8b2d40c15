"""A killed host becomes the next standby while the batch goes on (DESIGN §3).

It is waited for right before the next kill, when it may have to take over.
"""

from __future__ import annotations

import threading
import time

from chaos.client import InterposerClient
from orchestrator.errors import StackError
from orchestrator.runtimes.base import ServiceHandle

__all__ = ["StandbyRestart"]

_HEALTHY_SECONDS = 30.0
_JOIN_SECONDS = 60.0


class StandbyRestart:
    """One restart, under way from its making on.

    Args:
        service: The killed host.
        interposer: Control of the stack's interposer.

    Attributes:
        seconds: How long it took; 0 before its end.
    """

    def __init__(self, service: ServiceHandle, interposer: InterposerClient) -> None:
        self._service = service
        self._interposer = interposer
        self._error: Exception | None = None
        self.seconds = 0.0
        self._thread = threading.Thread(target=self._run, name="standby", daemon=True)
        self._thread.start()

    def await_healthy(self) -> None:
        """Wait until the host is healthy on fresh channels.

        Raises:
            MemqualError, ChaosError: It did not come back; what it met is raised as it was.
        """
        self._thread.join(_JOIN_SECONDS)
        if self._thread.is_alive():
            raise StackError(
                f"The host {self._service.name!r} did not come back within "
                f"{_JOIN_SECONDS:.0f} seconds.",
                next_step="See its log in the run folder.",
            )
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        began = time.monotonic()
        try:
            self._service.start()
            for target in (self._service.name, f"{self._service.name}-audit"):
                self._interposer.refresh(target, _HEALTHY_SECONDS)
        except Exception as error:
            self._error = error
        self.seconds = time.monotonic() - began
