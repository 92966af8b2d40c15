"""Integrity under fire: the memory is killed within its changes (issue 3, part 4)."""

from orchestrator.suites.integrity.categories.fire import strikes

__all__ = ["CATEGORIES"]

CATEGORIES = (*strikes.CATEGORIES,)
"""The cases, in order."""
