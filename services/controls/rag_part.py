"""The baseline as a part of a memory; what it needs is imported at the first call that needs it."""

from pathlib import Path

from services.common.database import Database
from services.controls.plain_narrative import Plain, PlainEvaluated, PlainMemory

__all__ = ["create", "open_part"]


def create(database: Database) -> Plain:
    """The narrative part of the baseline; raises DatabaseError."""
    return Plain(
        database,
        _make,
        "No generative language model. A sentence encoder (all-MiniLM-L6-v2, int8); offline.",
        "The nearest sentences by cosine; declines only where nothing was told.",
    )


def open_part(folder: Path) -> PlainEvaluated:
    """The baseline on a new folder, for `tests.orchestrator.suites.narrative.evaluate`."""
    return PlainEvaluated(folder, create)


def _make(database: Database) -> PlainMemory:
    from services.controls.rag import RagMemory

    return RagMemory(database)
