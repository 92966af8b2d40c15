"""Stand-ins for atmem where it is not installed: they keep what they are told, and decide little.

They are no models of atmem: what atmem itself decides is seen in test_container.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from services.common.canonical import JsonObject, JsonValue, canonical_json
from services.vendors.atmem.model import (
    NativeAttempt,
    NativeBegin,
    NativeOperation,
    NativeOutcome,
    NativeRefusal,
    OperationStatus,
    RefusalKind,
)
from services.vendors.atmem.record_model import (
    Admission,
    Circle,
    Offer,
    Proposal,
    Ranked,
    Record,
    ReviewerAuthority,
)

LEASE_SECONDS = 120.0


def refusal(words: str) -> NativeRefusal:
    """A ValueError of atmem's."""
    return NativeRefusal(RefusalKind.VALUE, words)


@dataclass
class ClockOfTest:
    """A wall clock that moves only when it is told to."""

    now_seconds: float = 1_700_000_000.0

    def read(self) -> float:
        """The reading, seconds."""
        return self.now_seconds


@dataclass
class FakeVaults:
    """Vaults by folder; what was written survives a new FakeWorkflows on the same folder."""

    clock: ClockOfTest = field(default_factory=ClockOfTest)
    by_folder: dict[Path, dict[str, NativeOperation]] = field(default_factory=dict)
    looks: int = 0
    refuse_next: str = ""

    def open(self, folder: Path) -> "FakeWorkflows":
        """The vault of a folder, which is made on first sight."""
        folder.mkdir(parents=True, exist_ok=True)
        return FakeWorkflows(self, self.by_folder.setdefault(folder, {}))


class FakeWorkflows:
    """Grants one attempt at a time and takes receipts for the latest one."""

    def __init__(self, vaults: FakeVaults, operations: dict[str, NativeOperation]) -> None:
        self._vaults = vaults
        self._operations = operations

    def _refuse(self) -> None:
        words, self._vaults.refuse_next = self._vaults.refuse_next, ""
        if words:
            raise refusal(words)

    def _key(self, workflow_id: str) -> str:
        return workflow_id.removeprefix("wf_")

    def create(self, workflow_key: str, definition: JsonObject) -> NativeOperation:
        known = self._operations.get(workflow_key)
        if known is None:
            known = NativeOperation(
                workflow_id=f"wf_{workflow_key}",
                operation_id=f"op_{len(self._operations) + 1}",
                status=OperationStatus.PENDING,
                definition=definition,
                clock_high_water_seconds=self._vaults.clock.read(),
            )
            self._operations[workflow_key] = known
        if canonical_json(known.definition) != canonical_json(definition):
            raise refusal("workflow key conflicts with existing definition")
        return known

    def begin(self, workflow_id: str, run_id: str, attempt_id: str) -> NativeBegin:
        self._refuse()
        key, now = self._key(workflow_id), self._vaults.clock.read()
        known = self._operations[key]
        if known.status is OperationStatus.COMPLETED:
            return NativeBegin("completed", "saved_receipt", receipt=known.receipt)
        if any(one.attempt_id == attempt_id for one in known.attempts):
            return NativeBegin("blocked", "attempt_already_issued")
        if known.lease_until_seconds > now:
            return NativeBegin("blocked", "attempt_in_progress")
        action = "execute"
        if known.attempts:
            capability = known.definition["capability"]
            if capability == "none":
                return NativeBegin("blocked", "needs_confirmation")
            action = "query" if capability == "query" else "execute"
        granted = NativeAttempt(attempt_id, run_id, action, now)
        self._operations[key] = replace(
            known,
            status=OperationStatus.UNCERTAIN,
            lease_until_seconds=now + LEASE_SECONDS,
            first_dispatch_seconds=known.first_dispatch_seconds or now,
            attempts=(*known.attempts, granted),
        )
        return NativeBegin(
            action, "authorized_attempt", f"token-of-{attempt_id}"[:128], now + LEASE_SECONDS
        )

    def outcome(
        self,
        workflow_id: str,
        lease_token: str,
        receipt: JsonObject,
        *,
        run_id: str,
        attempt_id: str,
    ) -> NativeOutcome:
        self._refuse()
        key = self._key(workflow_id)
        known = self._operations[key]
        latest = known.attempts[-1]
        held = (latest.run_id, latest.attempt_id, f"token-of-{latest.attempt_id}"[:128])
        live = known.status is OperationStatus.UNCERTAIN and known.lease_until_seconds > 0
        if not live or held != (run_id, attempt_id, lease_token):
            return NativeOutcome(False, known.status)
        if receipt["outcome"] == "confirmed_succeeded":
            saved = {**receipt, "assurance": "host_reported"}
            known = replace(known, status=OperationStatus.COMPLETED, receipt=saved)
        self._operations[key] = replace(known, lease_until_seconds=0.0)
        return NativeOutcome(True, known.status)

    def renew(self, workflow_id: str, lease_token: str, *, run_id: str, attempt_id: str) -> float:
        self._refuse()
        key = self._key(workflow_id)
        known = self._operations[key]
        *others, latest = known.attempts
        if lease_token != f"token-of-{attempt_id}"[:128] or latest.attempt_id != attempt_id:
            raise refusal("stale lease")
        until = self._vaults.clock.read() + LEASE_SECONDS
        renewed = replace(latest, renewals=latest.renewals + 1)
        self._operations[key] = replace(
            known, lease_until_seconds=until, attempts=(*others, renewed)
        )
        return until

    def get(self, workflow_id: str) -> NativeOperation:
        self._vaults.looks += 1
        return self._operations[self._key(workflow_id)]

    def workflow_ids(self) -> Mapping[str, str]:
        return {key: one.workflow_id for key, one in self._operations.items()}

    def documents(self) -> Iterator[Mapping[str, JsonValue]]:
        for key, one in self._operations.items():
            yield {
                "record_type": "continuity",
                "object_id": f"obj_{key}",
                "workflow": {
                    "workflow_id": one.workflow_id,
                    "workflow_key": key,
                    "definitions": [one.definition],
                    "enabled": True,
                    "operations": [{"status": one.status.value, "receipt": None}],
                },
            }
        yield {"record_type": "access", "object_id": "obj_access", "operation": "continuity_view"}


@dataclass
class FakeHouseholds:
    """Households by file, opened as often as wanted."""

    by_path: dict[Path, "FakeHousehold"] = field(default_factory=dict)

    def open(self, path: Path, reviewers: Sequence[ReviewerAuthority]) -> "FakeHousehold":
        """The household of a file, with these reviewers trusted while it is open."""
        household = self.by_path.setdefault(path, FakeHousehold(path))
        household.reviewers = tuple(reviewers)
        return household


@dataclass
class FakeHousehold:
    """Keeps records and proposals; a quarantined source makes a quarantined record."""

    path: Path
    reviewers: tuple[ReviewerAuthority, ...] = ()
    kept: dict[str, Record] = field(default_factory=dict)
    proposed: dict[str, Proposal] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    outcomes: list[tuple[str, str, str, float]] = field(default_factory=list)
    refuse_decisions_of: str = ""
    is_open: bool = False

    def __enter__(self) -> Self:
        assert not self.is_open
        self.path.touch()
        self.is_open = True
        return self

    def __exit__(self, *failure: object) -> None:
        self.is_open = False

    def offer_fact(self, offer: Offer) -> Admission:
        capture = offer.capture
        if "secret" in capture.message:
            return Admission("rejected", ("secret_material_detected",), "")
        if any(one not in self.kept for one in offer.parents):
            raise refusal("proposal references an unknown related record")
        trusted = capture.assurance == "host_authenticated"
        record = Record(
            record_id=f"rec_{len(self.kept) + 1}",
            circle=capture.circle,
            content=capture.message,
            status="active" if trusted else "quarantined",
            excluded=False,
            archived=False,
            trust_tier="trusted_user" if trusted else "untrusted_content",
            source_type=capture.source_type,
            memory_class="",
            proposal_id=f"fact_{capture.idempotency_key}",
            taints=() if trusted else ("UNTRUSTED_CONTENT",),
            source_ids=(capture.source_id,),
            parents=offer.parents,
            superseded_by="",
        )
        self.kept[record.record_id] = record
        return Admission(record.status, ("policy",), record.record_id)

    def offer_for_review(self, offer: Offer, proposal_id: str) -> Proposal:
        self.replaced[proposal_id] = offer.replaces
        self.proposed[proposal_id] = Proposal(
            proposal_id=proposal_id,
            circle=offer.capture.circle,
            memory_class=offer.memory_class,
            content=offer.capture.message,
            review_state="pending_review",
            reasons=("non_durable_class",),
            record_ids=(),
            source_ids=(offer.capture.source_id,),
        )
        if offer.memory_class == "durable_fact" and offer.capture.of_authenticated_user:
            self._commit(proposal_id)
        return self.proposed[proposal_id]

    def recall(self, circle: Circle, query: str, limit: int) -> tuple[Ranked, ...]:
        found = [one.record_id for one in self.kept.values() if one.usable]
        return tuple(Ranked(one, 0.5) for one in found[:limit])

    def rank(self, query: str, subject_id: str, record_ids: Sequence[str]) -> tuple[Ranked, ...]:
        return tuple(Ranked(one, 0.4) for one in record_ids)

    def records(self, subject_id: str) -> tuple[Record, ...]:
        return tuple(one for one in self.kept.values() if one.circle.subject_id == subject_id)

    def proposals(self, subject_id: str) -> tuple[Proposal, ...]:
        return tuple(self.proposed.values())

    def exclude(self, subject_id: str, record_id: str, *, excluded: bool, reason: str) -> None:
        if self.kept[record_id].status != "active":
            raise refusal(f"record {record_id} is not active for {subject_id}")
        self.kept[record_id] = replace(self.kept[record_id], excluded=excluded)

    def forget(self, subject_id: str, record_id: str) -> tuple[str, ...]:
        self.kept[record_id] = replace(self.kept[record_id], status="tombstoned", content="")
        return (record_id,)

    def promote(self, subject_id: str, record_id: str, actor: str) -> None:
        self.kept[record_id] = replace(
            self.kept[record_id], status="active", trust_tier="user_confirmed"
        )

    def reject(self, subject_id: str, record_id: str, actor: str) -> None:
        self.kept[record_id] = replace(self.kept[record_id], status="tombstoned", content="")

    def archive(self, subject_id: str, record_id: str) -> None:
        if self.kept[record_id].archived:
            raise refusal("transition archived -> archived is not allowed")
        self.kept[record_id] = replace(self.kept[record_id], archived=True)

    def note_outcome(self, subject_id: str, record_id: str, outcome: str, utility: float) -> None:
        self.outcomes.append((subject_id, record_id, outcome, utility))

    @contextmanager
    def together(self) -> Iterator[None]:
        kept, proposed = dict(self.kept), dict(self.proposed)
        try:
            yield
        except BaseException:
            self.kept, self.proposed = kept, proposed
            raise

    def decide(self, proposal: Proposal, *, approve: bool, reviewer: str) -> None:
        if self.refuse_decisions_of == proposal.proposal_id:
            raise refusal("proposal was decided concurrently")
        trusted = {(one.principal_id, one.circle) for one in self.reviewers}
        if (reviewer, proposal.circle) not in trusted:
            raise NativeRefusal(RefusalKind.PERMISSION, "review principal is not configured")
        if approve:
            self._commit(proposal.proposal_id)
        else:
            self.proposed[proposal.proposal_id] = replace(proposal, review_state="rejected")

    def _commit(self, proposal_id: str) -> None:
        found = self.proposed[proposal_id]
        record_id = f"rec_{len(self.kept) + 1}"
        self.kept[record_id] = Record(
            record_id=record_id,
            circle=found.circle,
            content=found.content,
            status="active",
            excluded=False,
            archived=False,
            trust_tier="trusted_user",
            source_type="user_message",
            memory_class=found.memory_class,
            proposal_id=proposal_id,
            taints=(),
            source_ids=(),
            parents=(),
            superseded_by="",
        )
        if old := self.replaced[proposal_id]:
            self.kept[old] = replace(self.kept[old], status="superseded", superseded_by=record_id)
        self.proposed[proposal_id] = replace(
            found, review_state="committed", record_ids=(record_id,)
        )
