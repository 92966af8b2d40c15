"""Operators' decisions on operations: a challenge, and its signed answer (DESIGN §4, §6).

A challenge is bound to (operation, latest attempt, not complete), is single-use, and survives a
restart. A false word is the operator's account, never the memory's: the memory checks who signed
what, and nothing else.
"""

import secrets
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import grpc

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import JsonValue, digest_hex, sha256_hex
from services.common.challenges import PublicKey, signature_valid, signing_bytes
from services.common.clock import wall_ns
from services.common.database import Database
from services.common.errors import ServiceError
from services.common.limits import check_id, check_json_object
from services.memory import store
from services.memory.answers import OperatorWord, Refused, ResolveCall
from services.memory.model import (
    NANOSECONDS_PER_SECOND,
    Assurance,
    Change,
    LeaseClock,
    Operation,
    Policy,
    Receipt,
    ReceiptOutcome,
)
from services.memory.operations import refusal_error, require
from services.memory.recordings import RecordingRules

__all__ = ["RESOLVE_ACTION", "Resolutions", "SignedAnswer"]

RESOLVE_ACTION = "resolve"
CHALLENGE_SECONDS = 3_600
NONCE_BYTES = 32

WORDS = {
    continuity_pb2.OPERATOR_DECISION_HAPPENED: OperatorWord.HAPPENED,
    continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN: OperatorWord.DID_NOT_HAPPEN,
    continuity_pb2.OPERATOR_DECISION_ABANDON: OperatorWord.ABANDON,
}

CREATE_CHALLENGES = """
CREATE TABLE IF NOT EXISTS resolve_challenges (
    challenge_id TEXT PRIMARY KEY,
    operation_key INTEGER NOT NULL REFERENCES operations ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    challenge BLOB NOT NULL,
    used INTEGER NOT NULL
) WITHOUT ROWID
"""
CREATE_INDEX = (
    "CREATE INDEX IF NOT EXISTS resolve_challenges_of_operation"
    " ON resolve_challenges (operation_key)"
)
INSERT_CHALLENGE = "INSERT INTO resolve_challenges VALUES (?, ?, ?, ?, 0)"
SELECT_CHALLENGE = "SELECT attempt, challenge, used FROM resolve_challenges WHERE challenge_id = ?"
USE_CHALLENGE = "UPDATE resolve_challenges SET used = 1 WHERE challenge_id = ?"


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    """A Resolve whose formats hold.

    Attributes:
        challenge_id: what it answers.
        word: the decision.
        result_json: with HAPPENED; otherwise empty.
        key_id: whose key is said to have signed.
        signature: the signature.
    """

    challenge_id: str
    word: OperatorWord
    result_json: str
    key_id: str
    signature: bytes

    @property
    def result_digest(self) -> str:
        """Digest of the result; empty without one."""
        return sha256_hex(self.result_json.encode()) if self.result_json else ""


class Resolutions:
    """Challenges of one database file and the keys that may answer them."""

    def __init__(
        self,
        database: Database,
        recordings: RecordingRules,
        policy: Policy,
        keys: Mapping[str, PublicKey],
        *,
        read_clock_ns: Callable[[], int] = wall_ns,
    ) -> None:
        """Creates the table that is missing; `Operations` of the same database must exist.

        Args:
            database: the process's database file.
            recordings: what an operator's word does.
            policy: the limit on revisions.
            keys: public keys by id.
            read_clock_ns: the lease clock; tests give another.

        Raises:
            DatabaseError: the table cannot be created.
        """
        self._database = database
        self._recordings = recordings
        self._policy = policy
        self._keys = keys
        self._read_clock_ns = read_clock_ns
        with database.transaction() as conn:
            conn.execute(CREATE_CHALLENGES)
            conn.execute(CREATE_INDEX)

    def request(self, namespace: str, operation_id: str, principal: str) -> common_pb2.Challenge:
        """Issues a challenge for the operation as it stands.

        Raises:
            ServiceError: NOT_FOUND; FAILED_PRECONDITION: complete, or nothing was granted;
                RESOURCE_EXHAUSTED: no revision left.
        """
        with self._database.transaction() as conn:
            clock = self._clock(conn)
            stored = require(conn, namespace, operation_id)
            operation = stored.operation
            latest = operation.latest
            if operation.receipt is not None or latest is None:
                raise ServiceError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    "there is nothing to resolve: complete, or never granted",
                )
            if operation.revision >= self._policy.max_revisions:
                raise ServiceError(
                    grpc.StatusCode.RESOURCE_EXHAUSTED,
                    f"the operation has taken its {self._policy.max_revisions} revisions",
                )
            challenge = _challenge(operation, principal, self.ends_at_ns(clock))
            conn.execute(
                INSERT_CHALLENGE,
                (
                    challenge.challenge_id,
                    stored.operation_key,
                    latest.attempt,
                    challenge.SerializeToString(deterministic=True),
                ),
            )
            after = operation.revised(latest)
            row = store.RevisionRow(
                after.revision, clock.effective_ns, Change.CHALLENGED, latest.attempt, principal
            )
            store.save(conn, stored, after, row)
            store.raise_mark(conn, clock.effective_ns)
        return challenge

    def resolve(self, request: continuity_pb2.ResolveRequest) -> None:
        """Takes an operator's signed decision.

        Raises:
            ServiceError: INVALID_ARGUMENT; PERMISSION_DENIED: signature, key, scope, expiry, reuse.
        """
        answer = _answer(request)
        with self._database.transaction() as conn:
            clock = self._clock(conn)
            row = conn.execute(SELECT_CHALLENGE, (answer.challenge_id,)).fetchone()
            if row is None:
                raise _denied("no such challenge; request one")
            attempt, data, used = row
            challenge = common_pb2.Challenge.FromString(data)
            self._authorise(answer, challenge, bool(used), clock)
            stored = store.load(conn, challenge.subject_ids[0])
            assert stored is not None  # the challenge goes with its operation
            receipt = _receipt(stored.operation, attempt, answer)
            step = self._recordings.resolve(
                stored.operation, ResolveCall(attempt, answer.word, receipt)
            )
            if isinstance(step, Refused):
                raise refusal_error(step)
            assert step.change is not None
            revision = store.RevisionRow(
                step.operation.revision,
                clock.effective_ns,
                step.change,
                attempt,
                challenge.principal,
            )
            store.save(conn, stored, step.operation, revision)
            conn.execute(USE_CHALLENGE, (answer.challenge_id,))
            store.raise_mark(conn, clock.effective_ns)

    def _authorise(
        self, answer: SignedAnswer, challenge: common_pb2.Challenge, used: bool, clock: LeaseClock
    ) -> None:
        if self.is_used(challenge, used=used):
            raise _denied("the challenge was answered before; request another")
        if self.is_over(challenge, clock):
            raise _denied("the challenge has expired; request another")
        key = self.key_for(challenge, answer.key_id)
        if key is None:
            raise _denied("the key does not speak for the challenge's principal")
        if not self.is_signed(key, answer, challenge):
            raise _denied("the signature does not hold over this challenge and decision")

    def ends_at_ns(self, clock: LeaseClock) -> int:
        """When a challenge that is issued now is void."""
        return clock.effective_ns + CHALLENGE_SECONDS * NANOSECONDS_PER_SECOND

    def is_used(self, challenge: common_pb2.Challenge, *, used: bool) -> bool:
        """Whether the challenge was answered before."""
        return used

    def is_over(self, challenge: common_pb2.Challenge, clock: LeaseClock) -> bool:
        """Whether the challenge has expired."""
        return clock.effective_ns >= challenge.expires_unix_ns

    def key_for(self, challenge: common_pb2.Challenge, key_id: str) -> PublicKey | None:
        """The named key, if it speaks for the principal whose decision is wanted."""
        key = self._keys.get(key_id)
        return key if key is not None and key.speaks_for(challenge.principal) else None

    def is_signed(
        self, key: PublicKey, answer: SignedAnswer, challenge: common_pb2.Challenge
    ) -> bool:
        """Whether the key's owner signed exactly this challenge, decision and result."""
        message = signing_bytes(challenge, answer.word.value, result_digest=answer.result_digest)
        return signature_valid(key, answer.signature, message)

    def _clock(self, conn: sqlite3.Connection) -> LeaseClock:
        return LeaseClock(now_ns=self._read_clock_ns(), mark_ns=store.read_mark(conn))


def _denied(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.PERMISSION_DENIED, message)


def _challenge(operation: Operation, principal: str, ends_at_ns: int) -> common_pb2.Challenge:
    binding = operation.binding
    subject: dict[str, JsonValue] = {
        "attempt": len(operation.attempts),
        "arguments_digest": binding.arguments_digest,
    }
    return common_pb2.Challenge(
        challenge_id=secrets.token_hex(NONCE_BYTES // 2),
        nonce=secrets.token_hex(NONCE_BYTES),
        subject_ids=[binding.operation_id],
        subject_digests=[digest_hex(subject)],
        action=RESOLVE_ACTION,
        principal=principal,
        expires_unix_ns=ends_at_ns,
        namespace=binding.namespace,
    )


def _answer(request: continuity_pb2.ResolveRequest) -> SignedAnswer:
    check_id("challenge_id", request.challenge_id)
    check_id("key_id", request.key_id)
    word = WORDS.get(request.decision)
    if word is None:
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT,
            "decision is not set; send HAPPENED, DID_NOT_HAPPEN or ABANDON",
        )
    if word is OperatorWord.HAPPENED:
        check_json_object("result_json", request.result_json)
    elif request.result_json:
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT, "result_json goes with HAPPENED only; leave it unset"
        )
    return SignedAnswer(
        request.challenge_id, word, request.result_json, request.key_id, request.signature
    )


def _receipt(operation: Operation, attempt: int, answer: SignedAnswer) -> Receipt | None:
    if answer.word is not OperatorWord.HAPPENED:
        return None
    return Receipt(
        operation_id=operation.binding.operation_id,
        attempt=attempt,
        arguments_digest=operation.binding.arguments_digest,
        result_json=answer.result_json,
        result_digest=answer.result_digest,
        effect_id="",
        outcome=ReceiptOutcome.SUCCEEDED,
        assurance=Assurance.OPERATOR_SIGNED,
    )
