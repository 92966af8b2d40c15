"""What plays share in which an operator answers for an operation (DESIGN §4, Resolve)."""

from __future__ import annotations

import json
from dataclasses import dataclass

import grpc

from memqual.v1 import common_pb2, continuity_pb2, destination_pb2
from orchestrator.errors import StackError
from orchestrator.suites.continuity.incarnation import Reply
from orchestrator.suites.continuity.plays.asking import Held, asking, label
from orchestrator.suites.continuity.specs import receipt_for
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import arguments_of
from orchestrator.suites.integrity.calls import Signer
from orchestrator.suites.integrity.reviewer import Reviewer
from services.common.canonical import canonical_json, sha256_hex

__all__ = ["Word", "challenge_for", "dispatch", "found_by_operator", "said", "say", "signed_word"]

_DISPATCH_SECONDS = 60.0
_DECISIONS = {
    "happened": continuity_pb2.OPERATOR_DECISION_HAPPENED,
    "did_not_happen": continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN,
    "abandon": continuity_pb2.OPERATOR_DECISION_ABANDON,
}


@dataclass(frozen=True)
class Word:
    """A signed word as it is handed in.

    Attributes:
        challenge_id: Which challenge it is said to answer.
        word: `happened`, `did_not_happen` or `abandon`.
        result_json: With `happened`.
        key_id: Whose key is said to have signed.
        signature: The signature.
    """

    challenge_id: str
    word: str
    result_json: str
    key_id: str
    signature: bytes

    def request(self) -> continuity_pb2.ResolveRequest:
        """As the contract has it."""
        return continuity_pb2.ResolveRequest(
            challenge_id=self.challenge_id,
            decision=_DECISIONS[self.word],
            result_json=self.result_json,
            key_id=self.key_id,
            signature=self.signature,
        )


def _reviewer_of(stage: Stage) -> Reviewer:
    """The run's operator.

    Raises:
        StackError: The run has none.
    """
    if stage.reviewer is None:
        raise StackError(
            "Nobody can sign: the run has no reviewer.",
            next_step="Run the case in a campaign, which makes one.",
        )
    return stage.reviewer


def challenge_for(stage: Stage, held: Held) -> common_pb2.Challenge | None:
    """The memory's challenge for an operation as it stands; None where it issues none.

    A memory may keep to one open challenge an operation, and refuse another: then it is that one.
    """
    answer = asking(stage, held.member, "operator").request_resolve(held.spec).answer
    if answer is not None:
        held.challenge = answer.challenge
    return held.challenge


def signed_word(
    stage: Stage,
    challenge: common_pb2.Challenge,
    word: str,
    result_json: str = "",
    signer: Signer = Signer.REVIEWER,
) -> Word:
    """A word that is signed as it must be, by one of the run's keys."""
    reviewer = _reviewer_of(stage)
    return Word(
        challenge_id=challenge.challenge_id,
        word=word,
        result_json=result_json,
        key_id=reviewer.public_keys[signer].key_id,
        signature=reviewer.sign_resolution(challenge, word, result_json, signer),
    )


def say(stage: Stage, held: Held, word: Word) -> Reply[continuity_pb2.ResolveResponse]:
    """Hand a word in."""
    return asking(stage, held.member, "operator").resolve(held.spec, word.request())


def said(stage: Stage, held: Held, name: str, word: str, result_json: str = "") -> bool:
    """Ask for a challenge, sign the word and hand it in under a label; whether it was taken."""
    challenge = challenge_for(stage, held)
    if challenge is None:
        return False
    label(stage, held.member, name)
    reply = say(stage, held, signed_word(stage, challenge, word, result_json))
    return reply.code is grpc.StatusCode.OK


def dispatch(stage: Stage, held: Held) -> continuity_pb2.Receipt | None:
    """Dispatch a granted attempt as a host does; its receipt, None without a definite answer."""
    wanted = arguments_of(held.member)
    spec = held.spec
    destination = stage.context.session.destination_for(
        spec.workflow_id, spec.operation_id, held.attempt
    )
    request = destination_pb2.InvokeRequest(
        workflow_id=spec.workflow_id,
        operation_id=spec.operation_id,
        attempt=held.attempt,
        tool=wanted.tool,
        arguments_json=wanted.arguments_json,
        idempotency_key=spec.idempotency_key,
    )
    try:
        answer = destination.Invoke(request, timeout=_DISPATCH_SECONDS)
    except grpc.RpcError:
        return None
    if not answer.HasField("result"):
        return None
    receipt = receipt_for(spec, held.attempt)
    receipt.result_json = answer.result.result_json
    receipt.result_digest = sha256_hex(answer.result.result_json.encode())
    receipt.effect_id = answer.result.effect_id
    return receipt


def found_by_operator(stage: Stage, workflow_id: str) -> str | None:
    """What the journal shows of a workflow, as an operator's result; None without an effect."""
    for record in stage.rig.journal_from(stage.journal_first):
        payload = json.loads(record.payload_json)
        if payload.get("event") == "applied" and payload.get("workflow_id") == workflow_id:
            told = {"effect_id": str(payload.get("effect_id", "")), "found_by": "operator"}
            return canonical_json({**told}).decode()
    return None
