"""Whether the faults that a family's case declares happened (DESIGN §5)."""

from __future__ import annotations

from collections import Counter

from chaos.receipts import FaultReceipt
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.families import FamilyCase

__all__ = ["check_case_faults"]


def check_case_faults(find: Finder, facts: BatchFacts, case: FamilyCase) -> bool:
    """Check receipts: each that is there is complete, and each that is declared is there.

    Returns:
        Whether every declared fault is proven and the batch came to its end.
    """
    lacking = [text for one in facts.receipts for text in one.missing()]
    there: Counter[str] = Counter()
    for receipt in facts.receipts:
        there.update(_names(receipt))
    for name, wanted in Counter(case.receipts).items():
        if there[name] < wanted:
            lacking.append(f"{name}: {there[name]} of {wanted} receipts")
    error = facts.evidence.error
    if error is not None:
        lacking.append(f"the batch ended early at {error.step}")
    find.rig("rig.receipt", "MQ-C-09", not lacking, "every fault is proven", "; ".join(lacking))
    return not lacking


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
