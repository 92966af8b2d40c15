"""The trace: what passed, when, in a ring of bounded length (DESIGN §3; interposer.proto).

Recording is on the path of every call, so that an entry keeps references and nothing more; digests
and protobuf messages are made when somebody reads.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from chaos.interposer.limits import (
    TRACE_BYTES_MAX,
    TRACE_PAYLOAD_BYTES_MAX,
    TRACE_RECORD_BYTES,
    TRACE_RECORDS_MAX,
)
from memqual.v1 import interposer_pb2
from services.common.clock import monotonic_ns

__all__ = ["CallInfo", "TraceEntry", "TraceGap", "TraceRing"]


class TraceGap(LookupError):
    """Records that a reader wants were given up to the bound.

    Attributes:
        first_sequence: the oldest one that is still there.
    """

    def __init__(self, wanted_sequence: int, first_sequence: int) -> None:
        super().__init__(
            f"the trace begins at {first_sequence}; {wanted_sequence} was given up to the bound: "
            "read it while the run goes on"
        )
        self.first_sequence = first_sequence


@dataclass(frozen=True, slots=True)
class CallInfo:
    """What all records of one call share.

    Attributes:
        call_id: from 1.
        source: service name of the caller.
        role: source of the listener; "agent" for both hosts.
        target: target name, as in memqual-target.
        service: service name of the target ("destination" for "destination-audit").
        method: full method.
        metadata: memqual-* metadata, tokens excluded.
        metadata_bytes: size of the metadata, as the bounds count it.
        deadline_ms: how long the caller waits, milliseconds; 0: it did not say.
    """

    call_id: int
    source: str
    role: str
    target: str
    service: str
    method: str
    metadata: Mapping[str, str]
    metadata_bytes: int
    deadline_ms: int = 0


class TraceEntry(NamedTuple):
    """One record as it is kept; the fields are those of `interposer_pb2.TraceRecord`."""

    sequence: int
    monotonic_ns: int
    kind: int
    call: CallInfo | None
    phase: int
    rule_id: str
    payload: bytes | None
    digest: str
    status_code: int
    service: str
    mark_json: str

    def to_proto(self) -> interposer_pb2.TraceRecord:
        """The record as the contract has it."""
        record = interposer_pb2.TraceRecord(
            sequence=self.sequence,
            monotonic_ns=self.monotonic_ns,
            kind=interposer_pb2.TraceKind.ValueType(self.kind),
            phase=interposer_pb2.MessagePhase.ValueType(self.phase),
            rule_id=self.rule_id,
            status_code=self.status_code,
            mark_json=self.mark_json,
            payload_digest=self.digest,
        )
        if self.call is not None:
            record.call_id = self.call.call_id
            record.edge.source = self.call.source
            record.edge.target = self.call.target
            record.method = self.call.method
            record.metadata.update(self.call.metadata)
            if self.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED:
                record.deadline_ms = self.call.deadline_ms
        elif self.service:
            record.edge.target = self.service
        if self.payload is not None:
            record.payload = self.payload
            record.payload_digest = self.digest or hashlib.sha256(self.payload).hexdigest()
        return record


class TraceRing:
    """The latest records, in order; at most 200,000 and 256 MiB."""

    def __init__(
        self, records_max: int = TRACE_RECORDS_MAX, bytes_max: int = TRACE_BYTES_MAX
    ) -> None:
        self._entries: dict[int, TraceEntry] = {}
        self._records_max = records_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._head = 0
        self._first = 1

    @property
    def head_sequence(self) -> int:
        """Sequence of the newest record; 0 without one."""
        return self._head

    @property
    def first_sequence(self) -> int:
        """Sequence of the oldest record that is kept."""
        return self._first

    def add(
        self,
        kind: int,
        call: CallInfo | None = None,
        *,
        phase: int = 0,
        rule_id: str = "",
        payload: bytes | None = None,
        digest: str = "",
        status_code: int = 0,
        service: str = "",
        mark_json: str = "",
    ) -> TraceEntry:
        """Appends a record with the time of now, and gives up the oldest beyond the bounds."""
        if payload is not None and len(payload) > TRACE_PAYLOAD_BYTES_MAX:
            digest = hashlib.sha256(payload).hexdigest()
            payload = payload[:TRACE_PAYLOAD_BYTES_MAX]
        self._head += 1
        entry = TraceEntry(
            self._head,
            monotonic_ns(),
            kind,
            call,
            phase,
            rule_id,
            payload,
            digest,
            status_code,
            service,
            mark_json,
        )
        self._entries[self._head] = entry
        self._bytes += _cost_bytes(entry)
        while len(self._entries) > self._records_max or self._bytes > self._bytes_max:
            self._bytes -= _cost_bytes(self._entries.pop(self._first))
            self._first += 1
        return entry

    def get(self, sequence: int) -> TraceEntry:
        """The record with this sequence, which must not be beyond the head.

        Raises:
            TraceGap: it was given up to the bound.
        """
        try:
            return self._entries[sequence]
        except KeyError:
            raise TraceGap(sequence, self._first) from None


def _cost_bytes(entry: TraceEntry) -> int:
    payload_bytes = 0 if entry.payload is None else len(entry.payload)
    metadata_bytes = 0 if entry.call is None else entry.call.metadata_bytes
    return TRACE_RECORD_BYTES + payload_bytes + metadata_bytes + len(entry.mark_json)
