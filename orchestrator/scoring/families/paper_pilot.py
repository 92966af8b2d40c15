"""The judge of `families.paper_pilot`: what the models came to, and how the customer kept to it.

Whether a task is fulfilled is the models' affair and no verdict on a memory; oracle and journal
judge the memory as ever. A conversation that its endpoint cut short shows nothing: ERROR.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memqual.v1 import agent_pb2, interposer_pb2
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.pilot_adherence import Said, adherence
from orchestrator.suites.continuity.paper.marks import (
    PILOT_MESSAGE_MARK,
    PILOT_TASK_MARK,
    STATE_MARK,
)
from orchestrator.suites.continuity.paper.pilot import STOP_TOKEN

__all__ = ["JUDGES"]

_MODEL = "model: "
_LIMIT = "model: turn_limit"
_SPEAKERS = {"assistant": "agent", "user": "user"}


def _fresh(trial: CaseFacts) -> None:
    task = next(_marks(trial, PILOT_TASK_MARK), None)
    if task is None or not trial.proven:
        return
    status = trial.facts.final.get(trial.member.workflow_id, agent_pb2.WorkflowStatus())
    _ended(trial, status)
    states = [mark for mark in _marks(trial, STATE_MARK) if mark.get("point") == "final"]
    state = states[-1].get("compact") if states else ""
    trial.figure("fulfilled", state == task["final"])
    calls = sum(_records(trial, "received").values())
    trial.figure("requests and calls", f"{status.model_requests} and {calls}")
    trial.findings.append(f"task: {task['task']}")
    _usage(trial, status)
    said = [
        Said(speaker=_SPEAKERS[mark["type"]], text=mark["text"])
        for mark in _marks(trial, PILOT_MESSAGE_MARK)
        if mark["type"] in _SPEAKERS and mark["text"]
    ]
    trial.findings.extend(adherence(str(task["wish"]), said, STOP_TOKEN))
    twice = [name for name, count in _records(trial, "applied").items() if count > 1]
    if not any(one.violations for one in trial.judgements):
        trial.find.rig(
            "rig.pilot_effects",
            trial.case.requirement_id,
            not twice,
            "one effect an operation, since nothing failed",
            f"{len(twice)} operations with more",
        )


def _ended(trial: CaseFacts, status: agent_pb2.WorkflowStatus) -> None:
    """How the conversation ended; only its own end or its limit shows anything."""
    name = agent_pb2.WorkflowState.Name(status.state).removeprefix("WORKFLOW_STATE_").lower()
    limit = status.state == agent_pb2.WORKFLOW_STATE_FAILED and _LIMIT in status.error
    ended = "turn limit" if limit else name
    trial.figure("ended", ended)
    if limit:
        trial.findings.append("conversation: had all of its answers and did not end")
    fine = limit or status.state == agent_pb2.WORKFLOW_STATE_COMPLETED
    failed_model = _MODEL in status.error and not limit
    if failed_model or not any(one.violations for one in trial.judgements):
        told = f"{ended}: {status.error}" if status.error else ended
        trial.find.rig(
            "rig.pilot_model",
            trial.case.requirement_id,
            fine,
            "the conversation ends by itself or at its limit",
            told,
        )


def _usage(trial: CaseFacts, status: agent_pb2.WorkflowStatus) -> None:
    """Tokens with their origin; what no provider told stays unknown."""
    usage = status.model_usage
    told = f"{usage.answers_with_usage} of {status.model_requests}"
    tokens = f"{usage.input_tokens} in, {usage.output_tokens} out"
    trial.figure("tokens", tokens if usage.answers_with_usage else "unknown")
    trial.findings.append(f"usage: told by {usage.provenance or 'nobody'} for {told} answers")
    trial.findings.append(f"models: {', '.join(usage.models) or 'unknown'}")


def _marks(trial: CaseFacts, kind: str) -> Iterator[Mapping[str, Any]]:
    """The trial's own marks of a kind, in order."""
    for record in trial.facts.trace:
        if record.kind != interposer_pb2.TRACE_KIND_MARK:
            continue
        mark = json.loads(record.mark_json)
        if mark.get("kind") == kind and mark.get("workflow") == trial.member.workflow_id:
            yield mark


def _records(trial: CaseFacts, event: str) -> Counter[str]:
    """Records of the journal of one event, by operation."""
    payloads = (json.loads(record.payload_json) for record in trial.facts.journal)
    return Counter(
        str(payload["operation_id"])
        for payload in payloads
        if payload.get("event") == event and payload.get("workflow_id") == trial.member.workflow_id
    )


JUDGES: Mapping[str, Judge] = {"paper_pilot.fresh": _fresh}
