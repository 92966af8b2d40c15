"""Whether a memory that ended had ended itself, and does so every time (DESIGN §7).

One end by itself may have a cause outside. A memory that ends three times, each time by itself, on
its own volume, while starting or at the same question, and that is healthy on an empty volume, is
the cause: FAIL. What is not proven so far stays ERROR.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import grpc

from chaos.errors import ChaosError, InterposerError
from chaos.receipts import KILLED_EXIT_CODES
from memqual.v1 import interposer_pb2
from orchestrator.errors import MemqualError
from orchestrator.scoring.memory_ends import ENDED_MARK
from orchestrator.suites.continuity.mishaps import end_of_memory
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.integrity.deaths import MEMORY, Deaths
from services.common.channels import CallMetadata

__all__ = ["prove_end"]


_ENDS = 3
_EXIT_SECONDS = 5.0
_QUESTION_SECONDS = 10.0
_PAUSE_SECONDS = 1.0
# A SIGTERM comes from outside, too.
_FROM_OUTSIDE = KILLED_EXIT_CODES | {143, -15}
_ANSWERS = frozenset((interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED, interposer_pb2.TRACE_KIND_HELD))


@dataclass(frozen=True)
class _Question:
    """What a memory had been asked, and had not answered, when it ended."""

    method: str
    payload: bytes
    workflow_id: str


def prove_end(stage: Stage) -> None:
    """Look into the end of a stage's memory, if it has ended, and mark what is proven.

    The stack is of no use afterwards: the memory was started again and given an empty volume.
    """
    try:
        stage.context.stack.storage.let_go()
        end = _own_end(stage)
        if not end:
            return
        stage.context.progress.spoiled = stage.context.progress.spoiled or end
        question = _question(stage)
        for _ in range(_ENDS - 1):
            # A port or a lock of the life before may take a moment to be free.
            time.sleep(_PAUSE_SECONDS)
            end = _ends_again(stage, question)
            if not end:
                return
        stage.interposer.thaw(MEMORY)
        stage.context.stack.replace_memory(stage.context.stack.spec.vendor)
    except (MemqualError, ChaosError, grpc.RpcError):
        # Whatever else is wrong here, it is not proven to be the memory's.
        return
    at = "while it starts" if question is None else f"at {question.method.rpartition('/')[2]}"
    cause = f"{_ENDS} times, {at} on its own volume, and is healthy on an empty one: {end}"
    stage.interposer.mark({"kind": ENDED_MARK, "cause": cause})


def _own_end(stage: Stage) -> str:
    """How the memory ended by itself, in words; empty while it lives or when it was ended."""
    end = end_of_memory(stage.context.stack)
    if end is None or end.starved:
        return ""
    code = stage.context.stack.service(MEMORY).wait_exit(_EXIT_SECONDS).exit_code
    return "" if code in _FROM_OUTSIDE else end.cause


def _ends_again(stage: Stage, question: _Question | None) -> str:
    stage.context.stack.service(MEMORY).start()
    try:
        Deaths(stage.context).revive()
    except InterposerError:
        return _own_end(stage)
    if question is None:
        return ""
    _ask(stage, question)
    deadline = time.monotonic() + _EXIT_SECONDS
    while stage.context.stack.service(MEMORY).running() and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS / 10)
    return _own_end(stage)


def _question(stage: Stage) -> _Question | None:
    """The last question that was forwarded to the memory and that nothing answered."""
    open_calls: dict[int, interposer_pb2.TraceRecord] = {}
    asked: dict[int, interposer_pb2.TraceRecord] = {}
    for record in stage.rig.trace_from(stage.trace_first):
        if record.edge.target != MEMORY:
            continue
        if record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED:
            asked[record.call_id] = record
        elif record.kind == interposer_pb2.TRACE_KIND_REQUEST_FORWARDED:
            if record.call_id in asked:
                open_calls[record.call_id] = asked[record.call_id]
        elif record.kind in _ANSWERS:
            open_calls.pop(record.call_id, None)
    # What comes after the end finds nobody: the first of the last silence was the one.
    if not open_calls:
        return None
    first = open_calls[min(open_calls)]
    return _Question(first.method, first.payload, first.metadata.get("memqual-workflow", ""))


def _ask(stage: Stage, question: _Question) -> None:
    context = stage.context
    call: grpc.UnaryUnaryMultiCallable[bytes, bytes]
    call = context.session.channel.unary_unary(question.method)
    metadata = CallMetadata(
        run=context.run_id,
        workflow=question.workflow_id or None,
        token=context.stack.control_token,
        target=MEMORY,
    )
    try:
        call(question.payload, timeout=_QUESTION_SECONDS, metadata=metadata.pairs())
    except grpc.RpcError:
        return
