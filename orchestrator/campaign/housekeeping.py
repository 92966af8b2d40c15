"""Removing what killed runs left behind (DESIGN §3)."""

from __future__ import annotations

from orchestrator.campaign.sink import Progress
from orchestrator.errors import EngineError
from orchestrator.runtimes.base import GcReport, GcScope
from orchestrator.runtimes.select import all_runtimes

__all__ = ["collect_garbage", "collect_quietly"]


def collect_garbage(run_id: str | None) -> int:
    """`memqual gc`: remove, say what was removed; 4 when something could not be.

    Args:
        run_id: Everything of this run, alive or not; None: what dead owners left.
    """
    failed = False
    for report in _reports(GcScope(run_id)):
        for name in report.removed:
            print(f"removed ({report.runtime}): {name}")
        for name in report.failed:
            print(f"could not be removed ({report.runtime}): {name}")
            failed = True
        if not report.removed and not report.failed:
            print(f"nothing to remove ({report.runtime})")
    return 4 if failed else 0


def collect_quietly(progress: Progress) -> None:
    """At the start of a run: remove what dead runs left, and say so only if there was any."""
    for report in _reports(GcScope()):
        if report.removed:
            progress.note(f"Removed {len(report.removed)} things that a killed run had left.")


def _reports(scope: GcScope) -> list[GcReport]:
    reports = []
    for runtime in all_runtimes():
        if not runtime.available().available:
            continue
        try:
            reports.append(runtime.gc(scope))
        except EngineError as error:
            reports.append(GcReport(runtime.name, failed=(error.diagnosis,)))
    return reports
