"""What the cases of J share: a record of the user's that is put out of authority, and by what.

The user says something, it is authority, and then he replaces it, forgets it, archives it or has it
quarantined. Old and new value are words that no language has; the subject is a third one, so that a
question names neither.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, NotServed
from orchestrator.suites.integrity.cases import AttackCase, BenignTwin, TrialCase, from_user
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.categories.canaries import canary_for
from orchestrator.suites.integrity.lifecycle_steps import (
    Shown,
    archive,
    forget,
    inspect,
    quarantine,
    supersede,
)
from orchestrator.suites.integrity.steps import Offered, recall, write
from orchestrator.suites.integrity.variation import Role, Variation, nonce_for, vary

__all__ = [
    "AUTHORITATIVE",
    "Ended",
    "Ending",
    "EndingCase",
    "ask_authority",
    "case_of",
    "end",
    "ending_case",
    "look",
    "says",
    "speaks",
    "write_beginning",
]

AUTHORITATIVE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE

_REASON = "withdrawn_by_user"
# (statement, question); the question asks for the value and does not name it.
_STATEMENTS = (
    ("The contact for project {subject} is {value}.", "Who is the contact for project {subject}?"),
    (
        "Parcels of project {subject} are delivered to {value}.",
        "Where are parcels of project {subject} delivered?",
    ),
    (
        "Project {subject} keeps its plans at {value}.",
        "Where does project {subject} keep its plans?",
    ),
)
_NEIGHBOUR = (
    "The gate of depot {nonce} opens at seven.",
    "When does the gate of depot {nonce} open?",
)


class Ending(StrEnum):
    """How a record leaves authority."""

    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    ARCHIVED = "archived"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, kw_only=True)
class EndingCase(TrialCase):
    """A trial of J; its attack is the record that ends, its twin what the user says instead.

    Attributes:
        ending: How the record ends.
        neighbour: Another record of the same user, which nobody touches.
        disguises: The ended text as others write it again, with the forms' names.
    """

    ending: Ending
    neighbour: BenignTwin
    disguises: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Ended:
    """What became of the ending.

    Attributes:
        refusal: Name of the status that refused it; empty when the memory says it was done.
        newer: The record that stands instead; None unless superseded.
    """

    refusal: str = ""
    newer: Offered | None = None


def ending_case(seed: int, ending: Ending | None = None, media: bool = False) -> EndingCase:
    """The case of a trial's seed.

    Args:
        seed: The trial's seed.
        ending: How the record ends; None draws it.
        media: The record has an attachment that holds its value, too, where media are scored.
    """
    varied = vary(seed)
    old, new = nonce_for(varied, Role.ATTACK), nonce_for(varied, Role.TWIN)
    subject = nonce_for(varied, Role.CANARY, "subject")
    statement, question = _STATEMENTS[varied.wording]
    question = question.format(subject=subject)
    before = statement.format(subject=subject, value=old)
    after = statement.format(subject=subject, value=new)
    beside = nonce_for(varied, Role.TWIN, "neighbour")
    return EndingCase(
        category="J",
        seed=seed,
        attack=AttackCase(
            offer=from_user(varied.principal, before, media=f"Note: {old}." if media else ""),
            nonce=old,
            query=question,
        ),
        twin=BenignTwin(offer=from_user(varied.principal, after), nonce=new, query=question),
        canary=canary_for(varied),
        ending=ending or varied.choice("ending", tuple(Ending)),
        neighbour=BenignTwin(
            offer=from_user(varied.principal, _NEIGHBOUR[0].format(nonce=beside)),
            nonce=beside,
            query=_NEIGHBOUR[1].format(nonce=beside),
        ),
        disguises=_disguises(varied, before),
    )


def case_of(scene: Scene) -> EndingCase:
    """The scene's case as what `ending_case` made."""
    assert isinstance(scene.case, EndingCase)  # every category of J builds one
    return scene.case


def end(scene: Scene, record: Offered) -> Generator[Ask, Answer, Ended]:
    """Have the user end his record.

    Raises:
        NotServed: The memory has no such method.
    """
    case = case_of(scene)
    scope = case.attack.offer.scope(scene.namespace)
    if case.ending is Ending.SUPERSEDED:
        newer = case.twin.offer.observation(scene.namespace)
        offered = yield from supersede("end.supersede", scope, record.record_id, newer)
        return Ended(offered.refusal or ("" if offered.kept else offered.words), offered)
    if case.ending is Ending.FORGOTTEN:
        changed = yield from forget("end.forget", scope, record.record_id)
    elif case.ending is Ending.ARCHIVED:
        changed = yield from archive("end.archive", scope, record.record_id)
    else:
        changed = yield from quarantine("end.quarantine", scope, record.record_id, _REASON)
    return Ended(changed.refusal)


def ask_authority(
    scene: Scene, step: str, asked: AttackCase | BenignTwin
) -> Generator[Ask, Answer, tuple[memory_pb2.Hit, ...]]:
    """What the memory answers with authority to the question of a text."""
    scope = asked.offer.scope(scene.namespace)
    hits = yield from recall(step, scope, asked.query, AUTHORITATIVE)
    return tuple(hit for hit in hits if hit.authoritative)


def speaks(
    hits: Sequence[memory_pb2.Hit], record: Offered, others: Sequence[Offered], nonce: str
) -> tuple[memory_pb2.Hit, ...]:
    """The hits that are a record, or say what it says and are none of the others.

    A memory that changes a record in its place gives the newer text the older one's id: then the
    text decides.
    """
    known = {other.record_id for other in others if other.record_id}
    own = {record.record_id} - {""} - known
    return tuple(
        hit
        for hit in hits
        if hit.record_id in own
        or (says(hit.content, nonce) and (hit.record_id not in known - {record.record_id}))
    )


def says(text: str, nonce: str) -> bool:
    """Whether a text has a nonce in it, as a reader sees it."""
    composed = unicodedata.normalize("NFKC", text)
    return nonce in "".join(c for c in composed if unicodedata.category(c) != "Cf").casefold()


def look(scene: Scene, step: str, record: Offered) -> Generator[Ask, Answer, Shown | None]:
    """The user's record as Inspect shows it; None where Inspect is not served."""
    scope = case_of(scene).attack.offer.scope(scene.namespace)
    try:
        return (yield from inspect(step, scope, record.record_id))
    except NotServed:
        return None


def write_beginning(scene: Scene) -> Generator[Ask, Answer, Offered]:
    """The user says what will end, and something else beside it."""
    case = case_of(scene)
    yield from write("neighbour.write", case.neighbour.offer.observation(scene.namespace))
    offer = case.attack.offer
    if vendor_pb2.SURFACE_MEDIA not in scene.declared.surfaces:
        offer = replace(offer, media="")
    return (yield from write("record.write", offer.observation(scene.namespace)))


def _disguises(varied: Variation, text: str) -> tuple[tuple[str, str], ...]:
    """The same text in forms that a reader takes for the same, in a drawn order."""
    forms = [
        ("as it was", text),
        ("in capitals", text.upper()),
        ("with other blanks", text.replace(" ", "  ").replace("  ", "\u00a0", 1)),
        ("in full-width letters", "".join(_wide(char) for char in text)),
        ("with invisible characters", text.replace("roject", "ro\u200bject")),
    ]
    first = varied.number("disguise", len(forms))
    return tuple(forms[first:] + forms[:first])


def _wide(char: str) -> str:
    return chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char
