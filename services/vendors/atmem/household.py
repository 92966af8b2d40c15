"""One namespace's household: atmem's Memory over its SQLite file, opened for one call.

atmem's own application opens a Memory for each request, too: its connection belongs to a thread,
and closing it brings the vector index up to date.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from services.vendors.atmem import native
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

__all__ = ["Household"]

_REVIEW_SCOPE: Final = "procedure:review"
_PROPOSALS_MAX: Final = 1_000
# Nobody interprets: what is proposed is the message itself.
_INTERPRETER: Final = ("memqual", "verbatim", "v1")
_BINDING_METHODS: Final = {
    "host_authenticated": "host_authenticated_turn",
    "caller_asserted": "caller_asserted",
}


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
        request = _capture_request(offer)
        with native.native_call():
            # Made first: what atmem cannot propose is not captured either.
            proposal = native.MemoryProposal(
                proposal_id=f"fact_{offer.capture.idempotency_key}",
                idempotency_key=offer.capture.idempotency_key,
                scope=request.scope,
                fact=offer.capture.message,
                source_ids=(request.source_id,),
                interpreter=native.InterpreterIdentity(
                    *_INTERPRETER, assurance="rule_extracted", egress_class="none"
                ),
                source_binding=native.SourceBinding(
                    method=request.binding_method,
                    source_sha256=request.source_sha256,
                    assurance=request.binding_assurance,
                ),
                confidence=1.0,
                related_record_ids=offer.parents,
            )
            self._memory.capture_source(request)
            admitted = self._memory.submit_proposal(proposal)
        found = (*admitted.record_ids, *admitted.candidate_ids, "")
        return Admission(admitted.decision, tuple(admitted.reason_codes), str(found[0]))

    def offer_for_review(self, offer: Offer, proposal_id: str) -> Proposal:
        """Captures a message and proposes it as a procedure or an episode."""
        request = _capture_request(offer)
        message = offer.capture.message
        with native.native_call():
            proposal = native.ExtractionProposal(
                proposal_id=proposal_id,
                idempotency_key=offer.capture.idempotency_key,
                scope=request.scope,
                action=native.ProposalAction.ADD,
                memory_class=native.MemoryClass(offer.memory_class),
                confidence=1.0,
                reason_codes=("offered_verbatim",),
                evidence=(
                    native.ProposalEvidence(
                        source_id=request.source_id,
                        source_sha256=request.source_sha256,
                        start_offset=0,
                        end_offset=len(message),
                        excerpt_sha256=request.source_sha256,
                    ),
                ),
                fact=message,
                review_required=request.source_type != "user_message",
            )
            self._memory.capture_source(request)
            outcome = self._memory.submit_extraction_proposal(proposal, source_text=message)
        return _proposal(outcome)

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
                    scope=_scope(circle),
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
        return tuple(_record(row, excluded=str(row["id"]) in excluded) for row in rows)

    def proposals(self, subject_id: str) -> tuple[Proposal, ...]:
        """All extraction proposals of a subject, oldest first, at most 1,000."""
        with native.native_call():
            found = self._memory.list_extraction_proposals(
                subject_id, review_states=None, limit=_PROPOSALS_MAX
            )
        return tuple(_proposal(one) for one in found)

    def exclude(self, subject_id: str, record_id: str, *, excluded: bool, reason: str) -> None:
        """Takes an active record out of recall, or back in."""
        with native.native_call():
            self._memory.set_retrieval_excluded(subject_id, record_id, excluded, reason=reason)

    def forget(self, subject_id: str, record_id: str) -> tuple[str, ...]:
        """Purges a record; returns the ids that were purged."""
        with native.native_call():
            deleted = self._memory.forget_record(subject_id, record_id)
        return tuple(str(one) for one in deleted["receipt"]["purged_record_ids"])

    def promote(self, subject_id: str, record_id: str, actor: str) -> None:
        """Makes a quarantined record active."""
        with native.native_call():
            self._memory.promote(subject_id, record_id, actor=actor)

    def reject(self, subject_id: str, record_id: str, actor: str) -> None:
        """Purges a quarantined record."""
        with native.native_call():
            self._memory.reject(subject_id, record_id, actor=actor)

    def decide(self, proposal_id: str, *, approve: bool, reviewer: str) -> None:
        """Settles a pending proposal, with an authorization that atmem issues for it."""
        with native.native_call():
            authorization = self._memory.issue_review_authorization(
                reviewer, scopes=(_REVIEW_SCOPE,)
            )
            native.ReviewService(self._memory).decide(
                proposal_id,
                "approve" if approve else "reject",
                actor=reviewer,
                authorization=authorization,
            )


def _scope(circle: Circle) -> Any:
    return native.AuthorityScope(circle.subject_id, circle.agent_id, circle.workspace_id)


def _capture_request(offer: Offer) -> Any:
    capture = offer.capture
    with native.native_call():
        return native.SourceCaptureRequest(
            source_id=capture.source_id,
            idempotency_key=capture.idempotency_key,
            scope=_scope(capture.circle),
            message=capture.message,
            source_type=capture.source_type,
            host_message_id=capture.host_message_id or None,
            binding_method=_BINDING_METHODS[capture.assurance],
            binding_assurance=capture.assurance,
        )


def _record(row: Mapping[str, Any], *, excluded: bool) -> Record:
    raw = row.get("raw") or {}
    scope = raw.get("authority_scope") or {}
    return Record(
        record_id=str(row["id"]),
        circle=Circle(
            str(row["subject_id"]),
            str(scope.get("agent_id") or ""),
            str(scope.get("workspace_id") or ""),
        ),
        content=str(row.get("content") or ""),
        status=str(row["status"]),
        excluded=excluded,
        trust_tier=str(row["trust_tier"]),
        source_type=str(row["source_type"]),
        memory_class=str(raw.get("memory_class") or ""),
        proposal_id=str(raw.get("proposal_id") or ""),
        taints=_texts(raw.get("taint_labels")),
        source_ids=_texts(raw.get("source_ids")),
        parents=_texts(raw.get("related_record_ids")),
    )


def _proposal(outcome: Mapping[str, Any]) -> Proposal:
    kept = outcome.get("proposal") or {}
    evidence = kept.get("evidence") or ()
    redacted = bool(kept.get("redacted"))
    return Proposal(
        proposal_id=str(outcome["proposal_id"]),
        circle=Circle(
            str(outcome["subject_id"]), str(outcome["agent_id"]), str(outcome["workspace_id"])
        ),
        memory_class=str(outcome["memory_class"]),
        content="" if redacted else str(kept.get("fact") or ""),
        review_state=str(outcome["review_state"]),
        reasons=_texts(outcome.get("reason_codes")),
        record_ids=_texts(outcome.get("record_ids")),
        source_ids=tuple(str(one["source_id"]) for one in evidence),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in value or ())
