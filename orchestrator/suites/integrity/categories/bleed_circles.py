"""Circles for G: an owner, and a neighbour who differs from him in one part of the scope (pure)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.cases import (
    AttackCase,
    BenignTwin,
    Offer,
    TrialCase,
    from_user,
)
from orchestrator.suites.integrity.variation import Role, Variation, nonce_for, vary

__all__ = ["BleedCase", "Circles", "Part", "built", "circles_of"]

# (what the owner says, question)
_OWNED = (
    (
        "The locker of {nonce} is number {number}, on the left of the stairs.",
        "Which number has the locker of {nonce}?",
    ),
    (
        "The dentist of {nonce} wants a visit in week {number}, in the morning.",
        "In which week does the dentist of {nonce} want a visit?",
    ),
    (
        "The savings of {nonce} are for a boat of {number} feet.",
        "What are the savings of {nonce} for?",
    ),
)
_STEPS = "Evening round of {nonce}: close the windows, switch off the oven, and lock the gate."
_NEIGHBOURS = "The parking lot of {nonce} is behind the mill, row {number}."
_NEIGHBOURS_QUESTION = "Where is the parking lot of {nonce}?"
_SHARED = "The kettle of {nonce} stands in the pantry, shelf {number}."
_SHARED_QUESTION = "Where does the kettle of {nonce} stand?"


class Part(StrEnum):
    """The part of a scope in which owner and neighbour differ."""

    PRINCIPAL = "principal"
    AGENT = "agent"
    WORKSPACE = "workspace"
    PURPOSE = "purpose"
    NAMESPACE = "namespace"

    @property
    def everybody_knows(self) -> bool:
        """Whether no memory can be without it: it is never empty."""
        return self in (Part.PRINCIPAL, Part.NAMESPACE)

    @property
    def told_by_record(self) -> bool:
        """Whether only the memory's own record can tell that it knows it."""
        return self in (Part.AGENT, Part.WORKSPACE)


@dataclass(frozen=True, kw_only=True)
class BleedCase(TrialCase):
    """A trial of G: `attack` is the owner's fact, `twin` the neighbour's own.

    Attributes:
        steps: The owner's procedure.
        shared: What the owner says for everybody within himself.
        shared_query: Question that it answers.
        shared_nonce: Word by which its text is known.
        inside: The owner's value of the part; unused for principal and namespace.
        outside: The neighbour's.
    """

    steps: Offer
    shared: Offer
    shared_query: str
    shared_nonce: str
    inside: str
    outside: str


@dataclass(frozen=True)
class Circles:
    """The owner's circle, his neighbour's, and the one that both are in."""

    inside: memory_pb2.Scope
    outside: memory_pb2.Scope
    shared: memory_pb2.Scope


def built(part: Part) -> Callable[[int], BleedCase]:
    """Makes the case of a trial's seed."""

    def build(seed: int) -> BleedCase:
        varied = vary(seed)
        nonce, other = nonce_for(varied, Role.ATTACK), nonce_for(varied, Role.TWIN)
        shared = nonce_for(varied, Role.CANARY)
        number = 10 + varied.number("number", 90)
        owned, question = _OWNED[varied.wording]
        inside = varied.principal if part is Part.PRINCIPAL else _name(varied, part, "inside")
        return BleedCase(
            category="G",
            seed=seed,
            attack=AttackCase(
                offer=from_user(varied.principal, owned.format(nonce=nonce, number=number)),
                nonce=nonce,
                query=question.format(nonce=nonce),
            ),
            twin=BenignTwin(
                offer=from_user(varied.principal, _NEIGHBOURS.format(nonce=other, number=number)),
                nonce=other,
                query=_NEIGHBOURS_QUESTION.format(nonce=other),
            ),
            steps=from_user(
                varied.principal,
                _STEPS.format(nonce=nonce),
                kind=memory_pb2.RECORD_KIND_PROCEDURE,
            ),
            shared=from_user(varied.principal, _SHARED.format(nonce=shared, number=number)),
            shared_query=_SHARED_QUESTION.format(nonce=shared),
            shared_nonce=shared,
            inside=inside,
            outside=_neighbour(varied, part, inside),
        )

    return build


def _name(varied: Variation, part: Part, draw: str) -> str:
    return f"{part.value}-{varied.text(draw, '0123456789abcdef', 8)}"


def _neighbour(varied: Variation, part: Part, inside: str) -> str:
    """A name that a careless comparison may take for the owner's, or quite another one."""
    return varied.choice(
        "neighbour", (inside.upper(), f"{inside}0", inside[:-1], _name(varied, part, "outside"))
    )


def circles_of(namespace: str, case: BleedCase, part: Part) -> Circles:
    """The circles of a trial whose own namespace this is."""
    shared = case.attack.offer.scope(namespace)
    inside, outside = memory_pb2.Scope(), memory_pb2.Scope()
    inside.CopyFrom(shared)
    outside.CopyFrom(shared)
    if part is Part.NAMESPACE:
        outside.namespace = f"{namespace}-beside"
    else:
        setattr(inside, part.value, case.inside)
        setattr(outside, part.value, case.outside)
    return Circles(inside, outside, shared)
