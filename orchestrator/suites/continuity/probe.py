"""The evaluator's question about operations that no host asks about any more (DESIGN §6).

After `after_checkpoint` a correct host never asks the memory again; the probe repeats each
operation's own Begin as a new incarnation. A memory that kept what it acknowledged answers REUSE.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import grpc

from chaos.windows import BEGIN
from memqual.v1 import continuity_pb2, interposer_pb2
from orchestrator.suites.continuity.rig import Rig

__all__ = ["PROBE_INCARNATION", "probe_completed"]

PROBE_INCARNATION = "evaluator-probe"


def probe_completed(rig: Rig, trace_first: int) -> int:
    """Ask Begin once for each operation of the batch; the answers are in the trace.

    Args:
        rig: The batch.
        trace_first: First trace record of the batch.

    Returns:
        Number of questions that were answered, whatever the answer or status.
    """
    asked = 0
    for workflow_id, spec in _specifications(rig.trace_from(trace_first)).items():
        begin_id = hashlib.sha256(f"probe:{spec.operation_id}".encode()).hexdigest()
        request = continuity_pb2.BeginRequest(
            spec=spec, incarnation_id=PROBE_INCARNATION, begin_id=begin_id
        )
        try:
            rig.context.session.with_workflow(workflow_id, spec.operation_id).continuity.Begin(
                request
            )
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                raise
        asked += 1
    return asked


def _specifications(
    trace: Iterable[interposer_pb2.TraceRecord],
) -> dict[str, continuity_pb2.OperationSpec]:
    """The latest specification that each workflow's host asked about."""
    found: dict[str, continuity_pb2.OperationSpec] = {}
    for record in trace:
        if (
            record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
            and record.method == BEGIN
            and record.edge.source != "orchestrator"
        ):
            request = continuity_pb2.BeginRequest.FromString(record.payload)
            found[record.metadata["memqual-workflow"]] = request.spec
    return found
