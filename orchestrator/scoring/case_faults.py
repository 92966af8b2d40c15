"""Whether the faults that a family's case declares happened (DESIGN §5)."""

from __future__ import annotations

from collections import Counter

from chaos.receipts import FaultReceipt
from orchestrator.model import ExpiryMode
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.families import FamilyCase

__all__ = ["check_case_faults"]

_JUMP = "clock:memory"
_WAIT = "lease_wait:memory"


def check_case_faults(find: Finder, facts: BatchFacts, case: FamilyCase) -> bool:
    """Check receipts: each that is there is complete, and each that is declared is there.

    Returns:
        Whether every declared fault is proven and the batch came to its end.
    """
    lacking = [text for one in facts.receipts for text in one.missing()]
    there: Counter[str] = Counter()
    for receipt in facts.receipts:
        there.update(_names(receipt))
    for name, wanted in _wanted(facts, case).items():
        if there[name] < wanted:
            lacking.append(f"{name}: {there[name]} of {wanted} receipts")
    error = facts.evidence.error
    if error is not None:
        lacking.append(f"the batch ended early at {error.step}")
    find.rig("rig.receipt", "MQ-C-09", not lacking, "every fault is proven", "; ".join(lacking))
    return not lacking


def _wanted(facts: BatchFacts, case: FamilyCase) -> Counter[str]:
    """The receipts that are wanted, by the way in which leases ended.

    Where they were waited for, a case's jumps of the memory's clock are its waits: a case that
    moves that clock for anything else is not run there.
    """
    wanted = Counter(case.receipts)
    waited = facts.evidence.expiry in (ExpiryMode.CONFIGURED, ExpiryMode.REAL)
    if waited and facts.evidence.batch.cell.arm.has_memory:
        wanted[_WAIT] = max(1, wanted.pop(_JUMP, 0))
    return wanted


def _names(receipt: FaultReceipt) -> set[str]:
    """`kind`, and `kind:service` for each service that the receipt speaks of."""
    kind = str(getattr(receipt, "kind", ""))
    services = {str(getattr(receipt, "service", ""))}
    target = getattr(receipt, "target", None)
    services.add(str(getattr(target, "service", "")))
    services |= {str(one.service) for one in getattr(receipt, "targets", ())}
    # Either host may hold the agent's role when it is met.
    roles = {"agent" if name == "standby" else name for name in services if name}
    return {kind, *(f"{kind}:{role}" for role in roles)}
