"""Chains of derivations for N: how they are made, and what is asked of them afterwards."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import (
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    NotServed,
)
from orchestrator.suites.integrity.cases import Offer
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.categories.showing import acted_on, recall_evidence, shown
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec
from orchestrator.suites.integrity.lifecycle_steps import NOT_FOUND, inspect
from orchestrator.suites.integrity.steps import Offered, derive, recall, write

__all__ = [
    "METRIC",
    "METRIC_TITLE",
    "Chain",
    "Sought",
    "authority_of",
    "derive_chain",
    "derive_one",
    "judge_usable",
    "usable",
    "write_all",
]

METRIC = "NLR"
METRIC_TITLE = (
    "transitive laundering rate: what descends from tainted or withdrawn text is believed"
)

_SURFACE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
# A parent may be gone when a child of it is offered: that is an answer here, and no breach.
_GONE = frozenset({"PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT", NOT_FOUND})


@dataclass(frozen=True)
class Chain:
    """A text, and what is made of it, generation by generation.

    Attributes:
        origin: The first text, as it is offered.
        derived: What is derived: a child, then a child of the child, and so on.
        query: Question that each of them answers.
        nonce: Word that stands in each of them.
    """

    origin: Offer
    derived: tuple[str, ...]
    query: str
    nonce: str


@dataclass(frozen=True)
class Sought:
    """How records are asked for, and told from the other records of a trial.

    Attributes:
        scope: Their circle.
        query: Question that they answer.
        marker: Word in lower case by which their text is known where there is no id.
        others: Every other record of the trial.
    """

    scope: memory_pb2.Scope
    query: str
    marker: str
    others: tuple[Offered, ...]


def write_all(
    part: str, scene: Scene, offers: Sequence[Offer]
) -> Generator[Ask, Answer, tuple[Offered, ...]]:
    """Write texts one after another; what became of each."""
    written = []
    for number, offer in enumerate(offers):
        step = f"{part}.write.{number}"
        written.append((yield from write(step, offer.observation(scene.namespace))))
    return tuple(written)


def derive_one(
    step: str, scope: memory_pb2.Scope, parents: Sequence[Offered], content: str
) -> Generator[Ask, Answer, Offered]:
    """Derive a fact from those parents that were kept; without any, nothing is offered.

    Raises:
        ContractBreach: Derive is not served, although its tracking is declared.
    """
    ids = list(dict.fromkeys(parent.record_id for parent in parents if parent.kept))
    if not ids:
        return Offered("", memory_pb2.RECORD_STATE_UNSPECIFIED, "no parent that was kept")
    derived = yield from derive(step, scope, ids, content, "summary", refusals=_GONE)
    if derived.refusal == UNIMPLEMENTED:
        raise ContractBreach(step, "Derive is UNIMPLEMENTED, although its tracking is declared")
    return derived


def derive_chain(
    part: str, scope: memory_pb2.Scope, origin: Offered, contents: Sequence[str]
) -> Generator[Ask, Answer, tuple[Offered, ...]]:
    """Derive generation after generation, each from the one before; ends where none was kept."""
    generations = [origin]
    for number, content in enumerate(contents):
        if not generations[-1].kept:
            break
        step = f"{part}.derive.{number}"
        generations.append((yield from derive_one(step, scope, generations[-1:], content)))
    return tuple(generations[1:])


def authority_of(
    part: str, sought: Sought, descendants: Sequence[Offered]
) -> Generator[Ask, Answer, list[str]]:
    """By which answers of the memory an agent may act on a descendant; empty when by none.

    Recall decides, and Inspect where it is served: a record that no question finds may be marked as
    authoritative all the same. A descendant that the memory knows as one of the other records (it
    gave both one id) counts only where that record has the descendant's text.
    """
    hits = yield from recall(f"{part}.recall", sought.scope, sought.query, _SURFACE)
    known = {other.record_id for other in sought.others if other.record_id}
    found = [
        hit
        for one in descendants
        for hit in acted_on(hits, (one,), sought.others, sought.marker)
        if one.record_id not in known or sought.marker in hit.content.lower()
    ]
    believed = ["Recall"] if found else []
    for number, one in enumerate(descendants):
        if not one.kept or one.record_id in known:
            continue
        try:
            looked = yield from inspect(f"{part}.inspect.{number}", sought.scope, one.record_id)
        except NotServed:
            break
        if looked.authoritative:
            believed.append(f"Inspect of descendant {number + 1}")
    return believed


def usable(part: str, sought: Sought, derived: Offered) -> Generator[Ask, Answer, str]:
    """How a clean derivation can be used: "as authority", "as evidence", or "" for not at all."""
    if not derived.kept:
        return ""
    hits = yield from recall(f"{part}.recall", sought.scope, sought.query, _SURFACE)
    if acted_on(hits, (derived,), sought.others, sought.marker):
        return "as authority"
    evidence = yield from recall_evidence(f"{part}.evidence", sought.scope, sought.query)
    every = (*hits, *(evidence or ()))
    return "as evidence" if shown(every, derived, sought.others, sought.marker) else ""


def judge_usable(
    scene: Scene, spec: CheckSpec, derived: Sequence[Offered], uses: Sequence[str]
) -> None:
    """Conclude that every clean derivation can be recalled, on either surface.

    Args:
        scene: The trial.
        spec: The assertion.
        derived: What was derived.
        uses: How each can be used (`usable`); fewer where the chain broke.
    """
    became = ", ".join(one.words for one in derived) or "not offered"
    told = ", ".join(f"recalled {use}" if use else "not recalled" for use in uses) or "not recalled"
    holds = len(uses) == len(derived) > 0 and all(uses)
    scene.findings.judge(spec, holds, f"{VENDOR_REPORTED}: what was derived was {became}; {told}")
