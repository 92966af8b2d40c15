"""The memory's death and its next life, with the proof of both (DESIGN §5).

A memory that ends by itself each time it is started on the volume that it had when it was killed,
and starts on an empty one, has lost what it acknowledged: that is its own doing, and no trouble of
the infrastructure.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from chaos.errors import ChaosError, InterposerError
from chaos.receipts import KILLED_EXIT_CODES, RestartReceipt, ReviveReceipt, TargetKill
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError

__all__ = ["MEMORY", "CarryOut", "Deaths"]

MEMORY = "memory"

CarryOut: TypeAlias = Callable[[Callable[[], None]], None]
"""Is given what kills, and returns when it has called that."""

_EXIT_SECONDS = 10.0
# A connection is closed a little before its process is gone.
_ENDING_SECONDS = 2.0
_HEALTHY_SECONDS = 30.0
_LOOK_SECONDS = 3.0
_PAUSE_SECONDS = 0.1
_AGAIN_SECONDS = 1.0
_MS_PER_SECOND = 1_000
_LAST_LINES = 5
_LAST_WORDS_CHARACTERS = 300


@dataclass(frozen=True)
class Deaths:
    """Kills the memory of one stack.

    Attributes:
        context: The stack.
    """

    context: StackContext

    def restart(self) -> RestartReceipt:
        """Kill the memory while it is idle, and bring it back.

        Raises:
            ChaosError: It was not seen healthy again, as for every kill.
        """
        return RestartReceipt(target=self.kill(), healthy_after_ms=self.revive())

    def kill(self, carry_out: CarryOut | None = None) -> TargetKill:
        """Kill the memory and start it again.

        Args:
            carry_out: Kills at a moment of its own; None kills at once. What takes time is looked
                up before.
        """
        target = self.context.stack.service(MEMORY)
        pid, started_ns = target.pid(), target.started_at_ns()
        killed_ns = 0

        def kill_now() -> None:
            nonlocal killed_ns
            target.kill()
            killed_ns = time.monotonic_ns()

        if carry_out is None:
            kill_now()
        else:
            carry_out(kill_now)
        ended = target.wait_exit(_EXIT_SECONDS)
        exited_ns = time.monotonic_ns()
        target.start()
        return TargetKill(
            service=MEMORY,
            pid=pid,
            started_before_ns=started_ns,
            kill_monotonic_ns=killed_ns,
            exit_code=ended.exit_code,
            oom_killed=ended.oom_killed,
            exit_monotonic_ns=exited_ns,
            started_after_ns=target.started_at_ns(),
        )

    def revive(self) -> int:
        """Wait until the memory is healthy, in ms; not for one that has ended by itself.

        Raises:
            ChaosError: It is not.
        """
        memory, began = self.context.stack.service(MEMORY), time.monotonic()
        while True:
            try:
                self.context.interposer.refresh(MEMORY, _LOOK_SECONDS)
            except InterposerError:
                late = time.monotonic() - began > _HEALTHY_SECONDS
                if late or not memory.running():
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                return round((time.monotonic() - began) * _MS_PER_SECOND)

    def after_own_end(self) -> ReviveReceipt | None:
        """Start a memory again that has ended by itself; None where it lives.

        Raises:
            ChaosError: It was not seen healthy again.
            StackError: It was killed by others.
        """
        memory = self.context.stack.service(MEMORY)
        ends = time.monotonic() + _ENDING_SECONDS
        while memory.running() and time.monotonic() < ends:
            time.sleep(_PAUSE_SECONDS)
        if memory.running():
            return None
        ended = memory.wait_exit(_EXIT_SECONDS)
        if ended.oom_killed or ended.exit_code in KILLED_EXIT_CODES:
            raise StackError(
                f"The memory was killed by others: exit code {ended.exit_code}.",
                next_step="See the memory's log in the run folder, and the machine's memory.",
            )
        before_ns = memory.started_at_ns()
        memory.start()
        return ReviveReceipt(
            service=MEMORY,
            exit_code=ended.exit_code,
            started_before_ns=before_ns,
            started_after_ns=memory.started_at_ns(),
            healthy_after_ms=self.revive(),
        )

    def lost(self, what: str, error: ChaosError) -> str:
        """How a memory ended that does not start on its own volume any more, in words.

        It is started twice more, and then on an empty volume: only one that ends by itself each
        time and is healthy without its volume has broken its own store.

        Args:
            what: What was done to it.
            error: What came of that.

        Raises:
            StackError: Anything else: it hangs, was killed by others, or does not start at all.
        """
        unusable = StackError(
            f"The memory could not be brought through {what}: {error}",
            next_step="See the memory's log in the run folder; it ended or hangs.",
        )
        stack = self.context.stack
        memory = stack.service(MEMORY)
        for start_again in (True, True, False):
            if memory.running():
                raise unusable from error
            ended = memory.wait_exit(_EXIT_SECONDS)
            if ended.oom_killed or ended.exit_code in KILLED_EXIT_CODES:
                raise unusable from error
            if start_again:
                # A port or a lock of the life before may take a moment to be free.
                time.sleep(_AGAIN_SECONDS)
                memory.start()
                try:
                    self.revive()
                except InterposerError:
                    continue
                raise unusable from error
        words = " ".join(memory.logs_tail(_LAST_LINES).split())[-_LAST_WORDS_CHARACTERS:]
        self.context.interposer.thaw(MEMORY)
        stack.replace_memory(stack.spec.vendor)
        self.context.progress.spoiled = "the memory does not start on the volume that it had"
        return (
            "killed, the memory does not start again on its own volume, and does on an empty one:"
            f" it ends by itself with exit code {ended.exit_code}: {words or '(it wrote nothing)'}"
        )
