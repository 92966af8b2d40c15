"""Stubs of a memory that is served in the test's own process, and the clock that it runs on."""

from collections.abc import Callable
from dataclasses import dataclass

import grpc

from memqual.v1 import continuity_pb2, continuity_pb2_grpc, vendor_pb2_grpc
from tests.services.memory.samples import START_NS

DEADLINE_SECONDS = 10


@dataclass
class ClockOfTest:
    """A lease clock that moves only when it is told to."""

    now_ns: int = START_NS

    def read(self) -> int:
        """The reading, nanoseconds."""
        return self.now_ns


@dataclass(frozen=True)
class Served:
    """Stubs of a served memory."""

    continuity: continuity_pb2_grpc.ContinuityServiceStub
    vendor: vendor_pb2_grpc.VendorServiceStub
    channel: grpc.Channel
    clock: ClockOfTest

    def begin(
        self, asked: continuity_pb2.OperationSpec, incarnation: str = "life-1", call: str = "b1"
    ) -> continuity_pb2.Decision:
        """One Begin."""
        request = continuity_pb2.BeginRequest(spec=asked, incarnation_id=incarnation, begin_id=call)
        return self.continuity.Begin(request, timeout=DEADLINE_SECONDS).decision

    def record(
        self,
        asked: continuity_pb2.OperationSpec,
        granted: continuity_pb2.Execute,
        receipt: continuity_pb2.Receipt,
        incarnation: str = "life-1",
    ) -> continuity_pb2.RecordReceiptResponse:
        """One RecordReceipt."""
        request = continuity_pb2.RecordReceiptRequest(
            namespace=asked.namespace,
            operation_id=asked.operation_id,
            incarnation_id=incarnation,
            attempt=granted.attempt,
            lease_token=granted.lease_token,
            receipt=receipt,
        )
        return self.continuity.RecordReceipt(request, timeout=DEADLINE_SECONDS)


Serve = Callable[..., Served]
