"""A memory small enough to read, for histories that scoring is tested on; flaws are subclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memqual.v1 import common_pb2, continuity_pb2
from tests.orchestrator.oracle import tracing

SECOND = tracing.SECOND
QUERY = common_pb2.EFFECT_CAPABILITY_QUERY
IDEMPOTENT = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
REFUSED = 9

Answered = tuple[Any, int]
"""A response (None with a status), and the status."""


@dataclass
class Kept:
    """What is kept of one operation."""

    attempt: int = 0
    token: str = ""
    asker: tuple[str, str] = ("", "")
    granted: int = 0
    end: int = 0
    first: int = 0
    receipt: continuity_pb2.Receipt | None = None
    absent: bool = False
    doubts: int = 0


@dataclass
class MiniMemory:
    """Right in every cell; one process, one operation at a time."""

    lease_seconds: int = 120
    max_uncertain: int = 3
    kept: dict[str, Kept] = field(default_factory=dict)
    mark: int = 0

    def begin(self, request: continuity_pb2.BeginRequest, clock: int) -> Answered:
        """Begin at a time of the memory's own clock."""
        now = max(clock, self.mark)
        self.mark = now
        kept = self.kept.setdefault(request.spec.operation_id, Kept())
        asker = (request.incarnation_id, request.begin_id)
        return self.decide(request.spec, kept, asker, now), 0

    def decide(
        self,
        spec: continuity_pb2.OperationSpec,
        kept: Kept,
        asker: tuple[str, str],
        now: int,
    ) -> continuity_pb2.BeginResponse:
        """The table of DESIGN §6."""
        if kept.receipt is not None:
            return tracing.reuse(kept.receipt)
        if kept.attempt == 0 or (kept.absent and now >= kept.end):
            return self.grant(spec, kept, asker, now)
        if now < kept.end:
            left_ms = (kept.end - now) // 1_000_000
            if asker == kept.asker:
                return tracing.execute(kept.granted, kept.attempt, kept.token, remaining_ms=left_ms)
            return tracing.wait(left_ms)
        return self.expired(spec, kept, asker, now)

    def expired(
        self,
        spec: continuity_pb2.OperationSpec,
        kept: Kept,
        asker: tuple[str, str],
        now: int,
    ) -> continuity_pb2.BeginResponse:
        """Row X."""
        if spec.capability == QUERY and kept.doubts < self.max_uncertain:
            return tracing.query(kept.attempt, f"q{kept.attempt}-{kept.doubts}")
        covered = now + self.lease_seconds * SECOND <= kept.first + spec.retention_seconds * SECOND
        if spec.capability == IDEMPOTENT and covered:
            return self.grant(spec, kept, asker, now)
        return tracing.confirm()

    def grant(
        self,
        spec: continuity_pb2.OperationSpec,
        kept: Kept,
        asker: tuple[str, str],
        now: int,
    ) -> continuity_pb2.BeginResponse:
        """EXECUTE anew."""
        kept.attempt += 1
        kept.token = f"{spec.operation_id}-t{kept.attempt}"
        kept.asker, kept.granted, kept.end = asker, now, now + self.lease_seconds * SECOND
        kept.first = kept.first or now
        kept.absent, kept.doubts = False, 0
        return tracing.execute(now, kept.attempt, kept.token, lease=self.lease_seconds)

    def record_receipt(self, request: continuity_pb2.RecordReceiptRequest) -> Answered:
        """RecordReceipt."""
        kept = self.kept.setdefault(request.operation_id, Kept())
        if kept.receipt is not None and kept.receipt == request.receipt:
            return tracing.taken(continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED), 0
        if request.attempt < kept.attempt or kept.receipt is not None:
            return tracing.taken(continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY), 0
        if request.lease_token != kept.token:
            return None, REFUSED
        kept.receipt = continuity_pb2.Receipt()
        kept.receipt.CopyFrom(request.receipt)
        return tracing.taken(), 0

    def record_query(self, request: continuity_pb2.RecordQueryRequest) -> Answered:
        """RecordQuery."""
        kept = self.kept[request.operation_id]
        if request.presence == common_pb2.EFFECT_PRESENCE_PRESENT:
            kept.receipt = kept.receipt or request.receipt
        kept.absent |= request.presence == common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
        kept.doubts += request.presence == common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
        return continuity_pb2.RecordQueryResponse(), 0


class Naive(MiniMemory):
    """A fresh EXECUTE for every Begin."""

    def decide(self, spec: Any, kept: Kept, asker: Any, now: int) -> Any:
        """Always."""
        return self.grant(spec, kept, asker, now)

    def record_receipt(self, request: continuity_pb2.RecordReceiptRequest) -> Answered:
        """The last receipt wins."""
        return tracing.taken(), 0


class Null(MiniMemory):
    """OK and an empty message."""

    def begin(self, request: continuity_pb2.BeginRequest, clock: int) -> Answered:
        """Nothing."""
        return continuity_pb2.BeginResponse(), 0

    def record_receipt(self, request: continuity_pb2.RecordReceiptRequest) -> Answered:
        """Nothing."""
        return continuity_pb2.RecordReceiptResponse(), 0


class ExpiredNoneExecutes(MiniMemory):
    """EXECUTE after an expired lease, whatever the destination allows."""

    def expired(self, spec: Any, kept: Kept, asker: Any, now: int) -> Any:
        """The hand-made patch of the issue."""
        return self.grant(spec, kept, asker, now)


class WaitsForEver(MiniMemory):
    """WAIT after the lease's end."""

    def expired(self, spec: Any, kept: Kept, asker: Any, now: int) -> Any:
        """Never CONFIRM, never QUERY."""
        return tracing.wait(0)


class WaitsAfterDoubt(MiniMemory):
    """WAIT for ever once the destination was uncertain: allowed each time, and never the end."""

    def expired(self, spec: Any, kept: Kept, asker: Any, now: int) -> Any:
        """QUERY once, then WAIT."""
        return tracing.wait(0) if kept.doubts else super().expired(spec, kept, asker, now)


class Confirms(MiniMemory):
    """CONFIRM, whatever is asked."""

    def decide(self, spec: Any, kept: Kept, asker: Any, now: int) -> Any:
        """Never EXECUTE."""
        return tracing.confirm()


class ForgetsReceipts(MiniMemory):
    """Acknowledges receipts and keeps none."""

    def record_receipt(self, request: continuity_pb2.RecordReceiptRequest) -> Answered:
        """COMPLETED, and forgotten."""
        return tracing.taken(), 0


class Conservative(MiniMemory):
    """No begin_replay, no final_absence: WAIT and CONFIRM where others replay and retry."""

    def decide(self, spec: Any, kept: Kept, asker: Any, now: int) -> Any:
        """As the reference, without the two concepts."""
        kept.doubts += kept.absent
        kept.absent = False
        known = kept.asker
        kept.asker = ("", "")
        answer = super().decide(spec, kept, asker, now)
        kept.asker = kept.asker if kept.asker != ("", "") else known
        return answer
