"""Judges of `families.paper_acceptance`: one document with its bytes, reached as published.

The oracle and the journal judge the memory here as everywhere. What is added is about the product
around it: where it falls short with every answer right, there is no verdict on the memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from memqual.v1 import agent_pb2, interposer_pb2
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.suites.continuity.documents import document_of
from orchestrator.suites.continuity.families.paper_acceptance import PATHS
from services.common.canonical import sha256_hex

__all__ = ["JUDGES"]

_HOSTS = frozenset({"agent", "standby"})
_SENDERS = _HOSTS | {"memory"}


def _accepted(trial: CaseFacts) -> None:
    _ingestion(trial)
    _path(trial)
    _document(trial)


def _shown(trial: CaseFacts, check_id: str, wanted: str, seen: str) -> None:
    """What a product with a correct memory shows; of a wrong memory the oracle has said so."""
    if trial.proven and not any(one.violations for one in trial.judgements):
        trial.find.rig(check_id, trial.case.requirement_id, seen == wanted, wanted, seen)


def _path(trial: CaseFacts) -> None:
    """The decisions on the way, waits left out."""
    kinds = [call.kind.value for call in trial.calls if call.method == "Begin" and call.kind]
    path = tuple(kind.lower() for kind, _ in groupby(kinds) if kind.lower() != "wait")
    wanted = PATHS[trial.case.name]
    trial.figure("decisions", ", ".join(path))
    _shown(trial, "rig.acceptance_path", ", ".join(wanted), ", ".join(path) or "never asked")


def _document(trial: CaseFacts) -> None:
    """One effect, one document with the bytes that were asked for, and the host knows it."""
    workflow = trial.member.workflow_id
    effects = trial.facts.effects.get(workflow, EffectFacts())
    copies = _mark(trial.facts, "published_documents").get("copies", {}).get(workflow, -1)
    asked = sha256_hex(document_of(trial.member).arguments_json.encode())
    status = trial.facts.final.get(workflow)
    completed = status is not None and status.state == agent_pb2.WORKFLOW_STATE_COMPLETED
    known = status is not None and [one.result_digest for one in status.operations]
    seen = {
        "effects": effects.applied,
        "documents": copies,
        "as asked": effects.arguments_digests == (asked,),
        "completed": completed,
        "known to the host": bool(known) and known == _result_digests(trial.facts, workflow),
    }
    for name, value in seen.items():
        trial.figure(name, value)
    wanted = {
        "effects": 1,
        "documents": 1,
        "as asked": True,
        "completed": True,
        "known to the host": True,
    }
    _shown(trial, "rig.acceptance_document", _told(wanted), _told(seen))


def _ingestion(trial: CaseFacts) -> None:
    """Strangers were refused and left nothing; every event has a sender that proved itself."""
    strangers = _mark(trial.facts, "ingestion_strangers")
    events = _mark(trial.facts, "ingestion_events")
    answers = strangers.get("answers", {})
    refused = (
        len(answers) > 1
        and set(answers.values()) == {"PERMISSION_DENIED"}
        and strangers.get("refused") == len(answers)
        and events.get("strangers") == 0
    )
    senders = events.get("senders", {})
    hosts = {kind for name in _HOSTS for kind in senders.get(name, {})}
    known = set(senders) <= _SENDERS and "dispatched" in hosts and set(senders) >= _HOSTS
    told = "; ".join(f"{name}: {sum(kinds.values())}" for name, kinds in sorted(senders.items()))
    trial.figure("events by sender", told or "none")
    trial.find.rig(
        "rig.ingestion",
        trial.case.requirement_id,
        refused and known,
        "strangers are refused, and events come from both hosts",
        f"strangers: {strangers or 'not tried'}; events: {events or 'not read'}",
    )


def _mark(facts: BatchFacts, kind: str) -> Mapping[str, Any]:
    """The batch's last mark of a kind; empty without one."""
    found: Mapping[str, Any] = {}
    for record in facts.trace:
        if record.kind == interposer_pb2.TRACE_KIND_MARK:
            mark = json.loads(record.mark_json)
            if mark.get("kind") == kind:
                found = mark
    return found


def _result_digests(facts: BatchFacts, workflow: str) -> list[str]:
    """Digests of the results that the destination gave with the workflow's effects."""
    payloads = (json.loads(record.payload_json) for record in facts.journal)
    return [
        payload["result_digest"]
        for payload in payloads
        if payload.get("event") == "applied" and payload.get("workflow_id") == workflow
    ]


def _told(facts: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in facts.items())


JUDGES: Mapping[str, Judge] = {
    "paper_acceptance.receipt_durable": _accepted,
    "paper_acceptance.effect_unreported": _accepted,
}
