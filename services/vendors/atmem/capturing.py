"""Offers as atmem's own requests: a captured source, and what is proposed out of it."""

from collections.abc import Mapping
from typing import Any, Final

from services.common.canonical import sha256_hex
from services.vendors.atmem import native
from services.vendors.atmem.record_model import Circle, Offer

__all__ = ["capture_request", "extraction_proposal", "fact_proposal", "scope_of"]

# Nobody interprets: what is proposed is the message itself.
_INTERPRETER: Final = ("memqual", "verbatim", "v1")
_BINDING_METHODS: Final = {
    "host_authenticated": "host_authenticated_turn",
    "caller_asserted": "caller_asserted",
}


def scope_of(circle: Circle) -> Any:
    """The authority scope of a circle."""
    return native.AuthorityScope(circle.subject_id, circle.agent_id, circle.workspace_id)


def capture_request(offer: Offer) -> Any:
    """The message as a source to be captured, its text retained as atmem does by default."""
    capture = offer.capture
    return native.SourceCaptureRequest(
        source_id=capture.source_id,
        idempotency_key=capture.idempotency_key,
        scope=scope_of(capture.circle),
        message=capture.message,
        source_type=capture.source_type,
        host_message_id=capture.host_message_id or None,
        binding_method=_BINDING_METHODS[capture.assurance],
        binding_assurance=capture.assurance,
    )


def fact_proposal(offer: Offer, request: Any) -> Any:
    """The message as a fact that is related to its parents."""
    return native.MemoryProposal(
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


def extraction_proposal(
    offer: Offer, request: Any, proposal_id: str, replaced: Mapping[str, Any] | None
) -> Any:
    """The message as a proposal of any class, to be added or in place of a record.

    Args:
        offer: what is offered.
        request: its source.
        proposal_id: the proposal's id.
        replaced: atmem's row of the record that it replaces, as it stands; None to add.
    """
    message = offer.capture.message
    preconditions = () if replaced is None else (_precondition(replaced),)
    action = native.ProposalAction.ADD if replaced is None else native.ProposalAction.SUPERSEDE
    return native.ExtractionProposal(
        proposal_id=proposal_id,
        idempotency_key=offer.capture.idempotency_key,
        scope=request.scope,
        action=action,
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
        affected_record_ids=tuple(one.record_id for one in preconditions),
        preconditions=preconditions,
        review_required=not offer.capture.of_authenticated_user,
    )


def _precondition(row: Mapping[str, Any]) -> Any:
    """A record as it stood when it was looked at: atmem refuses when it has changed since."""
    return native.ProposalPrecondition(
        record_id=str(row["id"]),
        generation=int(row.get("generation") or 0),
        status=str(row["status"]),
        content_sha256=f"sha256:{sha256_hex(str(row.get('content') or '').encode())}",
    )
