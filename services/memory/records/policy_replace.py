"""The rules of replacing, putting out of use and reporting outcomes (DESIGN §4, pure).

A newcomer replaces a record only with at least its authority; otherwise it is kept as what it is,
beside the record that it did not replace. What was put out of use comes back by an attesting
source's new statement or a reviewer's signature only. What callers report of a procedure is kept
beside it and decides nothing.
"""

from dataclasses import replace

from services.memory.records.model import Kind, Outcome, Outcomes, Reason, Standing, State, Trust

__all__ = ["REASONS_MAX", "ReplaceRules", "appended"]

REASONS_MAX = 32
COUNT_MAX = 2**53 - 1
MICROS_PER_UNIT = 1_000_000


class ReplaceRules:
    """One small rule each, for controls to override."""

    # Supersede

    def supersedable(self, standing: Standing) -> bool:
        """True for a record that is in use or held back; what is out of use has no successor."""
        return standing.state in (State.ACTIVE, State.QUARANTINED)

    def kinds_fit(self, old: Kind, new: Kind) -> bool:
        """True when a record of one kind may take the place of one of the other."""
        return old is new

    def may_supersede(self, old: Standing, new: Standing, attested: bool) -> bool:
        """True when the newcomer has at least the authority of what it replaces.

        Args:
            old: standing of the record that is named; its trust counts, also while quarantined.
            new: standing of the newcomer as it was admitted.
            attested: an authenticated user says it himself; he may replace what a reviewer signed.
        """
        if old.trust is Trust.UNTRUSTED:
            return new.state in (State.ACTIVE, State.QUARANTINED)
        if new.state is not State.ACTIVE or new.trust is Trust.UNTRUSTED or new.taints:
            return False
        return attested or new.trust is Trust.REVIEWED or old.trust is Trust.TRUSTED

    def superseded(self, standing: Standing) -> Standing:
        """Standing of a record that has a successor; it stays inspectable as history."""
        reasons = appended(standing.reasons, Reason.SUPERSEDED)
        return replace(standing, state=State.SUPERSEDED, reasons=reasons)

    # Archive

    def archivable(self, standing: Standing) -> bool:
        """True for a record that can be put out of use, or is out of use by the same call."""
        return standing.state in (State.ACTIVE, State.QUARANTINED, State.ARCHIVED)

    def archived(self, standing: Standing) -> Standing:
        """Standing of a record that is out of use and kept."""
        if standing.state is State.ARCHIVED:
            return standing
        reasons = appended(standing.reasons, Reason.ARCHIVED)
        return replace(standing, state=State.ARCHIVED, reasons=reasons)

    # Outcomes

    def counted(self, outcomes: Outcomes, outcome: Outcome, utility: float) -> Outcomes:
        """Counters after one more report (utility 0.0..1.0); they stop at their bound."""
        micros = round(utility * MICROS_PER_UNIT)
        return Outcomes(
            helpful=min(COUNT_MAX, outcomes.helpful + (outcome is Outcome.HELPFUL)),
            harmful=min(COUNT_MAX, outcomes.harmful + (outcome is Outcome.HARMFUL)),
            neutral=min(COUNT_MAX, outcomes.neutral + (outcome is Outcome.NEUTRAL)),
            utility_micros=min(COUNT_MAX, outcomes.utility_micros + micros),
        )

    def outcome_standing(self, standing: Standing, outcomes: Outcomes) -> Standing:
        """Standing of a procedure after a report: as before, whatever was reported how often."""
        return standing


def appended(reasons: tuple[str, ...], reason: str) -> tuple[str, ...]:
    """Reasons with one more, each once, the latest kept when there are too many."""
    kept = tuple(known for known in reasons if known != reason)
    return (*kept, str(reason))[-REASONS_MAX:]
