"""The rules of a review: what can be decided, by whom, and for how long (DESIGN §4, pure).

A reviewer's signature makes exactly the named contents authoritative. The reviewer answers for
their doubts, so they are cleared; children that exist by then keep theirs and need their own.
"""

from dataclasses import replace

from services.common.challenges import PublicKey, signature_valid
from services.memory.records.model import Reason, Scope, Standing, State, Trust

__all__ = ["ACTIONS", "PROMOTE", "RELEASE", "ReviewRules"]

PROMOTE = "promote"
RELEASE = "release"
ACTIONS = (PROMOTE, RELEASE)
CHALLENGE_SECONDS = 600


class ReviewRules:
    """One small rule each, for controls to override."""

    challenge_seconds: int = CHALLENGE_SECONDS

    def decidable(self, action: str, standing: Standing) -> bool:
        """True when a review of this action has something to decide.

        "promote" makes any active, quarantined or archived record reviewed; "release" brings back
        one that had been trusted and is quarantined or archived, and no other. What was superseded
        or forgotten is not brought back by a review.
        """
        held_back = standing.state in (State.QUARANTINED, State.ARCHIVED)
        if action == RELEASE:
            return held_back and standing.trust is not Trust.UNTRUSTED
        if standing.state is State.ACTIVE:
            return standing.trust is not Trust.REVIEWED
        return held_back

    def same_scope(self, asked: Scope, deciding: Scope) -> bool:
        """True when the decision comes for exactly the circle that the challenge was issued in."""
        return asked == deciding

    def unused(self, decision: str) -> bool:
        """True while a challenge has not been decided; `decision` is "" until then."""
        return decision == ""

    def in_time(self, now_unix_ns: int, expires_unix_ns: int) -> bool:
        """True before the expiry, by a clock that never goes back."""
        return now_unix_ns < expires_unix_ns

    def may_decide(self, key: PublicKey, principal: str) -> bool:
        """True when the key's owner is the one whose decision is wanted."""
        return key.speaks_for(principal)

    def signed(self, key: PublicKey, signature: bytes, message: bytes) -> bool:
        """True when the key's owner signed exactly this challenge and this decision."""
        return signature_valid(key, signature, message)

    def unchanged(self, revision_then: int, revision_now: int) -> bool:
        """True when a record is what it was when the challenge was issued."""
        return revision_then == revision_now

    def approved(self, standing: Standing) -> Standing:
        """Standing after a reviewer's approval."""
        return Standing(
            State.ACTIVE,
            Trust.REVIEWED,
            (),
            _with(standing.reasons, Reason.REVIEW_APPROVED),
        )

    def refused(self, standing: Standing) -> Standing:
        """Standing after a reviewer's rejection: as before, and marked."""
        return replace(standing, reasons=_with(standing.reasons, Reason.REVIEW_REJECTED))


def _with(reasons: tuple[str, ...], reason: Reason) -> tuple[str, ...]:
    return (*(known for known in reasons if known != reason), reason)
