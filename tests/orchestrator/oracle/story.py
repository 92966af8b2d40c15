"""Short histories of one operation, told call by call and judged at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from google.protobuf.message import Message

from memqual.v1 import continuity_pb2, vendor_pb2
from orchestrator.oracle.clockmap import ClockMap, readings_from_trace
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.judgement import OperationJudgement
from orchestrator.oracle.view import Outage, build_views
from tests.orchestrator.oracle import tracing
from tests.orchestrator.oracle.tracing import CONTINUITY, MILLISECOND, SECOND, WALL_OFFSET, Trace


@dataclass
class Story:
    """One operation's calls; times move on by a few milliseconds a call, or as told."""

    spec: continuity_pb2.OperationSpec = field(default_factory=tracing.spec)
    declared: DeclaredMemory = field(default_factory=DeclaredMemory)
    trace: Trace = field(default_factory=Trace)
    outages: list[Outage] = field(default_factory=list)
    skew: int = 0

    def __post_init__(self) -> None:
        self.trace.mark_clock()

    @property
    def wall(self) -> int:
        """The memory's wall clock now."""
        return self.trace.now + WALL_OFFSET + self.skew

    def passes(self, seconds: float) -> None:
        """Time goes by."""
        self.trace.now += int(seconds * SECOND)

    def jumps(self, seconds: float) -> None:
        """The memory's clock is set, and read before and after."""
        self.trace.mark_clock(self.skew)
        self.skew += int(seconds * SECOND)
        self.trace.mark_clock(self.skew)

    def begins(
        self,
        answer: Message | None,
        life: str = "B",
        begin_id: str = "b9",
        *,
        spec: continuity_pb2.OperationSpec | None = None,
        status: int = 0,
    ) -> None:
        """A Begin and its answer."""
        request = tracing.begin(spec or self.spec, life, begin_id)
        self.trace.called(CONTINUITY + "Begin", request, answer, status=status)

    def grants(
        self,
        life: str = "A",
        begin_id: str = "b1",
        attempt: int = 1,
        token: str = "t1",
        **particulars: int,
    ) -> None:
        """A Begin that is answered by a fitting EXECUTE, unless particulars say otherwise."""
        granted_at = particulars.pop("at", self.wall + MILLISECOND)
        answer = tracing.execute(granted_at, attempt, token, **particulars)
        self.begins(answer, life, begin_id)

    def records(self, request: Message, answer: Message | None = None, status: int = 0) -> None:
        """A RecordReceipt or RecordQuery and its answer (OK by default)."""
        if isinstance(request, continuity_pb2.RecordReceiptRequest):
            method, given = "RecordReceipt", answer or tracing.taken()
        else:
            method, given = "RecordQuery", answer or continuity_pb2.RecordQueryResponse()
        self.trace.called(CONTINUITY + method, request, None if status else given, status=status)

    def judged(self) -> OperationJudgement:
        """The judgement."""
        clock = vendor_pb2.LEASE_CLOCK_WALL
        (view,) = build_views(self.trace.records, self.outages)
        readings = readings_from_trace(self.trace.records, clock)
        return judge_operation(view, ClockMap.from_readings(readings), self.declared)

    def classes(self) -> list[str]:
        """The class of every answer, in order."""
        return [call.classification.value for call in self.judged().calls]

    def rows(self) -> list[str]:
        """The rows of every decision, in order."""
        return ["".join(call.rows) for call in self.judged().decisions]
