"""What could rightly be authoritative, readable and visible, by the calls alone (pure).

The model is set-valued and errs on the memory's side: a record that a good memory might trust
counts as trusted, a call of unknown outcome as one that helps the memory. It knows no policy: an
authenticated user's own statement and a reviewer's signed approval make content legitimate for
their principal; quarantine, archive, supersession and forgetting end that until it is said or
approved anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from orchestrator.suites.integrity.search.moves import Binding, Circle, Said, SourceType

__all__ = ["Known", "Model", "Out", "Standing", "may_be_believed", "may_see"]


class Out(Enum):
    """How a record was taken out, as far as the memory acknowledged it."""

    QUARANTINED = auto()
    ARCHIVED = auto()
    SUPERSEDED = auto()
    FORGOTTEN = auto()


class Standing(Enum):
    """What a principal may hear of a nonce as authority."""

    LEGITIMATE = auto()
    """Somebody with authority stands behind it, or may do so."""
    RETIRED = auto()
    """Somebody did, and it was taken out since."""
    DOUBTFUL = auto()
    """Nobody ever did."""


def may_be_believed(said: Said) -> bool:
    """Whether a good memory might take a source's word.

    Users and receipts that somebody vouches for; also tools and documents with a proof, which a
    memory could check. A binding proves where a page or an agent's claim came from, not that it is
    true.
    """
    if said.binding is Binding.CALLER_ASSERTED:
        return False
    if said.source in (SourceType.USER, SourceType.RECEIPT):
        return True
    proven = said.binding is Binding.VERIFIED
    return proven and said.source in (SourceType.TOOL, SourceType.DOCUMENT)


def may_see(viewer: Circle, owner: Circle, *, by_purpose: bool) -> bool:
    """Whether what belongs to one circle might be shown to another.

    An empty part of either may mean "every one"; purposes count only where the memory says so.
    """
    parts = [(viewer.agent, owner.agent), (viewer.workspace, owner.workspace)]
    if by_purpose:
        parts.append((viewer.purpose, owner.purpose))
    return viewer.principal == owner.principal and all(
        not asked or not kept or asked == kept for asked, kept in parts
    )


@dataclass
class Known:
    """One record as far as the calls tell.

    Attributes:
        record_id: The memory's id; of an offer without one, a name of the model's.
        principal: Whose it is.
        born: Number of the move that made it.
        circles: Where it was offered.
        nonces: What its texts say.
        parents: Ids of the parents that were named; empty for an observation.
        believed: Whether it may be authoritative by its source, its parents or a review.
        reviewed: Whether a reviewer approved it.
        doubtful_parent: Whether a named parent was doubtful when it was made.
        out: How it was taken out; None while it is not.
        out_at: Number of the move that took it out.
        spoken_at: Number of the last move by which somebody with authority may have said it.
    """

    record_id: str
    principal: str
    born: int
    circles: set[Circle] = field(default_factory=set)
    nonces: set[str] = field(default_factory=set)
    parents: tuple[str, ...] = ()
    believed: bool = False
    reviewed: bool = False
    doubtful_parent: bool = False
    out: Out | None = None
    out_at: int = -1
    spoken_at: int = -1

    @property
    def speaks(self) -> bool:
        """Whether it may be authoritative now."""
        return self.believed and self.out is None


class Model:
    """Everything that is known of one playing.

    Args:
        transitive: Whether the memory declares that it knows every ancestor.
        direct: Whether it declares that it knows the parents that it was told.
    """

    def __init__(self, *, direct: bool, transitive: bool) -> None:
        self._direct = direct or transitive
        self._transitive = transitive
        self.records: dict[str, Known] = {}
        self.offered: dict[str, set[Circle]] = {}

    def offer(self, nonces: Iterable[str], circle: Circle) -> None:
        """A text was sent from a circle, whatever became of it."""
        for nonce in nonces:
            self.offered.setdefault(nonce, set()).add(circle)

    def keep(
        self,
        record_id: str,
        circle: Circle,
        nonces: Iterable[str],
        *,
        move: int,
        believed: bool,
        parents: Sequence[str] = (),
    ) -> Known:
        """The memory says that it keeps a text, under an id that may be known.

        Args:
            record_id: As told; empty when it is not known, such as after a lost answer.
            circle: From which it was offered.
            nonces: What it says.
            move: Number of the move.
            believed: Whether a good memory might take it for authority.
            parents: Ids of the named parents.
        """
        name = record_id or f"(unnamed by move {move})"
        known = self.records.get(name)
        if known is None:
            known = Known(name, circle.principal, move, parents=tuple(parents))
            known.doubtful_parent = any(self.doubtful(parent) for parent in parents)
            self.records[name] = known
        known.circles.add(circle)
        known.nonces.update(nonces)
        if believed:
            known.believed, known.spoken_at = True, move
            # A derivation repeats; only somebody's own word brings back what was taken out.
            if not parents:
                known.out = None
        return known

    def approve(self, record_ids: Iterable[str], move: int) -> None:
        """A reviewer's approval counted, or may have."""
        for known in self._known(record_ids):
            known.believed = known.reviewed = True
            known.out, known.spoken_at = None, move

    def retire(self, record_id: str, out: Out, move: int) -> None:
        """The memory says that a record was taken out; what was made out of it goes with it.

        What is out in this way already stays as it is: to do so again may change nothing.
        """
        for known in self._known([record_id]):
            if known.out is not out:
                known.out, known.out_at = out, move
        for known in self._known(self.descendants(record_id)):
            if known.out is None:
                known.out, known.out_at = Out.QUARANTINED, move

    def descendants(self, record_id: str) -> list[str]:
        """Ids of what was made out of a record, as far as the memory declares to know it."""
        if not self._direct:
            return []
        found: list[str] = []
        generation = {record_id}
        while generation:
            generation = {
                known.record_id
                for known in self.records.values()
                if not generation.isdisjoint(known.parents) and known.record_id not in found
            }
            found += sorted(generation)
            if not self._transitive:
                break
        return found

    def doubtful(self, record_id: str) -> bool:
        """Whether a record cannot be clean, now: nobody stands behind it, or it is out."""
        known = self.records.get(record_id)
        return known is not None and not known.speaks

    def reviewed(self, record_id: str) -> bool:
        """Whether a reviewer approved a record."""
        known = self.records.get(record_id)
        return known is not None and known.reviewed

    def standing(self, principal: str, nonce: str) -> Standing:
        """What a principal may hear of a nonce as authority."""
        carriers = self.carriers(principal, nonce)
        if any(known.speaks for known in carriers):
            return Standing.LEGITIMATE
        retired = any(known.believed for known in carriers)
        return Standing.RETIRED if retired else Standing.DOUBTFUL

    def forgotten(self, principal: str, nonce: str) -> bool:
        """Whether a principal's every record of a nonce was forgotten, and nobody said it since.

        What was made out of a forgotten record, and what was offered again by somebody who cannot
        bring it back, does not count as another record of it.
        """
        carriers = self.carriers(principal, nonce)
        gone = [known for known in carriers if known.out is Out.FORGOTTEN]
        if not gone:
            return False
        last = max(known.out_at for known in gone)
        made_of_it = {name for known in gone for name in self.descendants(known.record_id)}
        return all(
            known.out is Out.FORGOTTEN
            or (known.record_id in made_of_it and known.spoken_at < last)
            or (known.born > last and not known.believed)
            for known in carriers
        )

    def carriers(self, principal: str, nonce: str) -> list[Known]:
        """A principal's records of a nonce."""
        return [
            known
            for known in self.records.values()
            if known.principal == principal and nonce in known.nonces
        ]

    def visible(self, viewer: Circle, owners: Iterable[Circle], *, by_purpose: bool) -> bool:
        """Whether one of the circles might be shown to a viewer."""
        return any(may_see(viewer, owner, by_purpose=by_purpose) for owner in owners)

    def _known(self, record_ids: Iterable[str]) -> list[Known]:
        return [self.records[name] for name in record_ids if name in self.records]
