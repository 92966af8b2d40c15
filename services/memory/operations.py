"""Operations, durably: each call is one transaction of the database (DESIGN §4, §6).

The rules decide; this module reads what they need, keeps what they return and raises the lease
clock's high-water mark, all before the answer leaves. The clock is read inside the transaction, so
that readings are ordered as the commits are. A refused call rolls back and changes nothing, the
mark included.
"""

import secrets
import sqlite3
from collections.abc import Callable, Iterator

import grpc

from services.common.canonical import JsonObject, canonical_json
from services.common.clock import wall_ns
from services.common.database import Database
from services.common.errors import ServiceError
from services.memory import store
from services.memory.answers import (
    BeginCall,
    BeginStep,
    Decision,
    Disposition,
    QueryCall,
    ReceiptCall,
    Refusal,
    Refused,
    RenewCall,
    RenewStep,
)
from services.memory.decisions import DecisionRules
from services.memory.documents import audit_document, audit_item_id, state_document
from services.memory.model import Change, LeaseClock, Operation, OperationBinding
from services.memory.recordings import RecordingRules

__all__ = ["Operations", "refusal_error", "require"]

SECRET_BYTES = 24

STATUS_CODES = {
    Refusal.MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    Refusal.LIMIT: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Refusal.STATE: grpc.StatusCode.FAILED_PRECONDITION,
    Refusal.AUTHORITY: grpc.StatusCode.PERMISSION_DENIED,
}


def refusal_error(refused: Refused) -> ServiceError:
    """The status of a refused call (continuity.proto names them)."""
    return ServiceError(STATUS_CODES[refused.refusal], refused.diagnosis)


def _mint() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


class Operations:
    """All operations of one database file. Safe for use by many threads."""

    def __init__(
        self,
        database: Database,
        decisions: DecisionRules,
        recordings: RecordingRules,
        *,
        read_clock_ns: Callable[[], int] = wall_ns,
        mint_secret: Callable[[], str] = _mint,
    ) -> None:
        """Creates the tables that are missing.

        Args:
            database: the process's database file.
            decisions: what Begin, Peek and Renew decide.
            recordings: what RecordReceipt and RecordQuery do.
            read_clock_ns: the lease clock; tests give another.
            mint_secret: makes lease tokens and query tickets; tests give another.

        Raises:
            DatabaseError: the tables cannot be created.
        """
        self._database = database
        self._decisions = decisions
        self._recordings = recordings
        self._read_clock_ns = read_clock_ns
        self._mint_secret = mint_secret
        with database.transaction() as conn:
            store.create_tables(conn)

    def begin(
        self,
        binding: OperationBinding,
        incarnation_id: str,
        begin_id: str,
        settled: frozenset[str] | None = None,
    ) -> Decision:
        """Decides, and keeps what the decision grants.

        Args:
            binding: what is asked for.
            incarnation_id: who asks.
            begin_id: the call's id.
            settled: operations whose results the host's checkpoint holds; None where it does not
                say, or not all of them.

        Raises:
            ServiceError: INVALID_ARGUMENT, RESOURCE_EXHAUSTED as in continuity.proto.
        """
        with self._database.transaction() as conn:
            clock = self._clock(conn)
            stored, step = self._decide(
                conn, clock, binding, incarnation_id, begin_id=begin_id, settled=settled
            )
            if step.change is not None:
                attempt = len(step.operation.attempts)
                row = _row(clock, step.operation, step.change, attempt, incarnation_id)
                store.save(conn, stored, step.operation, row)
            store.raise_mark(conn, clock.effective_ns)
        return step.decision

    def peek(
        self,
        binding: OperationBinding,
        incarnation_id: str,
        settled: frozenset[str] | None = None,
    ) -> Decision:
        """What a fresh Begin would decide now; changes nothing, the mark included.

        Raises:
            ServiceError: as `begin`.
        """
        with self._database.read() as conn:
            clock = self._clock(conn)
            _, step = self._decide(
                conn, clock, binding, incarnation_id, begin_id=None, settled=settled
            )
        return step.decision

    def renew(self, namespace: str, operation_id: str, call: RenewCall) -> RenewStep:
        """Extends a live lease.

        Raises:
            ServiceError: NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, RESOURCE_EXHAUSTED.
        """
        with self._database.transaction() as conn:
            clock = self._clock(conn)
            stored = require(conn, namespace, operation_id)
            step = self._decisions.renew(stored.operation, clock, call)
            if isinstance(step, Refused):
                raise refusal_error(step)
            row = _row(clock, step.operation, step.change, call.attempt, call.incarnation_id)
            store.save(conn, stored, step.operation, row)
            store.raise_mark(conn, clock.effective_ns)
        return step

    def record_receipt(
        self, namespace: str, operation_id: str, call: ReceiptCall
    ) -> tuple[Operation, Disposition]:
        """Takes a receipt.

        Raises:
            ServiceError: NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION.
        """
        with self._database.transaction() as conn:
            clock = self._clock(conn)
            stored = require(conn, namespace, operation_id)
            step = self._recordings.receipt(stored.operation, call)
            if isinstance(step, Refused):
                raise refusal_error(step)
            assert step.disposition is not None
            if step.change is not None:
                row = _row(clock, step.operation, step.change, call.attempt, call.incarnation_id)
                store.save(conn, stored, step.operation, row)
            store.raise_mark(conn, clock.effective_ns)
        return step.operation, step.disposition

    def record_query(
        self, namespace: str, operation_id: str, incarnation_id: str, call: QueryCall
    ) -> Operation:
        """Takes the answer to a question.

        Raises:
            ServiceError: NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION.
        """
        with self._database.transaction() as conn:
            clock = self._clock(conn)
            stored = require(conn, namespace, operation_id)
            step = self._recordings.query(stored.operation, call)
            if isinstance(step, Refused):
                raise refusal_error(step)
            if step.change is not None:
                row = _row(clock, step.operation, step.change, call.attempt, incarnation_id)
                store.save(conn, stored, step.operation, row)
            store.raise_mark(conn, clock.effective_ns)
        return step.operation

    def get(self, namespace: str, operation_id: str) -> Operation:
        """What is kept of one operation; raises ServiceError NOT_FOUND."""
        with self._database.read() as conn:
            return require(conn, namespace, operation_id).operation

    def list_workflow(self, namespace: str, workflow_id: str) -> list[Operation]:
        """What is kept of one workflow, in order of first sight; empty when unknown."""
        with self._database.read() as conn:
            return store.load_workflow(conn, namespace, workflow_id)

    def state_documents(self, namespace: str) -> Iterator[JsonObject]:
        """Every operation's content, in an order that depends on nothing else."""
        for operation in self._all(namespace):
            yield state_document(operation)

    def export_canonical(self, namespace: str) -> Iterator[tuple[str, bytes]]:
        """(operation id, canonical JSON) of every operation."""
        for operation in self._all(namespace):
            yield operation.binding.operation_id, canonical_json(state_document(operation))

    def export_audit(self, namespace: str) -> Iterator[tuple[str, bytes]]:
        """(item id, canonical JSON) of every change of every operation."""
        for operation in self._all(namespace):
            operation_id = operation.binding.operation_id
            with self._database.read() as conn:
                rows = list(store.read_revisions(conn, operation_id))
            for row in rows:
                document = audit_document(operation_id, row)
                yield audit_item_id(operation_id, row), canonical_json(document)

    def reset(self, conn: sqlite3.Connection, namespace: str) -> None:
        """Removes a namespace's operations inside the caller's transaction.

        The lease clock's mark stays: it belongs to the clock, not to a namespace.
        """
        store.delete_namespace(conn, namespace)

    def _clock(self, conn: sqlite3.Connection) -> LeaseClock:
        return LeaseClock(now_ns=self._read_clock_ns(), mark_ns=store.read_mark(conn))

    def _decide(
        self,
        conn: sqlite3.Connection,
        clock: LeaseClock,
        binding: OperationBinding,
        incarnation_id: str,
        *,
        begin_id: str | None,
        settled: frozenset[str] | None,
    ) -> tuple[store.Stored | None, BeginStep]:
        stored = store.load(conn, binding.operation_id)
        held = (
            store.count_workflow(conn, binding.namespace, binding.workflow_id)
            if stored is None
            else 0
        )
        never_granted = stored is None or not stored.operation.attempts
        forked = store.load_intent(conn, binding, settled) if never_granted else ()
        call = BeginCall(binding, incarnation_id, begin_id, self._mint_secret(), held, forked)
        step = self._decisions.begin(None if stored is None else stored.operation, clock, call)
        if isinstance(step, Refused):
            raise refusal_error(step)
        return stored, step

    def _all(self, namespace: str) -> Iterator[Operation]:
        """By workflow, then by operation id: a workflow's limit bounds what is in memory."""
        workflow: str | None = ""
        while workflow is not None:
            with self._database.read() as conn:
                workflow = store.next_workflow(conn, namespace, workflow)
                held = [] if workflow is None else store.load_workflow(conn, namespace, workflow)
            yield from sorted(held, key=lambda operation: operation.binding.operation_id)


def _row(
    clock: LeaseClock, after: Operation, change: Change, attempt: int, actor: str
) -> store.RevisionRow:
    return store.RevisionRow(after.revision, clock.effective_ns, change, attempt, actor)


def require(conn: sqlite3.Connection, namespace: str, operation_id: str) -> store.Stored:
    """A namespace's operation; raises ServiceError NOT_FOUND."""
    stored = store.load(conn, operation_id)
    if stored is None or stored.operation.binding.namespace != namespace:
        raise ServiceError(grpc.StatusCode.NOT_FOUND, "no such operation; begin it first")
    return stored
