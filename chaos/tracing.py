"""Records of the interposer's trace as an evaluator reads them (interposer.proto)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memqual.v1 import interposer_pb2 as pb

__all__ = ["MessagePhase", "TraceKind", "TraceRecord", "from_proto"]

_KIND_PREFIX = "TRACE_KIND_"


class TraceKind(StrEnum):
    """What a record tells; the meanings are in interposer.proto."""

    REQUEST_RECEIVED = "REQUEST_RECEIVED"
    REQUEST_FORWARDED = "REQUEST_FORWARDED"
    RESPONSE_RECEIVED = "RESPONSE_RECEIVED"
    RESPONSE_DELIVERED = "RESPONSE_DELIVERED"
    HELD = "HELD"
    RELEASED = "RELEASED"
    DROPPED = "DROPPED"
    DELAYED = "DELAYED"
    DUPLICATED = "DUPLICATED"
    REORDERED = "REORDERED"
    FAILED = "FAILED"
    UPSTREAM_FAILED = "UPSTREAM_FAILED"
    CLIENT_GONE = "CLIENT_GONE"
    STRAY = "STRAY"
    FROZEN = "FROZEN"
    THAWED = "THAWED"
    REFRESHED = "REFRESHED"
    MARK = "MARK"


class MessagePhase(StrEnum):
    """Which message of a call a record is about."""

    NONE = ""
    REQUEST = "REQUEST"
    RESPONSE = "RESPONSE"


_PHASES = {
    pb.MESSAGE_PHASE_REQUEST: MessagePhase.REQUEST,
    pb.MESSAGE_PHASE_RESPONSE: MessagePhase.RESPONSE,
}


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One record; every field is that of `interposer_pb2.TraceRecord`.

    Attributes:
        sequence: from 1, without a gap.
        monotonic_ns: the interposer's monotonic clock.
        kind: what happened.
        call_id: 0 for records that belong to no call.
        source: exact service name of the caller.
        target: target name; the service of FROZEN, THAWED and REFRESHED.
        method: full method.
        phase: which message.
        rule_id: the rule that acted; empty without one.
        metadata: the call's memqual-* metadata.
        payload: the message as it was on the wire, at most 1 MiB.
        payload_digest: SHA-256 of the whole message; empty without one.
        status_code: gRPC status number.
        mark_json: the evaluator's own text.
    """

    sequence: int
    monotonic_ns: int
    kind: TraceKind
    call_id: int
    source: str
    target: str
    method: str
    phase: MessagePhase
    rule_id: str
    metadata: Mapping[str, str]
    payload: bytes
    payload_digest: str
    status_code: int
    mark_json: str

    @property
    def workflow_id(self) -> str:
        """The call's memqual-workflow; empty without one."""
        return self.metadata.get("memqual-workflow", "")


def from_proto(record: pb.TraceRecord) -> TraceRecord:
    """The record as a frozen value.

    Raises:
        ValueError: a kind that this version does not know.
    """
    return TraceRecord(
        sequence=record.sequence,
        monotonic_ns=record.monotonic_ns,
        kind=TraceKind(pb.TraceKind.Name(record.kind).removeprefix(_KIND_PREFIX)),
        call_id=record.call_id,
        source=record.edge.source,
        target=record.edge.target,
        method=record.method,
        phase=_PHASES.get(record.phase, MessagePhase.NONE),
        rule_id=record.rule_id,
        metadata=dict(record.metadata),
        payload=record.payload,
        payload_digest=record.payload_digest,
        status_code=record.status_code,
        mark_json=record.mark_json,
    )
