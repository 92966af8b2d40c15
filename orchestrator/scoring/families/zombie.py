"""Judges of `families.zombie`: that the zombie did wake up, and came late."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

from chaos.windows import INVOKE, RECORD_RECEIPT
from memqual.v1 import interposer_pb2
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families.facts import CaseFacts, Judge

__all__ = ["JUDGES"]

_MARK = "zombie"


def _awake_ns(facts: BatchFacts) -> int | None:
    """When the zombie was let go on, on the interposer's clock; None when it never was."""
    for record in facts.trace:
        if record.kind == interposer_pb2.TRACE_KIND_MARK:
            mark = json.loads(record.mark_json)
            if mark.get("kind") == _MARK and mark.get("step") == "awake":
                return record.monotonic_ns
    return None


def _came_late(trial: CaseFacts, method: str) -> int:
    """Requests of a method that went on to their target after the zombie woke up."""
    awake_ns = _awake_ns(trial.facts)
    return sum(
        record.kind == interposer_pb2.TRACE_KIND_REQUEST_FORWARDED
        and record.method == method
        and record.metadata["memqual-workflow"] == trial.member.workflow_id
        for record in trial.facts.trace
        if awake_ns is not None and record.monotonic_ns >= awake_ns
    )


def _met(trial: CaseFacts, met: bool, wanted: str, seen: str) -> None:
    """The fault met what it was meant for; after a violation, the memory may have kept it away."""
    if trial.proven and not any(one.violations for one in trial.judgements):
        trial.find.rig("rig.zombie", "MQ-C-10", met, wanted, seen)


def _late(method: str, trial: CaseFacts) -> None:
    came = _came_late(trial, method)
    held = trial.facts.held[trial.member.workflow_id]
    _met(trial, came > 0 and held == 1, "held once, and came late", f"{came} late, {held} held")


def _refused(trial: CaseFacts) -> None:
    """The destination kept the late dispatch from having an effect."""
    _late(INVOKE, trial)
    refused = _effects(trial).refused
    _met(trial, refused > 0, "the destination refused it", f"{refused} refusals")


def _applied_again(trial: CaseFacts) -> None:
    """The hazard is there: what came late had an effect of its own, if there was another."""
    _late(INVOKE, trial)
    _met(trial, _effects(trial).replayed == 0, "the key was over", "answered from the key")


def _copied(trial: CaseFacts) -> None:
    came = _came_late(trial, INVOKE)
    _met(trial, came == 1, "one copy came late", f"{came} came late")


def _copy_refused(trial: CaseFacts) -> None:
    _copied(trial)
    effects = _effects(trial)
    answered = effects.refused + effects.replayed
    _met(trial, answered > 0, "the copy was not applied", f"{effects.applied} effects")


def _effects(trial: CaseFacts) -> EffectFacts:
    return trial.facts.effects.get(trial.member.workflow_id, EffectFacts())


def _asked(method: str, times: int, trial: CaseFacts) -> None:
    """The evaluator's zombie did call; a memory that never granted anything has failed already."""
    answered = [call for call in trial.calls if call.method == method and call.answered_ns]
    _met(
        trial,
        len(answered) >= times,
        f"{times} calls of {method}",
        ", ".join(call.observed for call in answered) or "none",
    )


JUDGES: Mapping[str, Judge] = {
    "zombie.stopped_after_lease": partial(_late, INVOKE),
    "zombie.stopped_in_request": partial(_late, INVOKE),
    "zombie.stopped_after_commit": partial(_late, RECORD_RECEIPT),
    "zombie.hanging_grant": partial(_late, INVOKE),
    "zombie.hanging_dispatch": partial(_late, INVOKE),
    "zombie.hanging_answer": partial(_late, RECORD_RECEIPT),
    "zombie.hanging_receipt": partial(_late, RECORD_RECEIPT),
    "zombie.past_deadline": _refused,
    "zombie.past_key": _applied_again,
    "zombie.past_key_and_deadline": _refused,
    "zombie.late_copy": _copied,
    "zombie.late_copy_refused": _copy_refused,
    "zombie.late_receipt": partial(_asked, "RecordReceipt", 2),
    "zombie.late_renewal": partial(_asked, "Renew", 2),
    "zombie.late_answer": partial(_asked, "RecordQuery", 1),
    "zombie.late_question": partial(_asked, "Begin", 4),
}
