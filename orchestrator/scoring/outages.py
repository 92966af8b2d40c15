"""Times in which the memory was dead outside of an injection, as marks of the trace tell them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memqual.v1 import interposer_pb2
from orchestrator.oracle.view import Outage

__all__ = ["OUTAGE_MARK", "outages_from_marks"]

OUTAGE_MARK = "outage"
"""Kind of the marks that `suites.continuity.killing` makes, one for each `step` of a death."""


def outages_from_marks(trace: Iterable[interposer_pb2.TraceRecord]) -> tuple[Outage, ...]:
    """Every death of the memory that was marked, in order.

    A death without its `exited` mark was not seen to its end, and is no outage. One that begins
    twice began the first time: a disturbance that the death ended.
    """
    found: list[dict[str, int]] = []
    for record in trace:
        if record.kind != interposer_pb2.TRACE_KIND_MARK:
            continue
        mark = json.loads(record.mark_json)
        if mark.get("kind") != OUTAGE_MARK or mark.get("service") != "memory":
            continue
        step = str(mark.get("step", ""))
        if step == "began" and (not found or "exited" in found[-1]):
            found.append({})
        if found:
            found[-1].setdefault(step, record.monotonic_ns)
    return tuple(
        Outage(
            began_ns=steps["began"],
            dead_ns=steps["exited"],
            restarted_ns=steps.get("restarting"),
            healthy_ns=steps.get("healthy"),
        )
        for steps in found
        if "exited" in steps
    )
