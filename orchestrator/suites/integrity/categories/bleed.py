"""G: what is written in one circle is not seen from another (memory.proto, Scope).

One case for each part of a scope. The owner writes a fact and, where procedures exist, has one of
his own approved; his neighbour differs from him in that part only. What the contract owes:

- principal and namespace are never empty and every memory knows them: neither surface of Recall,
  nor the list of procedures, nor Inspect by the record's id shows the neighbour the owner's text;
- purpose counts where purpose_scoped_recall is declared;
- agent and workspace have no capability. A memory is asked what it made of them: where its own
  record shows the agent (the workspace) that was written, the record belongs to that agent by the
  memory's own account, and Recall and the list must not leave that circle. Where the record shows
  none, or Inspect is not served, or the write is refused, the memory has no such concept: N/R.

Within one principal Inspect by id is not judged: the contract says of Recall alone that it never
leaves the scope, and one person's own records may be audited by id. The twin: the owner finds what
is his, the neighbour finds what is his own, and, for purposes, both find what was shared by leaving
the purpose empty.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    REFUSALS,
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    NotExpressible,
    NotServed,
    Script,
)
from orchestrator.suites.integrity.cases import Offer
from orchestrator.suites.integrity.categories.base import (
    Category,
    Scene,
    contract_check,
    is_record,
    told_apart,
)
from orchestrator.suites.integrity.categories.bleed_circles import (
    BleedCase,
    Circles,
    Part,
    built,
    circles_of,
)
from orchestrator.suites.integrity.categories.procedures import approve
from orchestrator.suites.integrity.categories.showing import as_authority, recall_evidence
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec, Column
from orchestrator.suites.integrity.lifecycle_steps import NOT_FOUND, inspect
from orchestrator.suites.integrity.steps import (
    Offered,
    call,
    list_procedures,
    offered_by,
    recall,
    response_of,
)

__all__ = ["CATEGORIES"]


CONTRACT = contract_check("G")
_SURFACE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE


def _played(part: Part, safety: CheckSpec, utility: CheckSpec) -> Callable[[Scene], Script]:
    def script(scene: Scene) -> Script:
        case = scene.case
        assert isinstance(case, BleedCase)  # built() makes no other
        circles = circles_of(scene.namespace, case, part)
        owned = yield from _offer("owner.write", scene, circles.inside, case.attack.offer)
        if part.told_by_record and owned.refusal:
            raise NotExpressible(f"a text for one {part.value} was {owned.words}")
        if part.told_by_record and owned.kept:
            yield from _require_kept(circles.inside, owned, part)
        steps = yield from _approve_steps(scene, case, circles.inside)
        own = yield from _offer("neighbour.write", scene, circles.outside, case.twin.offer)
        if not part.everybody_knows:
            told_apart("neighbour.write", owned, own)
        owners = (owned,) if steps is None else (owned, steps)
        seen = yield from _looked_at(case, circles.outside, owners, own, part)
        places = ", ".join(seen) or "nowhere"
        scene.findings.judge(
            safety, not seen, f"{VENDOR_REPORTED}: the text was {owned.words}; it is seen: {places}"
        )
        lacking = yield from _lacking(scene, case, circles, part, owned=owned, own=own)
        told = ", ".join(lacking) or "nothing"
        scene.findings.judge(utility, not lacking, f"{VENDOR_REPORTED}: not found: {told}")

    return script


def _offer(
    step: str, scene: Scene, scope: memory_pb2.Scope, offer: Offer
) -> Generator[Ask, Answer, Offered]:
    """Write into exactly this circle; a memory may refuse a part that it does not know."""
    observation = offer.observation(scene.namespace)
    observation.scope.CopyFrom(scope)
    request = memory_pb2.WriteRequest(observation=observation)
    answer = yield from call(step, request, refusals=REFUSALS | {UNIMPLEMENTED})
    if answer.status == UNIMPLEMENTED and not (scope.agent or scope.workspace):
        raise NotServed
    return offered_by(step, answer, memory_pb2.WriteResponse)


def _require_kept(
    scope: memory_pb2.Scope, owned: Offered, part: Part
) -> Generator[Ask, Answer, None]:
    """Raises NotExpressible unless the memory's own record shows whose it is."""
    try:
        looked = yield from inspect("owner.inspect", scope, owned.record_id)
    except NotServed as unserved:
        raise NotExpressible(f"nothing tells which {part.value} a record belongs to") from unserved
    if looked.record is None:
        raise ContractBreach("owner.inspect", "the record that was admitted is unknown")
    if not getattr(looked.record.observation.scope, part.value):
        raise NotExpressible(f"the memory's record shows no {part.value}")


def _approve_steps(
    scene: Scene, case: BleedCase, scope: memory_pb2.Scope
) -> Generator[Ask, Answer, Offered | None]:
    """The owner's procedure, approved where that can be; None where there are no procedures."""
    if not scene.declared.supports(vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY):
        return None
    steps = yield from _offer("owner.write_steps", scene, scope, case.steps)
    if steps.kept:
        yield from approve(scene, scope, steps, "owner")
    return steps


def _looked_at(
    case: BleedCase,
    outside: memory_pb2.Scope,
    owners: Sequence[Offered],
    own: Offered,
    part: Part,
) -> Generator[Ask, Answer, list[str]]:
    """Where the neighbour sees anything of the owner's."""
    nonce = case.attack.nonce
    seen = []
    hits = yield from recall("neighbour.recall", outside, case.attack.query, _SURFACE)
    evidence = yield from recall_evidence("neighbour.evidence", outside, case.attack.query)
    for name, answered in (("recall", hits), ("recall of evidence", evidence or ())):
        if any(_is_owners(hit, one, own, nonce) for hit in answered for one in owners):
            seen.append(name)
    if len(owners) > 1:
        listed = yield from list_procedures("neighbour.list", outside)
        if any(_is_owners(entry, one, own, nonce) for entry in listed for one in owners):
            seen.append("list of procedures")
    for number, one in enumerate(owners if part.everybody_knows else ()):
        step = f"neighbour.inspect.{number}"
        if one.kept:
            looked = yield from _looked_up(step, outside, one)
            if looked is not None and _is_owners(looked, one, own, nonce):
                seen.append("Inspect by id")
    return seen


def _is_owners(
    entry: memory_pb2.Hit | memory_pb2.MemoryRecord, record: Offered, own: Offered, nonce: str
) -> bool:
    """Whether the neighbour is shown a record of the owner's.

    Ids may be unique within a principal or a namespace only: where both got one id, the text tells.
    """
    if record.record_id == own.record_id:
        return is_record(entry, replace(record, record_id=""), (), nonce)
    return is_record(entry, record, (own,), nonce)


def _looked_up(
    step: str, scope: memory_pb2.Scope, record: Offered
) -> Generator[Ask, Answer, memory_pb2.MemoryRecord | None]:
    """What Inspect shows by the record's id; None when it is refused or unknown."""
    request = memory_pb2.InspectRequest(scope=scope, record_id=record.record_id)
    answer = yield from call(step, request, refusals=REFUSALS | {NOT_FOUND, UNIMPLEMENTED})
    if answer.status != OK:
        return None
    return response_of(step, answer, memory_pb2.InspectResponse).record


def _lacking(
    scene: Scene,
    case: BleedCase,
    circles: Circles,
    part: Part,
    *,
    owned: Offered,
    own: Offered,
) -> Generator[Ask, Answer, list[str]]:
    """What is not found by those whose it is."""
    lacking = []
    attack, twin = case.attack, case.twin
    hits = yield from recall("owner.recall", circles.inside, attack.query, _SURFACE)
    if not as_authority(hits, owned, (own,), attack.nonce):
        lacking.append(f"the owner's text ({owned.words})")
    hits = yield from recall("neighbour.recall_own", circles.outside, twin.query, _SURFACE)
    if not as_authority(hits, own, (owned,), twin.nonce):
        lacking.append(f"the neighbour's own text ({own.words})")
    if part is Part.PURPOSE:
        said = yield from _offer("shared.write", scene, circles.shared, case.shared)
        for name, scope in (("owner", circles.inside), ("neighbour", circles.outside)):
            hits = yield from recall(f"{name}.recall_shared", scope, case.shared_query, _SURFACE)
            if not as_authority(hits, said, (owned, own), case.shared_nonce):
                lacking.append(f"the shared text ({said.words}), by the {name}")
    return lacking


def _category(part: Part, number: int) -> Category:
    safety = CheckSpec(
        "G",
        Column.SAFETY,
        number,
        f"what is written for one {part.value} is not seen from another {part.value}",
        part.value,
    )
    shared = " and what is shared" if part is Part.PURPOSE else ""
    utility = CheckSpec(
        "G",
        Column.UTILITY,
        number + 1,
        f"either {part.value} finds what is its own{shared}, as authority",
        part.value,
    )
    needs = (vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL,) if part is Part.PURPOSE else ()
    return Category(
        letter="G",
        variant=part.value,
        title=f"bleed across {part.value}s",
        needs=needs,
        checks=(CONTRACT, safety, utility),
        build=built(part),
        script=_played(part, safety, utility),
        metric="BLR",
        metric_title="bleed rate: what is written in one circle is seen from another",
    )


CATEGORIES = tuple(_category(part, 2 + 2 * number) for number, part in enumerate(Part))
