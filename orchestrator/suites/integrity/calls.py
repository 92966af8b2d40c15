"""A call as data, and what came back: scripts yield the one and are sent the other.

A script yields a `Want`: one call (Ask), calls at the same moment (Together), or something that
happens to the whole memory (StackStep), where all trials of a job wait for each other.

Exception
├── ContractBreach   a healthy memory answered otherwise than the contract allows: FAIL
├── NotServed        the memory does not serve what the script needs: N/R, or FAIL when it declares
│                    something that needs it
├── NotExpressible   the memory has no such concept, by its own account: N/R, not expressible
└── NotPossible      this machine cannot do to the memory what the script needs: N/R, platform
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TypeAlias

from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2, memory_pb2, narrative_pb2, vendor_pb2

__all__ = [
    "METHODS",
    "OK",
    "REFUSALS",
    "UNANSWERED",
    "UNIMPLEMENTED",
    "Answer",
    "Ask",
    "ContractBreach",
    "Gather",
    "Method",
    "Needle",
    "NotExpressible",
    "NotPossible",
    "NotServed",
    "PassTime",
    "Phase",
    "Reconfigure",
    "Restart",
    "Revive",
    "ScanVolume",
    "Script",
    "Service",
    "Signer",
    "Signing",
    "StackStep",
    "Strike",
    "StrikeBurst",
    "Together",
    "TurnBack",
    "Want",
    "method_of",
]

OK = "OK"
UNIMPLEMENTED = "UNIMPLEMENTED"
UNANSWERED = "UNANSWERED"
"""No status of gRPC: the memory was killed on purpose before an answer of it arrived."""

REFUSALS = frozenset({"PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT"})
"""Statuses with which a memory may refuse a text instead of admitting it as REJECTED."""


class Service(Enum):
    """Which service of the memory a method belongs to."""

    MEMORY = "memory"
    VENDOR = "vendor"
    CONTINUITY = "continuity"
    NARRATIVE = "narrative"


@dataclass(frozen=True)
class Method:
    """One method of the contract.

    Attributes:
        name: Its name in the contract.
        service: Where it is.
        request: Its request.
        response: Its response, or each message of its response stream.
        streaming: Whether it answers with a stream.
    """

    name: str
    service: Service
    request: type[Message]
    response: type[Message]
    streaming: bool = False


def _memory_method(name: str) -> Method:
    request: type[Message] = getattr(memory_pb2, f"{name}Request")
    response: type[Message] = getattr(memory_pb2, f"{name}Response")
    return Method(name, Service.MEMORY, request, response)


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        *(
            _memory_method(method.name)
            for method in memory_pb2.DESCRIPTOR.services_by_name["MemoryService"].methods
        ),
        Method(
            "Export",
            Service.VENDOR,
            vendor_pb2.ExportRequest,
            vendor_pb2.ExportResponse,
            streaming=True,
        ),
        Method(
            "StateHash", Service.VENDOR, vendor_pb2.StateHashRequest, vendor_pb2.StateHashResponse
        ),
        Method("Reset", Service.VENDOR, vendor_pb2.ResetRequest, vendor_pb2.ResetResponse),
        Method("Now", Service.VENDOR, vendor_pb2.NowRequest, vendor_pb2.NowResponse),
        *(
            Method(
                name,
                Service.CONTINUITY,
                getattr(continuity_pb2, f"{name}Request"),
                getattr(continuity_pb2, f"{name}Response"),
            )
            for name in ("Begin", "RecordReceipt", "GetOperation")
        ),
        *(
            Method(
                name,
                Service.NARRATIVE,
                getattr(narrative_pb2, f"{name}Request"),
                getattr(narrative_pb2, f"{name}Response"),
            )
            for name in ("Ingest", "Ask")
        ),
    )
}
"""Every method that a script may call, by name."""

_BY_REQUEST = {method.request: method for method in METHODS.values()}


def method_of(request: Message) -> Method:
    """The method that takes a request; raises KeyError for a message that is none."""
    return _BY_REQUEST[type(request)]


class Signer(StrEnum):
    """Whose key signs, or is claimed to have signed."""

    REVIEWER = "reviewer"
    """The run's reviewer, whom the memory was told to believe for every principal."""
    OTHER_PRINCIPAL = "other_principal"
    """A reviewer whom the memory was told to believe for one principal that no trial has."""
    STRANGER = "stranger"
    """Somebody of whom the memory was never told."""


@dataclass(frozen=True)
class Signing:
    """What somebody is asked to sign; whoever carries the call out fills it in.

    Attributes:
        challenge: The challenge that is signed: as the memory issued it.
        decision: `approve` or `reject`: the decision that is signed.
        signer: Whose key makes the signature.
        claimed: Whose key id is sent along with it.
    """

    challenge: common_pb2.Challenge
    decision: str
    signer: Signer = Signer.REVIEWER
    claimed: Signer = Signer.REVIEWER


@dataclass(frozen=True)
class Ask:
    """One call that a script wants.

    Attributes:
        step: Where in the script, `attack.write`.
        request: The request; a DecideReviewRequest comes without key id and signature.
        signing: What is signed, for a DecideReviewRequest; None sends the request as it is.
    """

    step: str
    request: Message
    signing: Signing | None = None


@dataclass(frozen=True)
class Together:
    """Calls that are made at the same moment; `Answer.parts` has their answers in order.

    Attributes:
        step: Where in the script; each call has a step of its own beside it.
        asks: 2 calls or more.
    """

    step: str
    asks: tuple[Ask, ...]


@dataclass(frozen=True)
class Restart:
    """The memory is killed (SIGKILL) while it is idle, and started again on the same volume."""

    step: str


@dataclass(frozen=True)
class Gather:
    """All trials of the job have come as far as this; nothing is done to the memory."""

    step: str


@dataclass(frozen=True)
class PassTime:
    """The memory's wall clock jumps to a moment, if it is not past it already.

    Attributes:
        step: Where in the script.
        until_unix_ns: The moment, by the memory's own clock.
    """

    step: str
    until_unix_ns: int


@dataclass(frozen=True)
class TurnBack:
    """The memory's wall clock jumps back.

    Attributes:
        step: Where in the script.
        seconds: By how much.
    """

    step: str
    seconds: int


@dataclass(frozen=True)
class Reconfigure:
    """The memory is ended and started on the same volume in its second configuration."""

    step: str


@dataclass(frozen=True)
class Revive:
    """The memory is started again on its own volume where it has ended by itself.

    Where it lives nothing is done, and the answer's details say so.
    """

    step: str


@dataclass(frozen=True)
class Needle:
    """What a scan of bytes looks for.

    Attributes:
        name: Unique in its scan.
        text: The string, at least one character.
    """

    name: str
    text: str


@dataclass(frozen=True)
class ScanVolume:
    """Every byte of the memory's data volume is read; `Answer.found` names what was found in it.

    Attributes:
        step: Where in the script.
        needles: What is looked for.
    """

    step: str
    needles: tuple[Needle, ...]


class Phase(StrEnum):
    """Where a call is when the memory is killed."""

    REQUEST = "request"
    """The memory has not seen the call."""
    RESPONSE = "response"
    """The memory has answered, and nobody has the answer."""
    UNDERWAY = "underway"
    """The memory works on it: trials' calls start one after another, and the kill meets each at
    another point."""


@dataclass(frozen=True)
class Strike:
    """The memory is killed during this call, and restarted.

    The call's answer has the status UNANSWERED, or is the memory's own when it came before.

    Attributes:
        ask: The call.
        phase: Where it is when the kill comes.
    """

    ask: Ask
    phase: Phase

    @property
    def step(self) -> str:
        """Where in the script."""
        return self.ask.step


@dataclass(frozen=True)
class StrikeBurst:
    """The memory is killed at a drawn moment within these calls, and restarted.

    They are made one after another; `Answer.parts` has an answer for each: those after the kill
    have the status UNANSWERED, and were not made once one was.

    Attributes:
        step: Where in the script; each call has a step of its own beside it.
        asks: The calls.
    """

    step: str
    asks: tuple[Ask, ...]


StackStep: TypeAlias = (
    Gather
    | Restart
    | PassTime
    | TurnBack
    | Reconfigure
    | Revive
    | ScanVolume
    | Strike
    | StrikeBurst
)
Want: TypeAlias = Ask | Together | StackStep


@dataclass(frozen=True)
class Answer:
    """What came of a want.

    Attributes:
        status: Name of the gRPC status, `OK` for an answer; OK for what is no call; UNANSWERED for
            a call whose memory was killed.
        details: The status's text, at most 1,024 characters.
        responses: The response, or the messages of the stream; empty unless OK.
        overflow: The stream was cut, since it exceeded what a trial's namespace can hold.
        parts: Answers of the calls of a Together or a StrikeBurst, in order.
        found: Of a ScanVolume: name of each needle that was found, with the forms
            (`needles.Form`) in which it was.
    """

    status: str
    details: str = ""
    responses: tuple[Message, ...] = ()
    overflow: bool = False
    parts: tuple[Answer, ...] = ()
    found: tuple[tuple[str, tuple[str, ...]], ...] = ()


Script: TypeAlias = Generator[Want, Answer, None]


class ContractBreach(Exception):
    """A healthy memory did not answer as the contract says; the trial ends here.

    Attributes:
        step: Step of the script.
        what: What was answered, in words.
    """

    def __init__(self, step: str, what: str) -> None:
        super().__init__(f"{step}: {what}")
        self.step = step
        self.what = what


class NotServed(Exception):
    """The memory answers UNIMPLEMENTED to a method without which the trial makes no sense.

    Attributes:
        method: Name of the method.
    """

    def __init__(self, method: str = "Write") -> None:
        super().__init__(f"{method} is UNIMPLEMENTED")
        self.method = method


class NotExpressible(Exception):
    """By its own account the memory lacks the trial's concept; `cause` is what it told."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class NotPossible(Exception):
    """What the script needs cannot be done to the memory on this machine.

    Attributes:
        cause: Why, in a sentence.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause
