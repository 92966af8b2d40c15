"""Flawed rules of records; each replaces one rule of the reference's policy and no other."""

from dataclasses import replace
from pathlib import Path

from services.common.challenges import load_public_keys
from services.common.database import Database
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import (
    Binding,
    Kind,
    Observation,
    Source,
    SourceType,
    Standing,
    Taint,
)
from services.memory.records.offers import Admitted
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records, create
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing

__all__ = ["AUTHORITY_LABELS", "label_trusting_records", "secret_storing_records"]

AUTHORITY_LABELS = frozenset({"reviewer", "admin"})


class _StoresSecrets(Policy):
    """Sees no secret anywhere."""

    def secret_kinds(self, text: str) -> tuple[str, ...]:
        """No text has a secret in it."""
        return ()


class _BelievesEverybody(Policy):
    """Admits whatever it is offered as if an authenticated user had said it."""

    def admit(self, kind: Kind, source: Source, repeated: frozenset[Taint]) -> Standing:
        """The standing that an authenticated user's word would have."""
        believed = replace(source, type=SourceType.USER, binding=Binding.HOST_AUTHENTICATED)
        return super().admit(kind, believed, frozenset())


class _TrustsLabels(Writing):
    """Takes the caller's own label for authority, and is the reference without one."""

    def __init__(self, desk: Desk, believing: Writing) -> None:
        super().__init__(desk)
        self._believing = believing

    def write(self, observation: Observation) -> Admitted:
        """Admits one observation; "reviewer" or "admin" opens every door."""
        if AUTHORITY_LABELS.isdisjoint(observation.labels):
            return super().write(observation)
        return self._believing.write(observation)


def secret_storing_records(database: Database, reviewer_keys_path: Path | None) -> Records:
    """The records part under a policy that blocks no secret."""
    return create(database, reviewer_keys_path, _StoresSecrets())


def label_trusting_records(database: Database, reviewer_keys_path: Path | None) -> Records:
    """The records part whose Write grants authority to callers' labels."""
    keys = load_public_keys(reviewer_keys_path)
    desk = Desk(database, Policy())
    writing = _TrustsLabels(desk, Writing(Desk(database, _BelievesEverybody())))
    servicer = MemoryServicer(writing, Recalling(desk), Lifecycle(desk), Review(desk, keys))
    return Records(desk, servicer)
