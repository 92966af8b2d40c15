"""Waiting for messages that the network has delayed."""

from __future__ import annotations

import time

from chaos.network_faults import Disturbed
from chaos.tracing import TraceKind
from orchestrator.suites.continuity.families.network_points import Messages
from orchestrator.suites.continuity.stage import Stage

__all__ = ["await_delayed"]

_ARRIVAL_SECONDS = 0.5
"""What a delayed message is given to arrive, beyond its delay."""
_NS_A_SECOND = 1_000_000_000
_MS_A_SECOND = 1_000


def await_delayed(stage: Stage, fault: Messages, disturbed: Disturbed) -> None:
    """Wait until the last message that was delayed must have arrived."""
    delayed = [
        record.monotonic_ns
        for record in stage.interposer.trace(disturbed.first_sequence)
        if record.kind is TraceKind.DELAYED
    ]
    if delayed:
        since_ns = stage.interposer.statistics().monotonic_ns - max(delayed)
        left = fault.delay_ms / _MS_A_SECOND - since_ns / _NS_A_SECOND + _ARRIVAL_SECONDS
        time.sleep(max(left, 0.0))
