"""What the destination's journal must show while the operations are held (DESIGN §5)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from chaos.receipts import JournalPrecondition
from chaos.windows import Window
from memqual.v1 import common_pb2

__all__ = ["applied_by_workflow", "read_precondition"]


def applied_by_workflow(journal: Iterable[common_pb2.JournalRecord]) -> Counter[str]:
    """Number of effects of each workflow that has any."""
    payloads = (json.loads(record.payload_json) for record in journal)
    return Counter(
        payload["workflow_id"] for payload in payloads if payload.get("event") == "applied"
    )


def read_precondition(
    window: Window, workflow_ids: Iterable[str], journal: Iterable[common_pb2.JournalRecord]
) -> JournalPrecondition:
    """Count the operations whose effect is there (or, before the effect, is not).

    Args:
        window: Where the operations are held.
        workflow_ids: Their workflows, one operation each.
        journal: The journal from the batch's start to its head.
    """
    wanted = set(workflow_ids)
    applied: set[str] = set()
    head = 0
    for record in journal:
        head = record.sequence
        payload = json.loads(record.payload_json)
        if payload.get("event") == "applied":
            applied.add(payload["workflow_id"])
    applied &= wanted
    return JournalPrecondition(
        name="effect applied" if window.effect else "no effect applied",
        expected=len(wanted),
        seen=len(applied) if window.effect else len(wanted - applied),
        journal_sequence=head,
    )
