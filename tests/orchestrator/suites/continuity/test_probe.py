"""The evaluator's own question: the host's own Begin, once an operation, as another life."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import grpc
import pytest

from chaos.windows import BEGIN, INVOKE
from memqual.v1 import continuity_pb2, interposer_pb2
from orchestrator.suites.continuity.probe import PROBE_INCARNATION, probe_completed
from orchestrator.suites.continuity.rig import Rig


class _Refused(grpc.RpcError):
    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code


@dataclass
class FakeRig:
    """A batch with a trace, whose memory keeps what it is asked.

    Attributes:
        trace: The interposer's records.
        refusal: Status of every answer; None: OK.
        asked: Each request with the workflow and operation of its metadata.
        first: Where the trace was read from.
    """

    trace: list[interposer_pb2.TraceRecord]
    refusal: grpc.StatusCode | None = None
    asked: list[tuple[str, str, continuity_pb2.BeginRequest]] = field(default_factory=list)
    first: int = 0

    @property
    def context(self) -> FakeRig:
        return self

    @property
    def session(self) -> FakeRig:
        return self

    def trace_from(self, first: int) -> list[interposer_pb2.TraceRecord]:
        self.first = first
        return self.trace

    def with_workflow(self, workflow: str, operation: str) -> FakeRig:
        self._metadata = (workflow, operation)
        return self

    @property
    def continuity(self) -> FakeRig:
        return self

    def Begin(self, request: continuity_pb2.BeginRequest) -> None:  # the stub's name
        self.asked.append((*self._metadata, request))
        if self.refusal is not None:
            raise _Refused(self.refusal)


def _request(
    workflow: str,
    operation: str,
    *,
    source: str = "agent",
    method: str = BEGIN,
    kind: int = interposer_pb2.TRACE_KIND_REQUEST_RECEIVED,
) -> interposer_pb2.TraceRecord:
    spec = continuity_pb2.OperationSpec(operation_id=operation, workflow_id=workflow)
    request = continuity_pb2.BeginRequest(spec=spec, incarnation_id="host-1", begin_id="b1")
    return interposer_pb2.TraceRecord(
        kind=cast("interposer_pb2.TraceKind.ValueType", kind),
        method=method,
        edge=interposer_pb2.Edge(source=source, target="memory"),
        metadata={"memqual-workflow": workflow},
        payload=request.SerializeToString(),
    )


def _probe(rig: FakeRig) -> int:
    return probe_completed(cast(Rig, rig), 7)


def test_every_operation_is_asked_about_once_by_another_incarnation() -> None:
    rig = FakeRig([_request("w1", "o1"), _request("w2", "o2"), _request("w1", "o1")])
    assert _probe(rig) == 2
    assert rig.first == 7
    assert [(workflow, operation) for workflow, operation, _ in rig.asked] == [
        ("w1", "o1"),
        ("w2", "o2"),
    ]
    for workflow, operation, request in rig.asked:
        assert (request.spec.workflow_id, request.spec.operation_id) == (workflow, operation)
        assert request.incarnation_id == PROBE_INCARNATION
        assert request.begin_id != "b1"
    assert len({request.begin_id for _, _, request in rig.asked}) == 2


def test_the_hosts_last_question_is_repeated_and_nobody_elses() -> None:
    rig = FakeRig(
        [
            _request("w1", "o1"),
            _request("w1", "o2", source="standby"),
            _request("w1", "o3", source="orchestrator"),
            _request("w1", "o4", method=INVOKE),
            _request("w1", "o5", kind=interposer_pb2.TRACE_KIND_REQUEST_FORWARDED),
        ]
    )
    assert _probe(rig) == 1
    assert rig.asked[0][1] == "o2"


def test_without_a_question_there_is_nothing_to_repeat() -> None:
    rig = FakeRig([])
    assert (_probe(rig), rig.asked) == (0, [])


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    ],
)
def test_a_refusal_is_an_answer_that_the_trace_judges(code: grpc.StatusCode) -> None:
    rig = FakeRig([_request("w1", "o1"), _request("w2", "o2")], refusal=code)
    assert _probe(rig) == 2
    assert len(rig.asked) == 2


def test_a_memory_that_cannot_be_reached_is_not_asked_on() -> None:
    rig = FakeRig([_request("w1", "o1"), _request("w2", "o2")], refusal=grpc.StatusCode.UNAVAILABLE)
    with pytest.raises(grpc.RpcError):
        _probe(rig)
    assert len(rig.asked) == 1
