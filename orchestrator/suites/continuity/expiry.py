"""The three ways to the end of a lease (DESIGN §5): skewed, configured, real.

Skewed is one jump of the memory's wall clock by the lease and one second, proven by the memory's
own Now. Configured and real wait on the memory's own lease clock, which proves it, too; they differ
in the lease that the stack was started with.
"""

from __future__ import annotations

import time

from chaos.faults import ClockJump
from chaos.receipts import ClockReading, FaultReceipt, LeaseWaitReceipt
from memqual.v1 import agent_pb2, destination_pb2, vendor_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import ExpiryMode
from orchestrator.suites.continuity.clocks import mark_memory_clock, read_memory_clock

__all__ = ["NS", "jump_clock", "reach_lease_end", "read_clock"]

NS = 1_000_000_000
_MARGIN_SECONDS = 1.0
_WAIT_SECONDS_MAX = 600.0


def reach_lease_end(context: StackContext, way: ExpiryMode) -> FaultReceipt:
    """Let the leases of the batch end; return the receipt of the jump or of the wait.

    Raises:
        FaultNotPossible, ClockError: The memory's clock cannot be set here.
        SilentClock: The memory does not answer Now.
        StackError: The memory's clock does not move, or its lease is longer than ten minutes.
    """
    lease_seconds = context.describe.limits.lease_seconds
    before = mark_memory_clock(context.session, context.interposer)
    if way is ExpiryMode.SKEWED:
        receipt = jump_clock(context, "memory", (lease_seconds + 1) * NS)
        mark_memory_clock(context.session, context.interposer)
        return receipt
    _wait(context, lease_seconds + _MARGIN_SECONDS)
    after = mark_memory_clock(context.session, context.interposer)
    monotonic = context.describe.lease_clock == vendor_pb2.LEASE_CLOCK_MONOTONIC
    return LeaseWaitReceipt(
        service="memory",
        lease_clock="monotonic" if monotonic else "wall",
        lease_seconds=lease_seconds,
        before_ns=before.monotonic_ns if monotonic else before.wall_unix_ns,
        after_ns=after.monotonic_ns if monotonic else after.wall_unix_ns,
        began_monotonic_ns=before.asked_mono_ns,
        ended_monotonic_ns=after.answered_mono_ns,
    )


def jump_clock(context: StackContext, service: str, jump_ns: int) -> FaultReceipt:
    """Move a service's wall clock once, on top of what it is set to already.

    Args:
        context: The stack.
        service: `memory`, `destination`, or a host (`agent`, `standby`).
        jump_ns: By how much; negative: backward.

    Raises:
        FaultNotPossible, ClockError: It cannot be set here.
        SilentClock: The memory does not answer Now.
    """
    fault = ClockJump(jump_ns, lambda: read_clock(context, service))
    return fault.inject(context.stack.service(service)).lift()


def _wait(context: StackContext, seconds: float) -> None:
    if seconds > _WAIT_SECONDS_MAX:
        raise StackError(
            f"The memory declares a lease of {seconds:.0f} seconds; waiting ends after "
            f"{_WAIT_SECONDS_MAX:.0f}.",
            next_step="Use lease mode `skewed`, or a shorter lease, in vendor.yaml.",
        )
    monotonic = context.describe.lease_clock == vendor_pb2.LEASE_CLOCK_MONOTONIC
    end_ns = _lease_clock_ns(context, monotonic) + round(seconds * NS)
    deadline = time.monotonic() + 2 * seconds + 10
    while (now_ns := _lease_clock_ns(context, monotonic)) <= end_ns:
        if time.monotonic() > deadline:
            raise StackError(
                "The memory's clock runs at less than half the speed of this machine's.",
                next_step="See the memory's log; its Now must follow its lease clock.",
            )
        time.sleep(min(1.0, (end_ns - now_ns) / NS + 0.001))


def _lease_clock_ns(context: StackContext, monotonic: bool) -> int:
    clock = read_clock(context, "memory")
    return clock.monotonic_ns if monotonic else clock.wall_unix_ns


def read_clock(context: StackContext, service: str) -> ClockReading:
    """What a service says that its clocks show.

    Args:
        context: The stack.
        service: `memory`, `destination`, or a host (`agent`, `standby`).

    Raises:
        SilentClock: The memory does not answer Now.
    """
    session = context.session
    if service == "memory":
        clock = read_memory_clock(session)
    elif service == "destination":
        clock = session.destination_audit.ReadClock(destination_pb2.ReadClockRequest()).clock
    else:
        clock = session.host(service).audit.ReadHostClock(agent_pb2.ReadHostClockRequest()).clock
    return ClockReading(wall_unix_ns=clock.wall_unix_ns, monotonic_ns=clock.monotonic_ns)
