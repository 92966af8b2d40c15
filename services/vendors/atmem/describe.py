"""What this adapter declares of atmem 2.3.6 and 2.3.10; CAPABILITIES.md gives the reasons."""

from dataclasses import dataclass
from typing import Final

from memqual.v1 import vendor_pb2
from services.vendors.atmem.model import (
    ATTEMPTS_MAX,
    LEASE_SECONDS,
    RENEWALS_MAX,
    REVISIONS_MAX,
)

__all__ = ["NAME", "SURFACES", "describe"]

NAME: Final = "atmem"
SURFACES: Final = (
    vendor_pb2.SURFACE_CANONICAL,
    vendor_pb2.SURFACE_GRAPH,
    vendor_pb2.SURFACE_INDEX,
    vendor_pb2.SURFACE_AUDIT,
)
TAINT_ORDER: Final = ("UNTRUSTED_CONTENT", "DERIVED_FROM_TAINTED")


@dataclass(frozen=True, slots=True)
class _Declared:
    """One capability and what it does not cover."""

    capability: vendor_pb2.Capability.ValueType
    status: vendor_pb2.CapabilityStatus.ValueType
    limitation: str


_SUPPORTED: Final = vendor_pb2.CAPABILITY_STATUS_SUPPORTED
_ABSENT: Final = vendor_pb2.CAPABILITY_STATUS_ABSENT
_NOT_EXPRESSIBLE: Final = vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE

_RECORDS: Final = (
    _Declared(
        vendor_pb2.CAPABILITY_SOURCE_TRUST,
        _SUPPORTED,
        "Trust comes from type and assurance of the captured source. An assistant's message that "
        "the host authenticated counts as trusted. A statement that equals a quarantined record "
        "is a duplicate of it, whoever makes it.",
    ),
    _Declared(
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT,
        _SUPPORTED,
        "Facts only. Parents are looked at once, when the child is proposed; what happens to a "
        "parent later does not reach it. A parent excluded from recall still counts as active.",
    ),
    _Declared(
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
        _ABSENT,
        "Labels are handed on from parent to child when the child is made; atmem never walks to "
        "ancestors or descendants.",
    ),
    _Declared(
        vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY,
        _SUPPORTED,
        "As free text. Typed procedures need an encrypted household (SQLCipher), which this "
        "installation does not have. The active list is read from the class of active records.",
    ),
    _Declared(
        vendor_pb2.CAPABILITY_AUTHORITY_GATING,
        _SUPPORTED,
        "A procedure stays pending until a review with an authorization that atmem issues, bound "
        "to subject, agent and workspace, not to one record. Promoting a quarantined fact wants "
        "no authorization of atmem's; the adapter promotes on a signed challenge only.",
    ),
    _Declared(vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL, _ABSENT, "No concept of a purpose."),
    _Declared(
        vendor_pb2.CAPABILITY_SECRET_BLOCKING,
        _SUPPORTED,
        "By patterns, and for records, proposals, index, graph and audit. The text of the captured "
        "source (the transcript) is retained evidence (retain_body, on by default), whatever "
        "becomes of what was proposed out of it: it is there, it is no scored surface, and the "
        "canonical export has its size and digest in its place.",
    ),
)

_CONTINUITY: Final = (
    _Declared(
        vendor_pb2.CAPABILITY_CONTINUITY,
        _SUPPORTED,
        "One workflow of atmem for each operation. A question to the destination is an attempt "
        "with a lease of its own and supersedes the attempt before. A tool's refusal completes "
        "nothing. An operator's word is not served: atmem has abandon only, and no challenge.",
    ),
    _Declared(
        vendor_pb2.CAPABILITY_BEGIN_REPLAY,
        _ABSENT,
        "A caller mints an attempt id for each begin; one that comes again is blocked, never "
        "answered with its grant. A repeated Begin is a begin of its own here.",
    ),
    _Declared(
        vendor_pb2.CAPABILITY_FINAL_ABSENCE,
        _ABSENT,
        "Whatever a question brings but the effect leaves the call uncertain; the next begin asks "
        "again, until 100 attempts are used.",
    ),
    _Declared(
        vendor_pb2.CAPABILITY_DECISION_PEEK, _ABSENT, "begin decides and grants in one call."
    ),
    _Declared(
        vendor_pb2.CAPABILITY_INTENT_MATCHING,
        _ABSENT,
        "A workflow is known by its key alone; equal intents under another key are other work.",
    ),
)

# Of a version without the continuity package.
_NO_CONTINUITY: Final = tuple(
    _Declared(one.capability, _ABSENT, "This version has no continuity package.")
    for one in _CONTINUITY
)

_OTHERS: Final = (
    _Declared(
        vendor_pb2.CAPABILITY_ROLLBACK_DETECTION,
        _NOT_EXPRESSIBLE,
        "Memory.verify against a checkpoint kept elsewhere notices records set back; the contract "
        "has no way to keep one. A continuity vault has no such check.",
    ),
    _Declared(vendor_pb2.CAPABILITY_NARRATIVE, _ABSENT, "atmem answers no questions in words."),
    _Declared(vendor_pb2.CAPABILITY_NARRATIVE_TRACES, _ABSENT, "As narrative."),
)
_LIMITS: Final = vendor_pb2.Limits(
    lease_seconds=LEASE_SECONDS,
    max_renewals=RENEWALS_MAX,
    max_attempts_per_operation=ATTEMPTS_MAX,
    max_revisions_per_operation=REVISIONS_MAX,
    # One attempt executes, the rest may ask.
    max_uncertain_queries=ATTEMPTS_MAX - 1,
    # A question is an attempt, and no other begins while its lease is live.
    question_lease_seconds=LEASE_SECONDS,
)


def describe(version: str, *, continuity: bool = True) -> vendor_pb2.DescribeResponse:
    """The declaration of an installed version; `continuity` says whether it has the package."""
    declared = (*_RECORDS, *(_CONTINUITY if continuity else _NO_CONTINUITY), *_OTHERS)
    return vendor_pb2.DescribeResponse(
        name=NAME,
        version=version,
        limits=_LIMITS if continuity else None,
        lease_clock=vendor_pb2.LEASE_CLOCK_WALL
        if continuity
        else vendor_pb2.LEASE_CLOCK_UNSPECIFIED,
        llm_in_loop=False,
        deterministic=True,
        scored_surfaces=SURFACES,
        capabilities=[_declaration(one) for one in declared],
        taint_order=TAINT_ORDER,
        model_disclosure="No language model. Recall ranks words; vectors come from local hashing.",
    )


def _declaration(one: _Declared) -> vendor_pb2.CapabilityDeclaration:
    native = one.status == _SUPPORTED
    return vendor_pb2.CapabilityDeclaration(
        capability=one.capability,
        status=one.status,
        enforcement=vendor_pb2.ENFORCEMENT_NATIVE if native else vendor_pb2.ENFORCEMENT_UNSPECIFIED,
        limitation=one.limitation,
    )
