"""The seven properties of ATANT as cells of their own, and bad input."""

from __future__ import annotations

from orchestrator.suites.narrative.properties.arrival import ARRIVAL_ORDER
from orchestrator.suites.narrative.properties.bad_input import BAD_INPUT
from orchestrator.suites.narrative.properties.clock import TEMPORAL_ORDER
from orchestrator.suites.narrative.properties.determinism import DETERMINISM
from orchestrator.suites.narrative.properties.disambiguation import DISAMBIGUATION
from orchestrator.suites.narrative.properties.graded import (
    OPERATIONAL,
    RECONSTRUCTION,
    UPDATE,
)
from orchestrator.suites.narrative.properties.independence import MODEL_INDEPENDENCE
from orchestrator.suites.narrative.properties.persistence import PERSISTENCE, PERSISTENCE_INGEST

__all__ = ["PROPERTIES"]

PROPERTIES = (
    PERSISTENCE,
    PERSISTENCE_INGEST,
    UPDATE,
    TEMPORAL_ORDER,
    ARRIVAL_ORDER,
    DISAMBIGUATION,
    RECONSTRUCTION,
    MODEL_INDEPENDENCE,
    DETERMINISM,
    OPERATIONAL,
    BAD_INPUT,
)
"""In the order in which they are planned."""
