"""Drives a memory's ContinuityService and has the evaluator's own oracle judge every answer.

The rig plays the interposer: it notes when each call went in and out on a clock of its own, moves
the memory's clock, and hands the view to `orchestrator.oracle`.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from hypothesis import strategies as st

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle.clockmap import ClockMap, ClockReading
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.judgement import OperationJudgement
from orchestrator.oracle.messages import Answer, Refused
from orchestrator.oracle.view import Call, OperationView
from orchestrator.oracle.wire import read_answer, read_request
from services.common.canonical import sha256_hex
from services.common.challenges import PublicKey, signing_bytes
from services.common.database import Database, Synchronous
from services.common.errors import ServiceError
from services.common.telemetry import Emitter
from services.memory.continuity_servicer import ContinuityServicer
from services.memory.decisions import DecisionRules
from services.memory.model import Capability, Policy
from services.memory.operations import Operations
from services.memory.recordings import RecordingRules
from services.memory.reporting import Reporter
from services.memory.resolutions import Resolutions
from services.memory.vendor_servicer import describe
from tests.services.memory.samples import (
    RESULT_JSON,
    SECOND_NS,
    START_NS,
    receipt_message,
    spec,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
RETENTION_SECONDS = 500
CALL_NS = 1_000
PAUSE_NS = 10_000
BETWEEN_HISTORIES_SECONDS = 1_000_000


@dataclass(frozen=True)
class Begin:
    """One Begin; `other` asks for another tool under the same identity."""

    incarnation: str
    begin_id: str
    other: bool = False


@dataclass(frozen=True)
class Peek:
    """One Peek."""

    incarnation: str


@dataclass(frozen=True)
class Elapse:
    """Time goes by, for everybody."""

    seconds: int


@dataclass(frozen=True)
class Jump:
    """The memory's wall clock is set."""

    seconds: int


@dataclass(frozen=True)
class Report:
    """A receipt of one of the grants; `flaw` names what is wrong with it."""

    which: int
    flaw: str = ""


@dataclass(frozen=True)
class Answered:
    """The destination's answer to one of the questions."""

    which: int
    presence: common_pb2.EffectPresence.ValueType


@dataclass(frozen=True)
class Renewal:
    """A renewal of one of the grants."""

    which: int


@dataclass(frozen=True)
class Word:
    """An operator's signed decision."""

    decision: continuity_pb2.OperatorDecision.ValueType


Step: TypeAlias = Begin | Peek | Elapse | Jump | Report | Answered | Renewal | Word

LIVES = st.sampled_from(["life-1", "life-2"])
BEGINS = st.builds(Begin, LIVES, st.sampled_from(["b1", "b2", "b3"]), st.just(False))
STEPS: st.SearchStrategy[Step] = st.one_of(
    BEGINS,
    BEGINS,
    BEGINS,
    st.builds(Begin, LIVES, st.just("b9"), st.just(True)),
    st.builds(Peek, LIVES),
    st.builds(Elapse, st.sampled_from([1, 60, 118, 122, 260, 600])),
    st.builds(Jump, st.sampled_from([121, 400, -2, -130, -700])),
    st.builds(
        Report,
        st.integers(0, 3),
        st.sampled_from(["", "", "", "token", "incarnation", "attempt", "arguments", "result"]),
    ),
    st.builds(
        Answered,
        st.integers(0, 3),
        st.sampled_from(
            [
                common_pb2.EFFECT_PRESENCE_PRESENT,
                common_pb2.EFFECT_PRESENCE_ABSENT_FINAL,
                common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN,
                common_pb2.EFFECT_PRESENCE_UNKNOWN,
            ]
        ),
    ),
    st.builds(Renewal, st.integers(0, 3)),
    st.builds(
        Word,
        st.sampled_from(
            [
                continuity_pb2.OPERATOR_DECISION_HAPPENED,
                continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN,
                continuity_pb2.OPERATOR_DECISION_ABANDON,
            ]
        ),
    ),
)
WORDS = {
    continuity_pb2.OPERATOR_DECISION_HAPPENED: "happened",
    continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN: "did_not_happen",
    continuity_pb2.OPERATOR_DECISION_ABANDON: "abandon",
}


@dataclass
class History:
    """One operation's calls as the interposer saw them."""

    asked: continuity_pb2.OperationSpec
    calls: list[Call] = field(default_factory=list)
    readings: list[ClockReading] = field(default_factory=list)
    grants: list[tuple[continuity_pb2.Execute, str]] = field(default_factory=list)
    questions: list[continuity_pb2.Query] = field(default_factory=list)


class OracleRig:
    """One memory over one file; each `judge` runs a history of an operation of its own."""

    def __init__(
        self,
        folder: Path,
        decisions: Callable[[Policy], DecisionRules] = DecisionRules,
        recordings: RecordingRules | None = None,
    ) -> None:
        self._time_ns = 0
        self._offset_ns = START_NS
        self._highest_ns = START_NS
        self._numbers = itertools.count(1)
        policy = Policy()
        rules = recordings or RecordingRules()
        # A process crash is no matter here, and histories are many.
        self.database = Database(folder / "memory.db", synchronous=Synchronous.NORMAL)
        operations = Operations(
            self.database, decisions(policy), rules, read_clock_ns=self._read_clock_ns
        )
        key = PublicKey("k1", "operator", KEY.public_key().public_bytes_raw())
        resolutions = Resolutions(
            self.database, rules, policy, {"k1": key}, read_clock_ns=self._read_clock_ns
        )
        self._service = ContinuityServicer(operations, resolutions, Reporter(Emitter(None), "run"))
        self._declared = DeclaredMemory.from_describe(describe(policy, None, None))

    def judge(self, capability: Capability, steps: list[Step]) -> OperationJudgement:
        """Runs a history on a new operation and judges it."""
        self._set_clock(self._highest_ns + BETWEEN_HISTORIES_SECONDS * SECOND_NS)
        asked = spec(
            capability,
            call=f"call-{next(self._numbers)}",
            retention_seconds=RETENTION_SECONDS,
        )
        asked.workflow_id = asked.operation_id
        history = History(asked)
        self._note_clock(history)
        for step in steps:
            self._take(step, history)
        self._note_clock(history)
        view = OperationView(asked.operation_id, tuple(history.calls))
        return judge_operation(view, ClockMap.from_readings(history.readings), self._declared)

    def _read_clock_ns(self) -> int:
        value_ns = self._time_ns + self._offset_ns
        self._highest_ns = max(self._highest_ns, value_ns)
        return value_ns

    def _set_clock(self, value_ns: int) -> None:
        self._offset_ns = value_ns - self._time_ns

    def _note_clock(self, history: History) -> None:
        self._time_ns += PAUSE_NS
        value_ns = self._read_clock_ns()
        history.readings.append(ClockReading(self._time_ns, self._time_ns, value_ns))
        self._time_ns += PAUSE_NS

    def _take(self, step: Step, history: History) -> None:
        match step:
            case Begin():
                self._begin(step, history)
            case Peek():
                peek = continuity_pb2.PeekRequest(
                    spec=history.asked, incarnation_id=step.incarnation
                )
                self._call("Peek", self._service.Peek, peek, history)
            case Elapse():
                self._time_ns += step.seconds * SECOND_NS
            case Jump():
                self._note_clock(history)
                self._offset_ns += step.seconds * SECOND_NS
                self._note_clock(history)
            case Report() if history.grants:
                self._report(step, history)
            case Answered() if history.questions:
                self._answer(step, history)
            case Renewal() if history.grants:
                self._renew(step, history)
            case Word():
                self._word(step, history)
            case _:
                pass

    def _begin(self, step: Begin, history: History) -> None:
        request = continuity_pb2.BeginRequest(
            spec=history.asked, incarnation_id=step.incarnation, begin_id=step.begin_id
        )
        if step.other:
            request.spec.tool = "another_tool"
        response = self._call("Begin", self._service.Begin, request, history)
        if not isinstance(response, continuity_pb2.BeginResponse):
            return
        if response.decision.HasField("execute"):
            history.grants.append((response.decision.execute, step.incarnation))
        if response.decision.HasField("query"):
            history.questions.append(response.decision.query)

    def _report(self, step: Report, history: History) -> None:
        granted, incarnation = history.grants[step.which % len(history.grants)]
        request = continuity_pb2.RecordReceiptRequest(
            namespace=history.asked.namespace,
            operation_id=history.asked.operation_id,
            incarnation_id=incarnation,
            attempt=granted.attempt,
            lease_token=granted.lease_token,
            receipt=receipt_message(history.asked, granted.attempt),
        )
        match step.flaw:
            case "token":
                request.lease_token = "forged"
            case "incarnation":
                request.incarnation_id = "life-9"
            case "attempt":
                request.attempt += 1
                request.receipt.attempt += 1
            case "arguments":
                request.receipt.arguments_digest = "e" * 64
            case "result":
                request.receipt.CopyFrom(
                    receipt_message(history.asked, granted.attempt, result_json="{}")
                )
        self._call("RecordReceipt", self._service.RecordReceipt, request, history)

    def _answer(self, step: Answered, history: History) -> None:
        question = history.questions[step.which % len(history.questions)]
        present = step.presence == common_pb2.EFFECT_PRESENCE_PRESENT
        request = continuity_pb2.RecordQueryRequest(
            namespace=history.asked.namespace,
            operation_id=history.asked.operation_id,
            incarnation_id="life-2",
            attempt=question.attempt,
            query_ticket=question.query_ticket,
            presence=step.presence,
            receipt=receipt_message(history.asked, question.attempt) if present else None,
        )
        self._call("RecordQuery", self._service.RecordQuery, request, history)

    def _renew(self, step: Renewal, history: History) -> None:
        granted, incarnation = history.grants[step.which % len(history.grants)]
        request = continuity_pb2.RenewRequest(
            namespace=history.asked.namespace,
            operation_id=history.asked.operation_id,
            incarnation_id=incarnation,
            attempt=granted.attempt,
            lease_token=granted.lease_token,
        )
        self._call("Renew", self._service.Renew, request, history)

    def _word(self, step: Word, history: History) -> None:
        request = continuity_pb2.RequestResolveRequest(
            namespace=history.asked.namespace,
            operation_id=history.asked.operation_id,
            principal="operator",
        )
        try:
            challenge = self._service.RequestResolve(request, None).challenge  # type: ignore[arg-type] # handlers of this service leave the context alone
        except ServiceError:
            return
        happened = step.decision == continuity_pb2.OPERATOR_DECISION_HAPPENED
        result = RESULT_JSON if happened else ""
        digest = sha256_hex(result.encode()) if result else ""
        message = signing_bytes(challenge, WORDS[step.decision], result_digest=digest)
        resolve = continuity_pb2.ResolveRequest(
            challenge_id=challenge.challenge_id,
            decision=step.decision,
            result_json=result,
            key_id="k1",
            signature=KEY.sign(message),
        )
        self._call("Resolve", self._service.Resolve, resolve, history)

    def _call(
        self,
        name: str,
        handler: Callable[..., Message],
        request: Message,
        history: History,
    ) -> Message | None:
        method = f"/memqual.v1.ContinuityService/{name}"
        forwarded_ns = self._time_ns
        self._time_ns += CALL_NS
        response: Message | None = None
        answer: Answer
        try:
            response = handler(request, None)
        except ServiceError as error:
            answer = Refused(error.code.value[0])
        else:
            answer = read_answer(method, response.SerializeToString())
        self._time_ns += CALL_NS
        number = len(history.calls) + 1
        asked = read_request(method, request.SerializeToString()).request
        assert asked is not None
        history.calls.append(
            Call(number, number, "agent", asked, answer, forwarded_ns, self._time_ns)
        )
        self._time_ns += PAUSE_NS
        return response
