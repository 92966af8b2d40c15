"""Lineages of X that no store can have: too many parents, unknown ones, circles."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import (
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    NotServed,
)
from orchestrator.suites.integrity.categories.bad_input.probe import Act, Probe
from orchestrator.suites.integrity.checks import VENDOR_REPORTED
from orchestrator.suites.integrity.lifecycle_steps import inspect
from orchestrator.suites.integrity.steps import Offered, offered_by

__all__ = ["MANY_PARENTS", "lineage"]

MANY_PARENTS = 10_000

_FIRST = "The ferry to the island leaves at seven from pier {nonce}."
_SECOND = "From pier {nonce} the ferry to the island now leaves at eight."
_TRACKING = (
    vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT,
    vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
)


def lineage(probe: Probe) -> Act:
    """10,000 parents, one parent twice, an unknown parent; records that replace each other."""
    first = _FIRST.format(nonce=probe.case.nonce(1))
    admitted = yield from probe.write("parent.write", probe.said(first))
    if not admitted.record.kept:
        probe.told.append(f"the parent was {admitted.record.words}")
        return
    parent = admitted.record.record_id
    unknown = [f"p{number}" for number in range(MANY_PARENTS - 1)]
    served = yield from _derive(probe, "many", 2, [parent, *unknown])
    if served:
        yield from _derive(probe, "unknown", 3, [parent, "p-unknown"])
        yield from _derive(probe, "twice", 4, [parent, parent])
    replaced = yield from _circle(probe, first, parent)
    if not served and not replaced:
        raise NotServed("Derive")


def _derive(
    probe: Probe, name: str, number: int, parent_ids: Sequence[str]
) -> Generator[Ask, Answer, bool]:
    """Offer a child of these parents; whether Derive is served."""
    nonce = probe.case.nonce(number)
    request = memory_pb2.DeriveRequest(
        scope=probe.scope,
        kind=memory_pb2.RECORD_KIND_FACT,
        parent_ids=parent_ids,
        content=f"Summary {nonce}: the ferry leaves at seven.",
        method="summary",
    )
    answer = yield from probe.ask(f"{name}.derive", request)
    if answer.status == UNIMPLEMENTED:
        return False
    child = offered_by(f"{name}.derive", answer, memory_pb2.DeriveResponse)
    probe.told.append(f"{name} {child.words}")
    if not child.kept:
        probe.refused[name] = nonce
    elif set(parent_ids) != {parent_ids[0]} and any(map(probe.scene.declared.supports, _TRACKING)):
        raise ContractBreach(
            f"{name}.derive", "a child of unknown parents is kept, and its derivation is tracked"
        )
    return True


def _circle(probe: Probe, first: str, parent: str) -> Generator[Ask, Answer, bool]:
    """Replace a text by another one, and that one by the first again; whether it is served."""
    second = _SECOND.format(nonce=probe.case.nonce(1))
    newer = yield from _supersede(probe, "replaced", parent, second)
    if newer is None:
        return False
    if not newer.kept:
        return True
    newest = yield from _supersede(probe, "replaced_back", newer.record_id, first)
    ids = [parent, newer.record_id]
    if newest is not None and newest.kept:
        ids.append(newest.record_id)
        yield from _derive(probe, "made_of_all", 5, ids[-1:])
    for number, record_id in enumerate(dict.fromkeys(ids)):
        yield from _no_own_ancestor(probe, f"circle_{number}", record_id)
    return True


def _supersede(
    probe: Probe, name: str, record_id: str, content: str
) -> Generator[Ask, Answer, Offered | None]:
    request = memory_pb2.SupersedeRequest(
        scope=probe.scope, record_id=record_id, observation=probe.said(content)
    )
    answer = yield from probe.ask(f"{name}.supersede", request)
    if answer.status == UNIMPLEMENTED:
        return None
    offered = offered_by(f"{name}.supersede", answer, memory_pb2.SupersedeResponse)
    probe.told.append(f"{name} {offered.words}")
    return offered


def _no_own_ancestor(probe: Probe, name: str, record_id: str) -> Generator[Ask, Answer, None]:
    try:
        shown = yield from inspect(f"{name}.inspect", probe.scope, record_id)
    except NotServed:
        return
    if shown.record is not None and record_id in shown.record.lineage:
        probe.scene.findings.violated(
            probe.safety, f"{VENDOR_REPORTED}: {name}, the record is its own ancestor"
        )
