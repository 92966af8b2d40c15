"""A memory that obeys the contract: enough of DESIGN §6 to decide rightly, without durability."""

import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc
from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2
from tests.services.agent.recorder import Recorder, StatusError

LEASE_MS = 120_000


@dataclass
class _Remembered:
    spec: continuity_pb2.OperationSpec
    attempt: int = 0
    expires_at: float = 0.0
    absent_final: bool = False
    receipt: continuity_pb2.Receipt | None = None
    replays: dict[tuple[str, str], continuity_pb2.BeginResponse] = field(default_factory=dict)


class FakeMemory(Recorder):
    """ContinuityService by the table of DESIGN §6, without durability."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: dict[str, _Remembered] = {}
        self.scripts: dict[str, deque[continuity_pb2.BeginResponse]] = defaultdict(deque)
        self.answers: dict[
            str, Callable[[continuity_pb2.BeginRequest], continuity_pb2.BeginResponse]
        ] = {}
        self.dispositions: dict[str, continuity_pb2.ReceiptDisposition.ValueType] = {}
        self.lease_ms = LEASE_MS
        self._skew_seconds = 0.0

    def expire_leases(self) -> None:
        """Lets every lease end."""
        with self.lock:
            self._skew_seconds += self.lease_ms / 1_000 + 1

    def handlers(self) -> "dict[str, grpc.RpcMethodHandler[Message, Message]]":
        """The service's methods."""
        return {
            "Begin": self.handler("Begin", self._begin, continuity_pb2.BeginRequest),
            "RecordReceipt": self.handler(
                "RecordReceipt", self._record_receipt, continuity_pb2.RecordReceiptRequest
            ),
            "RecordQuery": self.handler(
                "RecordQuery", self._record_query, continuity_pb2.RecordQueryRequest
            ),
        }

    def _now(self) -> float:
        return time.monotonic() + self._skew_seconds

    def _begin(self, request: Message) -> Message:
        assert isinstance(request, continuity_pb2.BeginRequest)
        with self.lock:
            spec = request.spec
            if spec.workflow_id in self.answers:
                return self.answers[spec.workflow_id](request)
            if self.scripts[spec.workflow_id]:
                return self.scripts[spec.workflow_id].popleft()
            known = self.operations.setdefault(spec.operation_id, _Remembered(spec))
            if known.spec != spec:
                return decision("spec_differs", reject=continuity_pb2.Reject())
            if known.receipt is not None:
                return decision("complete", reuse=continuity_pb2.Reuse(receipt=known.receipt))
            asked = (request.incarnation_id, request.begin_id)
            if known.expires_at > self._now():
                return known.replays.get(asked) or self._live(known)
            return self._expired(known, asked)

    def _live(self, known: _Remembered) -> continuity_pb2.BeginResponse:
        left_ms = int((known.expires_at - self._now()) * 1_000)
        return decision("lease_live", wait=continuity_pb2.Wait(remaining_ms=left_ms))

    def _expired(self, known: _Remembered, asked: tuple[str, str]) -> Message:
        capability = known.spec.capability
        if known.attempt and not known.absent_final:
            if capability == common_pb2.EFFECT_CAPABILITY_NONE:
                return decision("outcome_unknown", confirm=continuity_pb2.Confirm())
            if capability == common_pb2.EFFECT_CAPABILITY_QUERY:
                return decision(
                    "ask_destination",
                    query=continuity_pb2.Query(
                        attempt=known.attempt, query_ticket=f"ticket-{known.attempt}"
                    ),
                )
        known.attempt += 1
        known.absent_final = False
        known.expires_at = self._now() + self.lease_ms / 1_000
        response = decision(
            "granted",
            execute=continuity_pb2.Execute(
                attempt=known.attempt,
                lease_token=f"token-{known.attempt}",
                remaining_lease_ms=self.lease_ms,
            ),
        )
        known.replays = {asked: response}
        return response

    def _record_receipt(self, request: Message) -> Message:
        assert isinstance(request, continuity_pb2.RecordReceiptRequest)
        with self.lock:
            known = self.operations.get(request.operation_id)
            if known is None:
                raise StatusError(grpc.StatusCode.NOT_FOUND)
            if request.lease_token != f"token-{request.attempt}":
                raise StatusError(grpc.StatusCode.PERMISSION_DENIED)
            if known.spec.workflow_id in self.dispositions:
                disposition = self.dispositions[known.spec.workflow_id]
                return continuity_pb2.RecordReceiptResponse(disposition=disposition)
            if request.attempt != known.attempt:
                return continuity_pb2.RecordReceiptResponse(
                    disposition=continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
                )
            if known.receipt is not None:
                return continuity_pb2.RecordReceiptResponse(
                    disposition=continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
                )
            known.receipt = request.receipt
            return continuity_pb2.RecordReceiptResponse(
                disposition=continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
            )

    def _record_query(self, request: Message) -> Message:
        assert isinstance(request, continuity_pb2.RecordQueryRequest)
        with self.lock:
            known = self.operations[request.operation_id]
            if request.query_ticket != f"ticket-{known.attempt}":
                raise StatusError(grpc.StatusCode.PERMISSION_DENIED)
            if request.presence == common_pb2.EFFECT_PRESENCE_PRESENT:
                known.receipt = request.receipt
            elif request.presence == common_pb2.EFFECT_PRESENCE_ABSENT_FINAL:
                known.absent_final = True
            return continuity_pb2.RecordQueryResponse()


def decision(reason_code: str, **kind: Message) -> continuity_pb2.BeginResponse:
    """An answer to Begin of one kind."""
    decision = continuity_pb2.Decision(reason_code=reason_code)
    for name, value in kind.items():
        getattr(decision, name).CopyFrom(value)
        getattr(decision, name).SetInParent()
    return continuity_pb2.BeginResponse(decision=decision)
