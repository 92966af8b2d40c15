"""Kills after a random delay: what a testbed without windows would hit.

The same workload, nothing held. How long operations take is observed first; each kill then comes at
a random point of a duration that was drawn from those observed.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import grpc

from chaos.windows import INVOKE, RECORD_RECEIPT, window
from orchestrator.bench.crashes import batch_of
from orchestrator.bench.held import count_cut, workflow_of_record
from orchestrator.campaign.jobs import StackContext
from orchestrator.model import Cell
from orchestrator.suites.continuity.rig import Rig
from orchestrator.suites.continuity.standby import StandbyRestart

__all__ = ["METHODS", "TimedKills", "kill_at_random"]

METHODS = {"in_request or after_commit": INVOKE, "after_response or after_receipt": RECORD_RECEIPT}
"""Pairs of windows by the call that they lie in."""

_OBSERVED_BATCHES = 3
_NANOSECONDS = 1e9
_EXIT_SECONDS = 10.0
_EOF_SECONDS = 10.0
_SEED = 20260922


@dataclass(frozen=True)
class TimedKills:
    """What came of it.

    Attributes:
        operations: Operations whose host was killed.
        kills: How many kills there were.
        cut: By pair of windows, operations that died within that call.
        durations: Observed seconds of the operations without a kill.
    """

    operations: int
    kills: int
    cut: dict[str, int]
    durations: Sequence[float]


def kill_at_random(
    context: StackContext, cell: Cell, operations: int, kills: int, deadline: float
) -> TimedKills:
    """Observe, then kill.

    Args:
        context: A stack that nothing else uses.
        cell: Says what the operations are; its window is not held.
        operations: How many stand in the way of each kill.
        kills: At most so many.
        deadline: No kill begins after this moment (`time.monotonic`).

    Raises:
        MemqualError, ChaosError, grpc.RpcError: The stack does not answer any more.
    """
    chance = random.Random(_SEED)
    durations: list[float] = []
    for number in range(_OBSERVED_BATCHES):
        durations += _observe(_rig(context, cell, "observed", number, operations))
    cut: Counter[str] = Counter()
    done = 0
    while done < kills and time.monotonic() < deadline:
        delay_seconds = chance.choice(durations) * chance.random()
        cut.update(_kill_after(_rig(context, cell, "timed", done, operations), delay_seconds))
        done += 1
    return TimedKills(done * operations, done, {name: cut[name] for name in METHODS}, durations)


def _rig(context: StackContext, cell: Cell, label: str, number: int, operations: int) -> Rig:
    name = "" if cell.window is None else cell.window.value
    rig = Rig(context, batch_of(cell, label, number, operations), window(name))
    rig.configure()
    return rig


def _observe(rig: Rig) -> list[float]:
    """Seconds from the batch's start to each operation's last message."""
    mark = rig.interposer.mark({"kind": "observed", "batch": rig.batch.batch_id})
    rig.start()
    rig.settle("live")
    last: dict[str, int] = {}
    for record in rig.trace_from(mark.sequence):
        name = workflow_of_record(record)
        if name in rig.workflow_ids:
            last[name] = record.monotonic_ns
    return [(ended - mark.monotonic_ns) / _NANOSECONDS for ended in last.values()]


def _kill_after(rig: Rig, delay_seconds: float) -> Counter[str]:
    context = rig.context
    if context.progress.standby is not None:
        context.progress.standby.await_healthy()
        context.progress.standby = None
    victim = context.stack.service(context.session.active.service)
    mark = rig.interposer.mark({"kind": "timed", "batch": rig.batch.batch_id})
    with ThreadPoolExecutor(1, thread_name_prefix="start") as pool:
        starting = pool.submit(rig.start)
        time.sleep(delay_seconds)
        victim.kill()
        victim.wait_exit(_EXIT_SECONDS)
        # A start that the kill was quicker than is an operation that it missed.
        with suppress(grpc.RpcError):
            starting.result()
    rig.interposer.await_eof(victim.name, timeout_seconds=_EOF_SECONDS)
    trace = rig.trace_from(mark.sequence)
    context.session.swap_hosts()
    context.progress.standby = StandbyRestart(victim, rig.interposer)
    return Counter(
        {name: count_cut(rig.workflow_ids, trace, [method]) for name, method in METHODS.items()}
    )
