"""Removing what runs left behind (DESIGN §3)."""

from __future__ import annotations

import structlog

from orchestrator.campaign.sink import Progress
from orchestrator.errors import MemqualError
from orchestrator.runtimes.base import GcReport, GcScope, Runtime
from orchestrator.runtimes.select import all_runtimes

__all__ = ["collect_garbage", "collect_quietly", "sweep"]

_FAILED = 4


def collect_garbage(run_id: str | None) -> int:
    """`memqual gc`: remove, say what was removed; 4 when something could not be.

    Args:
        run_id: Everything of this run, alive or not; None: what dead owners left.
    """
    failed = False
    for runtime in all_runtimes():
        found = runtime.available()
        if not found.available:
            # A machine without an engine is fine; one whose engine stopped may have more to remove.
            print(f"not looked at ({runtime.name}): {found.reason}")
            continue
        report = _collect(runtime, GcScope(run_id))
        for name in report.removed:
            print(f"removed ({report.runtime}): {name}")
        for name in report.failed:
            print(f"could not be removed ({report.runtime}): {name}")
            failed = True
        if not report.removed and not report.failed:
            print(f"nothing to remove ({report.runtime})")
    return _FAILED if failed else 0


def collect_quietly(progress: Progress) -> None:
    """At the start of a run: remove what dead runs left, and say so only if there was any."""
    for runtime in all_runtimes():
        if not runtime.available().available:
            continue
        report = _collect(runtime, GcScope())
        if report.removed:
            progress.note(f"Removed {len(report.removed)} things that a killed run had left.")
        if report.failed:
            progress.note(f"A killed run left what could not be removed: {report.failed[0]}.")


def sweep(runtime: Runtime, run_id: str) -> tuple[str, ...]:
    """At the end of a run: remove whatever of it is still there.

    That is a start which a signal cut, or a stack that did not close.

    Returns:
        What could not be removed, with the cause; the run has ended already, so nothing is raised.
    """
    report = _collect(runtime, GcScope(run_id))
    if report.removed or report.failed:
        log = structlog.get_logger()
        log.info("swept", removed=list(report.removed), failed=list(report.failed))
    return report.failed


def _collect(runtime: Runtime, scope: GcScope) -> GcReport:
    try:
        return runtime.gc(scope)
    except MemqualError as error:
        return GcReport(runtime.name, failed=(error.diagnosis,))
