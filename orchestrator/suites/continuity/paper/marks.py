"""Kinds of the marks that the study's plays put into the trace, for its judges."""

from __future__ import annotations

__all__ = ["PILOT_MESSAGE_MARK", "PILOT_TASK_MARK", "STATE_MARK", "TASK_MARK"]

TASK_MARK = "paper_task"
"""{workflow, task, cassette, guard}: what a trial's host plays."""

STATE_MARK = "paper_state"
"""{workflow, point, compact, spaced}: state hashes of a trial's whole store."""

PILOT_TASK_MARK = "pilot_task"
"""{workflow, task, wish, final}: what models are asked to do, and the state that fulfils it."""

PILOT_MESSAGE_MARK = "pilot_message"
"""{workflow, number, type, text, characters, tools}: one message of a fresh conversation."""
