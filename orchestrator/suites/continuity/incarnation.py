"""The evaluator in a host's place: one incarnation that asks the memory itself (DESIGN §4).

Every call passes the interposer, so that the oracle judges its answer as it judges a host's. What
a call ends with is returned and never raised: an answer, or the status of a refusal.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import grpc

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.session import CALL_SECONDS, MemoryClients, Session

__all__ = ["Incarnation", "Reply"]

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Reply(Generic[_Answer]):
    """What a call came to.

    Attributes:
        answer: The memory's answer; None when there was none.
        code: OK, or the status that came in an answer's place.
    """

    answer: _Answer | None
    code: grpc.StatusCode = grpc.StatusCode.OK


@dataclass
class Incarnation:
    """One life of a host that the evaluator plays.

    Attributes:
        session: The stack's session.
        name: Incarnation id; another name is another life.
        call_seconds: Deadline of every call.
        workflow_id: Told beside every call; empty: the specification's, which may be a lie.
    """

    session: Session
    name: str
    call_seconds: float = CALL_SECONDS
    workflow_id: str = ""

    def begin(
        self,
        spec: continuity_pb2.OperationSpec,
        begin_id: str | None = None,
        settled: Sequence[str] | None = None,
    ) -> Reply[continuity_pb2.Decision]:
        """Ask for a decision.

        Args:
            spec: The operation.
            begin_id: None: the question is a new one.
            settled: Operations whose results this host says to hold; None: it does not say.
        """
        request = continuity_pb2.BeginRequest(
            spec=spec, incarnation_id=self.name, begin_id=begin_id or uuid.uuid4().hex
        )
        if settled is not None:
            request.settled.CopyFrom(continuity_pb2.SettledOperations(operation_ids=settled))
        reply = self._reply(self._clients(spec).continuity.Begin, request)
        return Reply(None if reply.answer is None else reply.answer.decision, reply.code)

    def peek(self, spec: continuity_pb2.OperationSpec) -> Reply[continuity_pb2.PeekResponse]:
        """What Begin would answer."""
        request = continuity_pb2.PeekRequest(spec=spec, incarnation_id=self.name)
        return self._reply(self._clients(spec).continuity.Peek, request)

    def renew(
        self, spec: continuity_pb2.OperationSpec, attempt: int, lease_token: str
    ) -> Reply[continuity_pb2.RenewResponse]:
        """Ask for more time."""
        request = continuity_pb2.RenewRequest(
            namespace=spec.namespace,
            operation_id=spec.operation_id,
            incarnation_id=self.name,
            attempt=attempt,
            lease_token=lease_token,
        )
        return self._reply(self._clients(spec).continuity.Renew, request)

    def record(
        self,
        spec: continuity_pb2.OperationSpec,
        attempt: int,
        lease_token: str,
        receipt: continuity_pb2.Receipt,
    ) -> Reply[continuity_pb2.RecordReceiptResponse]:
        """Report what the destination is said to have answered."""
        request = continuity_pb2.RecordReceiptRequest(
            namespace=spec.namespace,
            operation_id=spec.operation_id,
            incarnation_id=self.name,
            attempt=attempt,
            lease_token=lease_token,
            receipt=receipt,
        )
        return self._reply(self._clients(spec).continuity.RecordReceipt, request)

    def record_query(
        self,
        spec: continuity_pb2.OperationSpec,
        attempt: int,
        query_ticket: str,
        presence: common_pb2.EffectPresence.ValueType,
        receipt: continuity_pb2.Receipt | None = None,
    ) -> Reply[continuity_pb2.RecordQueryResponse]:
        """Report what the destination is said to have answered when it was asked."""
        request = continuity_pb2.RecordQueryRequest(
            namespace=spec.namespace,
            operation_id=spec.operation_id,
            incarnation_id=self.name,
            attempt=attempt,
            query_ticket=query_ticket,
            presence=presence,
            receipt=receipt,
        )
        return self._reply(self._clients(spec).continuity.RecordQuery, request)

    def get(self, spec: continuity_pb2.OperationSpec) -> Reply[continuity_pb2.GetOperationResponse]:
        """What the memory keeps of the operation."""
        request = continuity_pb2.GetOperationRequest(
            namespace=spec.namespace, operation_id=spec.operation_id
        )
        return self._reply(self._clients(spec).continuity.GetOperation, request)

    def request_resolve(
        self, spec: continuity_pb2.OperationSpec
    ) -> Reply[continuity_pb2.RequestResolveResponse]:
        """Ask for the challenge that the operator signs."""
        request = continuity_pb2.RequestResolveRequest(
            namespace=spec.namespace, operation_id=spec.operation_id, principal=spec.principal
        )
        return self._reply(self._clients(spec).continuity.RequestResolve, request)

    def resolve(
        self, spec: continuity_pb2.OperationSpec, request: continuity_pb2.ResolveRequest
    ) -> Reply[continuity_pb2.ResolveResponse]:
        """Hand in what an operator signed; the operation tells the call in the trace only."""
        return self._reply(self._clients(spec).continuity.Resolve, request)

    def _clients(self, spec: continuity_pb2.OperationSpec) -> MemoryClients:
        return self.session.with_workflow(self.workflow_id or spec.workflow_id, spec.operation_id)

    def _reply(self, method: Callable[..., _Answer], request: object) -> Reply[_Answer]:
        try:
            return Reply(method(request, timeout=self.call_seconds))
        except grpc.RpcError as error:
            return Reply(None, error.code())
