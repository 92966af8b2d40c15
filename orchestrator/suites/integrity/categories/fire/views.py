"""What a memory shows of one subject, taken apart so that two looks can be compared.

A look is what the memory itself makes of a change: an undisturbed one shows how a whole change
looks, whatever the memory's policy, and a disturbed one has to look like that or like nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import Answer, Ask
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.categories.fire.texts import MARKED_ROLES, STATEMENT, Subject
from orchestrator.suites.integrity.declared import surface_name
from orchestrator.suites.integrity.needles import Haystack
from orchestrator.suites.integrity.steps import export, list_procedures, recall, state_words

__all__ = ["Known", "Seen", "View", "look"]

_SURFACES = {
    "authoritative": memory_pb2.RECALL_SURFACE_AUTHORITATIVE,
    "evidence": memory_pb2.RECALL_SURFACE_EVIDENCE,
}
_PROCEDURES = "procedures"
_EXPORTED = (vendor_pb2.SURFACE_INDEX,)


@dataclass(frozen=True, order=True)
class Seen:
    """One record as a surface shows it, without its id.

    Attributes:
        surface: Where it was seen.
        role: Which of the subject's texts it is.
        authoritative: The memory's own word whether an agent may act on it.
        state: `memory_pb2.RECORD_STATE_*`.
        trust: `memory_pb2.TRUST_*`.
        taints: Its taints, sorted.
        whole: The text is the one that was offered.
        ancestors: How many ancestors it names.
    """

    surface: str
    role: str
    authoritative: bool
    state: memory_pb2.RecordState.ValueType
    trust: memory_pb2.Trust.ValueType
    taints: tuple[str, ...]
    whole: bool
    ancestors: int

    @property
    def words(self) -> str:
        """It in words, for a report."""
        told = [
            state_words(self.state),
            "authoritative" if self.authoritative else "not authoritative",
        ]
        told += [f"tainted {'+'.join(self.taints)}"] if self.taints else []
        told += [] if self.whole else ["in other words"]
        return f"{self.role} on {self.surface} ({', '.join(told)})"


@dataclass(frozen=True)
class View:
    """All that a memory shows of one subject.

    Attributes:
        entries: What its surfaces show, with native ids.
        named: Exported surfaces that hold the subject's nonce.
    """

    entries: frozenset[tuple[str, Seen]]
    named: frozenset[str]

    @property
    def shape(self) -> tuple[frozenset[Seen], frozenset[str]]:
        """The same without ids, which differ between two subjects; copies count once."""
        return frozenset(seen for _, seen in self.entries), self.named

    @property
    def acted_on(self) -> frozenset[tuple[str, str]]:
        """(surface, role) of what an agent may act on."""
        return frozenset((s.surface, s.role) for _, s in self.entries if s.authoritative)

    def beside(self, other: View) -> str:
        """What it has that another look has not, and the other way round, in words."""
        (mine, named), (its, its_named) = self.shape, other.shape
        return (
            f"has {_words(mine - its, named - its_named)},"
            f" lacks {_words(its - mine, its_named - named)}"
        )


def _words(entries: frozenset[Seen], named: frozenset[str]) -> str:
    told = [seen.words for seen in sorted(entries)]
    told += [f"its words on surface {name}" for name in sorted(named)]
    return " and ".join(told) or "nothing"


@dataclass(frozen=True)
class Known:
    """A subject with the native ids that the memory gave for its texts.

    Attributes:
        subject: The subject.
        roles: Role of each record, by its id.
    """

    subject: Subject
    roles: Mapping[str, str]


def look(
    step: str, scene: Scene, subjects: Sequence[Known]
) -> Generator[Ask, Answer, tuple[View, ...]]:
    """Ask for subjects on both surfaces, among the procedures and in the exported index.

    Args:
        step: Where in the script.
        scene: The trial.
        subjects: The subjects.

    Returns:
        A view for each.
    """
    listed, named = yield from _of_all(step, scene)
    views: list[View] = []
    for number, known in enumerate(subjects):
        subject = known.subject
        entries = _entries(_PROCEDURES, known, listed)
        for surface, asked in _SURFACES.items():
            where = f"{step}.{number}.{surface}"
            scope = subject.statement.scope(scene.namespace)
            hits = yield from recall(where, scope, subject.query, asked)
            entries |= _entries(surface, known, hits)
        holding = frozenset(name for name, data in named.items() if data.find(subject.nonce))
        views.append(View(frozenset(entries), holding))
    return tuple(views)


def _of_all(
    step: str, scene: Scene
) -> Generator[Ask, Answer, tuple[tuple[memory_pb2.MemoryRecord, ...], Mapping[str, Haystack]]]:
    """The active procedures, and what is exported, by the surface's name."""
    listed: tuple[memory_pb2.MemoryRecord, ...] = ()
    if scene.declared.supports(vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY):
        scope = scene.case.twin.offer.scope(scene.namespace)
        listed = yield from list_procedures(f"{step}.{_PROCEDURES}", scope)
    named: dict[str, Haystack] = {}
    for exported in _EXPORTED:
        if exported in scene.declared.surfaces:
            name = surface_name(exported)
            dump = yield from export(f"{step}.{name}", scene.namespace, exported)
            named[name] = Haystack(dump.data)
    return listed, named


def _entries(
    surface: str, known: Known, shown: Sequence[memory_pb2.Hit] | Sequence[memory_pb2.MemoryRecord]
) -> set[tuple[str, Seen]]:
    """The subject's own records: by native id where it is known, else by text."""
    entries: set[tuple[str, Seen]] = set()
    for one in shown:
        text = one.content if isinstance(one, memory_pb2.Hit) else one.observation.content
        role = known.roles.get(one.record_id) or _role(known.subject, text.lower())
        if role:
            entries.add((one.record_id, _seen(surface, role, known.subject, one, text)))
    return entries


def _role(subject: Subject, text: str) -> str:
    for role in MARKED_ROLES:
        if subject.markers[role] in text:
            return role
    return STATEMENT if subject.nonce in text else ""


def _seen(
    surface: str,
    role: str,
    subject: Subject,
    shown: memory_pb2.Hit | memory_pb2.MemoryRecord,
    text: str,
) -> Seen:
    return Seen(
        surface=surface,
        role=role,
        authoritative=shown.authoritative,
        state=shown.state,
        trust=shown.trust,
        taints=tuple(sorted(set(shown.taints))),
        whole=" ".join(text.split()) == subject.texts[role],
        ancestors=len(set(shown.lineage)),
    )
