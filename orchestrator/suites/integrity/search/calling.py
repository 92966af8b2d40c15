"""The memory that is searched, and single calls to it with a deadline each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from memqual.v1 import memory_pb2, memory_pb2_grpc
from orchestrator.suites.integrity.calls import OK, UNIMPLEMENTED, method_of
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.search.moves import ViolationKind
from orchestrator.suites.integrity.search.signing import Signers

__all__ = ["OPEN", "MemoryGone", "Outcome", "Subject"]

OPEN = "OPEN"
"""Status of a call of which nobody knows what it did."""

_OPEN_STATUSES = frozenset(
    {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL", "ABORTED"}
)
_OPEN_IN_A_ROW_MAX = 20
_CALLS_AT_ONCE = 8

_Response = TypeVar("_Response", bound=Message)


class MemoryGone(BaseException):
    """The memory does not answer any more. No Exception: it must end Hypothesis's run, too."""


@dataclass(frozen=True)
class Outcome:
    """What came of a call.

    Attributes:
        status: `OK`, OPEN, or the name of the status that refused it.
        response: The answer; None unless OK.
    """

    status: str
    response: Message | None = None

    @property
    def ok(self) -> bool:
        """Whether the memory answered."""
        return self.status == OK

    @property
    def admission(self) -> memory_pb2.Admission | None:
        """What became of an offer; None where the memory did not answer one."""
        offers = (memory_pb2.WriteResponse, memory_pb2.DeriveResponse, memory_pb2.SupersedeResponse)
        return self.response.admission if isinstance(self.response, offers) else None

    def read(self, kind: type[_Response]) -> _Response:
        """The answer; raises AssertionError unless OK."""
        assert isinstance(self.response, kind)
        return self.response


@dataclass
class Subject:
    """The memory that is searched, for all playings.

    Attributes:
        stub: Its MemoryService.
        declared: What it declares.
        signers: The keys that reviews are answered with.
        seconds: Deadline of each call.
        restart: Kills it, starts it again and returns when it is healthy; None: never.
        unserved: Methods that it does not serve at all (`probe`); their moves are never made. A
            method may be unimplemented for some requests and not for others.
        statuses: How often each status was answered, over all methods.
        muted: Rules whose breach is known already, and which are not looked at any more.
        gone: Set once the memory does not answer any more.
    """

    stub: memory_pb2_grpc.MemoryServiceStub
    declared: Declared
    signers: Signers
    seconds: float
    restart: Callable[[], None] | None = None
    unserved: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    muted: set[ViolationKind] = field(default_factory=set)
    gone: MemoryGone | None = None
    _open_in_a_row: int = 0

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return self.statuses.total()

    def serves(self, *methods: str) -> bool:
        """Whether none of the methods is known to be unserved."""
        return self.unserved.isdisjoint(methods)

    def call(self, request: Message) -> Outcome:
        """Make one call.

        Raises:
            MemoryGone: The memory has not answered for 20 calls in a row.
        """
        method = self._method(request)
        return self._outcome(request, lambda: method(request, timeout=self.seconds))

    def call_each(self, requests: Sequence[Message]) -> list[Outcome]:
        """Make calls that change nothing, some at a time; answers are in the order of requests.

        Raises:
            MemoryGone: As `call`.
        """
        outcomes = []
        for start in range(0, len(requests), _CALLS_AT_ONCE):
            some = requests[start : start + _CALLS_AT_ONCE]
            under_way = [self._method(one).future(one, timeout=self.seconds) for one in some]
            for request, future in zip(some, under_way, strict=True):
                outcomes.append(self._outcome(request, future.result))
        return outcomes

    def probe(self, namespace: str) -> None:
        """Find out what is not served, by one harmless request to each method.

        Raises:
            MemoryGone: As `call`.
        """
        for request in _harmless(memory_pb2.Scope(namespace=namespace, principal="probe")):
            if self.call(request).status == UNIMPLEMENTED:
                self.unserved.add(method_of(request).name)

    def _method(self, request: Message) -> Any:
        return getattr(self.stub, method_of(request).name)

    def _outcome(self, request: Message, answer: Callable[[], Message]) -> Outcome:
        try:
            response = answer()
        except grpc.RpcError as error:
            name = method_of(request).name
            return self._refused(name, error.code().name, error.details() or "")
        self.statuses[OK] += 1
        self._open_in_a_row = 0
        return Outcome(OK, response)

    def _refused(self, method: str, status: str, details: str) -> Outcome:
        self.statuses[status] += 1
        if status not in _OPEN_STATUSES:
            self._open_in_a_row = 0
            return Outcome(status)
        self._open_in_a_row += 1
        if self._open_in_a_row >= _OPEN_IN_A_ROW_MAX:
            self.gone = MemoryGone(
                f"The memory has not answered {_OPEN_IN_A_ROW_MAX} calls in a row; the last, "
                f"{method}, ended with {status}: {details[:200]}"
            )
            raise self.gone
        return Outcome(OPEN)


def _harmless(scope: memory_pb2.Scope) -> tuple[Message, ...]:
    """A well-formed request to each method, about records that are not there."""
    nothing = "no-such-record"
    observation = memory_pb2.Observation(
        scope=scope,
        kind=memory_pb2.RECORD_KIND_FACT,
        content="The lighthouse beside the old harbour is painted white.",
        source=memory_pb2.Source(
            type=memory_pb2.SOURCE_TYPE_USER,
            binding=memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED,
            source_id=scope.principal,
        ),
    )
    return (
        memory_pb2.WriteRequest(observation=observation),
        memory_pb2.DeriveRequest(
            scope=scope,
            kind=memory_pb2.RECORD_KIND_FACT,
            parent_ids=[nothing],
            content=observation.content,
            method="summary",
        ),
        memory_pb2.RecallRequest(
            scope=scope,
            query=observation.content,
            max_hits=1,
            surface=memory_pb2.RECALL_SURFACE_AUTHORITATIVE,
        ),
        memory_pb2.InspectRequest(scope=scope, record_id=nothing),
        memory_pb2.ListProceduresRequest(scope=scope),
        memory_pb2.RecordOutcomeRequest(
            scope=scope,
            record_id=nothing,
            outcome=memory_pb2.PROCEDURE_OUTCOME_NEUTRAL,
            utility=0.0,
        ),
        memory_pb2.SupersedeRequest(scope=scope, record_id=nothing, observation=observation),
        memory_pb2.QuarantineRequest(scope=scope, record_id=nothing, reason="probe"),
        memory_pb2.ForgetRequest(scope=scope, record_id=nothing),
        memory_pb2.ArchiveRequest(scope=scope, record_id=nothing),
        memory_pb2.RequestReviewRequest(scope=scope, record_ids=[nothing], action="promote"),
        memory_pb2.DecideReviewRequest(
            scope=scope,
            challenge_id=nothing,
            decision=memory_pb2.REVIEW_DECISION_REJECT,
            key_id="none",
            signature=bytes(64),
        ),
    )
