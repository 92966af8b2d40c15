"""The raw lines of a job: what was asked and answered, in order, and nothing concluded (DESIGN §8).

`<suite>/<job id>.jsonl` begins with one JobLine; StackLines follow, one for each thing that was
done to the whole memory, in order; then each trial's CallLines in the order of its calls, trials in
the order of the job; a HealthLine ends the file where the memory's health had to be looked at.
Requests and responses are protobuf JSON with the contract's field names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from google.protobuf import json_format
from google.protobuf.message import Message
from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from chaos.receipts import AnyReceipt
from orchestrator.errors import EvidenceError
from orchestrator.model import Frozen, Suite
from orchestrator.plan import Member
from orchestrator.suites.integrity.calls import Signer

__all__ = [
    "CallLine",
    "HealthLine",
    "JobLine",
    "JobLines",
    "KeyEntry",
    "NeedleFound",
    "ScanReport",
    "StackKind",
    "StackLine",
    "evidence_error",
    "message_from_fields",
    "message_to_fields",
    "parse_job",
    "raw_file_name",
    "to_lines",
]

FORMAT_VERSION: Literal[2] = 2


class KeyEntry(Frozen):
    """A public key of the run.

    Attributes:
        signer: Whose it is; the stranger's was not given to the memory.
        key_id: Its id, as the memory's key file has it.
        principal: Whom it speaks for.
        public_key_base64: The raw key.
    """

    signer: Signer = Signer.REVIEWER
    key_id: str
    principal: str
    public_key_base64: str


class JobLine(Frozen):
    """What the job was.

    Attributes:
        line: Kind of the line.
        version: Version of this format.
        job_id: Names the file.
        subject: `vendor` or `control:<flaw>`.
        category: Case of the category: its letter, and its variant.
        describe: The memory's DescribeResponse before the first trial.
        reviewer_keys: Keys of the run; empty without a reviewer.
        trials: The trials, each with its namespace as workflow id.
    """

    line: Literal["job"] = "job"
    version: Literal[1, 2] = FORMAT_VERSION
    job_id: str
    subject: str
    category: str
    describe: dict[str, JsonValue]
    reviewer_keys: tuple[KeyEntry, ...]
    trials: tuple[Member, ...]


class CallLine(Frozen):
    """One call and what came of it.

    Attributes:
        line: Kind of the line.
        trial_id: Its trial.
        position: Place in the trial, from 0.
        step: Step of the script.
        method: Method of the contract.
        request: The request.
        status: Name of the gRPC status.
        details: The status's text, at most 1,024 characters.
        responses: The response, or the messages of a stream.
        overflow: The stream was cut and is not kept.
        retried: UNAVAILABLE means "try again", and so it was: the next line is the same call.
        struck: The memory was killed on purpose while the call was on its way.
        started_mono_ns: Monotonic clock of this machine.
        ended_mono_ns: The same at the end.
    """

    line: Literal["call"] = "call"
    trial_id: str
    position: int
    step: str
    method: str
    request: dict[str, JsonValue]
    status: str
    details: str = ""
    responses: tuple[dict[str, JsonValue], ...] = ()
    overflow: bool = False
    retried: bool = False
    struck: bool = False
    started_mono_ns: int
    ended_mono_ns: int


class StackKind(StrEnum):
    """What was done to the whole memory; after a GATHER nothing was."""

    GATHER = "gather"
    RESTART = "restart"
    PASS_TIME = "pass_time"
    TURN_BACK = "turn_back"
    RECONFIGURE = "reconfigure"
    REVIVE = "revive"
    SCAN_VOLUME = "scan_volume"
    STRIKE = "strike"
    STRIKE_UNDERWAY = "strike_underway"
    STRIKE_BURST = "strike_burst"


class NeedleFound(Frozen):
    """A needle of one trial that a scan found.

    Attributes:
        trial_id: The trial that looked for it.
        name: The needle.
        forms: In which forms (`needles.Form`) it was found.
    """

    trial_id: str
    name: str
    forms: tuple[str, ...]


class ScanReport(Frozen):
    """What a scan of the memory's data volume read and found.

    Attributes:
        bytes_read: Length of all that was read.
        sha256: Digest of it.
        found: What was found; what is not here was looked for and was not there.
    """

    bytes_read: int
    sha256: str
    found: tuple[NeedleFound, ...]


class StackLine(Frozen):
    """One thing that was done to the whole memory, at one step of several trials.

    Attributes:
        line: Kind of the line.
        number: Place among the job's, from 0.
        kind: What it was.
        step: Step of the scripts.
        trial_ids: Trials that wanted it.
        unavailable: Why it could not be done on this machine; empty when it was done.
        lost: How the memory ended each time it was started on its own volume after the kill, where
            it starts on an empty one; empty when it came back.
        receipt: Proof that it happened; None where nothing has to be proven.
        scan: What a scan read and found.
        began_mono_ns: Monotonic clock of this machine.
        ended_mono_ns: The same at the end.
    """

    line: Literal["stack"] = "stack"
    number: int
    kind: StackKind
    step: str
    trial_ids: tuple[str, ...]
    unavailable: str = ""
    lost: str = ""
    receipt: AnyReceipt | None = Field(default=None, discriminator="kind")
    scan: ScanReport | None = None
    began_mono_ns: int
    ended_mono_ns: int


class HealthLine(Frozen):
    """The memory was asked for its health after a call had failed, and was healthy.

    Attributes:
        line: Kind of the line.
        healthy_after_ms: How long that took.
    """

    line: Literal["health"] = "health"
    healthy_after_ms: int


RawLine: TypeAlias = JobLine | StackLine | CallLine | HealthLine
_LINE: TypeAdapter[RawLine] = TypeAdapter(Annotated[RawLine, Field(discriminator="line")])


class JobLines(Frozen):
    """A job's lines, sorted by what they are.

    Attributes:
        job: The first line.
        stack: What was done to the whole memory, in order.
        calls: Each trial's calls in order, by trial id.
        health: The last line, if there is one.
    """

    job: JobLine
    stack: tuple[StackLine, ...] = ()
    calls: dict[str, tuple[CallLine, ...]]
    health: HealthLine | None = None


def raw_file_name(job_id: str, suite: Suite = Suite.INTEGRITY) -> str:
    """Path of a job's lines in the bundle."""
    return f"{suite.value}/{job_id}.jsonl"


def to_lines(job: JobLines) -> tuple[str, ...]:
    """A job as lines, without newlines."""
    lines: list[RawLine] = [job.job, *job.stack]
    for member in job.job.trials:
        lines.extend(job.calls.get(member.trial_id, ()))
    if job.health is not None:
        lines.append(job.health)
    return tuple(line.model_dump_json() for line in lines)


def parse_job(lines: Iterable[str]) -> JobLines:
    """Read a job's lines back.

    Raises:
        EvidenceError: They are not what a job writes.
    """
    parsed = [_parse(line, number) for number, line in enumerate(lines, start=1)]
    if not parsed or not isinstance(parsed[0], JobLine):
        raise evidence_error("the first line of the file describes no job")
    job, health = parsed[0], None
    rest: Sequence[RawLine] = parsed[1:]
    if rest and isinstance(rest[-1], HealthLine):
        health = rest[-1]
        rest = rest[:-1]
    stack = tuple(line for line in rest if isinstance(line, StackLine))
    if tuple(rest[: len(stack)]) != stack or [line.number for line in stack] != list(
        range(len(stack))
    ):
        raise evidence_error(f"job {job.job_id} lacks a stack line, or has one out of order")
    return JobLines(job=job, stack=stack, calls=_by_trial(job, rest[len(stack) :]), health=health)


def _by_trial(job: JobLine, lines: Sequence[RawLine]) -> dict[str, tuple[CallLine, ...]]:
    """Each trial's calls; every line has to stand where `to_lines` puts it."""
    calls: dict[str, list[CallLine]] = {member.trial_id: [] for member in job.trials}
    if len(calls) != len(job.trials):
        raise evidence_error(f"job {job.job_id} names a trial twice")
    order = {trial_id: number for number, trial_id in enumerate(calls)}
    latest = 0
    for line in lines:
        if not isinstance(line, CallLine):
            raise evidence_error(f"job {job.job_id} has a line that does not belong there")
        number = order.get(line.trial_id, -1)
        if number < latest or line.position != len(calls[line.trial_id]):
            raise evidence_error(f"a call of trial {line.trial_id!r} is missing or out of order")
        latest = number
        calls[line.trial_id].append(line)
    return {trial_id: tuple(of_trial) for trial_id, of_trial in calls.items()}


def message_to_fields(message: Message) -> dict[str, JsonValue]:
    """A message as protobuf JSON with the contract's field names."""
    fields: dict[str, JsonValue] = json_format.MessageToDict(
        message, preserving_proto_field_name=True
    )
    return fields


def message_from_fields(fields: dict[str, JsonValue], kind: type[Message], where: str) -> Message:
    """Read a message back.

    Raises:
        EvidenceError: The fields are no such message.
    """
    message = kind()
    try:
        json_format.ParseDict(fields, message)
    except json_format.ParseError as error:
        raise evidence_error(f"{where} is no {kind.__name__}: {error}") from error
    return message


def evidence_error(diagnosis: str) -> EvidenceError:
    """The error of lines that no run wrote."""
    return EvidenceError(
        f"Evidence of calls does not fit: {diagnosis}.",
        next_step="The bundle was altered or is of another version: run `memqual verify`.",
    )


def _parse(line: str, number: int) -> RawLine:
    try:
        return _LINE.validate_json(line)
    except ValidationError as error:
        raise evidence_error(
            f"line {number} has {error.error_count()} fields that do not fit"
        ) from error
