"""Records and admissions of atmem as the contract's messages (pure).

A procedure is a proposal until a reviewer has settled it, and a record afterwards; the contract's
id of it is the proposal's all along. A fact's id is its record's.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

from memqual.v1 import memory_pb2
from services.common.canonical import sha256_hex
from services.vendors.atmem.record_model import Admission, Proposal, Record

__all__ = [
    "PENDING",
    "PROCEDURE",
    "contract_id",
    "fact_admission",
    "hit",
    "lineage_of",
    "proposal_admission",
    "proposal_message",
    "record_message",
    "standing_records",
    "state_of",
]

PENDING: Final = "pending_review"
PROCEDURE: Final = "procedure"
LINEAGE_MAX: Final = 1_000

_STATES: Final = {
    "active": memory_pb2.RECORD_STATE_ACTIVE,
    "quarantined": memory_pb2.RECORD_STATE_QUARANTINED,
    "superseded": memory_pb2.RECORD_STATE_SUPERSEDED,
    "tombstoned": memory_pb2.RECORD_STATE_FORGOTTEN,
}
_PROPOSAL_STATES: Final = {
    PENDING: memory_pb2.RECORD_STATE_QUARANTINED,
    "committed": memory_pb2.RECORD_STATE_ACTIVE,
}
_TRUSTS: Final = {
    "trusted_user": memory_pb2.TRUST_TRUSTED,
    "host_asserted_observation": memory_pb2.TRUST_TRUSTED,
    # What Memory.promote leaves: this adapter calls it on a reviewer's signature only.
    "user_confirmed": memory_pb2.TRUST_REVIEWED,
    "untrusted_content": memory_pb2.TRUST_UNTRUSTED,
}
_KINDS: Final = {
    PROCEDURE: memory_pb2.RECORD_KIND_PROCEDURE,
    "episode": memory_pb2.RECORD_KIND_EPISODE,
}
_SOURCES: Final = {
    "user_message": memory_pb2.SOURCE_TYPE_USER,
    "agent_message": memory_pb2.SOURCE_TYPE_AGENT,
    "tool_output": memory_pb2.SOURCE_TYPE_TOOL,
    "website": memory_pb2.SOURCE_TYPE_WEB,
    "document": memory_pb2.SOURCE_TYPE_DOCUMENT,
}


def contract_id(record: Record) -> str:
    """The contract's id of a record."""
    return record.proposal_id if record.memory_class else record.record_id


def state_of(record: Record) -> memory_pb2.RecordState.ValueType:
    """The state of a record; what is excluded from recall is out of authority."""
    if record.archived and record.status in ("active", "superseded"):
        return memory_pb2.RECORD_STATE_ARCHIVED
    if record.status == "active" and record.excluded:
        return memory_pb2.RECORD_STATE_QUARANTINED
    return _STATES.get(record.status, memory_pb2.RECORD_STATE_UNSPECIFIED)


def standing_records(records: Iterable[Record]) -> tuple[Record, ...]:
    """The records that still have content."""
    return tuple(record for record in records if record.status != "tombstoned")


def lineage_of(record: Record, by_id: Mapping[str, Record]) -> list[str]:
    """Every ancestor's id, nearest first, at most 1,000, along the parents that atmem keeps."""
    found: dict[str, None] = {}
    waiting = deque(record.parents)
    while waiting and len(found) < LINEAGE_MAX:
        parent = waiting.popleft()
        if parent not in found and parent != record.record_id:
            found[parent] = None
            if parent in by_id:
                waiting.extend(by_id[parent].parents)
    return [_told(one, by_id) for one in found]


def _told(record_id: str, by_id: Mapping[str, Record]) -> str:
    """The contract's id of a record of atmem that another one names."""
    return contract_id(by_id[record_id]) if record_id in by_id else record_id


def fact_admission(admitted: Admission, record: Record | None) -> memory_pb2.Admission:
    """What became of a fact; `record` is the one that atmem made or found."""
    if record is None:
        return memory_pb2.Admission(
            state=memory_pb2.RECORD_STATE_REJECTED,
            trust=memory_pb2.TRUST_UNTRUSTED,
            reasons=admitted.reasons,
        )
    return memory_pb2.Admission(
        record_id=contract_id(record),
        state=state_of(record),
        trust=_trust(record),
        taints=record.taints,
        reasons=admitted.reasons,
    )


def proposal_admission(proposal: Proposal, record: Record | None = None) -> memory_pb2.Admission:
    """What became of an extraction proposal; `record` is what it was committed as."""
    if record is None:
        return memory_pb2.Admission(
            record_id=proposal.proposal_id,
            state=_proposal_state(proposal),
            trust=memory_pb2.TRUST_UNTRUSTED,
            reasons=proposal.reasons,
        )
    return memory_pb2.Admission(
        record_id=contract_id(record),
        state=state_of(record),
        trust=_trust(record),
        taints=record.taints,
        reasons=proposal.reasons,
    )


def hit(record: Record, score: float, by_id: Mapping[str, Record]) -> memory_pb2.Hit:
    """A record as a hit; atmem's own word on authority is whether recall may return it."""
    return memory_pb2.Hit(
        record_id=contract_id(record),
        content=record.content,
        score=score,
        trust=_trust(record),
        taints=record.taints,
        lineage=lineage_of(record, by_id),
        state=state_of(record),
        authoritative=record.usable,
    )


def record_message(
    record: Record, by_id: Mapping[str, Record], scope: memory_pb2.Scope
) -> memory_pb2.MemoryRecord:
    """A record as atmem keeps it; `scope` is the caller's, whose subject the record has."""
    kind = _KINDS.get(record.memory_class, memory_pb2.RECORD_KIND_FACT)
    message = memory_pb2.MemoryRecord(
        record_id=contract_id(record),
        observation=_observation(
            scope, kind, record.content, record.source_type, record.source_ids
        ),
        state=state_of(record),
        trust=_trust(record),
        taints=record.taints,
        parent_ids=[_told(one, by_id) for one in record.parents],
        lineage=lineage_of(record, by_id),
        superseded_by=_told(record.superseded_by, by_id) if record.superseded_by else "",
        authoritative=record.usable,
    )
    if record.content:
        message.content_digest = sha256_hex(record.content.encode())
    return message


def proposal_message(proposal: Proposal, scope: memory_pb2.Scope) -> memory_pb2.MemoryRecord:
    """A proposal that is no record (yet)."""
    kind = _KINDS.get(proposal.memory_class, memory_pb2.RECORD_KIND_FACT)
    message = memory_pb2.MemoryRecord(
        record_id=proposal.proposal_id,
        observation=_observation(scope, kind, proposal.content, "", proposal.source_ids),
        state=_proposal_state(proposal),
        trust=memory_pb2.TRUST_UNTRUSTED,
        authoritative=False,
    )
    if proposal.content:
        message.content_digest = sha256_hex(proposal.content.encode())
    return message


def _observation(
    scope: memory_pb2.Scope,
    kind: memory_pb2.RecordKind.ValueType,
    content: str,
    source_type: str,
    source_ids: tuple[str, ...],
) -> memory_pb2.Observation:
    """What atmem still has of an observation: no labels, no time, no purpose."""
    return memory_pb2.Observation(
        scope=memory_pb2.Scope(
            namespace=scope.namespace,
            principal=scope.principal,
            # No agent: atmem recalls a record for every agent of its subject.
            workspace=scope.workspace,
        ),
        kind=kind,
        content=content,
        source=memory_pb2.Source(
            type=_SOURCES.get(source_type, memory_pb2.SOURCE_TYPE_UNSPECIFIED),
            source_id=source_ids[0] if source_ids else "",
        ),
    )


def _trust(record: Record) -> memory_pb2.Trust.ValueType:
    return _TRUSTS.get(record.trust_tier, memory_pb2.TRUST_UNSPECIFIED)


def _proposal_state(proposal: Proposal) -> memory_pb2.RecordState.ValueType:
    return _PROPOSAL_STATES.get(proposal.review_state, memory_pb2.RECORD_STATE_REJECTED)
