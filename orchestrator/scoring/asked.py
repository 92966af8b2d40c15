"""What hosts asked a memory about, operation by operation, as the trace shows it."""

from __future__ import annotations

from collections.abc import Iterable

from chaos.windows import BEGIN, WORKFLOW_KEY
from memqual.v1 import continuity_pb2, interposer_pb2

__all__ = ["first_specs"]


def first_specs(
    trace: Iterable[interposer_pb2.TraceRecord], workflow_id: str, before_ns: int | None = None
) -> dict[str, continuity_pb2.OperationSpec]:
    """The specification with which each operation of a workflow was first asked about, in order.

    Args:
        trace: The batch's records.
        workflow_id: The workflow.
        before_ns: Only questions before this time (interposer's clock); None: all.
    """
    found: dict[str, continuity_pb2.OperationSpec] = {}
    for record in trace:
        if (
            record.method == BEGIN
            and record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
            and record.metadata.get(WORKFLOW_KEY) == workflow_id
            and (before_ns is None or record.monotonic_ns < before_ns)
        ):
            spec = continuity_pb2.BeginRequest.FromString(record.payload).spec
            found.setdefault(spec.operation_id, spec)
    return found
