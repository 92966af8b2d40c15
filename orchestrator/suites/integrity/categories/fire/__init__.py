"""Integrity under fire: the memory is killed within its changes (issue 3, part 4)."""

from orchestrator.suites.integrity.categories.fire import burst, procedure, receipt, strikes

__all__ = ["CATEGORIES"]

CATEGORIES = (*strikes.CATEGORIES, burst.CATEGORY, receipt.CATEGORY, procedure.CATEGORY)
"""The cases, in order."""
