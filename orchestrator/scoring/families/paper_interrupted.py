"""Judges of `families.paper_interrupted`: new calls, new effects, native errors (DESIGN §6, §7).

The three are counted from the interposer's trace and the destination's journal, after the death.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from chaos.receipts import KillReceipt
from chaos.windows import INVOKE
from memqual.v1 import agent_pb2, destination_pb2, interposer_pb2
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.paper_marks import study_trial
from orchestrator.suites.continuity.families.paper_interrupted import GUARDED
from orchestrator.suites.continuity.paper.cassette import EXCHANGE_TOOL

__all__ = ["JUDGES"]

_CONFIRMATION = "needs_confirmation"


@dataclass(frozen=True)
class _After:
    """What followed the death.

    Attributes:
        calls: Invokes of the new life.
        effects: Effects beyond those that the journal showed at the death.
        errors: The tool's own refusals.
    """

    calls: int
    effects: int
    errors: int

    @property
    def words(self) -> str:
        """In one line."""
        return f"{self.calls} new calls, {self.effects} new effects, {self.errors} native errors"


def _interrupted(trial: CaseFacts) -> None:
    study = study_trial(trial)
    kill = trial.facts.kill
    if study is None or not trial.proven or kill is None or not _met(trial, kill):
        return
    after = _after(trial, kill)
    end = _end(trial)
    for name, value in (
        ("new calls", after.calls),
        ("new effects", after.effects),
        ("native errors", after.errors),
        ("end", end),
        ("final hash", study.states["final"]),
        ("recorded hash", study.cassette.task.final_compact),
    ):
        trial.figure(name, value)
    requirement = trial.case.requirement_id
    if trial.member.cell.arm.has_memory:
        wanted = _After(0, 0, 0)
        trial.find.that(
            "continuity.paper.interrupted",
            requirement,
            after == wanted and end == _CONFIRMATION,
            f"{wanted.words}, {_CONFIRMATION}",
            f"{after.words}, {end}",
        )
        return
    wanted = _After(1, 0, 1) if GUARDED[trial.case.name] else _After(1, 1, 0)
    trial.find.rig("rig.paper_comparator", requirement, after == wanted, wanted.words, after.words)


def _met(trial: CaseFacts, kill: KillReceipt) -> bool:
    """Whether the call that was held is the exchange, the sixth of its workflow."""
    workflow = trial.member.workflow_id
    held = [
        destination_pb2.InvokeRequest.FromString(record.payload).tool
        for record in trial.facts.trace
        if record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
        and record.method == INVOKE
        and record.call_id in trial.facts.held_calls
        and record.metadata["memqual-workflow"] == workflow
    ]
    head = 0 if kill.precondition is None else kill.precondition.journal_sequence
    before = _events(trial, first=0, last=head)
    met = held == [EXCHANGE_TOOL] and before.count("read") == 5 and before.count("applied") == 1
    told = f"held {held}; before: {before.count('read')} reads, {before.count('applied')} effects"
    trial.find.rig(
        "rig.sixth_call", "MQ-C-08", met, "the exchange was held, committed, as the sixth", told
    )
    return met


def _after(trial: CaseFacts, kill: KillReceipt) -> _After:
    workflow = trial.member.workflow_id
    exited_ns = next((one.interposer_monotonic_ns for one in kill.steps if one.step == "exited"), 0)
    calls = sum(
        record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
        and record.method == INVOKE
        and record.metadata["memqual-workflow"] == workflow
        and record.monotonic_ns > exited_ns
        for record in trial.facts.trace
    )
    head = 0 if kill.precondition is None else kill.precondition.journal_sequence
    events = _events(trial, first=head + 1, last=None)
    return _After(calls, events.count("applied"), events.count("refused by the tool"))


def _events(trial: CaseFacts, first: int, last: int | None) -> list[str]:
    """Events of the trial's workflow in the journal between two sequences."""
    found = []
    for record in trial.facts.journal:
        if record.sequence < first or (last is not None and record.sequence > last):
            continue
        payload = json.loads(record.payload_json)
        if payload.get("workflow_id") != trial.member.workflow_id:
            continue
        by_tool = payload.get("event") == "refused" and payload.get("refused_by") == "tool"
        found.append("refused by the tool" if by_tool else str(payload.get("event")))
    return found


def _end(trial: CaseFacts) -> str:
    status = trial.facts.final.get(trial.member.workflow_id)
    if status is None:
        return "unknown"
    return agent_pb2.WorkflowState.Name(status.state).removeprefix("WORKFLOW_STATE_").lower()


JUDGES: Mapping[str, Judge] = dict.fromkeys(GUARDED, _interrupted)
