"""The part's own values as messages of memory.proto."""

from memqual.v1 import memory_pb2
from services.memory.records.model import (
    Binding,
    Kind,
    Record,
    Scope,
    Source,
    SourceType,
    State,
    Trust,
)
from services.memory.records.offers import Admitted
from services.memory.records.recalling import Found, Viewed

__all__ = ["admission", "hit", "record"]

_KINDS = {
    Kind.FACT: memory_pb2.RECORD_KIND_FACT,
    Kind.PROCEDURE: memory_pb2.RECORD_KIND_PROCEDURE,
    Kind.EPISODE: memory_pb2.RECORD_KIND_EPISODE,
}
_STATES = {
    State.ACTIVE: memory_pb2.RECORD_STATE_ACTIVE,
    State.QUARANTINED: memory_pb2.RECORD_STATE_QUARANTINED,
    State.REJECTED: memory_pb2.RECORD_STATE_REJECTED,
    State.SUPERSEDED: memory_pb2.RECORD_STATE_SUPERSEDED,
    State.FORGOTTEN: memory_pb2.RECORD_STATE_FORGOTTEN,
    State.ARCHIVED: memory_pb2.RECORD_STATE_ARCHIVED,
}
_TRUSTS = {
    Trust.UNTRUSTED: memory_pb2.TRUST_UNTRUSTED,
    Trust.TRUSTED: memory_pb2.TRUST_TRUSTED,
    Trust.REVIEWED: memory_pb2.TRUST_REVIEWED,
}
# A derivation has parents instead of a source, and says so by leaving the source's type unset.
_SOURCES = {
    SourceType.USER: memory_pb2.SOURCE_TYPE_USER,
    SourceType.AGENT: memory_pb2.SOURCE_TYPE_AGENT,
    SourceType.TOOL: memory_pb2.SOURCE_TYPE_TOOL,
    SourceType.WEB: memory_pb2.SOURCE_TYPE_WEB,
    SourceType.DOCUMENT: memory_pb2.SOURCE_TYPE_DOCUMENT,
    SourceType.RECEIPT: memory_pb2.SOURCE_TYPE_RECEIPT,
}
_BINDINGS = {
    Binding.CALLER_ASSERTED: memory_pb2.SOURCE_BINDING_CALLER_ASSERTED,
    Binding.HOST_AUTHENTICATED: memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED,
    Binding.VERIFIED: memory_pb2.SOURCE_BINDING_VERIFIED,
}


def admission(admitted: Admitted) -> memory_pb2.Admission:
    """What became of an offer."""
    standing = admitted.standing
    return memory_pb2.Admission(
        record_id=admitted.record_id,
        state=_STATES[standing.state],
        trust=_TRUSTS[standing.trust],
        taints=standing.taints,
        reasons=standing.reasons,
    )


def hit(found: Found) -> memory_pb2.Hit:
    """One answer to a question."""
    stored = found.viewed.stored
    return memory_pb2.Hit(
        record_id=stored.record.record_id,
        content=stored.record.content or "",
        score=found.score,
        trust=_TRUSTS[stored.standing.trust],
        taints=stored.standing.taints,
        lineage=found.viewed.lineage,
        state=_STATES[stored.standing.state],
        authoritative=stored.authoritative,
    )


def record(viewed: Viewed) -> memory_pb2.MemoryRecord:
    """One record with everything that is known of it."""
    stored = viewed.stored
    kept = stored.record
    return memory_pb2.MemoryRecord(
        record_id=kept.record_id,
        observation=_observation(kept),
        state=_STATES[kept.standing.state],
        trust=_TRUSTS[kept.standing.trust],
        taints=kept.standing.taints,
        parent_ids=kept.parent_ids,
        lineage=viewed.lineage,
        content_digest=kept.content_digest,
        superseded_by=kept.superseded_by,
        authoritative=stored.authoritative,
    )


def _observation(kept: Record) -> memory_pb2.Observation:
    observation = memory_pb2.Observation(
        scope=_scope(kept.scope),
        kind=_KINDS[kept.kind],
        content=kept.content or "",
        event_unix_ns=kept.event_unix_ns,
        labels=kept.labels,
    )
    if kept.source.type in _SOURCES:
        observation.source.CopyFrom(_source(kept.source))
    if kept.media is not None:
        observation.media.media_type = kept.media.media_type
        observation.media.data = kept.media.data
    return observation


def _scope(scope: Scope) -> memory_pb2.Scope:
    return memory_pb2.Scope(
        namespace=scope.namespace,
        principal=scope.principal,
        agent=scope.agent,
        workspace=scope.workspace,
        purpose=scope.purpose,
    )


def _source(source: Source) -> memory_pb2.Source:
    return memory_pb2.Source(
        type=_SOURCES[source.type],
        binding=_BINDINGS[source.binding],
        source_id=source.source_id,
    )
