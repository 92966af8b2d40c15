"""What a reviewer's decision is in atmem, for each thing that can be decided."""

from collections.abc import Mapping, Sequence

from services.vendors.atmem.finding import Found
from services.vendors.atmem.record_model import Circle, HouseholdPort, ReviewerAuthority
from services.vendors.atmem.reviews import APPROVE, PROMOTE

__all__ = ["authorities", "settle"]


def authorities(key_id: str, found: Sequence[Found]) -> Mapping[Circle, ReviewerAuthority]:
    """The reviewer of a key as atmem is to trust it, once for each circle of what it decides.

    atmem binds a reviewer's name to one circle, so every further circle has a name of its own.
    """
    circles = dict.fromkeys(one.circle for one in found)
    return {
        circle: ReviewerAuthority(
            f"reviewer:{key_id}" if number == 1 else f"reviewer:{key_id}:{number}", circle
        )
        for number, circle in enumerate(circles, start=1)
    }


def settle(
    household: HouseholdPort, found: Found, action: str, decision: str, reviewer: str
) -> None:
    """Carries one decision out."""
    subject_id, approve = found.circle.subject_id, decision == APPROVE
    if found.record is None:
        assert found.proposal is not None  # find() gives one of the two
        household.decide(found.proposal, approve=approve, reviewer=reviewer)
    elif action != PROMOTE:
        if approve:
            household.exclude(subject_id, found.record.record_id, excluded=False, reason="released")
    elif approve:
        household.promote(subject_id, found.record.record_id, reviewer)
    else:
        household.reject(subject_id, found.record.record_id, reviewer)
