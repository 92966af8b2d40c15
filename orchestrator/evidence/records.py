"""The raw records of a batch, as they lie in the bundle (DESIGN §8).

`batches/<id>.json` holds one `BatchEvidence`; `traces/<id>.jsonl` the interposer's records of the
batch and `journals/<id>.jsonl` the destination's, both as protobuf JSON with the contract's field
names. A verdict is a function of these three files and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message
from pydantic import Field

from orchestrator.errors import EvidenceError
from orchestrator.model import ExpiryMode, Frozen
from orchestrator.plan import Batch

__all__ = [
    "BatchError",
    "BatchEvidence",
    "StatusSnapshot",
    "TraceSpan",
    "message_from_json",
    "message_to_json",
    "messages_to_lines",
]

_Message = TypeVar("_Message", bound=Message)


class BatchError(Frozen):
    """Why a batch could not be carried out to its end.

    Attributes:
        kind: `trial` (the fault or the window was missed) or `infrastructure` (engine, image,
            port, memory).
        step: Step of the driver or of the injection that failed.
        cause: What was seen there, in words.
    """

    kind: str
    step: str
    cause: str


class StatusSnapshot(Frozen):
    """What the hosts said at one point of the batch.

    Attributes:
        phase: `live`, `expired`, `late`, `final`.
        trace_sequence: Head of the trace when the answer was in.
        status_json: One `memqual.v1.WorkflowStatus` for each workflow, as protobuf JSON.
    """

    phase: str
    trace_sequence: int
    status_json: tuple[str, ...]


class TraceSpan(Frozen):
    """Which records of the stack's trace and journal belong to the batch; both ends included.

    An empty span has `last` = `first` - 1.
    """

    first: int
    last: int


class BatchEvidence(Frozen):
    """Everything about one batch that is neither a message nor a journal record.

    Attributes:
        batch: The plan that was carried out.
        stack_id: Stack that it ran on; traces and journals are one sequence a stack.
        expiry: How the end of the lease was really reached.
        skew: Whether the preflight showed that the memory's clock can be set.
        describe_json: The memory's `DescribeResponse` at the start, as protobuf JSON.
        receipts_json: Fault receipts (chaos.receipts), as JSON, in order.
        snapshots: Host statuses in order.
        state_digests: Destination's state hash of each workflow at the end.
        unavailable: What this machine lacks of what a case may need, with the reason.
        error: Set when the batch did not reach its end.
    """

    batch: Batch
    stack_id: str
    expiry: ExpiryMode
    skew: bool
    describe_json: str
    trace: TraceSpan
    journal: TraceSpan
    receipts_json: tuple[str, ...] = ()
    snapshots: tuple[StatusSnapshot, ...] = ()
    state_digests: dict[str, str] = Field(default_factory=dict)
    unavailable: dict[str, str] = Field(default_factory=dict)
    error: BatchError | None = None
    started_unix_ns: int = 0
    ended_unix_ns: int = 0


def message_to_json(message: Message) -> str:
    """One message as one line of protobuf JSON with the contract's field names."""
    return json_format.MessageToJson(message, preserving_proto_field_name=True, indent=None)


def messages_to_lines(messages: Iterable[Message]) -> list[str]:
    """Each message as one line."""
    return [message_to_json(message) for message in messages]


def message_from_json(text: str, kind: type[_Message], where: str) -> _Message:
    """Read a message back.

    Raises:
        EvidenceError: The text is no such message.
    """
    message = kind()
    try:
        json_format.Parse(text, message)
    except json_format.ParseError as error:
        raise EvidenceError(
            f"{where} does not hold a {kind.__name__}: {error}.",
            next_step="The bundle was altered or is of another version: run `memqual verify`.",
        ) from error
    return message


def parse_lines(lines: Sequence[str], kind: type[_Message], where: str) -> list[_Message]:
    """Read every line of a file back.

    Raises:
        EvidenceError: A line is no such message.
    """
    return [
        message_from_json(line, kind, f"{where} line {number}")
        for number, line in enumerate(lines, start=1)
    ]
