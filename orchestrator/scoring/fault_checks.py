"""Whether the declared faults happened and hit this trial's operation at its window (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Iterable

from chaos.plans import AT_ONCE
from chaos.receipts import (
    ClockReceipt,
    FaultReceipt,
    KillReceipt,
    LeaseWaitReceipt,
    TelemetryReceipt,
)
from chaos.windows import BarrierHold, window
from orchestrator.model import Cell, ExpiryMode, Fate, FaultKind
from orchestrator.plan import Member
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts

__all__ = ["check_fault"]

_TELEMETRY = {FaultKind.TELEMETRY_DROP: "drop", FaultKind.OBSERVER_DOWN: "observer_down"}
_DELIVERED = frozenset({"deliver"})
_FATES = {Fate.DROP: frozenset({"drop", "disconnect", "died with its host"})}
_POINTS = {
    Fate.LATE_BEFORE_RESUME: "before_resume",
    Fate.LATE_AFTER_DECISION: "after_decision",
    Fate.LATE_AFTER_COMPLETION: "after_completion",
    Fate.LATE_AFTER_KEY_END: "after_key_end",
}


def check_fault(find: Finder, facts: BatchFacts, member: Member) -> bool:
    """Check receipts and window; both are the rig's, so what does not hold is ERROR.

    Returns:
        Whether every declared fault is proven and the operation stood at its window, once.
    """
    lacking = [text for one in facts.receipts for text in one.missing()]
    lacking += _undeclared(member.cell, facts)
    error = facts.evidence.error
    if error is not None:
        lacking.append(f"the batch ended early at {error.step}")
    find.rig("rig.receipt", "MQ-C-09", not lacking, "every fault is proven", "; ".join(lacking))
    stood = 0 if facts.kill is None else facts.kill.held_workflows.count(member.workflow_id)
    holds = facts.held[member.workflow_id]
    once = stood == 1 and holds == _holds_wanted(member.cell)
    find.rig("rig.window", "MQ-C-08", once, "held once", f"stood {stood} times, held {holds} times")
    return once and not lacking


def _holds_wanted(cell: Cell) -> int:
    """Holds that the trace must show: a host's own barrier leaves none there."""
    name = "" if cell.window is None else cell.window.value
    return 0 if isinstance(window(name).hold, BarrierHold) else 1


def _undeclared(cell: Cell, facts: BatchFacts) -> Iterable[str]:
    """What a cell declares and no receipt speaks of."""
    way = facts.evidence.expiry
    yield from _kill_problems(cell, facts.kill)
    told = _TELEMETRY.get(cell.fault)
    if told is not None and not any(_is_telemetry(one, told) for one in facts.receipts):
        yield f"telemetry: no receipt of {told}"
    jumps = [one for one in facts.receipts if isinstance(one, ClockReceipt)]
    memory = [one.asked_skew_ns for one in jumps if one.service == "memory"]
    if cell.fault is FaultKind.CLOCK_JUMP and not any(jump < 0 for jump in memory):
        yield "clock: no receipt of a jump backward"
    if way is ExpiryMode.SKEWED and not any(jump > 0 for jump in memory):
        yield "clock: no receipt of the jump over the lease's end"
    waited = any(isinstance(one, LeaseWaitReceipt) for one in facts.receipts)
    if way in (ExpiryMode.CONFIGURED, ExpiryMode.REAL) and not waited:
        yield "lease: no receipt of the wait for its end"
    ended = [one for one in jumps if one.service == "destination" and one.asked_skew_ns > 0]
    if cell.fate is Fate.LATE_AFTER_KEY_END and not ended:
        yield "clock: no receipt of the jump over the key's end"


def _kill_problems(cell: Cell, kill: KillReceipt | None) -> Iterable[str]:
    if kill is None:
        yield "kill: no receipt"
        return
    if cell.window is None or kill.window != cell.window.value:
        yield f"kill: at {kill.window}"
    killed = {_role(target.service) for target in kill.targets}
    if killed != set(cell.target.services):
        yield f"kill: {', '.join(sorted(killed)) or 'nobody'} died"
    release = kill.release
    if release is None:
        return
    if release.fate not in _FATES.get(cell.fate, _DELIVERED):
        yield f"release: {release.fate}"
    if release.point != _POINTS.get(cell.fate, AT_ONCE):
        yield f"release: {release.point}"


def _is_telemetry(receipt: FaultReceipt, fault: str) -> bool:
    return isinstance(receipt, TelemetryReceipt) and receipt.fault == fault


def _role(service: str) -> str:
    """Either host may hold the agent's role when it is killed."""
    return "agent" if service == "standby" else service
