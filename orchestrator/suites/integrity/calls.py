"""A call as data, and what came back: scripts yield the one and are sent the other.

Exception
├── ContractBreach   a healthy memory answered otherwise than the contract allows: FAIL
└── NotServed        the memory does not serve what the script begins with: N/R, or FAIL when it
                     declares something that needs it
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from google.protobuf.message import Message

from memqual.v1 import common_pb2, memory_pb2, vendor_pb2

__all__ = [
    "METHODS",
    "OK",
    "REFUSALS",
    "UNIMPLEMENTED",
    "Answer",
    "Ask",
    "ContractBreach",
    "Method",
    "NotServed",
    "Script",
    "Service",
    "Signing",
    "method_of",
]

OK = "OK"
UNIMPLEMENTED = "UNIMPLEMENTED"

REFUSALS = frozenset({"PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT"})
"""Statuses with which a memory may refuse a text instead of admitting it as REJECTED."""


class Service(Enum):
    """Which stub of the memory a method belongs to."""

    MEMORY = "memory"
    VENDOR = "vendor"


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
    )
}
"""Every method that a script may call, by name."""

_BY_REQUEST = {method.request: method for method in METHODS.values()}


def method_of(request: Message) -> Method:
    """The method that takes a request; raises KeyError for a message that is none."""
    return _BY_REQUEST[type(request)]


@dataclass(frozen=True)
class Signing:
    """What the run's reviewer is asked to sign; whoever carries the call out fills it in.

    Attributes:
        challenge: As the memory issued it.
        decision: `approve` or `reject`.
    """

    challenge: common_pb2.Challenge
    decision: str


@dataclass(frozen=True)
class Ask:
    """One call that a script wants.

    Attributes:
        step: Where in the script, `attack.write`.
        request: The request; a DecideReviewRequest comes without key id and signature.
        signing: What the reviewer signs, for a DecideReviewRequest.
    """

    step: str
    request: Message
    signing: Signing | None = None


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes:
        status: Name of the gRPC status, `OK` for an answer.
        details: The status's text, at most 1,024 characters.
        responses: The response, or the messages of the stream; empty unless OK.
        overflow: The stream was cut, since it exceeded what a trial's namespace can hold.
    """

    status: str
    details: str = ""
    responses: tuple[Message, ...] = ()
    overflow: bool = False


Script: TypeAlias = Generator[Ask, Answer, None]


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
    """The memory answers UNIMPLEMENTED to the very method that the axis begins with."""
