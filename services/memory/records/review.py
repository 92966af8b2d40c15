"""RequestReview and DecideReview: authority that the memory itself issues (DESIGN §4).

A challenge names exact records with their digests, an action and a principal. A decision counts
once, in time, signed with that principal's mounted key, in the scope that asked, and only while
every named record is what it was. Labels and wording of a caller play no part.
"""

import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import grpc

from memqual.v1 import common_pb2
from services.common.challenges import PublicKey, signing_bytes
from services.common.clock import NANOSECONDS_PER_SECOND
from services.common.errors import ServiceError
from services.memory.records import audit, lineage, places, review_store
from services.memory.records.desk import Desk
from services.memory.records.model import Scope
from services.memory.records.recalling import Viewed
from services.memory.records.review_store import Issued
from services.memory.records.store import Stored

__all__ = ["APPROVE", "REJECT", "Decision", "Denied", "Review"]

APPROVE = "approve"
REJECT = "reject"
NONCE_BYTES = 32
CHALLENGE_ID_BYTES = 16
OPEN_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Decision:
    """A reviewer's answer as it arrived (checked for form only)."""

    scope: Scope
    challenge_id: str
    decision: str
    key_id: str
    signature: bytes


class Denied(Exception):
    """Why a decision does not count."""


class Review:
    """Issues challenges and takes decisions; each call is one durable transaction."""

    def __init__(self, desk: Desk, keys: Mapping[str, PublicKey]) -> None:
        self._desk = desk
        self._policy = desk.policy
        self._keys = keys

    def request(self, scope: Scope, record_ids: Sequence[str], action: str) -> common_pb2.Challenge:
        """Issues a challenge for exactly these records and this action.

        Raises:
            ServiceError: NOT_FOUND: a record is not in the scope. FAILED_PRECONDITION: a record has
                nothing to decide. RESOURCE_EXHAUSTED: 1,000 challenges are open.
        """
        with self._desk.database.transaction() as conn:
            subjects = [self._desk.visible(conn, scope, record_id) for record_id in record_ids]
            for subject in subjects:
                if not self._decidable(action, subject):
                    raise ServiceError(
                        grpc.StatusCode.FAILED_PRECONDITION,
                        f"nothing to {action}: a record is {subject.standing.state} and"
                        f" {subject.standing.trust}",
                    )
            now_unix_ns = places.advance_clock(conn)
            namespace_id = subjects[0].place.namespace_id
            review_store.purge_expired(conn, namespace_id, now_unix_ns)
            if review_store.count_open(conn, namespace_id) >= OPEN_MAX:
                raise ServiceError(
                    grpc.StatusCode.RESOURCE_EXHAUSTED,
                    f"{OPEN_MAX} challenges are open; decide some or let them expire",
                )
            lifetime_ns = self._policy.challenge_seconds * NANOSECONDS_PER_SECOND
            challenge = common_pb2.Challenge(
                challenge_id="chl_" + secrets.token_hex(CHALLENGE_ID_BYTES),
                nonce=secrets.token_hex(NONCE_BYTES),
                subject_ids=[subject.record.record_id for subject in subjects],
                subject_digests=[subject.record.content_digest for subject in subjects],
                action=action,
                principal=scope.principal,
                expires_unix_ns=now_unix_ns + lifetime_ns,
                namespace=scope.namespace,
            )
            revisions = {s.record.record_id: s.record.revision for s in subjects}
            review_store.insert(conn, namespace_id, challenge, scope, revisions)
            audit.append(
                conn,
                namespace_id,
                now_unix_ns,
                "review_requested",
                scope=scope,
                detail={
                    "challenge_id": challenge.challenge_id,
                    "review_action": action,
                    "subject_ids": list(challenge.subject_ids),
                },
            )
            return challenge

    def decide(self, decision: Decision) -> list[Viewed]:
        """Applies a decision that counts; returns the decided records as they stand now.

        Raises:
            ServiceError: PERMISSION_DENIED with the cause; nothing was changed, and the challenge
                can still be decided by whoever may.
        """
        with self._desk.database.transaction() as conn:
            now_unix_ns = places.advance_clock(conn)
            issued = review_store.find(conn, decision.challenge_id)
            try:
                challenge, subjects = self._check(conn, decision, issued, now_unix_ns)
            except Denied as denied:
                self._note_denial(conn, issued, now_unix_ns, decision, str(denied))
                cause = str(denied)
            else:
                review_store.close(conn, challenge.challenge_id, decision.decision, decision.key_id)
                return [self._apply(conn, s, decision, now_unix_ns) for s in subjects]
        # Raised outside of the transaction: the denial's audit entry is kept.
        raise ServiceError(grpc.StatusCode.PERMISSION_DENIED, cause)

    def _check(
        self,
        conn: sqlite3.Connection,
        decision: Decision,
        issued: Issued | None,
        now_unix_ns: int,
    ) -> tuple[common_pb2.Challenge, list[Stored]]:
        policy = self._policy
        if issued is None or not policy.same_scope(issued.scope, decision.scope):
            raise Denied("no such challenge in this scope")
        challenge = issued.challenge
        if challenge is None or not policy.unused(issued.decision):
            raise Denied("the challenge is decided or void; request a new one")
        if not policy.in_time(now_unix_ns, challenge.expires_unix_ns):
            raise Denied("the challenge has expired; request a new one")
        self._authorise(conn, challenge, decision)
        subjects = [
            self._subject(conn, issued, record_id, digest)
            for record_id, digest in zip(
                challenge.subject_ids, challenge.subject_digests, strict=True
            )
        ]
        return challenge, subjects

    def _authorise(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> None:
        """Whether somebody signed who may; raises Denied."""
        key = self._keys.get(decision.key_id)
        if key is None or not self._policy.may_decide(key, challenge.principal):
            raise Denied("the key is unknown or does not speak for the challenge's principal")
        messages = self._messages(conn, challenge, decision)
        if not any(self._policy.signed(key, decision.signature, message) for message in messages):
            raise Denied("the signature is not over this challenge and this decision")

    def _messages(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> Sequence[bytes]:
        """What may have been signed: this decision of this challenge, and nothing else."""
        return (signing_bytes(challenge, decision.decision),)

    def _subject(
        self, conn: sqlite3.Connection, issued: Issued, record_id: str, digest: str
    ) -> Stored:
        subject = self._desk.visible(conn, issued.scope, record_id)
        same = subject.record.content_digest == digest and self._policy.unchanged(
            issued.revisions[record_id], subject.record.revision
        )
        if not same:
            raise Denied("a record has changed since the challenge was issued")
        return subject

    def _decidable(self, action: str, subject: Stored) -> bool:
        return subject.record.content is not None and self._policy.decidable(
            action, subject.standing
        )

    def _apply(
        self, conn: sqlite3.Connection, subject: Stored, decision: Decision, now_unix_ns: int
    ) -> Viewed:
        approved = decision.decision == APPROVE
        rule = self._policy.approved if approved else self._policy.refused
        action = "review_approved" if approved else "review_rejected"
        after = self._desk.change(conn, subject, rule(subject.standing), action, now_unix_ns)
        return Viewed(after, lineage.ancestor_ids(conn, after.row))

    def _note_denial(
        self,
        conn: sqlite3.Connection,
        issued: Issued | None,
        now_unix_ns: int,
        decision: Decision,
        cause: str,
    ) -> None:
        if issued is None:
            return
        namespace_id = places.find_namespace(conn, issued.scope.namespace)
        if namespace_id is None:
            return
        audit.append(
            conn,
            namespace_id,
            now_unix_ns,
            "review_denied",
            scope=issued.scope,
            detail={"cause": cause, "challenge_id": decision.challenge_id},
        )
