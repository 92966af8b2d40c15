"""A memory that ends by itself, where that is proven to be its own doing (DESIGN §7)."""

from __future__ import annotations

import json

from memqual.v1 import interposer_pb2
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts

__all__ = ["ENDED_MARK", "check_memory_lives"]

ENDED_MARK = "memory_ended"
"""Kind of the mark that `suites.continuity.ending` makes when it is proven."""


def check_memory_lives(find: Finder, facts: BatchFacts) -> None:
    """Note the memory's own end, if it is proven; what is not proven is told by other checks."""
    for record in facts.trace:
        if record.kind != interposer_pb2.TRACE_KIND_MARK:
            continue
        mark = json.loads(record.mark_json)
        if mark.get("kind") == ENDED_MARK:
            find.that(
                "continuity.alive",
                "MQ-C-80",
                False,
                "the memory does not end by itself",
                str(mark.get("cause", "")),
            )
            return
