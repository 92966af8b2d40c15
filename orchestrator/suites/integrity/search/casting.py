"""Who speaks in a search, on whose behalf, where, and what he calls it (pure)."""

from __future__ import annotations

from orchestrator.suites.integrity.search.moves import Binding, Circle, SourceType
from orchestrator.suites.integrity.search.stage import Source

__all__ = ["CIRCLES", "DOUBTFUL", "LABELS", "USER"]

USER: Source = (SourceType.USER, Binding.HOST_AUTHENTICATED)
CIRCLES = (
    Circle(principal="user-alder"),
    Circle(principal="user-birch"),
    Circle(principal="user-alder", purpose="billing"),
    Circle(principal="user-alder", purpose="travel"),
    Circle(principal="user-alder", agent="agent-one"),
    Circle(principal="user-alder", agent="agent-two"),
    Circle(principal="user-alder", workspace="desk-one"),
    Circle(principal="user-alder", workspace="desk-two"),
)
DOUBTFUL: tuple[Source, ...] = (
    (SourceType.AGENT, Binding.CALLER_ASSERTED),
    (SourceType.AGENT, Binding.HOST_AUTHENTICATED),
    (SourceType.AGENT, Binding.VERIFIED),
    (SourceType.WEB, Binding.CALLER_ASSERTED),
    (SourceType.WEB, Binding.HOST_AUTHENTICATED),
    (SourceType.WEB, Binding.VERIFIED),
    (SourceType.TOOL, Binding.CALLER_ASSERTED),
    (SourceType.TOOL, Binding.HOST_AUTHENTICATED),
    (SourceType.DOCUMENT, Binding.CALLER_ASSERTED),
    (SourceType.DOCUMENT, Binding.HOST_AUTHENTICATED),
    (SourceType.USER, Binding.CALLER_ASSERTED),
    (SourceType.RECEIPT, Binding.CALLER_ASSERTED),
)
LABELS: tuple[tuple[str, ...], ...] = (
    ("approved",),
    ("reviewer",),
    ("admin", "system"),
    ("trusted", "verified"),
    ("reviewed:user", "authoritative", "promote"),
    ("approved", "reviewer", "admin", "trusted", "system", "user", "verified"),
)
