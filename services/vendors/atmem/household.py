"""One namespace's household: atmem's Memory over its SQLite file, opened for one call.

atmem's own application opens a Memory for each request, too: its connection belongs to a thread,
and closing it brings the vector index up to date.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Self

from services.vendors.atmem import capturing, native
from services.vendors.atmem.record_model import (
    RECALL_LIMIT_MAX,
    RECALL_MIN_SCORE,
    Admission,
    Circle,
    Offer,
    Proposal,
    Ranked,
    Record,
    ReviewerAuthority,
)
from services.vendors.atmem.rows import proposal_of, record_of

__all__ = ["Household"]

_REVIEW_SCOPE: Final = "procedure:review"
_PROPOSALS_MAX: Final = 1_000
_HOST: Final = "host"
_OUTCOME_EVENT: Final = "outcome_observed"
_PROCEDURE: Final = "procedure"
_ARCHIVED: Final = (
    "SELECT record_id FROM memory_lifecycle WHERE subject_id = ? AND state = 'archived'"
)


class Household:
    """atmem's Memory; use it as a context manager."""

    def __init__(self, path: Path, reviewers: Sequence[ReviewerAuthority] = ()) -> None:
        """Names a household file, which is made on first sight, and who may review in it."""
        self._path = path
        self._authorities = tuple(
            {
                "principal_id": reviewer.principal_id,
                "subject_id": reviewer.circle.subject_id,
                "agent_id": reviewer.circle.agent_id,
                "workspace_id": reviewer.circle.workspace_id,
                "scopes": (_REVIEW_SCOPE,),
            }
            for reviewer in reviewers
        )
        self._memory: Any = None

    def __enter__(self) -> Self:
        """Opens it; raises NativeRefusal when the file cannot be used."""
        with native.native_call():
            self._memory = native.Memory(self._path, review_authorities=self._authorities)
        return self

    def __exit__(self, *failure: object) -> None:
        """Closes it; the vector index is brought up to date."""
        with native.native_call():
            self._memory.close()

    def offer_fact(self, offer: Offer) -> Admission:
        """Captures a message and proposes it as a fact."""
        with native.native_call():
            request = capturing.capture_request(offer)
            # Made first: what atmem cannot propose is not captured either.
            proposal = capturing.fact_proposal(offer, request)
            self._memory.capture_source(request)
            admitted = self._memory.submit_proposal(proposal)
        found = (*admitted.record_ids, *admitted.candidate_ids, "")
        return Admission(admitted.decision, tuple(admitted.reason_codes), str(found[0]))

    def offer_for_review(self, offer: Offer, proposal_id: str) -> Proposal:
        """Captures a message and proposes it in its class, or in place of a record."""
        with native.native_call():
            request = capturing.capture_request(offer)
            replaced = self._row(offer.capture.circle.subject_id, offer.replaces)
            proposal = capturing.extraction_proposal(offer, request, proposal_id, replaced)
            self._memory.capture_source(request)
            outcome = self._memory.submit_extraction_proposal(
                proposal, source_text=offer.capture.message
            )
        return proposal_of(outcome)

    def _row(self, subject_id: str, record_id: str) -> Mapping[str, Any] | None:
        rows = self._memory.list(subject_id, include_inactive=True) if record_id else ()
        return next((row for row in rows if str(row["id"]) == record_id), None)

    def recall(self, circle: Circle, query: str, limit: int) -> tuple[Ranked, ...]:
        """What atmem would put before an agent, best first."""
        with native.native_call():
            if circle.any_workspace:
                found = self._memory.recall(
                    circle.subject_id,
                    query,
                    limit=limit,
                    min_score=RECALL_MIN_SCORE,
                    include_scores=True,
                )
                return tuple(Ranked(str(one["id"]), float(one["score"])) for one in found)
            candidates = self._memory.eligible_candidates(
                native.RecallRequest(
                    request_id="recall",
                    scope=capturing.scope_of(circle),
                    query=query,
                    limit=min(limit, RECALL_LIMIT_MAX),
                    min_score=RECALL_MIN_SCORE,
                )
            ).candidates
        return tuple(Ranked(str(one.record_id), float(one.score)) for one in candidates)

    def rank(self, query: str, subject_id: str, record_ids: Sequence[str]) -> tuple[Ranked, ...]:
        """The named records by atmem's own ranking, whatever their status."""
        with native.native_call():
            rows = self._memory.list(subject_id, include_inactive=True)
            wanted = set(record_ids)
            scored = native.rank_records(query, [row for row in rows if str(row["id"]) in wanted])
        return tuple(Ranked(str(one.record["id"]), float(one.score)) for one in scored)

    def records(self, subject_id: str) -> tuple[Record, ...]:
        """All records of a subject, inactive ones included."""
        with native.native_call():
            excluded = self._memory.store.excluded_record_ids(subject_id)
            rows = self._memory.list(subject_id, include_inactive=True)
            archived = self._archived_ids(subject_id)
        return tuple(
            record_of(row, excluded=str(row["id"]) in excluded, archived=str(row["id"]) in archived)
            for row in rows
        )

    def _archived_ids(self, subject_id: str) -> frozenset[str]:
        # From the file, read only: the lifecycle service has no list, and to look at a record that
        # it does not know yet makes a row for it.
        with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True)) as connection:
            return frozenset(str(row[0]) for row in connection.execute(_ARCHIVED, (subject_id,)))

    def proposals(self, subject_id: str) -> tuple[Proposal, ...]:
        """All extraction proposals of a subject, oldest first, at most 1,000."""
        with native.native_call():
            found = self._memory.list_extraction_proposals(
                subject_id, review_states=None, limit=_PROPOSALS_MAX
            )
        return tuple(proposal_of(one) for one in found)

    def exclude(self, subject_id: str, record_id: str, *, excluded: bool, reason: str) -> None:
        """Takes an active record out of recall, or back in."""
        with native.native_call():
            self._memory.set_retrieval_excluded(subject_id, record_id, excluded, reason=reason)

    def forget(self, subject_id: str, record_id: str) -> tuple[str, ...]:
        """Purges a record; returns the ids that were purged."""
        with native.native_call():
            deleted = self._memory.forget_record(subject_id, record_id)
        return tuple(str(one) for one in deleted["receipt"]["purged_record_ids"])

    def archive(self, subject_id: str, record_id: str) -> None:
        """Has the lifecycle service archive an active or superseded record."""
        with native.native_call():
            service = native.LifecycleService(self._memory.store)
            standing = service.inspect(subject_id, record_id)
            service.transition(
                native.LifecycleTransition(
                    record_id,
                    subject_id,
                    native.LifecycleState.ARCHIVED,
                    int(standing["generation"]),
                    _HOST,
                    "archived",
                )
            )

    def note_outcome(self, subject_id: str, record_id: str, outcome: str, utility: float) -> None:
        """Writes into the audit log how something did; nothing else changes."""
        told = {"record_id": record_id, "outcome": outcome, "utility": utility}
        with native.native_call():
            self._memory.log_action(subject_id, _OUTCOME_EVENT, told, actor=_HOST)

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block whose changes are kept all together, or not at all when it fails."""
        with native.native_call(), self._memory.store.transaction(immediate=True):
            yield

    def promote(self, subject_id: str, record_id: str, actor: str) -> None:
        """Makes a quarantined record active."""
        with native.native_call():
            self._memory.promote(subject_id, record_id, actor=actor)

    def reject(self, subject_id: str, record_id: str, actor: str) -> None:
        """Purges a quarantined record."""
        with native.native_call():
            self._memory.reject(subject_id, record_id, actor=actor)

    def decide(self, proposal: Proposal, *, approve: bool, reviewer: str) -> None:
        """Settles a pending proposal; a procedure with an authorization that atmem issues."""
        authorization = None
        with native.native_call():
            if proposal.memory_class == _PROCEDURE:
                authorization = self._memory.issue_review_authorization(
                    reviewer, scopes=(_REVIEW_SCOPE,)
                )
            native.ReviewService(self._memory).decide(
                proposal.proposal_id,
                "approve" if approve else "reject",
                actor=reviewer,
                authorization=authorization,
            )
