"""The categories of the integrity axis, one module each; a new one is an entry here."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.suites.integrity.categories import (
    agent_hallucination,
    authorised_promotion,
    bad_input,
    bleed,
    dormant_trigger,
    experience_grafting,
    fire,
    outcome_laundering,
    path_independence,
    procedural_poisoning,
    reentry,
    repetition_laundering,
    resurrection,
    resurrection_collateral,
    resurrection_procedures,
    resurrection_ways,
    review_attacks,
    secret_ingestion,
    secrets_beyond,
    secrets_beyond_volume,
    summary_laundering,
    transitive_laundering,
    transitive_laundering_flow,
    transitive_laundering_later,
)
from orchestrator.suites.integrity.categories.base import Category, Scene

__all__ = ["CATEGORIES", "Category", "Scene"]

CATEGORIES: Mapping[str, Category] = {
    category.case: category
    for category in (
        procedural_poisoning.CATEGORY,
        procedural_poisoning.PUBLISHED_CASE,
        *dormant_trigger.CATEGORIES,
        agent_hallucination.CATEGORY,
        agent_hallucination.PUBLISHED_CASE,
        summary_laundering.CATEGORY,
        summary_laundering.PUBLISHED_CASE,
        experience_grafting.CATEGORY,
        repetition_laundering.CATEGORY,
        repetition_laundering.PUBLISHED_CASE,
        *bleed.CATEGORIES,
        outcome_laundering.CATEGORY,
        outcome_laundering.PUBLISHED_CASE,
        authorised_promotion.CATEGORY,
        authorised_promotion.PUBLISHED_CASE,
        *resurrection.CATEGORIES,
        *resurrection_ways.CATEGORIES,
        resurrection_procedures.CATEGORY,
        resurrection_collateral.CATEGORY,
        *review_attacks.CATEGORIES,
        secret_ingestion.CATEGORY,
        secret_ingestion.PUBLISHED_CASE,
        *transitive_laundering.CATEGORIES,
        transitive_laundering_flow.CATEGORY,
        *transitive_laundering_later.CATEGORIES,
        *reentry.CATEGORIES,
        *secrets_beyond.CATEGORIES,
        secrets_beyond_volume.CATEGORY,
        path_independence.CATEGORY,
        *fire.CATEGORIES,
        *bad_input.CATEGORIES,
    )
}
"""Every case by its name, in the benchmark's order; cases of one category stand together."""
