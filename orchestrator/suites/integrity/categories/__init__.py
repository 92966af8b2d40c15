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
    category.case: category
    for category in (
        procedural_poisoning.CATEGORY,
        agent_hallucination.CATEGORY,
        secret_ingestion.CATEGORY,
    )
}
"""Every case by its name, in the benchmark's order; cases of one category stand together."""
