"""Memories that take bad input badly: cut in silence, kept in part, broken by it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import grpc

from memqual.v1 import memory_pb2
from services.common.challenges import load_public_keys
from services.common.clock import NANOSECONDS_PER_SECOND
from services.common.database import Database
from services.common.errors import ServiceError
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import Observation
from services.memory.records.offers import Admitted
from services.memory.records.policy import Policy
from services.memory.records.policy_review import CHALLENGE_SECONDS
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing

__all__ = [
    "CountsHits",
    "CountsParents",
    "CutsLongTexts",
    "KeepsRefusedTexts",
    "VoidsWhenTimePasses",
    "cutting_records",
    "served_by",
]

KEPT_CHARACTERS = 32_768
COUNTED_MAX = 1_000
OPEN_SECONDS = 200


class CutsLongTexts(Writing):
    """Keeps the beginning of a long text and says nothing of it."""

    def write(self, observation: Observation) -> Admitted:
        """Admits one observation, or its beginning."""
        return super().write(replace(observation, content=observation.content[:KEPT_CHARACTERS]))


class KeepsRefusedTexts(MemoryServicer):
    """Refuses a text that nobody can read, and has already kept what can be read of it."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        """Offers one observation."""
        try:
            return super().Write(request, context)
        except ServiceError:
            content = request.observation.content
            readable = "".join(char for char in content if char.isprintable())
            if readable not in ("", content):
                cleaned = memory_pb2.WriteRequest()
                cleaned.CopyFrom(request)
                cleaned.observation.content = readable
                super().Write(cleaned, context)
            raise


class CountsParents(MemoryServicer):
    """Has room for 1,000 parents and no check before it."""

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        """Offers content made out of named parents."""
        _count(len(request.parent_ids))
        return super().Derive(request, context)


class CountsHits(MemoryServicer):
    """Has room for 1,000 hits and no check before it."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        """Answers with hits, best first."""
        _count(request.max_hits)
        return super().Recall(request, context)


class VoidsWhenTimePasses(Policy):
    """Says that a challenge lives for ten minutes, and gives up on it after a third of them."""

    def in_time(self, now_unix_ns: int, expires_unix_ns: int) -> bool:
        """True in the first 200 seconds."""
        early_ns = (CHALLENGE_SECONDS - OPEN_SECONDS) * NANOSECONDS_PER_SECOND
        return super().in_time(now_unix_ns, expires_unix_ns - early_ns)


def cutting_records(database: Database, reviewer_keys_path: Path | None) -> Records:
    """The records part whose Write keeps the beginning of a long text."""
    return _records(CutsLongTexts, MemoryServicer, database, reviewer_keys_path)


def served_by(
    servicer: type[MemoryServicer], database: Database, reviewer_keys_path: Path | None
) -> Records:
    """The records part behind another servicer."""
    return _records(Writing, servicer, database, reviewer_keys_path)


def _records(
    writing: Callable[[Desk], Writing],
    servicer: type[MemoryServicer],
    database: Database,
    reviewer_keys_path: Path | None,
) -> Records:
    desk = Desk(database, Policy())
    review = Review(desk, load_public_keys(reviewer_keys_path))
    return Records(desk, servicer(writing(desk), Recalling(desk), Lifecycle(desk), review))


def _count(number: int) -> None:
    if number > COUNTED_MAX:
        raise RuntimeError(f"{number} where there is room for {COUNTED_MAX}")
