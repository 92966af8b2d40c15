"""Rows and answers of atmem's Memory as frozen values (pure)."""

from collections.abc import Mapping
from typing import Any

from services.vendors.atmem.record_model import Circle, Proposal, Record

__all__ = ["proposal_of", "record_of"]


def record_of(row: Mapping[str, Any], *, excluded: bool, archived: bool) -> Record:
    """A row of atmem's `list`, with what it keeps in other tables."""
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
        archived=archived,
        trust_tier=str(row["trust_tier"]),
        source_type=str(row["source_type"]),
        memory_class=str(raw.get("memory_class") or ""),
        proposal_id=str(raw.get("proposal_id") or ""),
        taints=_texts(raw.get("taint_labels")),
        source_ids=_texts(raw.get("source_ids")),
        parents=_texts(raw.get("related_record_ids")),
        superseded_by=str(raw.get("superseded_by_id") or ""),
    )


def proposal_of(outcome: Mapping[str, Any]) -> Proposal:
    """An extraction proposal as atmem lists it; a text that it did not keep is empty."""
    kept = outcome.get("proposal") or {}
    evidence = kept.get("evidence") or ()
    # 2.3.6 puts a placeholder and the digest of the text in its place, 2.3.10 says that it did.
    redacted = bool(kept.get("redacted")) or "fact_sha256" in kept
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
