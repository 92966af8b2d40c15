"""atmem's refusals as the contract's statuses and reason codes (pure).

atmem refuses with exceptions whose type says little and whose text says all; each text that this
adapter can meet stands here. What is not known is FAILED_PRECONDITION, or PERMISSION_DENIED for a
PermissionError. A status carries the known text, never the rest of atmem's message, which may name
what was sent.
"""

from dataclasses import dataclass
from typing import Final

import grpc

from services.common.errors import ServiceError
from services.vendors.atmem.model import NativeRefusal, RefusalKind

__all__ = ["CLOCK_BEHIND", "KEY_CONFLICT", "Rule", "known_rule", "reason_code", "service_error"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One refusal of atmem.

    Attributes:
        text: words that its message has.
        code: status that the contract has for it.
    """

    text: str
    code: grpc.StatusCode


KEY_CONFLICT: Final = Rule(
    "workflow key conflicts with existing definition", grpc.StatusCode.FAILED_PRECONDITION
)
CLOCK_BEHIND: Final = Rule("controller clock moved backwards", grpc.StatusCode.UNAVAILABLE)

_RULES: Final = (
    KEY_CONFLICT,
    CLOCK_BEHIND,
    # Continuity: limits.
    Rule("receipt exceeds 64 KiB", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("workflow definition exceeds 256 KiB", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("coordinator open workflow limit reached", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("coordinator retained history limit reached", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("workflow revision limit reached", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("revision capacity reserved", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("lease renewal limit reached", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("late receipt limit reached", grpc.StatusCode.RESOURCE_EXHAUSTED),
    # Continuity: state.
    Rule("workflow not found", grpc.StatusCode.NOT_FOUND),
    Rule("operation not found", grpc.StatusCode.NOT_FOUND),
    Rule("workflow deleted", grpc.StatusCode.FAILED_PRECONDITION),
    Rule("stale lease", grpc.StatusCode.FAILED_PRECONDITION),
    Rule("no active attempt to renew", grpc.StatusCode.FAILED_PRECONDITION),
    Rule("idempotency retention must exceed timeout", grpc.StatusCode.FAILED_PRECONDITION),
    # Records: limits, then state.
    Rule("fact must contain", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("a fact of at most 2,000 characters", grpc.StatusCode.RESOURCE_EXHAUSTED),
    Rule("references an unknown related record", grpc.StatusCode.NOT_FOUND),
    Rule("related record is outside the authority scope", grpc.StatusCode.NOT_FOUND),
    Rule("is not available for deletion", grpc.StatusCode.NOT_FOUND),
    Rule("unknown proposal", grpc.StatusCode.NOT_FOUND),
    Rule("was already decided", grpc.StatusCode.FAILED_PRECONDITION),
    Rule("was decided concurrently", grpc.StatusCode.FAILED_PRECONDITION),
    Rule("-> archived is not allowed", grpc.StatusCode.FAILED_PRECONDITION),
    Rule("is not active", grpc.StatusCode.FAILED_PRECONDITION),
    Rule("is not quarantined", grpc.StatusCode.FAILED_PRECONDITION),
)


def known_rule(refusal: NativeRefusal) -> Rule | None:
    """The refusal as it stands in the list; None for one that does not."""
    return next((rule for rule in _RULES if rule.text in refusal.words), None)


def reason_code(rule: Rule) -> str:
    """The words of atmem as a reason code of the contract."""
    return "_".join(rule.text.lower().split())[:64]


def service_error(refusal: NativeRefusal) -> ServiceError:
    """The status with which the contract says what atmem said."""
    if refusal.kind is RefusalKind.STORAGE:
        return ServiceError(
            grpc.StatusCode.UNAVAILABLE, "atmem's storage cannot be used now; see the log"
        )
    rule = known_rule(refusal)
    if rule is not None:
        return ServiceError(rule.code, f"atmem: {rule.text}")
    if refusal.kind is RefusalKind.PERMISSION:
        return ServiceError(grpc.StatusCode.PERMISSION_DENIED, "atmem denied it")
    return ServiceError(grpc.StatusCode.FAILED_PRECONDITION, "atmem refused it")
