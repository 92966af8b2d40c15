"""Limits: a memory keeps to what it declares, no more and no less, and meeting one is no harm."""

from __future__ import annotations

from memqual.v1 import vendor_pb2
from orchestrator.model import CapabilityVariant, ExpiryMode
from orchestrator.suites.continuity.families.model import End, FamilyCase, Weight
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS

__all__ = [
    "CASES",
    "CHALLENGED",
    "attempts_to_take",
    "operations_to_bind",
    "renewals_to_take",
    "revisions_to_grant",
    "revisions_to_make",
]

CHALLENGED = "challenge beyond"
"""Label of the challenge that is asked for when none should be left."""

_NONE = (CapabilityVariant.NONE,)

_RENEWALS_MAX = 60
_ATTEMPTS_MAX = 120
_OPERATIONS_MAX = 250
_REVISIONS_MAX = 2_500


def _within(declared: int, most: int) -> int | None:
    """How often something can be done until a limit is met; None where that is too often."""
    return declared if 0 < declared <= most else None


def renewals_to_take(limits: vendor_pb2.Limits) -> int | None:
    """Renewals after which none is left; None where more are declared than are tried."""
    return _within(limits.max_renewals, _RENEWALS_MAX)


def _most_attempts(limits: vendor_pb2.Limits) -> int:
    """Attempts that are tried at most: within what a key covers."""
    return min(_ATTEMPTS_MAX, LONG_RETENTION_SECONDS // (limits.lease_seconds + 2) - 1)


def attempts_to_take(limits: vendor_pb2.Limits) -> int | None:
    """Attempts after which none is left; None where a key ends before, or too many are declared."""
    return _within(limits.max_attempts_per_operation, _most_attempts(limits))


def operations_to_bind(limits: vendor_pb2.Limits) -> int | None:
    """Operations after which a workflow is full; None where more are declared than are tried."""
    return _within(limits.max_operations_per_workflow, _OPERATIONS_MAX)


def revisions_to_make(limits: vendor_pb2.Limits) -> int | None:
    """Revisions after which none is left; None where more are declared than are tried."""
    return _within(limits.max_revisions_per_operation, _REVISIONS_MAX)


def revisions_to_grant(limits: vendor_pb2.Limits) -> int | None:
    """Grants after which no revision is left, however the others are counted.

    None where a limit on attempts is met first, or by then, or too many are declared: what else is
    a revision is the memory's own.
    """
    most = _most_attempts(limits)
    if limits.max_attempts_per_operation:
        most = min(most, limits.max_attempts_per_operation - 1)
    return _within(limits.max_revisions_per_operation, most)


CASES = (
    FamilyCase(
        name="limits.renewals",
        title="A lease is renewed as often as is declared, and once more.",
        requirement_id="MQ-C-35",
        capabilities=(CapabilityVariant.NONE, CapabilityVariant.IDEMPOTENT),
        end=End.NO_HOST,
        operations=3,
    ),
    FamilyCase(
        name="limits.renewal_holder",
        title="Another's lease, a lease that ended and a completed one are asked to be renewed.",
        requirement_id="MQ-C-36",
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=3,
    ),
    FamilyCase(
        name="limits.attempts",
        title="An operation takes as many attempts as are declared, and is asked for one more.",
        requirement_id="MQ-C-37",
        capabilities=(CapabilityVariant.IDEMPOTENT,),
        expiry=ExpiryMode.SKEWED,
        end=End.NO_HOST,
        operations=2,
        weight=Weight.FULL,
        own_stack=True,
    ),
    FamilyCase(
        name="limits.operations",
        title="A workflow holds as many operations as are declared, and is asked to take one more.",
        requirement_id="MQ-C-38",
        capabilities=_NONE,
        end=End.NO_HOST,
        operations=2,
    ),
    FamilyCase(
        name="limits.revisions",
        title="An operation is revised until its limit, which is kept; what completes it is taken.",
        requirement_id="MQ-C-39",
        capabilities=(CapabilityVariant.IDEMPOTENT,),
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=1,
        weight=Weight.FULL,
        own_stack=True,
    ),
)
