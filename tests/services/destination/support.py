"""What the destination's tests share: a destination on a folder with clocks that tests set."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.common.canonical import JsonObject, canonical_json, digest_hex
from services.common.database import Database
from services.common.journal import JournalRecord, verify_chain
from services.destination.engine import Clocks, Engine, Step
from services.destination.model import Capability, Invocation, WorkflowRules
from services.destination.tools.base import Registry, ToolModule
from services.destination.tools.documents import Documents
from services.destination.tools.funds import Funds

SECOND = 1_000_000_000
START = 1_790_000_000 * SECOND


@dataclass
class FakeClock:
    """A wall clock that stands still until a test moves it."""

    now_ns: int = START

    def wall_ns(self) -> int:
        return self.now_ns


@dataclass
class World:
    """One destination without its gRPC servers; `reopen` is a restart."""

    folder: Path
    extra_modules: Sequence[ToolModule] = ()
    on_step: Callable[[Step], None] = lambda step: None
    clock: FakeClock = field(default_factory=FakeClock)
    database: Database = field(init=False)
    engine: Engine = field(init=False)

    def __post_init__(self) -> None:
        self._open()

    def _open(self) -> None:
        self.database = Database(self.folder / "destination.db")
        self.engine = Engine(
            self.database,
            Registry([Documents(self.folder), Funds(), *self.extra_modules]),
            clocks=Clocks(wall_ns=self.clock.wall_ns),
            on_step=self.on_step,
        )

    def reopen(self) -> None:
        self.close()
        self._open()

    def close(self) -> None:
        self.database.close()

    def journal(self) -> list[dict[str, Any]]:
        records = list(self.engine.journal(1))
        verify_chain(records)
        return payloads(records)

    def events(self, *names: str) -> list[str]:
        return [
            payload["event"]
            for payload in self.journal()
            if payload["event"] in names or (not names and payload["event"] != "configured")
        ]


def payloads(records: Sequence[JournalRecord]) -> list[dict[str, Any]]:
    return [json.loads(record.payload_json) for record in records]


def rules(
    workflow_id: str = "workflow",
    capability: Capability = Capability.NONE,
    *,
    fenced: bool = False,
    visibility_delay_ms: int = 0,
    retention_seconds: int = 0,
    guard: bool = False,
    one_apply_per_attempt: bool = False,
    enforce_not_after: bool = False,
) -> WorkflowRules:
    return WorkflowRules(
        workflow_id=workflow_id,
        capability=capability,
        fenced=fenced,
        visibility_delay_ms=visibility_delay_ms,
        retention_seconds=retention_seconds,
        guard=guard,
        one_apply_per_attempt=one_apply_per_attempt,
        enforce_not_after=enforce_not_after,
    )


def call(
    tool: str = "transfer_funds",
    arguments: JsonObject | None = None,
    *,
    workflow_id: str = "workflow",
    operation_id: str = "operation",
    attempt: int = 1,
    not_after_unix_ns: int = 0,
    idempotency_key: str = "",
) -> Invocation:
    given: JsonObject = transfer() if arguments is None else arguments
    return Invocation(
        workflow_id=workflow_id,
        operation_id=operation_id,
        attempt=attempt,
        tool=tool,
        arguments=given,
        arguments_digest=digest_hex(given),
        not_after_unix_ns=not_after_unix_ns,
        idempotency_key=idempotency_key,
    )


def transfer(amount_cents: int = 100) -> JsonObject:
    return {"from": "alice", "to": "bob", "amount_cents": amount_cents}


def document(path: str = "report.md", content: str = "text") -> JsonObject:
    return {"path": path, "content": content}


def folder_of(workflow_id: str) -> str:
    """Where a workflow's documents lie; worked out apart from the code under test."""
    return hashlib.sha256(workflow_id.encode("utf-8")).hexdigest()[:32]


def state_hash(
    documents: Mapping[tuple[str, str], str],
    accounts: Mapping[str, Mapping[str, int]],
    *,
    retail: bool = False,
) -> str:
    """The state hash of documents, (workflow, path) → content, and balances by workflow.

    A destination with retail tools has a part for them, too, which is empty here.
    """
    state: JsonObject = {
        "documents": {
            f"{folder_of(workflow)}/{path}": hashlib.sha256(content.encode("utf-8")).hexdigest()
            for (workflow, path), content in documents.items()
        },
        "accounts": {workflow: dict(balances) for workflow, balances in accounts.items()},
    }
    if retail:
        state = {**state, "retail": []}
    return hashlib.sha256(canonical_json(state)).hexdigest()
