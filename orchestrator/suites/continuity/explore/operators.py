"""Operators' words on one lane's operation, signed well or badly (DESIGN §4, §6)."""

from __future__ import annotations

from dataclasses import dataclass, field

import grpc

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.plan import Member
from orchestrator.session import CALL_SECONDS, MemoryClients, Session
from orchestrator.suites.continuity.specs import receipt_for, spec_of
from orchestrator.suites.integrity.calls import Signer
from orchestrator.suites.integrity.reviewer import Reviewer
from services.common.canonical import sha256_hex

__all__ = ["Operator"]

_WORDS = {
    "happened": continuity_pb2.OPERATOR_DECISION_HAPPENED,
    "did_not_happen": continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN,
    "abandon": continuity_pb2.OPERATOR_DECISION_ABANDON,
}


@dataclass
class Operator:
    """Somebody who decides about one lane's operation.

    Attributes:
        session: The stack's session.
        member: The trial.
        reviewer: Whose keys sign; None: nobody can, and nothing is said.
    """

    session: Session
    member: Member
    reviewer: Reviewer | None
    _last: common_pb2.Challenge | None = field(default=None, init=False)

    def say(self, variant: str, seconds: float = CALL_SECONDS) -> None:
        """Say one word.

        Args:
            variant: The word; after a colon `stranger` for a key that nobody knows, `again` for the
                challenge that was answered last.
            seconds: How long each call is waited for.
        """
        word, _, manner = variant.partition(":")
        challenge = self._last if manner == "again" else self._challenge(seconds)
        if self.reviewer is None or challenge is None:
            return
        self._last = challenge
        signer = Signer.STRANGER if manner == "stranger" else Signer.REVIEWER
        result = receipt_for(spec_of(self.member), 1, "told").result_json
        result_json = result if word == "happened" else ""
        digest = sha256_hex(result_json.encode()) if result_json else ""
        request = continuity_pb2.ResolveRequest(
            challenge_id=challenge.challenge_id,
            decision=_WORDS[word],
            result_json=result_json,
            key_id=self.reviewer.public_keys[signer].key_id,
            signature=self.reviewer.sign_operation(challenge, word, digest, signer),
        )
        try:
            self._clients().continuity.Resolve(request, timeout=seconds)
        except grpc.RpcError:
            # A refusal is an answer like any other: the trace has it.
            return

    def _challenge(self, seconds: float) -> common_pb2.Challenge | None:
        spec = spec_of(self.member)
        request = continuity_pb2.RequestResolveRequest(
            namespace=spec.namespace, operation_id=spec.operation_id, principal=spec.principal
        )
        try:
            answer = self._clients().continuity.RequestResolve(request, timeout=seconds)
        except grpc.RpcError:
            return None
        return answer.challenge

    def _clients(self) -> MemoryClients:
        spec = spec_of(self.member)
        return self.session.with_workflow(spec.workflow_id, spec.operation_id)
