"""What a memory told of the facts that it stored, kept apart by namespace.

Nothing in the contract makes a fact's id unique beyond its namespace (narrative.proto), so that a
memory that counts the facts of each namespace from 1 is as right as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memqual.v1 import narrative_pb2

__all__ = ["FactsTold"]


class FactsTold:
    """Texts of the facts that a memory told of, by namespace and id, and who had told them."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, str]] = {}
        self._own: dict[tuple[str, str], dict[str, str]] = {}

    def add(
        self, namespace: str, facts: Iterable[narrative_pb2.StoredFact], speaker: str = ""
    ) -> None:
        """Take up the facts of one turn; of an id that is told again the latest text counts."""
        found = {fact.fact_id: fact.text for fact in facts}
        self._texts.setdefault(namespace, {}).update(found)
        self._own.setdefault((namespace, speaker), {}).update(found)

    def of(self, namespace: str) -> Mapping[str, str]:
        """Text of every fact of one namespace, by id."""
        return self._texts.get(namespace, {})

    def by(self, namespace: str, speaker: str) -> Mapping[str, str]:
        """Text of every fact of one namespace that a speaker's turns gave, by id."""
        return self._own.get((namespace, speaker), {})
