"""Reviews that make more of an approval than was signed: each lacks one rule of the reference.

Whatever else a decision needs stays as it is.
"""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memqual.v1 import common_pb2
from services.common.challenges import (
    SIGNATURE_BYTES,
    PublicKey,
    signing_bytes,
)
from services.memory.records import places, review_store
from services.memory.records.desk import Desk
from services.memory.records.model import Reason, Scope, Standing, State
from services.memory.records.policy import Policy
from services.memory.records.policy_review import PROMOTE, RELEASE
from services.memory.records.recalling import Viewed
from services.memory.records.review import APPROVE, REJECT, Decision, Denied, Review
from services.memory.records.review_store import Issued
from services.memory.records.store import Stored

__all__ = [
    "APPROVING_LABELS",
    "AnyKey",
    "AnyScope",
    "BelievesLabels",
    "BelievesUnknownKeys",
    "ChecksBeforeItCloses",
    "ForgetsAtRestart",
    "NeverExpires",
    "NeverLooksAgain",
    "RejectionApproves",
    "ReplaysApprovals",
    "TakesEarlierSignatures",
    "TakesOtherActions",
    "TakesOtherDecisions",
    "TakesOtherRecords",
]

APPROVING_LABELS = frozenset({"reviewer", "admin", "approved"})

# Two clients that come together are both past the check before either one closes the challenge.
RACE_SECONDS = 0.3

_Checked = tuple[common_pb2.Challenge, list[Stored]]
_CHALLENGES = (
    "SELECT c.challenge FROM mem_challenges c JOIN mem_challenges own"
    " ON own.namespace_id = c.namespace_id WHERE own.challenge_id = ?"
    " AND c.challenge_id != own.challenge_id AND c.challenge IS NOT NULL"
)


class AnyScope(Policy):
    """Asks for the principal only, and not for the circle."""

    def same_scope(self, asked: Scope, deciding: Scope) -> bool:
        """True for every circle of the principal."""
        principal = (asked.namespace, asked.principal)
        return principal == (deciding.namespace, deciding.principal)


class AnyKey(Policy):
    """Whoever has a mounted key decides for everybody."""

    def may_decide(self, key: PublicKey, principal: str) -> bool:
        """True for every known key."""
        return True


class NeverExpires(Policy):
    """Takes a decision however late it comes."""

    def in_time(self, now_unix_ns: int, expires_unix_ns: int) -> bool:
        """Always true."""
        return True


class NeverLooksAgain(Policy):
    """Approves a record whatever became of it."""

    def unchanged(self, revision_then: int, revision_now: int) -> bool:
        """Always true."""
        return True


class RejectionApproves(Policy):
    """Takes any proper decision for an approval."""

    def refused(self, standing: Standing) -> Standing:
        """Standing after a rejection: as after an approval."""
        approved = self.approved(standing)
        return replace(approved, reasons=(*standing.reasons, str(Reason.REVIEW_REJECTED)))


class BelievesLabels(Review):
    """Needs no signature where the record is labelled as approved."""

    def _authorise(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> None:
        labels: set[str] = set()
        for record_id in challenge.subject_ids:
            labels |= set(self._desk.visible(conn, decision.scope, record_id).record.labels)
        if decision.signature or APPROVING_LABELS.isdisjoint(labels):
            super()._authorise(conn, challenge, decision)


class BelievesUnknownKeys(Review):
    """Cannot check the signature of a key that it does not have, and lets it pass."""

    def _authorise(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> None:
        unknown = decision.key_id != "" and decision.key_id not in self._keys
        if not (unknown and len(decision.signature) == SIGNATURE_BYTES):
            super()._authorise(conn, challenge, decision)


class _AlsoSigned(Review):
    """Takes a signature over something that is not the challenge and the decision at hand."""

    def _messages(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> Sequence[bytes]:
        own = super()._messages(conn, challenge, decision)
        return (*own, *self._also(conn, challenge, decision))

    def _also(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> Sequence[bytes]:
        """What else may have been signed: nothing."""
        return ()


class TakesEarlierSignatures(_AlsoSigned):
    """Any challenge over the same records and action will do."""

    def _also(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> Sequence[bytes]:
        return [
            signing_bytes(other, decision.decision)
            for other in _others(conn, challenge)
            if (list(other.subject_ids), other.action)
            == (list(challenge.subject_ids), challenge.action)
        ]


class TakesOtherRecords(_AlsoSigned):
    """Any challenge of the namespace will do, if it is over quite other records."""

    def _also(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> Sequence[bytes]:
        return [
            signing_bytes(other, decision.decision)
            for other in _others(conn, challenge)
            if set(other.subject_ids).isdisjoint(challenge.subject_ids)
        ]


class TakesOtherActions(_AlsoSigned):
    """The action is no part of what it checks."""

    def _also(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> Sequence[bytes]:
        messages = []
        for action in (PROMOTE, RELEASE):
            other = common_pb2.Challenge()
            other.CopyFrom(challenge)
            other.action = action
            messages.append(signing_bytes(other, decision.decision))
        return messages


class TakesOtherDecisions(_AlsoSigned):
    """The decision is no part of what it checks."""

    def _also(
        self, conn: sqlite3.Connection, challenge: common_pb2.Challenge, decision: Decision
    ) -> Sequence[bytes]:
        return [signing_bytes(challenge, other) for other in (APPROVE, REJECT)]


class _Reopens(Review):
    """Takes some used challenges for open ones, over the records as they are now."""

    def _check(
        self,
        conn: sqlite3.Connection,
        decision: Decision,
        issued: Issued | None,
        now_unix_ns: int,
    ) -> _Checked:
        if issued is not None and issued.challenge is not None:
            subjects = [
                self._desk.visible(conn, issued.scope, record_id)
                for record_id in issued.challenge.subject_ids
            ]
            if self._reopened(issued, decision, subjects):
                revisions = {s.record.record_id: s.record.revision for s in subjects}
                issued = replace(issued, decision="", revisions=revisions)
        return super()._check(conn, decision, issued, now_unix_ns)

    def _reopened(self, issued: Issued, decision: Decision, subjects: Sequence[Stored]) -> bool:
        """Whether this one is open again: never."""
        return False


class ReplaysApprovals(_Reopens):
    """A used approval counts again for what was quarantined since."""

    def _reopened(self, issued: Issued, decision: Decision, subjects: Sequence[Stored]) -> bool:
        quarantined = all(s.standing.state is State.QUARANTINED for s in subjects)
        return issued.decision == APPROVE == decision.decision and quarantined


class ForgetsAtRestart(_Reopens):
    """Keeps in its own process only which challenges are used."""

    def __init__(self, desk: Desk, keys: Mapping[str, PublicKey]) -> None:
        super().__init__(desk, keys)
        self._known: set[str] = set()

    def request(self, scope: Scope, record_ids: Sequence[str], action: str) -> common_pb2.Challenge:
        """Issues a challenge that this process knows."""
        challenge = super().request(scope, record_ids, action)
        self._known.add(challenge.challenge_id)
        return challenge

    def decide(self, decision: Decision) -> list[Viewed]:
        """Applies a decision, and knows from then on that there was one."""
        decided = super().decide(decision)
        self._known.add(decision.challenge_id)
        return decided

    def _reopened(self, issued: Issued, decision: Decision, subjects: Sequence[Stored]) -> bool:
        return issued.challenge_id not in self._known


class ChecksBeforeItCloses(Review):
    """Checks a decision in one transaction and carries it out in another one."""

    def decide(self, decision: Decision) -> list[Viewed]:
        """Applies a decision that counted a moment ago."""
        with self._desk.database.transaction() as conn:
            issued = review_store.find(conn, decision.challenge_id)
            try:
                challenge, _ = self._check(conn, decision, issued, places.advance_clock(conn))
            except Denied:
                challenge = None
        if challenge is None:
            return super().decide(decision)
        time.sleep(RACE_SECONDS)
        with self._desk.database.transaction() as conn:
            now_unix_ns = places.advance_clock(conn)
            review_store.close(conn, challenge.challenge_id, decision.decision, decision.key_id)
            subjects = [
                self._desk.visible(conn, decision.scope, record_id)
                for record_id in challenge.subject_ids
            ]
            return [self._apply(conn, subject, decision, now_unix_ns) for subject in subjects]


def _others(
    conn: sqlite3.Connection, challenge: common_pb2.Challenge
) -> Sequence[common_pb2.Challenge]:
    """Every other challenge of the namespace, decided ones among them."""
    rows = conn.execute(_CHALLENGES, (challenge.challenge_id,)).fetchall()
    return [common_pb2.Challenge.FromString(data) for (data,) in rows]
