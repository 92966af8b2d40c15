"""What atmem answers, as frozen values, and what the servicers ask of it.

Exception
└── NativeRefusal    atmem refused a call; says how and in atmem's own words
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Protocol

from services.common.canonical import JsonObject, JsonValue

__all__ = [
    "ATTEMPTS_MAX",
    "KEY_MARGIN_SECONDS",
    "LEASE_SECONDS",
    "RENEWALS_MAX",
    "REVISIONS_MAX",
    "SHORT_KEY_TIMEOUT_SECONDS",
    "TIMEOUT_SECONDS",
    "NativeAttempt",
    "NativeBegin",
    "NativeOperation",
    "NativeOutcome",
    "NativeRefusal",
    "OperationStatus",
    "RefusalKind",
    "WorkflowsPort",
]

# Fixed in atmem's continuity service; it has no setting for any of them.
LEASE_SECONDS = 120
RENEWALS_MAX = 10
ATTEMPTS_MAX = 100
REVISIONS_MAX = 2_000
KEY_MARGIN_SECONDS = 30

# How long after `begin` a call may still be under way, which atmem wants to know: it licenses a
# retry on a key while this and its margin are left of it. A host may use its licence until the
# lease's end. The longest that atmem takes is 90 s: with its margin, exactly the lease.
TIMEOUT_SECONDS = LEASE_SECONDS - KEY_MARGIN_SECONDS

# atmem refuses a key that does not outlast timeout and margin. One that does not outlast the lease
# licenses no retry either way, so there the host's deadline of a call (DESIGN §4) stands.
SHORT_KEY_TIMEOUT_SECONDS = 10


class RefusalKind(Enum):
    """How atmem refused: the type of its exception."""

    VALUE = "ValueError"
    PERMISSION = "PermissionError"
    STORAGE = "storage"


class NativeRefusal(Exception):
    """A call that atmem refused; nothing of its transaction is kept.

    Attributes:
        kind: type of atmem's exception.
        words: atmem's own message.
    """

    def __init__(self, kind: RefusalKind, words: str) -> None:
        super().__init__(f"{kind.value}: {words}")
        self.kind = kind
        self.words = words


class OperationStatus(StrEnum):
    """Where atmem has one governed call."""

    PENDING = "pending"
    UNCERTAIN = "uncertain"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class NativeAttempt:
    """One attempt of atmem's list: a grant to execute, or to query.

    Attributes:
        attempt_id: the caller's id of it.
        run_id: the caller's life.
        mode: "execute" or "query".
        started_seconds: wall clock at the grant, seconds since the Unix epoch.
        renewals: how often its lease was renewed.
    """

    attempt_id: str
    run_id: str
    mode: str
    started_seconds: float
    renewals: int = 0


@dataclass(frozen=True, slots=True)
class NativeOperation:
    """The one governed call of an atmem workflow, as `create` and `get` show it.

    Attributes:
        workflow_id: atmem's id of the workflow.
        operation_id: atmem's id of the call.
        status: where it stands.
        definition: tool, arguments, capability, timeout and retention as they were bound.
        lease_until_seconds: wall clock at which the latest lease ends; 0 without one.
        first_dispatch_seconds: wall clock of the first grant; None before it.
        clock_high_water_seconds: latest wall clock that atmem wrote with.
        attempts: every grant, oldest first.
        receipt: the receipt that completed it; None before.
    """

    workflow_id: str
    operation_id: str
    status: OperationStatus
    definition: JsonObject
    lease_until_seconds: float = 0.0
    first_dispatch_seconds: float | None = None
    clock_high_water_seconds: float = 0.0
    attempts: tuple[NativeAttempt, ...] = ()
    receipt: Mapping[str, JsonValue] | None = None

    @property
    def executions(self) -> tuple[NativeAttempt, ...]:
        """The grants to execute: attempt n of the contract is the n-th of them."""
        return tuple(attempt for attempt in self.attempts if attempt.mode == "execute")


@dataclass(frozen=True, slots=True)
class NativeBegin:
    """What `begin` answered.

    Attributes:
        action: "execute", "query", "completed" or "blocked".
        reason: atmem's own code.
        lease_token: secret of the lease; empty unless it granted.
        lease_until_seconds: end of the lease; 0 unless it granted.
        receipt: with "completed": the saved receipt.
    """

    action: str
    reason: str
    lease_token: str = ""
    lease_until_seconds: float = 0.0
    receipt: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class NativeOutcome:
    """What `outcome` answered.

    Attributes:
        accepted: the receipt was taken for the latest attempt.
        status: where the call stands now.
    """

    accepted: bool
    status: OperationStatus


class WorkflowsPort(Protocol):
    """One namespace's continuity vault. Every call is durable before it returns.

    Every call raises NativeRefusal where atmem raises an exception of its own.
    """

    def create(self, workflow_key: str, definition: JsonObject) -> NativeOperation:
        """Makes the workflow of one governed call, or returns the one of this key."""

    def begin(self, workflow_id: str, run_id: str, attempt_id: str) -> NativeBegin:
        """Decides and grants."""

    def outcome(
        self,
        workflow_id: str,
        lease_token: str,
        receipt: JsonObject,
        *,
        run_id: str,
        attempt_id: str,
    ) -> NativeOutcome:
        """Takes a receipt."""

    def renew(self, workflow_id: str, lease_token: str, *, run_id: str, attempt_id: str) -> float:
        """Extends a lease; returns its new end, seconds since the Unix epoch."""

    def get(self, workflow_id: str) -> NativeOperation:
        """Where a call stands."""

    def workflow_ids(self) -> Mapping[str, str]:
        """Ids of all workflows by their keys, oldest first."""

    def documents(self) -> Iterator[Mapping[str, JsonValue]]:
        """Every sealed document of the vault, opened, in order."""
