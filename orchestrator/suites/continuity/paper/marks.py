"""Kinds of the marks that the study's plays put into the trace, for its judges."""

from __future__ import annotations

__all__ = ["STATE_MARK", "TASK_MARK"]

TASK_MARK = "paper_task"
"""{workflow, task, cassette, guard}: what a trial's host plays."""

STATE_MARK = "paper_state"
"""{workflow, point, compact, spaced}: state hashes of a trial's whole store."""
