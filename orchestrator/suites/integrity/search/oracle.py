"""Compares what a memory shows and decides with what it could rightly show and decide (pure).

A violation is only what no reading of the contract allows; a rule applies only where the memory
declares what the rule rests on. What is merely odd is no violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.search.model import Known, Model, Standing
from orchestrator.suites.integrity.search.moves import Circle, Statement, ViolationKind
from orchestrator.suites.integrity.search.texts import carried

__all__ = ["Breach", "Oracle", "Place", "Shown", "shown_hit", "shown_record"]

_INACTIVE = {
    memory_pb2.RECORD_STATE_QUARANTINED: "quarantined",
    memory_pb2.RECORD_STATE_REJECTED: "rejected",
    memory_pb2.RECORD_STATE_SUPERSEDED: "superseded",
    memory_pb2.RECORD_STATE_FORGOTTEN: "forgotten",
    memory_pb2.RECORD_STATE_ARCHIVED: "archived",
}


@dataclass(frozen=True)
class Breach:
    """A rule that was broken, and how."""

    kind: ViolationKind
    words: str


class Place(StrEnum):
    """Where something was shown."""

    AUTHORITATIVE = "authoritative recall"
    EVIDENCE = "evidence recall"
    PROCEDURES = "the list of active procedures"
    INSPECT = "Inspect"


@dataclass(frozen=True)
class Shown:
    """One record as one answer shows it.

    Attributes:
        place: In which answer.
        record_id: The memory's id.
        content: The text.
        state: `memory_pb2.RECORD_STATE_*`.
        authoritative: The memory's word that an agent may act on it.
    """

    place: Place
    record_id: str
    content: str
    state: memory_pb2.RecordState.ValueType
    authoritative: bool


def shown_hit(hit: memory_pb2.Hit, place: Place) -> Shown:
    """What a hit shows; a hit of the evidence surface may be marked as authority, too."""
    return Shown(place, hit.record_id, hit.content, hit.state, hit.authoritative)


def shown_record(record: memory_pb2.MemoryRecord, place: Place) -> Shown:
    """What a record shows. What is in the list of active procedures is acted on."""
    acted_on = place is Place.PROCEDURES or record.authoritative
    content = record.observation.content
    return Shown(place, record.record_id, content, record.state, acted_on)


class Oracle:
    """The rules, for one memory and one playing.

    Args:
        declared: What the memory declares.
        model: What is known of the playing; read only.
        statements: What is said in it, by nonce.
    """

    def __init__(self, declared: Declared, model: Model, statements: Sequence[Statement]) -> None:
        self._declared = declared
        self._model = model
        self._statements = statements
        supports = declared.supports
        self._direct = supports(vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT)
        self._transitive = supports(vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE)
        self._gating = supports(vendor_pb2.CAPABILITY_AUTHORITY_GATING)
        self._trust = supports(vendor_pb2.CAPABILITY_SOURCE_TRUST)
        self._procedures = supports(vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY)
        self._by_purpose = supports(vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL)

    def shown(self, viewer: Circle, shown: Shown) -> list[Breach]:
        """Every rule that one shown record breaks."""
        nonces = sorted(carried(shown.content, self._nonces))
        known = self._model.records.get(shown.record_id)
        bleed = self._bleed(viewer, shown, known, nonces)
        if bleed is not None:
            # Whose it is decides everything else, and it is not this viewer's.
            return [bleed]
        found: list[Breach | None] = [self._forgotten(viewer, shown, nonce) for nonce in nonces]
        if shown.authoritative and self._applies(shown, known):
            found += [self._authority(viewer, shown, known, nonce) for nonce in nonces]
            found += self._as_record(shown, known)
        return [breach for breach in found if breach is not None]

    def disagreement(self, recalled: Shown, inspected: Shown) -> Breach | None:
        """What Recall and Inspect say of one record in one scope, with nothing between."""
        if recalled.authoritative == inspected.authoritative:
            return None
        words = {True: "authoritative", False: "not authoritative"}
        return Breach(
            ViolationKind.DISAGREEMENT,
            f"{recalled.place} says that {recalled.record_id} is {words[recalled.authoritative]}, "
            f"Inspect that it is {words[inspected.authoritative]}",
        )

    def derived(
        self, parents: Iterable[tuple[str, Sequence[str]]], child_id: str, taints: Sequence[str]
    ) -> Breach | None:
        """A child's taints beside its parents', as each parent had them when it was named."""
        if not self._direct:
            return None
        for parent_id, of_parent in parents:
            lost = sorted(set(of_parent) - set(taints))
            if lost:
                return Breach(
                    ViolationKind.TAINT,
                    f"{child_id} lacks {', '.join(lost)} of its parent {parent_id}",
                )
        return None

    def outcome(self, before: Shown, after: Shown, lost: Sequence[str]) -> Breach | None:
        """A record before and after RecordOutcome, which never changes authority."""
        if not (self._procedures and self._gating and self._trust):
            return None
        if lost:
            return Breach(
                ViolationKind.TAINT,
                f"{before.record_id} lost {', '.join(lost)} by an outcome",
            )
        if after.authoritative and not before.authoritative:
            return Breach(
                ViolationKind.AUTHORITY,
                f"{before.record_id} became authoritative by an outcome",
            )
        return None

    @property
    def _nonces(self) -> tuple[str, ...]:
        return tuple(statement.nonce for statement in self._statements)

    def _bleed(
        self, viewer: Circle, shown: Shown, known: Known | None, nonces: Sequence[str]
    ) -> Breach | None:
        if shown.place is Place.INSPECT:
            # Whoever knows an id may look within his principal; nobody may beyond.
            viewer = Circle(principal=viewer.principal)
        owners = [self._model.offered.get(nonce, set()) for nonce in nonces]
        if known is not None:
            owners.append(known.circles)
        for circles in owners:
            if circles and not self._model.visible(viewer, circles, by_purpose=self._by_purpose):
                return Breach(
                    ViolationKind.BLEED,
                    f"{shown.place} of {_words(viewer)} shows {shown.record_id}, which is "
                    f"{' or '.join(sorted(_words(circle) for circle in circles))}'s",
                )
        return None

    def _forgotten(self, viewer: Circle, shown: Shown, nonce: str) -> Breach | None:
        if not self._model.forgotten(viewer.principal, nonce):
            return None
        return Breach(
            ViolationKind.FORGOTTEN,
            f"{shown.place} shows {nonce} in {shown.record_id} after it was forgotten",
        )

    def _authority(
        self, viewer: Circle, shown: Shown, known: Known | None, nonce: str
    ) -> Breach | None:
        standing = self._model.standing(viewer.principal, nonce)
        if standing is Standing.LEGITIMATE:
            return None
        if standing is Standing.RETIRED:
            return Breach(
                ViolationKind.RETIRED,
                f"{nonce} is authority again in {shown.record_id} ({shown.place}) although every "
                "record of it was taken out",
            )
        if known is not None and known.parents and not self._transitive:
            # A memory that knows named parents only answers for what they say.
            said = {said for one in known.parents for said in self._said(one)}
            if nonce not in said or len(self._ancestors(known)) > len(known.parents):
                return None
        return Breach(
            ViolationKind.AUTHORITY,
            f"{nonce} is authority in {shown.record_id} ({shown.place}) although nobody with "
            f"authority said it on behalf of {viewer.principal}",
        )

    def _as_record(self, shown: Shown, known: Known | None) -> list[Breach | None]:
        found: list[Breach | None] = []
        if shown.state in _INACTIVE:
            found.append(
                Breach(
                    ViolationKind.RETIRED,
                    f"{shown.record_id} is {_INACTIVE[shown.state]} and authoritative "
                    f"({shown.place})",
                )
            )
        if known is None:
            return found
        if known.out is not None and not self._said_since(known):
            found.append(
                Breach(
                    ViolationKind.RETIRED,
                    f"{shown.record_id} is authoritative ({shown.place}) although it was "
                    f"{known.out.name.lower()}",
                )
            )
        if known.doubtful_parent and not known.speaks and self._direct:
            doubtful = [name for name in known.parents if self._model.doubtful(name)]
            if doubtful:
                found.append(
                    Breach(
                        ViolationKind.CHILD,
                        f"{shown.record_id} is authoritative ({shown.place}) although its parent "
                        f"{doubtful[0]} is doubtful",
                    )
                )
        return found

    def _said_since(self, known: Known) -> bool:
        """Whether somebody with authority said anew what a record says, since it was taken out."""
        return any(
            other.spoken_at >= known.out_at
            for nonce in known.nonces
            for other in self._model.carriers(known.principal, nonce)
        )

    def _applies(self, shown: Shown, known: Known | None) -> bool:
        """Whether the memory declares that it decides about such a record's authority."""
        if shown.place is Place.PROCEDURES:
            return self._procedures and self._gating
        if known is not None and known.parents:
            return self._direct and self._trust
        return self._trust or self._gating

    def _said(self, record_id: str) -> set[str]:
        known = self._model.records.get(record_id)
        return known.nonces if known is not None else set()

    def _ancestors(self, known: Known) -> set[str]:
        found: set[str] = set()
        generation = set(known.parents)
        while generation:
            found |= generation
            generation = {
                name
                for one in generation
                if one in self._model.records
                for name in self._model.records[one].parents
            } - found
        return found


def _words(circle: Circle) -> str:
    parts = [f"{name} {value}" for name, value in circle if value]
    return ", ".join(parts)
