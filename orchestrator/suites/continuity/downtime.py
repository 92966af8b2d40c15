"""The memory's death and next life step by step, for faults that come in between (DESIGN §5).

`killing.kill_and_restart` is the way for everybody else. Marks say when the memory was gone; a
disturbance that makes it answer errors is marked as the beginning of the outage that ends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from chaos.receipts import TargetKill
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.integrity.deaths import MEMORY, Deaths

__all__ = ["await_memory", "disturbed", "end_memory", "kill_memory", "start_memory", "started"]

_EXIT_SECONDS = 10.0


def disturbed(stage: Stage) -> None:
    """From here on the memory may answer with errors, until it was killed and is healthy again."""
    _mark(stage, "began")


def kill_memory(stage: Stage, after_kill: Callable[[], None] | None = None) -> TargetKill:
    """Kill the memory and see its end.

    Args:
        stage: The batch.
        after_kill: Done once SIGKILL was sent, before the end is awaited.

    Raises:
        StackError: It did not run, or did not end.
    """
    stage.killing = True
    memory = stage.context.stack.service(MEMORY)
    pid, started_ns = memory.pid(), memory.started_at_ns()
    _mark(stage, "began")
    memory.kill()
    killed_ns = time.monotonic_ns()
    if after_kill is not None:
        after_kill()
    ended = memory.wait_exit(_EXIT_SECONDS)
    exited_ns = time.monotonic_ns()
    _mark(stage, "exited")
    return TargetKill(
        service=MEMORY,
        pid=pid,
        started_before_ns=started_ns,
        kill_monotonic_ns=killed_ns,
        exit_code=ended.exit_code,
        oom_killed=ended.oom_killed,
        exit_monotonic_ns=exited_ns,
    )


def end_memory(stage: Stage) -> None:
    """Kill the memory if it lives; one that had ended over a disturbance is as dead as that."""
    if stage.context.stack.service(MEMORY).running():
        kill_memory(stage)
        return
    stage.killing = True
    _mark(stage, "began")
    _mark(stage, "exited")


def start_memory(stage: Stage) -> None:
    """Begin the memory's next life; does not wait for its health."""
    _mark(stage, "restarting")
    stage.context.stack.service(MEMORY).start()


def await_memory(stage: Stage) -> int:
    """Wait until the memory is healthy; returns ms.

    Raises:
        ChaosError: It is not.
    """
    healthy_ms = Deaths(stage.context).revive()
    _mark(stage, "healthy")
    stage.killing = False
    return healthy_ms


def started(stage: Stage, target: TargetKill) -> TargetKill:
    """The same death with the moment of the life after it."""
    memory = stage.context.stack.service(MEMORY)
    return target.model_copy(update={"started_after_ns": memory.started_at_ns()})


def _mark(stage: Stage, step: str) -> None:
    stage.interposer.mark({"kind": "outage", "service": MEMORY, "step": step})
