"""Ways to acknowledge what is not, or not wholly, durable; each is the reference but for that."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from services.common.database import Database
from services.memory.records import places, review_store, store
from services.memory.records.desk import Desk
from services.memory.records.model import Kind, Observation, Reason, Scope, Standing, Taint, Trust
from services.memory.records.offers import Admitted, Derivation
from services.memory.records.policy import Policy
from services.memory.records.recalling import Viewed
from services.memory.records.review import APPROVE, Decision, Denied, Review
from services.memory.records.writing import Writing

__all__ = [
    "GAP_SECONDS",
    "ApprovesInTwoSteps",
    "DerivesInTwoSteps",
    "SupersedesInTwoSteps",
    "WriteBehind",
]

GAP_SECONDS = 0.05
"""Between two transactions that should be one; long, so that a kill falls into it."""

_WRITE_BEHIND_SECONDS = 0.1


class WriteBehind(Database):
    """Commits what it acknowledged when somebody reads, or up to 100 ms later."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._closing = threading.Event()
        threading.Thread(target=self._commit_for_ever, name="write-behind", daemon=True).start()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A change that is whole, visible at once, and not durable when this returns."""
        with self._lock:
            connection = self._writer
            if not connection.in_transaction:
                connection.execute("BEGIN IMMEDIATE")
            connection.execute("SAVEPOINT change")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK TO change")
                raise
            finally:
                connection.execute("RELEASE change")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Everything that was acknowledged."""
        self._commit()
        with super().read() as connection:
            yield connection

    def close(self) -> None:
        """Commits what is left, and closes every connection. Idempotent."""
        if not self._closing.is_set():
            self._closing.set()
            self._commit()
        super().close()

    def _commit(self) -> None:
        with self._lock:
            if self._writer.in_transaction:
                self._writer.execute("COMMIT")

    def _commit_for_ever(self) -> None:
        while not self._closing.wait(_WRITE_BEHIND_SECONDS):
            with self._lock:
                # Under the lock that `close` takes, so that no closed connection is asked.
                if not self._closing.is_set():
                    self._commit()


class _ForgetsParents(Policy):
    """Judges a derivation by everything but its declared parents."""

    def admit_derived(
        self, kind: Kind, inherited: frozenset[Taint], repeated: frozenset[Taint], supported: bool
    ) -> Standing:
        """The standing that a child of clean parents would have."""
        return super().admit_derived(kind, frozenset(), repeated, supported)


class DerivesInTwoSteps(Writing):
    """Keeps a derivation first, and brings its parents' doubts to it in a second transaction."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._hasty = Writing(Desk(desk.database, _ForgetsParents()))

    def derive(self, derivation: Derivation) -> Admitted:
        """Admits one derivation; what it is told in the end is right."""
        admitted = self._hasty.derive(derivation)
        time.sleep(GAP_SECONDS)
        with self._desk.database.transaction() as conn:
            child = store.find(conn, admitted.record_id) if admitted.record_id else None
            if child is None:
                return admitted
            now_unix_ns = places.advance_clock(conn)
            for parent_id in dict.fromkeys(derivation.parent_ids):
                parent = self._desk.visible(conn, derivation.scope, parent_id)
                lowered = self._policy.under(
                    parent.standing, child.standing, Reason.PARENT_NOT_CLEAN
                )
                if lowered != child.standing:
                    standing = replace(lowered, trust=Trust.UNTRUSTED)
                    child = self._desk.change(conn, child, standing, "judged", now_unix_ns)
            return Admitted(admitted.record_id, child.standing)


class SupersedesInTwoSteps(Writing):
    """Admits the newcomer first, and takes the old record out of use in a second transaction."""

    def supersede(self, scope: Scope, record_id: str, observation: Observation) -> Admitted:
        """Admits one observation in place of a record."""
        with self._desk.database.read() as conn:
            self._require_replaceable(self._desk.visible(conn, scope, record_id), observation)
        self.write(observation)
        time.sleep(GAP_SECONDS)
        return super().supersede(scope, record_id, observation)


class ApprovesInTwoSteps(Review):
    """Takes a record's doubts away first, and makes it active in a second transaction."""

    def decide(self, decision: Decision) -> list[Viewed]:
        """Applies a decision that counts."""
        with self._desk.database.transaction() as conn:
            issued = review_store.find(conn, decision.challenge_id)
            now_unix_ns = places.advance_clock(conn)
            try:
                challenge, subjects = self._check(conn, decision, issued, now_unix_ns)
            except Denied:
                challenge = None
            else:
                review_store.close(conn, decision.challenge_id, decision.decision, decision.key_id)
                approved = decision.decision == APPROVE
                for subject in subjects if approved else ():
                    cleared = replace(subject.standing, taints=())
                    self._desk.change(conn, subject, cleared, "reviewed", now_unix_ns)
        if challenge is None:
            return super().decide(decision)
        time.sleep(GAP_SECONDS)
        with self._desk.database.transaction() as conn:
            now_unix_ns = places.advance_clock(conn)
            subjects = [
                self._desk.visible(conn, decision.scope, record_id)
                for record_id in challenge.subject_ids
            ]
            return [self._apply(conn, subject, decision, now_unix_ns) for subject in subjects]
