"""Specifications, receipts and stepped rules that the memory's tests share."""

import itertools
from dataclasses import dataclass, field

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import operation_id, sha256_hex
from services.memory.answers import (
    BeginCall,
    BeginStep,
    Decision,
    Disposition,
    Execute,
    Presence,
    Query,
    QueryCall,
    ReceiptCall,
    RecordStep,
    Refused,
    RenewCall,
    RenewStep,
    ResolveCall,
)
from services.memory.decisions import DecisionRules
from services.memory.messages import binding_from
from services.memory.model import (
    NANOSECONDS_PER_SECOND,
    Assurance,
    Capability,
    LeaseClock,
    Operation,
    OperationBinding,
    Policy,
    Receipt,
    ReceiptOutcome,
)
from services.memory.recordings import RecordingRules

START_NS = 1_700_000_000 * NANOSECONDS_PER_SECOND
LEASE_NS = Policy().lease_ns
SECOND_NS = NANOSECONDS_PER_SECOND
RESULT_JSON = '{"document":"d1"}'

CAPABILITY_VALUES = {
    Capability.NONE: common_pb2.EFFECT_CAPABILITY_NONE,
    Capability.QUERY: common_pb2.EFFECT_CAPABILITY_QUERY,
    Capability.IDEMPOTENT: common_pb2.EFFECT_CAPABILITY_IDEMPOTENT,
}


def spec(
    capability: Capability = Capability.NONE,
    *,
    call: str = "call-1",
    namespace: str = "space",
    workflow: str = "workflow-1",
    retention_seconds: int = 3_600,
) -> continuity_pb2.OperationSpec:
    """A valid specification."""
    identity = continuity_pb2.OperationIdentity(
        deployment="deployment",
        thread_id="thread",
        checkpoint_namespace="",
        message_id="message",
        tool_call_id=call,
    )
    keyed = capability is Capability.IDEMPOTENT
    return continuity_pb2.OperationSpec(
        operation_id=operation_id(identity),
        identity=identity,
        namespace=namespace,
        workflow_id=workflow,
        principal="principal",
        tool="publish_document",
        destination="destination",
        intent_digest=sha256_hex(b"intent"),
        arguments_digest=sha256_hex(b"arguments"),
        capability=CAPABILITY_VALUES[capability],
        idempotency_key=f"key-{call}" if keyed else "",
        retention_seconds=retention_seconds if keyed else 0,
    )


def binding(
    capability: Capability = Capability.NONE, *, retention_seconds: int = 3_600
) -> OperationBinding:
    """The binding of `spec`."""
    return binding_from(spec(capability, retention_seconds=retention_seconds))


def receipt(
    bound: OperationBinding, attempt: int, *, result_json: str = RESULT_JSON, effect_id: str = "e1"
) -> Receipt:
    """A receipt that fits the binding."""
    return Receipt(
        operation_id=bound.operation_id,
        attempt=attempt,
        arguments_digest=bound.arguments_digest,
        result_json=result_json,
        result_digest=sha256_hex(result_json.encode()),
        effect_id=effect_id,
        outcome=ReceiptOutcome.SUCCEEDED,
        assurance=Assurance.HOST_REPORTED,
    )


def receipt_message(
    asked: continuity_pb2.OperationSpec, attempt: int, *, result_json: str = RESULT_JSON
) -> continuity_pb2.Receipt:
    """The message of a receipt that fits the specification."""
    return continuity_pb2.Receipt(
        operation_id=asked.operation_id,
        attempt=attempt,
        arguments_digest=asked.arguments_digest,
        result_json=result_json,
        result_digest=sha256_hex(result_json.encode()),
        effect_id="e1",
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
    )


@dataclass
class Memory:
    """One operation under the rules, with a clock that a test moves; what is kept is in RAM."""

    bound: OperationBinding
    decisions: DecisionRules = field(default_factory=DecisionRules)
    recordings: RecordingRules = field(default_factory=RecordingRules)
    now_ns: int = START_NS
    mark_ns: int = 0
    operation: Operation | None = None
    secrets: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    begin_ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    @property
    def clock(self) -> LeaseClock:
        """The reading for the next call."""
        return LeaseClock(self.now_ns, self.mark_ns)

    @property
    def kept(self) -> Operation:
        """The operation, which must be there."""
        assert self.operation is not None
        return self.operation

    def advance(self, seconds: float) -> None:
        """Moves the clock; a negative number sets it back."""
        self.now_ns += round(seconds * SECOND_NS)

    def expire(self) -> None:
        """Moves the clock one second past the latest lease."""
        latest = self.kept.latest
        assert latest is not None
        self.now_ns = latest.lease_ends_at_ns + SECOND_NS

    def try_begin(
        self,
        incarnation: str = "life-1",
        begin_id: str | None = None,
        asked: OperationBinding | None = None,
    ) -> BeginStep | Refused:
        """One Begin, of the memory's own binding unless another is asked for."""
        used = begin_id or f"begin-{next(self.begin_ids)}"
        call = BeginCall(asked or self.bound, incarnation, used, f"secret-{next(self.secrets)}", 0)
        step = self.decisions.begin(self.operation, self.clock, call)
        if isinstance(step, BeginStep):
            if step.change is not None:
                self.operation = step.operation
            self._raise_mark()
        return step

    def begin(
        self,
        incarnation: str = "life-1",
        begin_id: str | None = None,
        asked: OperationBinding | None = None,
    ) -> Decision:
        """One Begin that must be answered."""
        step = self.try_begin(incarnation, begin_id, asked)
        assert isinstance(step, BeginStep)
        return step.decision

    def execute(self, incarnation: str = "life-1", begin_id: str | None = None) -> Execute:
        """One Begin that must be EXECUTE."""
        decision = self.begin(incarnation, begin_id)
        assert isinstance(decision, Execute)
        return decision

    def ask(self, incarnation: str = "life-2") -> Query:
        """One Begin that must be QUERY."""
        decision = self.begin(incarnation)
        assert isinstance(decision, Query)
        return decision

    def renew(self, attempt: int, token: str, incarnation: str = "life-1") -> RenewStep | Refused:
        """One Renew."""
        call = RenewCall(incarnation, attempt, token)
        step = self.decisions.renew(self.kept, self.clock, call)
        if isinstance(step, RenewStep):
            self.operation = step.operation
            self._raise_mark()
        return step

    def record(self, call: ReceiptCall) -> Disposition | Refused:
        """One RecordReceipt."""
        return self._keep(self.recordings.receipt(self.kept, call))

    def record_for(
        self, grant: Execute, incarnation: str = "life-1", **changes: str
    ) -> Disposition | Refused:
        """The receipt of a grant."""
        taken = receipt(self.bound, grant.attempt, **changes)
        return self.record(ReceiptCall(incarnation, grant.attempt, grant.lease_token, taken))

    def answer(self, asked: Query, presence: Presence) -> Disposition | Refused | None:
        """The answer to a question; PRESENT comes with its receipt."""
        present = presence is Presence.PRESENT
        found = receipt(self.bound, asked.attempt) if present else None
        call = QueryCall(asked.attempt, asked.ticket, presence, found)
        step = self.recordings.query(self.kept, call)
        if isinstance(step, RecordStep):
            self.operation = step.operation
            self._raise_mark()
            return step.disposition
        return step

    def resolve(self, call: ResolveCall) -> Refused | None:
        """One Resolve whose signature holds."""
        step = self.recordings.resolve(self.kept, call)
        if isinstance(step, Refused):
            return step
        self.operation = step.operation
        self._raise_mark()
        return None

    def _keep(self, step: RecordStep | Refused) -> Disposition | Refused:
        if isinstance(step, Refused):
            return step
        self.operation = step.operation
        self._raise_mark()
        assert step.disposition is not None
        return step.disposition

    def _raise_mark(self) -> None:
        self.mark_ns = max(self.mark_ns, self.now_ns)
