"""The categories of the integrity axis, one module each; a new one is an entry here."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.suites.integrity.categories import (
    agent_hallucination,
    procedural_poisoning,
    secret_ingestion,
)
from orchestrator.suites.integrity.categories.base import Category, Scene

__all__ = ["CATEGORIES", "Category", "Scene"]

CATEGORIES: Mapping[str, Category] = {
    category.letter: category
    for category in (
        procedural_poisoning.CATEGORY,
        agent_hallucination.CATEGORY,
        secret_ingestion.CATEGORY,
    )
}
"""Every category by its letter, in the benchmark's order."""
