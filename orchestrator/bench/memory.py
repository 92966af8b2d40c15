"""The reference memory's own speed, durable and over gRPC (DESIGN §11).

One client calls one local process, one call after the other. What the memory holds already is
written through the same calls, by several clients at once and within a bound of time; how much it
really held is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

from memqual.v1 import common_pb2, continuity_pb2, memory_pb2
from orchestrator.bench.bench import Bench
from orchestrator.bench.memory_process import MemoryProcess, memory_process
from orchestrator.bench.results import Measurement, Reach, quantile
from services.common.canonical import digest_hex, operation_id, sha256_hex

__all__ = ["memory", "operation_spec", "receipt_for"]

_OPERATION_COUNTS = (100, 10_000)
_RECORD_COUNTS = (10_000,)
_LARGE = 100_000
_SAMPLES = 300
_WARM_UP = 20
_FILL_SECONDS = 120.0
_LARGE_FILL_SECONDS = 1_800.0
_CLIENTS = 16
_CHUNK = 200
_CALL_SECONDS = 10.0
_PER_WORKFLOW = 20
_INCARNATION = "bench-life-1"
_NAMESPACE = "bench"
_RESULT_JSON = '{"document":"d1"}'
_WORDS = (
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "inlet",
    "juniper",
)
_PAIR_MS = Reach(at_most=3.0)
_RECALL_MS = Reach(at_most=10.0)


def memory(bench: Bench) -> list[Measurement]:
    """Measure operations, then records, each on a fresh process.

    With `bench.large` at 100,000 of each, too; filling that up takes many minutes.

    Raises:
        StackError: The memory does not start.
        grpc.RpcError: It refuses a call or does not answer.
    """
    more = (_LARGE,) if bench.large else ()
    fill_seconds = _LARGE_FILL_SECONDS if bench.large else _FILL_SECONDS
    with ExitStack() as stack:
        processes = {
            count: stack.enter_context(memory_process(bench.scratch / f"operations-{count}"))
            for count in (*_OPERATION_COUNTS, *more)
        }
        found = _operations(processes, fill_seconds)
    with memory_process(bench.scratch / "records") as process:
        return [*found, *_records(process, (*_RECORD_COUNTS, *more), fill_seconds)]


def operation_spec(number: int) -> continuity_pb2.OperationSpec:
    """The specification of one operation; equal numbers give equal ones."""
    identity = continuity_pb2.OperationIdentity(
        deployment="bench",
        thread_id=f"thread-{number // _PER_WORKFLOW}",
        message_id=f"message-{number}",
        tool_call_id="call-1",
    )
    arguments: dict[str, str | int] = {"path": f"{number}.txt", "content": "Notice."}
    intent: dict[str, str | dict[str, str | int]] = {
        "tool": "publish_document",
        "destination": "destination",
        "arguments": arguments,
        "principal": "operator",
    }
    return continuity_pb2.OperationSpec(
        operation_id=operation_id(identity),
        identity=identity,
        namespace=_NAMESPACE,
        workflow_id=f"workflow-{number // _PER_WORKFLOW}",
        principal="operator",
        tool="publish_document",
        destination="destination",
        intent_digest=digest_hex(intent),
        arguments_digest=digest_hex(arguments),
        capability=common_pb2.EFFECT_CAPABILITY_NONE,
    )


def receipt_for(spec: continuity_pb2.OperationSpec) -> continuity_pb2.Receipt:
    """What the destination would have answered to the first attempt."""
    return continuity_pb2.Receipt(
        operation_id=spec.operation_id,
        attempt=1,
        arguments_digest=spec.arguments_digest,
        result_json=_RESULT_JSON,
        result_digest=sha256_hex(_RESULT_JSON.encode()),
        effect_id=f"effect-{spec.operation_id[:16]}",
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
    )


def _operations(processes: Mapping[int, MemoryProcess], fill_seconds: float) -> list[Measurement]:
    """One call at each memory in turn, so that what else the machine does falls on all of them."""
    kept = {
        wanted: _fill(0, wanted, partial(_complete, process), fill_seconds)
        for wanted, process in processes.items()
    }
    pairs: dict[int, list[float]] = {wanted: [] for wanted in processes}
    for turn in range(_WARM_UP + _SAMPLES):
        for wanted, process in processes.items():
            taken_ms = _milliseconds(_complete, process, kept[wanted] + turn)
            if turn >= _WARM_UP:
                pairs[wanted].append(taken_ms)
    found: list[Measurement] = []
    for wanted, times in pairs.items():
        note = f"{kept[wanted]} operations kept at first{_short(kept[wanted], wanted)}"
        found += [
            _timed(f"begin_receipt_p50_at_{wanted}", quantile(times, 0.5), _PAIR_MS, note),
            _timed(f"begin_receipt_p99_at_{wanted}", quantile(times, 0.99), None, note),
        ]
    few, many = min(pairs), max(pairs)
    found.append(
        Measurement(
            name="begin_receipt_growth",
            measured=f"p50 with {kept[many]} operations kept over p50 with {kept[few]}, taken in "
            "turns; flat is 1",
            unit="ratio",
            value=quantile(pairs[many], 0.5) / quantile(pairs[few], 0.5),
            samples=_SAMPLES,
        )
    )
    return found


def _timed(name: str, value_ms: float, reach: Reach | None, note: str) -> Measurement:
    return Measurement(
        name=name,
        measured="Begin + RecordReceipt, both durable, over gRPC",
        unit="ms",
        value=value_ms,
        samples=_SAMPLES,
        reach=reach,
        note=note,
    )


def _short(held: int, wanted: int) -> str:
    return "" if held >= wanted else f" (not {wanted}: the time for filling was over)"


def _records(
    process: MemoryProcess, counts: Sequence[int], fill_seconds: float
) -> list[Measurement]:
    found = []
    held = 0
    for wanted in counts:
        held = _fill(held, wanted, partial(_write, process), fill_seconds)
        at = held
        writes, recalls, hits = [], [], 0
        for number in range(held, held + _WARM_UP + _SAMPLES):
            writes.append(_milliseconds(_write, process, number))
            began = time.perf_counter()
            hits += _recall(process, number // 2)
            recalls.append((time.perf_counter() - began) * 1e3)
        held += len(writes)
        both = [sum(pair) for pair in zip(writes, recalls, strict=True)][_WARM_UP:]
        found.append(
            Measurement(
                name=f"write_recall_p50_at_{wanted}",
                measured="Write + Recall of ten hits, in one namespace, over gRPC",
                unit="ms",
                value=quantile(both, 0.5),
                samples=len(both),
                reach=_RECALL_MS,
                note=f"{at} records kept{_short(at, wanted)}; write "
                f"{quantile(writes[_WARM_UP:], 0.5):.2f} ms, recall "
                f"{quantile(recalls[_WARM_UP:], 0.5):.2f} ms, "
                f"{hits / len(recalls):.1f} hits an answer",
            )
        )
    return found


def _complete(process: MemoryProcess, number: int) -> None:
    spec = operation_spec(number)
    begin = continuity_pb2.BeginRequest(
        spec=spec, incarnation_id=_INCARNATION, begin_id=f"begin-{number}"
    )
    decision = process.continuity.Begin(begin, timeout=_CALL_SECONDS).decision
    receipt = continuity_pb2.RecordReceiptRequest(
        namespace=spec.namespace,
        operation_id=spec.operation_id,
        incarnation_id=_INCARNATION,
        attempt=decision.execute.attempt,
        lease_token=decision.execute.lease_token,
        receipt=receipt_for(spec),
    )
    process.continuity.RecordReceipt(receipt, timeout=_CALL_SECONDS)


def _scope() -> memory_pb2.Scope:
    return memory_pb2.Scope(namespace=_NAMESPACE, principal="operator")


def _sentence(number: int) -> str:
    first, second = _WORDS[number % 10], _WORDS[number // 10 % 10]
    return f"Customer c{number:06} of {first} wants parcels at the {second} depot."


def _write(process: MemoryProcess, number: int) -> None:
    observation = memory_pb2.Observation(
        scope=_scope(),
        kind=memory_pb2.RECORD_KIND_FACT,
        content=_sentence(number),
        source=memory_pb2.Source(
            type=memory_pb2.SOURCE_TYPE_USER,
            binding=memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED,
            source_id="operator",
        ),
    )
    process.memory.Write(memory_pb2.WriteRequest(observation=observation), timeout=_CALL_SECONDS)


def _recall(process: MemoryProcess, number: int) -> int:
    request = memory_pb2.RecallRequest(
        scope=_scope(),
        query=f"Where does customer c{number:06} want parcels?",
        max_hits=10,
        surface=memory_pb2.RECALL_SURFACE_AUTHORITATIVE,
    )
    return len(process.memory.Recall(request, timeout=_CALL_SECONDS).hits)


def _fill(held: int, wanted: int, put: Callable[[int], None], fill_seconds: float) -> int:
    """Put what is missing, several at once; return how many there are when the time is over."""
    deadline = time.monotonic() + fill_seconds
    with ThreadPoolExecutor(_CLIENTS, thread_name_prefix="fill") as pool:
        while held < wanted and time.monotonic() < deadline:
            numbers = range(held, min(held + _CHUNK, wanted))
            for _ in pool.map(put, numbers):
                pass
            held = numbers.stop
    return held


def _milliseconds(
    action: Callable[[MemoryProcess, int], None], process: MemoryProcess, number: int
) -> float:
    began = time.perf_counter()
    action(process, number)
    return (time.perf_counter() - began) * 1e3
