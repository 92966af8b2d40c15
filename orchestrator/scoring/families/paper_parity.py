"""Judges of `families.paper_parity`: every arm comes to what was recorded (DESIGN §10).

What differs in a comparator arm is the testbed's own, since nothing else decides there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from memqual.v1 import agent_pb2
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.paper_marks import StudyTrial, study_trial

__all__ = ["JUDGES"]


def _recorded(trial: CaseFacts) -> None:
    study = study_trial(trial)
    if study is None or not trial.proven:
        return
    workflow = trial.member.workflow_id
    status = trial.facts.final.get(workflow, agent_pb2.WorkflowStatus())
    cassette = study.cassette
    trial.figure("graph", status.graph_digest)
    seen = {
        **_calls_and_state(trial, study),
        "requests": status.model_requests,
        "mismatched": status.model_requests_mismatched,
        "trajectory": status.trajectory_digest,
        "graph told": bool(status.graph_digest),
    }
    wanted = {
        **_wanted(trial, study),
        "requests": cassette.requests,
        "mismatched": 0,
        "trajectory": cassette.trajectory_digest,
        "graph told": True,
    }
    trial.figure("recorded requests", cassette.requests)
    _compare(trial, "no_fault", wanted, seen)


def _published_hash(trial: CaseFacts) -> None:
    study = study_trial(trial)
    if study is None or not trial.proven:
        return
    _compare(trial, "published_hash", _wanted(trial, study), _calls_and_state(trial, study))


def _calls_and_state(trial: CaseFacts, study: StudyTrial) -> dict[str, object]:
    workflow = trial.member.workflow_id
    status = trial.facts.final.get(workflow, agent_pb2.WorkflowStatus())
    return {
        "end": agent_pb2.WorkflowState.Name(status.state),
        "calls": _received(trial),
        "operations": len(trial.facts.operations.get(workflow, ())),
        "final hash": study.states["final"],
    }


def _wanted(trial: CaseFacts, study: StudyTrial) -> dict[str, object]:
    cassette = study.cassette
    governed = len(cassette.calls) if trial.member.cell.arm.has_memory else 0
    return {
        "end": agent_pb2.WorkflowState.Name(agent_pb2.WORKFLOW_STATE_COMPLETED),
        "calls": list(cassette.calls),
        "operations": governed,
        "final hash": cassette.task.final_compact,
    }


def _received(trial: CaseFacts) -> list[str]:
    """Argument digests of the calls that reached the destination, in order."""
    found = []
    for record in trial.facts.journal:
        payload = json.loads(record.payload_json)
        mine = payload.get("workflow_id") == trial.member.workflow_id
        if mine and payload.get("event") == "received":
            found.append(str(payload.get("arguments_digest")))
    return found


def _compare(
    trial: CaseFacts, name: str, wanted: Mapping[str, object], seen: Mapping[str, object]
) -> None:
    for key, value in seen.items():
        told = len(value) if isinstance(value, list) else value
        trial.figure(key, told)
    differing = [key for key, value in wanted.items() if seen[key] != value]
    told = "; ".join(f"{key}: {seen[key]}" for key in differing)
    check = (trial.case.requirement_id, not differing, "as recorded", told)
    if trial.member.cell.arm.has_memory:
        trial.find.that(f"continuity.paper.{name}", *check)
    else:
        trial.find.rig(f"rig.paper_{name}", *check)


JUDGES: Mapping[str, Judge] = {
    "paper_parity.recorded": _recorded,
    "paper_parity.published_hash": _published_hash,
}
