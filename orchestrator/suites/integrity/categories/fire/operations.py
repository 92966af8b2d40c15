"""Operations within a script: what Begin decides of one, and the receipt that completes it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, ContractBreach
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.steps import call, response_of
from services.common.canonical import JsonValue, canonical_json, digest_hex, operation_id

__all__ = ["EXECUTE", "REUSE", "Action", "Decided", "begin", "record_receipt"]

EXECUTE, REUSE = "execute", "reuse"

_TOOL, _DESTINATION, _DEPLOYMENT = "publish_document", "destination", "evaluator"


@dataclass(frozen=True)
class Action:
    """One external action of a trial.

    Attributes:
        namespace: The trial's partition.
        principal: On whose behalf.
        document: What is published; its name tells the trial's actions apart.
    """

    namespace: str
    principal: str
    document: str

    @classmethod
    def of(cls, scene: Scene, document: str) -> Action:
        """An action of the trial's principal."""
        return cls(scene.namespace, scene.case.twin.offer.principal, document)

    @property
    def spec(self) -> continuity_pb2.OperationSpec:
        """It as the host means to dispatch it; the destination cannot be asked about it."""
        identity = continuity_pb2.OperationIdentity(
            deployment=_DEPLOYMENT,
            thread_id=self.namespace,
            message_id=f"message-{self.document}",
            tool_call_id=f"call-{self.document}",
        )
        arguments: dict[str, JsonValue] = {"document": self.document}
        intent: dict[str, JsonValue] = {
            "tool": _TOOL,
            "destination": _DESTINATION,
            "arguments": arguments,
            "principal": self.principal,
        }
        return continuity_pb2.OperationSpec(
            operation_id=operation_id(identity),
            identity=identity,
            namespace=self.namespace,
            workflow_id=self.namespace,
            principal=self.principal,
            tool=_TOOL,
            destination=_DESTINATION,
            intent_digest=digest_hex(intent),
            arguments_digest=digest_hex(arguments),
            capability=common_pb2.EFFECT_CAPABILITY_NONE,
        )

    @property
    def effect_id(self) -> str:
        """The destination's id of its effect."""
        return f"effect-{self.document}"

    def receipt(self, attempt: int) -> continuity_pb2.Receipt:
        """What the destination answered to an attempt."""
        result: dict[str, JsonValue] = {"document": self.document, "effect": self.effect_id}
        return continuity_pb2.Receipt(
            operation_id=self.spec.operation_id,
            attempt=attempt,
            arguments_digest=self.spec.arguments_digest,
            result_json=canonical_json(result).decode(),
            result_digest=digest_hex(result),
            effect_id=self.effect_id,
            assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
            outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
        )


@dataclass(frozen=True)
class Decided:
    """What Begin decided.

    Attributes:
        kind: `execute`, `wait`, `query`, `reuse`, `confirm` or `reject`.
        incarnation: Who asked.
        grant: The attempt with its lease; None unless it is EXECUTE.
    """

    kind: str
    incarnation: str
    grant: continuity_pb2.Execute | None


def begin(step: str, action: Action, incarnation: str) -> Generator[Ask, Answer, Decided]:
    """Ask whether an action may be dispatched, as a life of the host that never asked before.

    Raises:
        ContractBreach: The answer is no decision.
    """
    request = continuity_pb2.BeginRequest(
        spec=action.spec,
        incarnation_id=f"{action.namespace}-{incarnation}",
        begin_id=digest_hex([action.namespace, action.document, incarnation]),
    )
    answer = yield from call(step, request)
    decision = response_of(step, answer, continuity_pb2.BeginResponse).decision
    kind = decision.WhichOneof("kind")
    if kind is None:
        raise ContractBreach(step, "the answer has no decision")
    grant = decision.execute if kind == EXECUTE else None
    return Decided(kind, request.incarnation_id, grant)


def record_receipt(step: str, action: Action, granted: Decided) -> Generator[Ask, Answer, None]:
    """Record the destination's answer to a granted attempt; raises ContractBreach as `call`."""
    assert granted.grant is not None  # who asks for it was granted an attempt
    request = continuity_pb2.RecordReceiptRequest(
        namespace=action.namespace,
        operation_id=action.spec.operation_id,
        incarnation_id=granted.incarnation,
        attempt=granted.grant.attempt,
        lease_token=granted.grant.lease_token,
        receipt=action.receipt(granted.grant.attempt),
    )
    yield from call(step, request)
