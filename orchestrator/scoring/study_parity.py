"""Whether the arms of the recorded study differ in what must be equal: graph, path and end state.

A trial's own checks compare it with the recording; this compares the arms with each other. What
differs here is the testbed's own: the study then shows nothing (DESIGN §7).
"""

from __future__ import annotations

from orchestrator.model import TrialRecord

__all__ = ["RECORDED_CASE", "StudyParity"]

RECORDED_CASE = "paper_parity.recorded"


class StudyParity:
    """Collects the recorded conversations of one subject, one at a time."""

    def __init__(self) -> None:
        self._graphs: set[str] = set()
        self._ends: dict[str, set[tuple[str, str]]] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial that counts; all but evaluated recorded conversations are passed over."""
        figures = {one.name: one.value for one in trial.figures}
        if trial.cell.case != RECORDED_CASE or "graph" not in figures:
            return
        self._graphs.add(figures["graph"])
        if trial.cell.arm.has_memory:
            # A memory that errs may change path and end; that is its own verdict.
            return
        end = (figures.get("trajectory", ""), figures.get("final hash", ""))
        self._ends.setdefault(figures.get("task", ""), set()).add(end)

    def violations(self) -> tuple[str, ...]:
        """What differs, in words."""
        found = []
        if len(self._graphs) > 1:
            found.append(f"the arms run {len(self._graphs)} different graphs")
        for task, ends in sorted(self._ends.items()):
            if len(ends) > 1:
                found.append(f"task {task} came to {len(ends)} different ends without a memory")
        return tuple(found)
