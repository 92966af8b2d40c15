"""Cells and evidence that the scoring tests share."""

from __future__ import annotations

import json
from typing import Any

from chaos.receipts import FaultReceipt, KillReceipt, parse_receipt
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    Check,
    CheckOutcome,
    ExpiryMode,
    Fate,
    FaultKind,
    Suite,
    TargetSet,
    TrialRecord,
    WindowName,
)
from tests.orchestrator.scoring.mini_rig import Evidence, trial


def cell(**fields: object) -> Cell:
    """in_request, drop, agent, none, memory arm, skewed, unless told otherwise."""
    coordinates: dict[str, object] = {
        "suite": Suite.CONTINUITY,
        "arm": Arm.MEMORY,
        "window": WindowName.IN_REQUEST,
        "capability": CapabilityVariant.NONE,
        "target": TargetSet.AGENT,
        "fate": Fate.DROP,
        "fault": FaultKind.KILL,
        "expiry": ExpiryMode.SKEWED,
    }
    return Cell.model_validate(coordinates | fields)


KEYED = cell(capability=CapabilityVariant.IDEMPOTENT)
FENCED = cell(capability=CapabilityVariant.QUERY_FENCED)
UNFENCED = cell(capability=CapabilityVariant.QUERY_UNFENCED)
COMPLETE = cell(window=WindowName.AFTER_RECEIPT, expiry=ExpiryMode.NONE)
NEVER = cell(window=WindowName.BEFORE_INTENT, expiry=ExpiryMode.NONE)


def comparator(window: WindowName = WindowName.IN_REQUEST) -> Evidence:
    return trial(cell(arm=Arm.BASELINE, window=window, expiry=ExpiryMode.NONE))


def receipts_of(evidence: Evidence) -> list[FaultReceipt]:
    """The receipts, read back."""
    return [parse_receipt(text) for text in evidence.evidence.receipts_json]


def with_receipts(evidence: Evidence, receipts: list[FaultReceipt]) -> Evidence:
    """The same evidence with other receipts."""
    return evidence.changed(receipts_json=tuple(one.model_dump_json() for one in receipts))


def with_kill(evidence: Evidence, **fields: Any) -> Evidence:
    """The same evidence with another kill receipt."""
    changed = [
        one.model_copy(update=fields) if isinstance(one, KillReceipt) else one
        for one in receipts_of(evidence)
    ]
    return with_receipts(evidence, changed)


def with_payload(evidence: Evidence, **fields: Any) -> Evidence:
    """The same evidence with one more journal record, a copy of the first effect but for fields."""
    payloads = [json.loads(record.payload_json) for record in evidence.journal]
    applied = next(one for one in payloads if one["event"] == "applied")
    record = type(evidence.journal[0])(
        sequence=len(payloads) + 1, payload_json=json.dumps(applied | fields)
    )
    return Evidence(evidence.evidence, evidence.trace, [*evidence.journal, record])


def check_of(record: TrialRecord, check_id: str) -> Check:
    """One check of a record."""
    return next(check for check in record.checks if check.check_id == check_id)


def violated(record: TrialRecord) -> set[str]:
    """Ids of the checks that do not hold."""
    return {c.check_id for c in record.checks if c.outcome is CheckOutcome.VIOLATED}


def unevaluated(record: TrialRecord) -> set[str]:
    """Ids of the checks that could not be evaluated."""
    return {c.check_id for c in record.checks if c.outcome is CheckOutcome.NOT_EVALUATED}
