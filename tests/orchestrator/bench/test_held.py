"""Who was held once and killed there, counted from trace and receipt."""

from typing import Any

import pytest

from chaos.receipts import (
    JournalPrecondition,
    KillReceipt,
    ReleaseRecord,
    StepRecord,
    TargetKill,
)
from chaos.windows import INVOKE, RECORD_RECEIPT
from memqual.v1 import interposer_pb2 as pb
from orchestrator.bench.crashes import batch_of, crash_cells
from orchestrator.bench.held import Hits, count_cut, count_held
from orchestrator.evidence.records import BatchEvidence, TraceSpan
from orchestrator.model import ExpiryMode, WindowName

CELL = crash_cells((WindowName.IN_REQUEST,))[0]
BATCH = batch_of(CELL, "test", 0, 2)
WORKFLOWS = tuple(member.workflow_id for member in BATCH.members)
KILLED_AT = 10


def receipt(held: tuple[str, ...] = WORKFLOWS, **changes: Any) -> KillReceipt:
    whole = KillReceipt(
        operations_before=1,
        operations_after=1,
        injection_id=BATCH.batch_id,
        window="in_request",
        expected_held=2,
        held_workflows=held,
        precondition=JournalPrecondition(
            name="effect absent", expected=0, seen=0, journal_sequence=1
        ),
        frozen_monotonic_ns=1,
        targets=(
            TargetKill(
                service="agent",
                pid=1,
                started_before_ns=1,
                kill_monotonic_ns=5,
                exit_code=137,
                oom_killed=False,
                exit_monotonic_ns=6,
            ),
        ),
        eof_clients_gone=2,
        strays=0,
        release=ReleaseRecord(fate="drop", point="at once", released=2, interposer_monotonic_ns=9),
        restarted=(),
        healthy_after_ms={},
        steps=tuple(
            StepRecord(
                step=step,
                evaluator_monotonic_ns=number,
                interposer_monotonic_ns=number,
                trace_sequence=KILLED_AT + number,
            )
            for number, step in enumerate(("killed", "exited", "disconnected"))
        ),
    )
    return whole.model_copy(update=changes)


def evidence(*receipts: KillReceipt) -> BatchEvidence:
    nothing = TraceSpan(first=1, last=0)
    return BatchEvidence(
        batch=BATCH,
        stack_id="a",
        expiry=ExpiryMode.NONE,
        skew=False,
        describe_json="{}",
        trace=nothing,
        journal=nothing,
        receipts_json=tuple(one.model_dump_json() for one in receipts),
    )


def record(
    sequence: int, kind: pb.TraceKind.ValueType, call_id: int, workflow: str, method: str = INVOKE
) -> pb.TraceRecord:
    return pb.TraceRecord(
        sequence=sequence,
        kind=kind,
        call_id=call_id,
        method=method,
        rule_id=f"hold-{BATCH.batch_id}",
        metadata={"memqual-workflow": workflow},
    )


HOLDS = [record(3 + at, pb.TRACE_KIND_HELD, 100 + at, name) for at, name in enumerate(WORKFLOWS)]


def test_the_sample_receipt_proves_its_kill() -> None:
    assert receipt().missing() == []


def test_everything_held_and_killed_is_a_hit() -> None:
    dropped = [record(15, pb.TRACE_KIND_DROPPED, 100, WORKFLOWS[0])]
    assert count_held(evidence(receipt()), HOLDS + dropped) == Hits(2, 2, 2)


@pytest.mark.parametrize(
    ("receipts", "trace", "expected"),
    [
        pytest.param((), HOLDS, Hits(2, 2, 0), id="no kill"),
        pytest.param((receipt(strays=None),), HOLDS, Hits(2, 2, 0), id="an unproven kill"),
        pytest.param((receipt(),), HOLDS[:1], Hits(2, 1, 1), id="one was never held"),
        pytest.param(
            (receipt(),),
            [*HOLDS, record(6, pb.TRACE_KIND_HELD, 102, WORKFLOWS[0])],
            Hits(2, 1, 1),
            id="one was held twice",
        ),
        pytest.param(
            (receipt(),),
            [*HOLDS, record(7, pb.TRACE_KIND_RELEASED, 100, WORKFLOWS[0])],
            Hits(2, 2, 1),
            id="one went on before the kill",
        ),
        pytest.param(
            (receipt(),),
            [HOLDS[0], record(KILLED_AT + 1, pb.TRACE_KIND_HELD, 101, WORKFLOWS[1])],
            Hits(2, 2, 1),
            id="one came after the kill",
        ),
    ],
)
def test_what_is_no_hit(
    receipts: tuple[KillReceipt, ...], trace: list[pb.TraceRecord], expected: Hits
) -> None:
    assert count_held(evidence(*receipts), trace) == expected


def test_a_timed_kill_hits_the_calls_that_lost_their_client() -> None:
    trace = [
        record(1, pb.TRACE_KIND_CLIENT_GONE, 1, WORKFLOWS[0]),
        record(2, pb.TRACE_KIND_CLIENT_GONE, 2, WORKFLOWS[1], RECORD_RECEIPT),
        record(3, pb.TRACE_KIND_CLIENT_GONE, 3, "somebody-else"),
        record(4, pb.TRACE_KIND_RESPONSE_DELIVERED, 4, WORKFLOWS[1]),
    ]
    assert count_cut(WORKFLOWS, trace, [INVOKE]) == 1
    assert count_cut(WORKFLOWS, trace, [INVOKE, RECORD_RECEIPT]) == 2


def test_hits_add_up() -> None:
    assert Hits(2, 2, 1) + Hits(3, 1, 1) == Hits(5, 3, 2)
    assert (Hits(4, 4, 1).rate, Hits(0, 0, 0).rate) == (0.25, 0.0)
