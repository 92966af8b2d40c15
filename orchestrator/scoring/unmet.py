"""What a trial's case is about and could not be taken to (DESIGN §4, §7).

What a revision is, beside a grant, is the memory's own. Where a limit on attempts is met before so
many grants, only a memory that counts challenges can be taken to its limit on revisions; of any
other nothing shows whether it keeps to it. A challenge may end when no clock gets to, and where no
approval is taken none is consumed.
"""

from __future__ import annotations

import grpc

from orchestrator.model import NotRunSubtype
from orchestrator.plan import Member
from orchestrator.scoring.declared import NotRun
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families.probes import marks_of, probes_of, refused_with
from orchestrator.suites.continuity.families.limits import CHALLENGED, revisions_to_grant
from orchestrator.suites.continuity.families.resolve import BEYOND_CLOCKS
from orchestrator.suites.continuity.families.rollback import NO_REVIEW

__all__ = ["unmet"]

_APPROVAL = "rollback.approval"
_REVISIONS = "limits.revisions"
_EXHAUSTED = refused_with(grpc.StatusCode.RESOURCE_EXHAUSTED)


def unmet(facts: BatchFacts, member: Member) -> NotRun | None:
    """Why a trial did not get to what its case is about; None where it did.

    Args:
        facts: The batch's raw evidence.
        member: The trial.
    """
    if member.cell.case == _REVISIONS:
        return _unmet_revisions(facts, member)
    if member.cell.case == _APPROVAL:
        return _unused_approval(facts, member)
    if marks_of(facts, BEYOND_CLOCKS, member.workflow_id):
        return NotRun(
            subtype=NotRunSubtype.PLATFORM,
            cause="the challenge ends later than the memory's clock can be set to",
        )
    return None


def _unused_approval(facts: BatchFacts, member: Member) -> NotRun | None:
    """Nothing to review, or an approval that is never taken: the integrity axis's affair."""
    asked = probes_of(facts, member.workflow_id)
    if any(one.status_code == 0 for one in asked):
        return None
    if marks_of(facts, NO_REVIEW, member.workflow_id) or (
        asked and all(map(refused_with(), asked))
    ):
        return NotRun(
            subtype=NotRunSubtype.NOT_EXPRESSIBLE,
            cause="no approval was taken, so that none can be presented again",
        )
    return None


def _unmet_revisions(facts: BatchFacts, member: Member) -> NotRun | None:
    if revisions_to_grant(facts.describe.limits) is not None:
        return None
    asked = [one for one in probes_of(facts, member.workflow_id) if one.name == CHALLENGED]
    if not asked or any(map(_EXHAUSTED, asked)):
        return None
    most = facts.describe.limits.max_revisions_per_operation
    if not most:
        return NotRun(
            subtype=NotRunSubtype.CAPABILITY_ABSENT, cause="no limit on revisions is declared"
        )
    return NotRun(
        subtype=NotRunSubtype.NOT_EXPRESSIBLE,
        cause=f"the limit of {most} revisions was not met: grants do not reach it,"
        f" and of challenges one more was {asked[-1].status}",
    )
