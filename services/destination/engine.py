"""Commits each call with its records, and reads back what was committed (DESIGN §10).

One lock orders commits and the steps after them: files take their places in the order in which
their effects were committed.
"""

import contextlib
import enum
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import grpc
import structlog

from services.common import clock
from services.common.canonical import JsonObject, digest_hex
from services.common.database import Database
from services.common.errors import ServiceError
from services.common.journal import Journal, JournalRecord
from services.destination import ledger, records
from services.destination.decisions import Outcome, PreparedCall, decide_call, decide_query
from services.destination.model import (
    Applied,
    Invocation,
    InvokeAnswer,
    QueryAnswer,
    QueryQuestion,
    Refused,
    WorkflowRules,
)
from services.destination.records import CallEvent, Moment
from services.destination.tools.base import Action, Registry, ToolRefusal

__all__ = ["JOURNAL_RECORDS_MAX", "Clocks", "Engine", "Step"]

JOURNAL_RECORDS_MAX = 10_000_000

_log = structlog.get_logger(__name__)


class Step(enum.Enum):
    """Where an Invoke stands; tests end the process there."""

    PREPARED = "prepared"
    COMMITTED = "committed"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks that the engine reads, nanoseconds; tests put their own in place."""

    wall_ns: Callable[[], int] = clock.wall_ns
    monotonic_ns: Callable[[], int] = clock.monotonic_ns

    def now(self) -> Moment:
        """Both clocks."""
        return Moment(wall_unix_ns=self.wall_ns(), monotonic_ns=self.monotonic_ns())


def _watch_nothing(step: Step) -> None:
    """Production has no one who watches the steps."""


class Engine:
    """The destination behind its gRPC handlers; safe to use from many threads."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        *,
        clocks: Clocks | None = None,
        on_step: Callable[[Step], None] = _watch_nothing,
    ) -> None:
        """Creates what is missing and finishes what a crash cut off.

        Args:
            database: the store; its owner closes it.
            registry: the tools.
            clocks: the clocks, the process's own by default.
            on_step: called at each step of an Invoke, for tests of crashes in between.

        Raises:
            DatabaseError: the store or the files beside it are damaged.
            OSError: the volume cannot be used.
        """
        self.registry = registry
        self._database = database
        self._journal = Journal()
        self._clocks = clocks or Clocks()
        self._on_step = on_step
        self._lock = threading.Lock()
        self._recovery_wanted = False
        with self._database.transaction() as connection:
            self._journal.create(connection)
            ledger.create(connection)
            for module in registry.modules:
                module.create(connection)
            for module in registry.modules:
                module.recover(connection, starting=True)

    def configure(self, settings: Sequence[WorkflowRules]) -> None:
        """Sets rules of workflows, all or none; repeating a workflow's rules changes nothing.

        Raises:
            ServiceError: FAILED_PRECONDITION, a workflow was called under other rules.
            DatabaseError: the store failed.
        """
        with self._lock, self._database.transaction() as connection:
            for rules in settings:
                if ledger.rules_of(connection, rules.workflow_id) == rules:
                    continue
                if ledger.was_called(connection, rules.workflow_id):
                    raise ServiceError(
                        grpc.StatusCode.FAILED_PRECONDITION,
                        "a workflow was called under other settings; configure it before its first "
                        "call, or take a new workflow id",
                    )
                ledger.set_rules(connection, rules)
                self._append(connection, records.configured_record(rules, self._clocks.now()))

    def rules_of(self, workflow_id: str) -> WorkflowRules | None:
        """A workflow's rules, or None when it is not configured."""
        with self._database.read() as connection:
            return ledger.rules_of(connection, workflow_id)

    def invoke(self, call: Invocation) -> InvokeAnswer:
        """Calls a tool; what the answer tells is durable.

        Raises:
            ServiceError: UNAVAILABLE, the volume failed (after the commit: the effect is there).
                RESOURCE_EXHAUSTED, the journal is full.
            DatabaseError: the store failed.
        """
        prepared = self._prepare(call)
        self._on_step(Step.PREPARED)
        with self._lock:
            self._recover_if_wanted()
            # A failure between the commit and the end of this block leaves work for `recover`.
            self._recovery_wanted = True
            with self._database.transaction() as connection:
                answer = self._commit_call(connection, prepared)
            self._on_step(Step.COMMITTED)
            self._after_commit(prepared.action, answer.outcome)
            self._recovery_wanted = False
        self._on_step(Step.FINISHED)
        return answer

    def query(self, question: QueryQuestion) -> QueryAnswer | Refused:
        """Tells whether an operation's effect is there; a fence is durable before the answer.

        Raises:
            DatabaseError: the store failed.
        """
        with self._lock, self._database.transaction() as connection:
            moment = self._clocks.now()
            answer = decide_query(connection, question, moment.wall_unix_ns)
            self._append(connection, records.queried_record(question, answer, moment))
        return answer

    def record_sent(self, calls: Sequence[tuple[Invocation, int]]) -> None:
        """Notes, in one transaction, calls (with their call_sequence) whose answers were sent.

        Raises:
            DatabaseError: the store failed.
        """
        with self._lock, self._database.transaction() as connection:
            for call, call_sequence in calls:
                record = records.call_record(
                    CallEvent.RESPONSE_SENT, call, self._clocks.now(), call_sequence=call_sequence
                )
                self._append(connection, record)

    def journal(self, from_sequence: int) -> Iterator[JournalRecord]:
        """The journal from a sequence on, up to its head now; raises DatabaseError."""
        return self._journal.stream(self._database, from_sequence)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The store as it was last committed, for a module's own reads; raises DatabaseError."""
        with self._database.read() as connection:
            yield connection

    def state_hash(self, workflow_id: str | None) -> str:
        """Digest of all that the tools have done, for one workflow or (None) for all.

        Raises:
            ServiceError: UNAVAILABLE, the volume failed.
            DatabaseError: the store failed.
        """
        with self._lock:
            self._recover_if_wanted()
            with self._database.read() as connection, _volume_errors():
                return digest_hex(
                    {
                        module.name: module.state(connection, workflow_id)
                        for module in self.registry.modules
                    }
                )

    def _prepare(self, call: Invocation) -> PreparedCall:
        tool = self.registry.find(call.tool)
        if tool is None:
            return PreparedCall(call, None, None)
        try:
            with _volume_errors():
                return PreparedCall(call, tool, tool.prepare(call.workflow_id, call.arguments))
        except ToolRefusal as refusal:
            return PreparedCall(call, tool, refusal)

    def _commit_call(self, connection: sqlite3.Connection, prepared: PreparedCall) -> InvokeAnswer:
        call = prepared.call
        moment = self._clocks.now()
        call_sequence = self._journal.head(connection).sequence + 1
        received = records.call_record(
            CallEvent.RECEIVED, call, moment, call_sequence=call_sequence
        )
        self._append(connection, received)
        outcome = decide_call(connection, prepared, moment.wall_unix_ns)
        self._append(
            connection,
            records.outcome_record(call, outcome, moment, call_sequence=call_sequence),
        )
        return InvokeAnswer(call_sequence, outcome)

    def _append(self, connection: sqlite3.Connection, record: JsonObject) -> None:
        if self._journal.append(connection, record).sequence > JOURNAL_RECORDS_MAX:
            raise ServiceError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"the journal has its {JOURNAL_RECORDS_MAX} records; start on a fresh volume",
            )

    def _after_commit(self, action: Action | ToolRefusal | None, outcome: Outcome) -> None:
        if not isinstance(action, Action):
            return
        with _volume_errors():
            if isinstance(outcome, Applied) and not outcome.replayed:
                action.finish()
            else:
                action.discard()

    def _recover_if_wanted(self) -> None:
        """Finishes what an earlier call committed and could not finish; the lock is held."""
        if not self._recovery_wanted:
            return
        with self._database.transaction() as connection, _volume_errors():
            for module in self.registry.modules:
                module.recover(connection, starting=False)
        self._recovery_wanted = False
        _log.warning("recovered_in_service")


@contextlib.contextmanager
def _volume_errors() -> Iterator[None]:
    """Turns a failure of the file system into a status."""
    try:
        yield
    except OSError as error:
        _log.error("volume_failed", cause=str(error))
        raise ServiceError(
            grpc.StatusCode.UNAVAILABLE, "the volume cannot be read or written; check it, try again"
        ) from error
