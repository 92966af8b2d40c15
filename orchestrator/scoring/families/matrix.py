"""Judges of `families.matrix`: that the destination did what the case is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from orchestrator.oracle.messages import DecisionKind
from orchestrator.scoring.families.facts import CaseFacts, Judge

__all__ = ["JUDGES"]

_Record = Mapping[str, object]


def _key_reused(trial: CaseFacts) -> None:
    """The key was refused for other arguments, and its own operation is what it was."""
    if not trial.proven:
        return
    refused = [one for one in _journal(trial) if one.get("reason") == "key_reused"]
    granted = [
        one
        for one in trial.judgements
        if any(call.kind is DecisionKind.EXECUTE for call in one.decisions)
    ]
    trial.find.rig(
        "rig.key_refused",
        "MQ-C-08",
        len(granted) < _OPERATIONS or len(refused) == 1,
        "the destination refused the key once",
        f"{len(refused)} times",
    )
    last = [one.decisions[-1] for one in trial.judgements if one.decisions]
    kept = len(last) == _OPERATIONS and all(one.kind is DecisionKind.REUSE for one in last)
    trial.find.that(
        "continuity.matrix.key_reused",
        trial.case.requirement_id,
        kept,
        "both operations are complete, each with its own answer",
        ", ".join(one.observed for one in last),
    )


_OPERATIONS = 2


def _visible_later(trial: CaseFacts) -> None:
    """The first question saw nothing; what a later one saw is kept."""
    if not trial.proven:
        return
    seen = [str(one["presence"]) for one in _journal(trial) if one.get("event") == "queried"]
    asked = sum(call.kind is DecisionKind.QUERY for call in trial.calls)
    trial.find.rig(
        "rig.visibility",
        "MQ-C-08",
        len(seen) == asked and seen == ["absent_uncertain", "present"][:asked],
        "uncertain first, then present",
        ", ".join(seen) or "nobody asked",
    )


def _journal(trial: CaseFacts) -> Iterator[_Record]:
    for record in trial.facts.journal:
        payload = json.loads(record.payload_json)
        if payload.get("workflow_id") == trial.member.workflow_id:
            yield payload


JUDGES: Mapping[str, Judge] = {
    "matrix.key_reused": _key_reused,
    "matrix.visible_later": _visible_later,
}
