"""Judges of `families.bad_input`; the oracle judges what the memory said."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.storage_receipts import CheckpointCutReceipt
from memqual.v1 import agent_pb2
from orchestrator.scoring.end_checks import check_state
from orchestrator.scoring.families.facts import CaseFacts, Judge

__all__ = ["JUDGES"]


def _checkpoint_cut(trial: CaseFacts) -> None:
    """A workflow whose file was cut ends honestly, with no call more; every other one goes on."""
    if not trial.proven:
        return
    workflow_id = trial.member.workflow_id
    cut = {
        workflow
        for one in trial.facts.receipts
        if isinstance(one, CheckpointCutReceipt)
        for workflow in one.workflow_ids
    }
    if workflow_id not in cut:
        check_state(trial.find, trial.facts, trial.member, trial.judgements)
        return
    status = trial.facts.final.get(workflow_id)
    failed = status is not None and status.state == agent_pb2.WORKFLOW_STATE_FAILED
    honest = failed and status is not None and status.error.startswith("DATA_LOSS")
    told = "no status" if status is None else f"{status.state}: {status.error}"
    trial.find.rig(
        "rig.checkpoint", trial.case.requirement_id, honest, "the host says DATA_LOSS", told
    )
    calls = trial.facts.dispatches[workflow_id]
    trial.find.rig(
        "rig.dispatch", trial.case.requirement_id, calls == 1, "no call more", f"{calls} calls"
    )


JUDGES: Mapping[str, Judge] = {"bad_input.checkpoint_cut": _checkpoint_cut}
