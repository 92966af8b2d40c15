"""The calls that scripts are made of, with what the contract says of their answers.

Each is a generator to be used with `yield from`: it yields what it asks and returns what the memory
said, or raises ContractBreach when the answer is none.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from google.protobuf.message import Message

from memqual.v1 import common_pb2, memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    REFUSALS,
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    NotServed,
    Signing,
)
from orchestrator.suites.integrity.checks import quoted
from orchestrator.suites.integrity.reviewer import APPROVE, REJECT

__all__ = [
    "HITS_MAX",
    "HIT_BYTES_MAX",
    "ID_BYTES_MAX",
    "Dump",
    "Item",
    "Offered",
    "call",
    "decide_review",
    "derive",
    "export",
    "export_items",
    "list_procedures",
    "offered_by",
    "recall",
    "request_review",
    "response_of",
    "state_words",
    "write",
]

HITS_MAX = 20
ID_BYTES_MAX = 128
HIT_BYTES_MAX = 2 * 65_536
"""Twice the longest content (DESIGN §4): a memory may show a text with words of its own around."""

_Response = TypeVar("_Response", bound=Message)
_NOT_KEPT = (
    memory_pb2.RECORD_STATE_UNSPECIFIED,
    memory_pb2.RECORD_STATE_REJECTED,
    memory_pb2.RECORD_STATE_FORGOTTEN,
)


@dataclass(frozen=True)
class Offered:
    """What became of a text that was offered.

    Attributes:
        record_id: The memory's id for it; empty when it kept nothing.
        state: `memory_pb2.RECORD_STATE_*`; unspecified when it was refused by a status.
        refusal: Name of the status that refused it; empty when it was admitted or rejected.
        taints: The doubts that it was admitted with, as the memory names them.
        trust: `memory_pb2.TRUST_*`, as the admission has it.
    """

    record_id: str
    state: memory_pb2.RecordState.ValueType
    refusal: str = ""
    taints: tuple[str, ...] = ()
    trust: memory_pb2.Trust.ValueType = memory_pb2.TRUST_UNSPECIFIED

    @property
    def kept(self) -> bool:
        """Whether the memory says that it holds the text."""
        return bool(self.record_id) and self.state not in _NOT_KEPT

    @property
    def words(self) -> str:
        """It in words, for a report."""
        if self.refusal:
            return f"refused with {self.refusal}"
        return f"admitted as {state_words(self.state)}"


@dataclass(frozen=True)
class Dump:
    """Everything that the memory gave of one surface.

    Attributes:
        surface: `vendor_pb2.SURFACE_*`.
        data: Ids and contents of all items, in order.
    """

    surface: vendor_pb2.Surface.ValueType
    data: bytes


@dataclass(frozen=True)
class Item:
    """One item of a surface.

    Attributes:
        item_id: Its id there.
        content: All of its content.
    """

    item_id: str
    content: bytes


def call(
    step: str,
    request: Message,
    *,
    refusals: frozenset[str] = frozenset(),
    signing: Signing | None = None,
) -> Generator[Ask, Answer, Answer]:
    """Make a call whose answer is OK or one of the statuses that are allowed here.

    Raises:
        ContractBreach: Any other status.
    """
    answer = yield Ask(step, request, signing)
    if answer.status != OK and answer.status not in refusals:
        raise ContractBreach(step, _status_words(answer))
    return answer


def write(step: str, observation: memory_pb2.Observation) -> Generator[Ask, Answer, Offered]:
    """Offer an observation.

    Raises:
        NotServed: The memory has no Write.
        ContractBreach: It answers neither with an admission nor with a refusal.
    """
    request = memory_pb2.WriteRequest(observation=observation)
    answer = yield from call(step, request, refusals=REFUSALS | {UNIMPLEMENTED})
    if answer.status == UNIMPLEMENTED:
        raise NotServed
    return offered_by(step, answer, memory_pb2.WriteResponse)


def derive(
    step: str,
    scope: memory_pb2.Scope,
    parent_ids: Sequence[str],
    content: str,
    method: str,
    *,
    kind: memory_pb2.RecordKind.ValueType = memory_pb2.RECORD_KIND_FACT,
    refusals: frozenset[str] = REFUSALS,
) -> Generator[Ask, Answer, Offered]:
    """Offer what was made out of named parents; a memory may be unable to (UNIMPLEMENTED)."""
    request = memory_pb2.DeriveRequest(
        scope=scope,
        kind=kind,
        parent_ids=parent_ids,
        content=content,
        method=method,
    )
    answer = yield from call(step, request, refusals=refusals | {UNIMPLEMENTED})
    return offered_by(step, answer, memory_pb2.DeriveResponse)


def recall(
    step: str,
    scope: memory_pb2.Scope,
    query: str,
    surface: memory_pb2.RecallSurface.ValueType,
    max_hits: int = HITS_MAX,
) -> Generator[Ask, Answer, tuple[memory_pb2.Hit, ...]]:
    """Ask a question; raises ContractBreach on more hits than were asked for.

    No capability stands for evidence that nobody may act on: a memory with one surface says so by
    UNIMPLEMENTED and is asked on that one, as `<step>.authority`.
    """
    request = memory_pb2.RecallRequest(scope=scope, query=query, max_hits=max_hits, surface=surface)
    evidence = surface == memory_pb2.RECALL_SURFACE_EVIDENCE
    answer = yield from call(
        step, request, refusals=frozenset({UNIMPLEMENTED}) if evidence else frozenset()
    )
    if answer.status == UNIMPLEMENTED:
        only = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
        return (yield from recall(f"{step}.authority", scope, query, only, max_hits))
    hits = tuple(response_of(step, answer, memory_pb2.RecallResponse).hits)
    if len(hits) > max_hits:
        raise ContractBreach(step, f"{len(hits)} hits where at most {max_hits} were asked for")
    for hit in hits:
        _well_formed(step, hit)
    return hits


def _well_formed(step: str, hit: memory_pb2.Hit) -> None:
    """Raises ContractBreach for a hit that no reader of the contract can make sense of."""
    size_bytes = len(hit.content.encode())
    if size_bytes > HIT_BYTES_MAX:
        raise ContractBreach(step, f"a hit of {size_bytes} bytes, where no text is over 65536")
    if hit.state not in memory_pb2.RecordState.values():
        raise ContractBreach(step, f"a hit {state_words(hit.state)}")
    if hit.trust not in memory_pb2.Trust.values():
        raise ContractBreach(step, f"a hit of the unknown trust {hit.trust}")
    if math.isnan(hit.score):
        raise ContractBreach(step, "a hit whose score is no number")


def list_procedures(
    step: str, scope: memory_pb2.Scope
) -> Generator[Ask, Answer, tuple[memory_pb2.MemoryRecord, ...]]:
    """Ask for the active procedures."""
    answer = yield from call(step, memory_pb2.ListProceduresRequest(scope=scope))
    return tuple(response_of(step, answer, memory_pb2.ListProceduresResponse).procedures)


def request_review(
    step: str, scope: memory_pb2.Scope, record_id: str, action: str, *, refusals: frozenset[str]
) -> Generator[Ask, Answer, common_pb2.Challenge | str]:
    """Ask for a challenge over one record; returns it, or the status that refused it.

    Raises:
        ContractBreach: The challenge is not for exactly this record and action: nobody signs that.
    """
    request = memory_pb2.RequestReviewRequest(scope=scope, record_ids=[record_id], action=action)
    answer = yield from call(step, request, refusals=refusals)
    if answer.status != OK:
        return answer.status
    challenge = response_of(step, answer, memory_pb2.RequestReviewResponse).challenge
    if not (
        challenge.challenge_id
        and list(challenge.subject_ids) == [record_id]
        and len(challenge.subject_digests) == 1
        and challenge.action == action
        and challenge.namespace == scope.namespace
    ):
        raise ContractBreach(step, "the challenge is not for the record and action asked for")
    return challenge


def decide_review(
    step: str, scope: memory_pb2.Scope, challenge: common_pb2.Challenge, *, approve: bool
) -> Generator[Ask, Answer, str]:
    """Have the run's reviewer decide a challenge; returns OK, or the status that refused it."""
    decisions = memory_pb2.ReviewDecision
    request = memory_pb2.DecideReviewRequest(
        scope=scope,
        challenge_id=challenge.challenge_id,
        decision=decisions.REVIEW_DECISION_APPROVE if approve else decisions.REVIEW_DECISION_REJECT,
    )
    signing = Signing(challenge, APPROVE if approve else REJECT)
    answer = yield from call(step, request, refusals=REFUSALS, signing=signing)
    return answer.status


def export(
    step: str, namespace: str, surface: vendor_pb2.Surface.ValueType
) -> Generator[Ask, Answer, Dump]:
    """Read one scored surface to its end; raises ContractBreach when it has none."""
    parts = yield from _exported(step, namespace, surface)
    ids = b"\n".join(part.item_id.encode() for part in parts)
    # Contents are joined without a separator: a long item comes in several messages.
    return Dump(surface, ids + b"\n" + b"".join(part.content for part in parts))


def export_items(
    step: str, namespace: str, surface: vendor_pb2.Surface.ValueType
) -> Generator[Ask, Answer, tuple[Item, ...]]:
    """The items of one scored surface, each whole; raises as `export`."""
    parts = yield from _exported(step, namespace, surface)
    items: dict[str, bytearray] = {}
    for part in parts:
        items.setdefault(part.item_id, bytearray()).extend(part.content)
    return tuple(Item(item_id, bytes(content)) for item_id, content in items.items())


def _exported(
    step: str, namespace: str, surface: vendor_pb2.Surface.ValueType
) -> Generator[Ask, Answer, list[vendor_pb2.ExportResponse]]:
    request = vendor_pb2.ExportRequest(namespace=namespace, surface=surface)
    answer = yield from call(step, request)
    if answer.overflow:
        raise ContractBreach(step, f"the stream does not end: {answer.details}")
    return [part for part in answer.responses if isinstance(part, vendor_pb2.ExportResponse)]


def offered_by(
    step: str,
    answer: Answer,
    kind: type[memory_pb2.WriteResponse]
    | type[memory_pb2.DeriveResponse]
    | type[memory_pb2.SupersedeResponse],
) -> Offered:
    """What became of a text, out of the answer to the call that offered it.

    Raises:
        ContractBreach: The answer is OK and no admission.
    """
    if answer.status != OK:
        return Offered("", memory_pb2.RECORD_STATE_UNSPECIFIED, answer.status)
    response = response_of(step, answer, kind)
    admission = response.admission
    known = admission.state in memory_pb2.RecordState.values()
    if not response.HasField("admission") or not known or not admission.state:
        raise ContractBreach(step, "the answer has no admission with a state")
    if not admission.record_id and admission.state != memory_pb2.RECORD_STATE_REJECTED:
        raise ContractBreach(step, "the admission has no record id and is not REJECTED")
    id_bytes = len(admission.record_id.encode())
    if id_bytes > ID_BYTES_MAX:
        raise ContractBreach(step, f"a record id of {id_bytes} bytes; ids have at most 128")
    return Offered(
        admission.record_id,
        admission.state,
        taints=tuple(admission.taints),
        trust=admission.trust,
    )


def response_of(step: str, answer: Answer, kind: type[_Response]) -> _Response:
    """The response of an answer that is OK; raises ContractBreach when there is none."""
    for response in answer.responses:
        if isinstance(response, kind):
            return response
    raise ContractBreach(step, "OK without an answer")


def state_words(state: int) -> str:
    """`active` for RECORD_STATE_ACTIVE; a number that the contract has no name for is told."""
    if state not in memory_pb2.RecordState.values():
        return f"of the unknown state {state}"
    name = memory_pb2.RecordState.Name(memory_pb2.RecordState.ValueType(state))
    return name.removeprefix("RECORD_STATE_").lower()


def _status_words(answer: Answer) -> str:
    told = f" {quoted(answer.details)}" if answer.details else ""
    return f"{answer.status}{told}"
