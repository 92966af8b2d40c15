"""Every write of every retail task, killed at every window (DESIGN §5, §10).

A trial is one write of one task: what the task does before it is done, the host dies while the
write stands at the window, another host goes on to the task's end. The store's state is then the
known one. The tasks are the benchmark's where its store is given, else those of the generated one.
"""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode, TargetSet, WindowName
from orchestrator.suites.continuity.families.model import FamilyCase, Need

__all__ = ["CASES", "WINDOW_OF"]

_UNCERTAIN = frozenset(
    {
        WindowName.AFTER_LEASE,
        WindowName.IN_REQUEST,
        WindowName.AFTER_COMMIT,
        WindowName.AFTER_RESPONSE,
    }
)
"""Windows after which the lease must end before anybody can say what became of the write."""

_WRITES = 90
"""Writes of the benchmark's 57 tasks; the generated tasks have fewer, and meet more than once."""

_BATCHES = 5


def _case(window: WindowName) -> FamilyCase:
    uncertain = window in _UNCERTAIN
    return FamilyCase(
        name=f"golden.{window.value}",
        title="Each write of each retail task is killed at this window; the task goes on to the "
        "known final state.",
        requirement_id="MQ-C-96",
        capabilities=(
            CapabilityVariant.NONE,
            CapabilityVariant.QUERY_FENCED,
            CapabilityVariant.IDEMPOTENT,
        ),
        target=TargetSet.AGENT,
        expiry=ExpiryMode.SKEWED if uncertain else ExpiryMode.NONE,
        needs=frozenset({Need.RETAIL_TASKS}),
        receipts=("kill:agent", "clock:memory") if uncertain else ("kill:agent",),
        effects_per_operation=1,
        operations=_WRITES // _BATCHES,
        batches=_BATCHES,
        own_workload=True,
    )


CASES = tuple(_case(window) for window in WindowName)

WINDOW_OF = {case.name: window for case, window in zip(CASES, WindowName, strict=True)}
"""Where each case's writes are held."""
