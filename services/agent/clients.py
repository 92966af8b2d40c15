"""The host's calls to memory and destination: deadlines, transport retries, metadata (DESIGN §4).

Retried are UNAVAILABLE, DEADLINE_EXCEEDED and CANCELLED, three times, with the very same request.
Invoke is never retried: an attempt is dispatched once.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import grpc
import structlog
import tenacity
from google.protobuf.message import Message

from memqual.v1 import (
    agent_pb2,
    continuity_pb2,
    continuity_pb2_grpc,
    destination_pb2,
    destination_pb2_grpc,
)
from services.agent.state import PendingCall
from services.agent.stops import Failed
from services.common.channels import CallMetadata, open_channel

__all__ = ["RETRY_WAITS_SECONDS", "RPC_DEADLINE_SECONDS", "CallScope", "Clients", "code_of"]

RPC_DEADLINE_SECONDS = 10.0
# Together longer than a service takes to come back after a kill (DESIGN §11: 3 s).
RETRY_WAITS_SECONDS = (0.2, 1.0, 3.0)
RETRIED_CODES = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
    }
)

_log = structlog.get_logger(__name__)
_Request = TypeVar("_Request", bound=Message)
_Response = TypeVar("_Response", bound=Message)


def code_of(error: grpc.RpcError) -> grpc.StatusCode:
    """Status code of a failed call; UNKNOWN when it carries none."""
    code = getattr(error, "code", None)
    found = code() if callable(code) else None
    return found if isinstance(found, grpc.StatusCode) else grpc.StatusCode.UNKNOWN


def _is_transport_failure(error: BaseException) -> bool:
    return isinstance(error, grpc.RpcError) and code_of(error) in RETRIED_CODES


@dataclass(frozen=True, slots=True)
class CallScope:
    """Whose call it is; goes into the call's metadata.

    Attributes:
        run_id: run of the campaign.
        workflow_id: workflow.
        operation_id: operation.
        attempt: latest attempt that this process was granted or asked about; 0 before.
    """

    run_id: str
    workflow_id: str
    operation_id: str
    attempt: int

    @classmethod
    def of(cls, workflow: agent_pb2.Workflow, call: PendingCall, attempt: int) -> "CallScope":
        """The scope of one tool call of a workflow."""
        return cls(
            run_id=workflow.run_id,
            workflow_id=workflow.workflow_id,
            operation_id=call.operation_id,
            attempt=attempt,
        )


class Clients:
    """Channels of one life of the host; they end with it."""

    def __init__(
        self,
        *,
        memory_address: str,
        destination_address: str,
        incarnation_id: str,
        edge_token: str,
        deadline_seconds: float = RPC_DEADLINE_SECONDS,
        retry_waits_seconds: tuple[float, ...] = RETRY_WAITS_SECONDS,
    ) -> None:
        """Opens both channels and starts to connect them.

        Args:
            memory_address: `name:port` of the memory, or of the interposer before it.
            destination_address: likewise for the destination.
            incarnation_id: this life of the host.
            edge_token: sent as memqual-token.
            deadline_seconds: deadline of one RPC.
            retry_waits_seconds: waits before the transport retries, one a retry.
        """
        self._incarnation_id = incarnation_id
        self._edge_token = edge_token
        self._deadline_seconds = deadline_seconds
        self._retry_waits_seconds = retry_waits_seconds
        self._closed = threading.Event()
        self._channels = tuple(
            open_channel(address) for address in (memory_address, destination_address)
        )
        for channel in self._channels:
            # Asks for the connection now, so that a takeover does not wait for it.
            channel.subscribe(_ignore_state, try_to_connect=True)
        memory, destination = self._channels
        self._memory = continuity_pb2_grpc.ContinuityServiceStub(memory)
        self._destination = destination_pb2_grpc.DestinationServiceStub(destination)

    def begin(
        self, request: continuity_pb2.BeginRequest, scope: CallScope
    ) -> continuity_pb2.BeginResponse:
        """Begin, retried with the same begin id; raises grpc.RpcError."""
        return self._retried(self._memory.Begin, request, scope)

    def record_receipt(
        self, request: continuity_pb2.RecordReceiptRequest, scope: CallScope
    ) -> continuity_pb2.RecordReceiptResponse:
        """RecordReceipt, retried; raises grpc.RpcError."""
        return self._retried(self._memory.RecordReceipt, request, scope)

    def record_query(
        self, request: continuity_pb2.RecordQueryRequest, scope: CallScope
    ) -> continuity_pb2.RecordQueryResponse:
        """RecordQuery, retried; raises grpc.RpcError."""
        return self._retried(self._memory.RecordQuery, request, scope)

    def describe_tool(
        self, request: destination_pb2.DescribeToolRequest, scope: CallScope
    ) -> destination_pb2.DescribeToolResponse:
        """DescribeTool, retried; raises grpc.RpcError."""
        return self._retried(self._destination.DescribeTool, request, scope)

    def query_effect(
        self, request: destination_pb2.QueryEffectRequest, scope: CallScope
    ) -> destination_pb2.QueryEffectResponse:
        """QueryEffect, retried; raises grpc.RpcError."""
        return self._retried(self._destination.QueryEffect, request, scope)

    def invoke(
        self, request: destination_pb2.InvokeRequest, scope: CallScope
    ) -> destination_pb2.InvokeResponse:
        """Invoke, once; raises grpc.RpcError."""
        return self._once(self._destination.Invoke, request, scope)

    def close(self) -> None:
        """Ends every call under way; further ones raise Failed. Idempotent."""
        self._closed.set()
        for channel in self._channels:
            channel.close()

    def _once(
        self,
        method: "grpc.UnaryUnaryMultiCallable[_Request, _Response]",
        request: _Request,
        scope: CallScope,
    ) -> _Response:
        if self._closed.is_set():
            raise Failed(grpc.StatusCode.CANCELLED, "the host stops")
        metadata = CallMetadata(
            run=scope.run_id,
            workflow=scope.workflow_id,
            operation=scope.operation_id,
            attempt=scope.attempt,
            incarnation=self._incarnation_id,
            token=self._edge_token,
        ).pairs()
        return method(request, timeout=self._deadline_seconds, metadata=metadata)

    def _retried(
        self,
        method: "grpc.UnaryUnaryMultiCallable[_Request, _Response]",
        request: _Request,
        scope: CallScope,
    ) -> _Response:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(len(self._retry_waits_seconds) + 1),
                tenacity.stop_when_event_set(self._closed),
            ),
            wait=tenacity.wait_chain(*map(tenacity.wait_fixed, self._retry_waits_seconds)),
            retry=tenacity.retry_if_exception(_is_transport_failure),
            sleep=tenacity.sleep_using_event(self._closed),
            before_sleep=_retry_logger(request, scope),
            reraise=True,
        )
        return cast("_Response", retrying(self._once, method, request, scope))


def _ignore_state(state: grpc.ChannelConnectivity) -> None:
    """Takes connectivity changes; the subscription alone keeps the channel connecting."""


def _retry_logger(request: Message, scope: CallScope) -> Callable[[tenacity.RetryCallState], None]:
    def log(state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        _log.warning(
            "call_retried",
            request=type(request).__name__,
            workflow=scope.workflow_id,
            operation=scope.operation_id,
            tries=state.attempt_number,
            code=code_of(error).name if isinstance(error, grpc.RpcError) else None,
        )

    return log
