"""What a caller sends, checked and turned into the part's own values (DESIGN §4 limits).

Every refusal is INVALID_ARGUMENT with the field's name and never its value.
"""

import math
import re

import grpc

from memqual.v1 import memory_pb2
from services.common.errors import ServiceError
from services.common.limits import CONTENT_BYTES, check_content, check_id, check_optional_id
from services.memory.records.model import (
    Binding,
    Kind,
    Media,
    Observation,
    Outcome,
    Scope,
    Source,
    SourceType,
    Surface,
)
from services.memory.records.offers import Derivation
from services.memory.records.policy_review import ACTIONS
from services.memory.records.review import APPROVE, REJECT, Decision

__all__ = [
    "QUERY_BYTES",
    "code",
    "decision",
    "derivation",
    "max_hits",
    "observation",
    "outcome",
    "query",
    "record_id",
    "review",
    "scope",
    "superseding",
    "surface",
    "utility",
]

LABELS_MAX = 32
PARENTS_MAX = 1_000
QUERY_BYTES = 4_096
HITS_MAX = 1_000
SUBJECTS_MAX = 100

# Control characters (but tab and line ends), what turns the reading direction, non-characters:
# what a person reads must be what is stored.
_UNREADABLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]"
)
_LINE = re.compile(r"[\t\n\r\u2028\u2029]")
_CODE = re.compile(r"[A-Za-z0-9_.:-]*", re.ASCII)

_KINDS = {
    memory_pb2.RECORD_KIND_FACT: Kind.FACT,
    memory_pb2.RECORD_KIND_PROCEDURE: Kind.PROCEDURE,
    memory_pb2.RECORD_KIND_EPISODE: Kind.EPISODE,
}
_SOURCES = {
    memory_pb2.SOURCE_TYPE_USER: SourceType.USER,
    memory_pb2.SOURCE_TYPE_AGENT: SourceType.AGENT,
    memory_pb2.SOURCE_TYPE_TOOL: SourceType.TOOL,
    memory_pb2.SOURCE_TYPE_WEB: SourceType.WEB,
    memory_pb2.SOURCE_TYPE_DOCUMENT: SourceType.DOCUMENT,
    memory_pb2.SOURCE_TYPE_RECEIPT: SourceType.RECEIPT,
}
_BINDINGS = {
    memory_pb2.SOURCE_BINDING_CALLER_ASSERTED: Binding.CALLER_ASSERTED,
    memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED: Binding.HOST_AUTHENTICATED,
    memory_pb2.SOURCE_BINDING_VERIFIED: Binding.VERIFIED,
}
_RECALL_SURFACES = {
    memory_pb2.RECALL_SURFACE_AUTHORITATIVE: Surface.AUTHORITATIVE,
    memory_pb2.RECALL_SURFACE_EVIDENCE: Surface.EVIDENCE,
}
_OUTCOMES = {
    memory_pb2.PROCEDURE_OUTCOME_HELPFUL: Outcome.HELPFUL,
    memory_pb2.PROCEDURE_OUTCOME_HARMFUL: Outcome.HARMFUL,
    memory_pb2.PROCEDURE_OUTCOME_NEUTRAL: Outcome.NEUTRAL,
}
_DECISIONS = {
    memory_pb2.REVIEW_DECISION_APPROVE: APPROVE,
    memory_pb2.REVIEW_DECISION_REJECT: REJECT,
}


def scope(sent: memory_pb2.Scope) -> Scope:
    """A scope: namespace and principal are needed, the rest may be empty."""
    return Scope(
        namespace=_line("scope.namespace", check_id("scope.namespace", sent.namespace)),
        principal=_line("scope.principal", check_id("scope.principal", sent.principal)),
        agent=_name("scope.agent", sent.agent),
        workspace=_name("scope.workspace", sent.workspace),
        purpose=_name("scope.purpose", sent.purpose),
    )


def observation(sent: memory_pb2.Observation) -> Observation:
    """An observation."""
    if len(sent.labels) > LABELS_MAX:
        raise _refused(f"{len(sent.labels)} labels; at most {LABELS_MAX} are allowed")
    if sent.event_unix_ns < 0:
        raise _refused("event_unix_ns is negative")
    return Observation(
        scope=scope(sent.scope),
        kind=_kind(sent.kind),
        content=_content(sent.content),
        source=_source(sent.source),
        media=_media(sent.media) if sent.HasField("media") else None,
        event_unix_ns=sent.event_unix_ns,
        labels=tuple(_name("labels", label) for label in sent.labels),
    )


def superseding(sent: memory_pb2.SupersedeRequest) -> tuple[Scope, str, Observation]:
    """Scope, the record to replace, and the newcomer, in the same namespace and principal."""
    asked, newcomer = scope(sent.scope), observation(sent.observation)
    offered = newcomer.scope
    if (offered.namespace, offered.principal) != (asked.namespace, asked.principal):
        raise _refused("observation.scope names another namespace or principal than scope")
    return asked, record_id(sent.record_id), newcomer


def derivation(sent: memory_pb2.DeriveRequest) -> Derivation:
    """A derivation with 1 to 1,000 parents."""
    if not 1 <= len(sent.parent_ids) <= PARENTS_MAX:
        raise _refused(f"{len(sent.parent_ids)} parents; send 1 to {PARENTS_MAX}")
    return Derivation(
        scope=scope(sent.scope),
        kind=_kind(sent.kind),
        parent_ids=tuple(check_id("parent_ids", parent) for parent in sent.parent_ids),
        content=_content(sent.content),
        method=_name("method", sent.method),
    )


def query(text: str) -> str:
    """A question of 1 to 4,096 bytes."""
    size_bytes = len(text.encode("utf-8"))
    if not text.strip() or size_bytes > QUERY_BYTES:
        raise _refused(f"query has {size_bytes} bytes; send 1 to {QUERY_BYTES}, not blank")
    return _readable("query", text)


def max_hits(count: int) -> int:
    """How many hits are wanted, 1 to 1,000."""
    if not 1 <= count <= HITS_MAX:
        raise _refused(f"max_hits is {count}; send 1 to {HITS_MAX}")
    return count


def surface(sent: memory_pb2.RecallSurface.ValueType) -> Surface:
    """The surface to recall from."""
    if sent not in _RECALL_SURFACES:
        raise _refused("surface is not set to a known value")
    return _RECALL_SURFACES[sent]


def outcome(sent: memory_pb2.ProcedureOutcome.ValueType) -> Outcome:
    """How a procedure did."""
    if sent not in _OUTCOMES:
        raise _refused("outcome is not set to a known value")
    return _OUTCOMES[sent]


def utility(sent: float) -> float:
    """A utility of 0.0 to 1.0; not a number is none."""
    if not (math.isfinite(sent) and 0.0 <= sent <= 1.0):
        raise _refused("utility is out of range; send 0.0 to 1.0")
    return sent


def record_id(sent: str) -> str:
    """A record's id."""
    return check_id("record_id", sent)


def code(name: str, sent: str) -> str:
    """A stable code; no text, so that no content can hide in the audit trail."""
    check_optional_id(name, sent)
    if _CODE.fullmatch(sent) is None:
        raise _refused(f"{name} is no code; use letters, digits and _ . : -")
    return sent


def review(sent: memory_pb2.RequestReviewRequest) -> tuple[Scope, tuple[str, ...], str]:
    """Scope, 1 to 100 different record ids, and the action of a review."""
    ids = tuple(check_id("record_ids", value) for value in sent.record_ids)
    if not 1 <= len(ids) <= SUBJECTS_MAX or len(set(ids)) != len(ids):
        raise _refused(f"record_ids has {len(ids)} entries; send 1 to {SUBJECTS_MAX}, each once")
    if sent.action not in ACTIONS:
        raise _refused(f"action is unknown; send one of {', '.join(ACTIONS)}")
    return scope(sent.scope), ids, sent.action


def decision(sent: memory_pb2.DecideReviewRequest) -> Decision:
    """A decision; whether key and signature are any good is the review's to say."""
    if sent.decision not in _DECISIONS:
        raise _refused("decision is not set to a known value")
    return Decision(
        scope=scope(sent.scope),
        challenge_id=check_id("challenge_id", sent.challenge_id),
        decision=_DECISIONS[sent.decision],
        key_id=check_optional_id("key_id", sent.key_id),
        signature=sent.signature,
    )


def _kind(sent: memory_pb2.RecordKind.ValueType) -> Kind:
    if sent not in _KINDS:
        raise _refused("kind is not set to a known value")
    return _KINDS[sent]


def _source(sent: memory_pb2.Source) -> Source:
    if sent.type not in _SOURCES or sent.binding not in _BINDINGS:
        raise _refused("source.type or source.binding is not set to a known value")
    source_id = _name("source.source_id", sent.source_id)
    return Source(_SOURCES[sent.type], _BINDINGS[sent.binding], source_id)


def _media(sent: memory_pb2.MediaPart) -> Media:
    if not sent.data or len(sent.data) > CONTENT_BYTES:
        raise _refused(f"media.data has {len(sent.data)} bytes; send 1 to {CONTENT_BYTES}")
    media_type = check_id("media.media_type", sent.media_type)
    return Media(_line("media.media_type", media_type), sent.data)


def _content(sent: str) -> str:
    if not sent.strip():
        raise _refused("content is empty or blank")
    return _readable("content", check_content("content", sent))


def _name(name: str, sent: str) -> str:
    return _line(name, check_optional_id(name, sent))


def _line(name: str, text: str) -> str:
    if _LINE.search(text):
        raise _refused(f"{name} has a tab or a line end; send one line")
    return _readable(name, text)


def _readable(name: str, text: str) -> str:
    if _UNREADABLE.search(text):
        raise _refused(f"{name} has control or direction-turning characters; remove them")
    return text


def _refused(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)
