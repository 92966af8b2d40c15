"""What the study's plays told the trace, read back for its judges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from memqual.v1 import interposer_pb2
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families.facts import CaseFacts
from orchestrator.suites.continuity.paper.cassette import Cassette, cassette_of
from orchestrator.suites.continuity.paper.marks import STATE_MARK, TASK_MARK

__all__ = ["StudyTrial", "study_trial"]


@dataclass(frozen=True)
class StudyTrial:
    """One trial of the study.

    Attributes:
        cassette: What its host plays.
        states: Compact digest of its store by point: `initial`, `killed`, `final`.
    """

    cassette: Cassette
    states: dict[str, str]


def study_trial(trial: CaseFacts) -> StudyTrial | None:
    """What is told of a trial; None, and an error of the rig, when something is missing.

    The store must be the one that the task was recorded on, and the cassette the one that is told.
    """
    workflow = trial.member.workflow_id
    tasks = [one for one in _marks(trial.facts, TASK_MARK) if one.get("workflow") == workflow]
    states = {
        str(one.get("point")): str(one.get("compact"))
        for one in _marks(trial.facts, STATE_MARK)
        if one.get("workflow") == workflow
    }
    cassette = _cassette(str(tasks[0].get("task", ""))) if len(tasks) == 1 else None
    lacking = []
    if cassette is None:
        lacking.append("the task is not told")
    elif tasks[0].get("cassette") != cassette.digest:
        lacking.append("the cassette is not this version's")
    elif states.get("initial") != cassette.task.initial_compact:
        lacking.append("the store is not the one that the task was recorded on")
    if "final" not in states:
        lacking.append("the final state is not told")
    trial.find.rig(
        "rig.study",
        trial.case.requirement_id,
        not lacking,
        "the task and its store are told",
        "; ".join(lacking),
    )
    if lacking or cassette is None:
        return None
    trial.figure("task", cassette.task.task_id)
    return StudyTrial(cassette, states)


def _cassette(task_id: str) -> Cassette | None:
    try:
        return cassette_of(task_id)
    except KeyError:
        return None


def _marks(facts: BatchFacts, kind: str) -> Iterator[dict[str, object]]:
    for record in facts.trace:
        if record.kind != interposer_pb2.TRACE_KIND_MARK:
            continue
        mark = json.loads(record.mark_json)
        if isinstance(mark, dict) and mark.get("kind") == kind:
            yield mark
