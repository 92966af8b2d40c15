"""Only a memory whose answers really wait for the observer is said to wait."""

import json
from dataclasses import dataclass

from chaos.telemetry_faults import EMIT
from chaos.windows import BEGIN
from memqual.v1 import interposer_pb2 as pb
from memqual.v1 import observer_pb2
from orchestrator.scoring.telemetry_waiting import waited_for
from orchestrator.suites.continuity.families.telemetry import PHASE_MARK

MS = 1_000_000
PHASES = ("before", "slow", "after")


@dataclass(frozen=True)
class Memory:
    """How long its answers and its telemetry take, in milliseconds."""

    usual: tuple[int, ...]
    slow: tuple[int, ...]
    telemetry: int
    # When its telemetry begins, after the question came.
    starts: int = 1
    names_operation: bool = True


class Trace:
    def __init__(self) -> None:
        self.records: list[pb.TraceRecord] = []
        self.calls = 0

    def mark(self, phase: str) -> None:
        told = json.dumps({"kind": PHASE_MARK, "phase": phase})
        self.records.append(pb.TraceRecord(kind=pb.TRACE_KIND_MARK, mark_json=told))

    def add(
        self, kind: pb.TraceKind.ValueType, call_id: int, at_ms: int, told: pb.TraceRecord
    ) -> None:
        record = pb.TraceRecord(kind=kind, call_id=call_id, monotonic_ns=at_ms * MS)
        record.MergeFrom(told)
        self.records.append(record)

    def question(self, operation: str, at_ms: int, memory: Memory, took_ms: int) -> None:
        self.calls += 2
        begin, emit = self.calls, self.calls + 1
        event = observer_pb2.TelemetryEvent(workflow_id="w1")
        if memory.names_operation:
            event.operation_id = operation
        payload = observer_pb2.EmitRequest(events=[event]).SerializeToString()
        asked = pb.TraceRecord(method=BEGIN, metadata={"memqual-operation": operation})
        sent = pb.TraceRecord(method=EMIT, edge=pb.Edge(source="memory", target="observer"))
        start = at_ms + memory.starts
        self.add(pb.TRACE_KIND_REQUEST_FORWARDED, begin, at_ms, asked)
        sent.payload = payload
        self.add(pb.TRACE_KIND_REQUEST_RECEIVED, emit, start, sent)
        self.add(pb.TRACE_KIND_HELD, emit, start, sent)
        self.add(pb.TRACE_KIND_CLIENT_GONE, emit, start + memory.telemetry, sent)
        self.add(pb.TRACE_KIND_RESPONSE_RECEIVED, begin, at_ms + took_ms, asked)


def told_of(memory: Memory) -> str:
    trace = Trace()
    at_ms = 0
    for phase in PHASES:
        trace.mark(phase)
        for number, took in enumerate(memory.slow if phase == "slow" else memory.usual):
            at_ms += 100_000
            trace.question(f"{phase}-{number}", at_ms, memory, took)
    return waited_for(trace.records)


def test_a_memory_that_waits_for_its_telemetry_is_told() -> None:
    told = told_of(Memory(usual=(3, 4, 5), slow=(2_003, 2_004, 2_010), telemetry=2_000))
    assert "3 answers came after their telemetry had ended" in told


def test_what_the_telemetry_names_is_not_asked() -> None:
    waits = Memory(
        usual=(3, 4, 5), slow=(2_003, 2_004, 2_010), telemetry=2_000, names_operation=False
    )
    assert told_of(waits) != ""


def test_a_memory_that_waits_for_an_event_that_was_under_way_already_waits() -> None:
    waits = Memory(usual=(3, 4), slow=(1_503, 1_504), telemetry=2_000, starts=-500)
    assert told_of(waits) != ""


def test_an_answer_that_is_seen_just_before_its_telemetrys_end_waited_all_the_same() -> None:
    assert told_of(Memory(usual=(3, 4, 5), slow=(1_999, 2_000, 2_001), telemetry=2_000)) != ""


def test_a_memory_that_answers_while_its_telemetry_is_under_way_does_not_wait() -> None:
    assert told_of(Memory(usual=(3, 4, 5), slow=(3, 4, 900), telemetry=2_000)) == ""


def test_a_memory_that_is_slow_undisturbed_too_does_not_wait() -> None:
    assert told_of(Memory(usual=(5_000, 5_100), slow=(5_050, 5_200), telemetry=2_000)) == ""


def test_one_answer_before_its_telemetrys_end_is_enough_not_to_wait() -> None:
    assert told_of(Memory(usual=(3, 4), slow=(2_003, 1_000), telemetry=2_000)) == ""


def test_a_machine_that_became_slower_is_no_wait() -> None:
    # Answers are slower than before, and by little of what telemetry took.
    assert told_of(Memory(usual=(2_010, 2_020), slow=(2_300, 2_310), telemetry=2_000)) == ""


def test_without_telemetry_there_is_nothing_to_wait_for() -> None:
    trace = Trace()
    trace.mark("slow")
    assert waited_for(trace.records) == ""
