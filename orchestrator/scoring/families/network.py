"""Judges of `families.network`: whether the fault met the trial's own message (DESIGN §5).

What the memory answered then is the oracle's to judge, and the destination's journal says what
came of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

from chaos.windows import BEGIN, INVOKE, RECORD_RECEIPT, BarrierHold
from memqual.v1 import interposer_pb2
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.suites.continuity.families.network_points import (
    MESSAGES,
    PARTITIONS,
    RECORD_QUERY,
    STANDS,
    STOOD_MARK,
    Stand,
    point_of,
    rule_id_of,
)

__all__ = ["JUDGES"]

_Place = TypeVar("_Place")

_KINDS = {
    "lost": interposer_pb2.TRACE_KIND_DROPPED,
    "reset": interposer_pb2.TRACE_KIND_FAILED,
    "delayed": interposer_pb2.TRACE_KIND_DELAYED,
    "duplicated": interposer_pb2.TRACE_KIND_DUPLICATED,
    "reordered": interposer_pb2.TRACE_KIND_REORDERED,
}


def _message_met(trial: CaseFacts) -> None:
    fault = MESSAGES[trial.case.name]
    point = _place(trial, fault.points)
    met = _records(trial, _KINDS[fault.action], rule_id_of(_batch_id(trial), point))
    trial.find.rig(
        "rig.network",
        trial.case.requirement_id,
        met == 1,
        f"its {point.name} was {fault.action}, once",
        f"{met} times",
    )


def _stood_when_cut(trial: CaseFacts) -> None:
    stand = _place(trial, STANDS)
    if isinstance(stand.hold, BarrierHold):
        stood = _told_standing(trial, stand)
    else:
        rule_id = rule_id_of(_batch_id(trial), stand)
        stood = _records(trial, interposer_pb2.TRACE_KIND_HELD, rule_id)
    trial.find.rig(
        "rig.network",
        trial.case.requirement_id,
        stood == 1,
        f"it stood at {stand.name} when the edges were cut",
        f"it stood there {stood} times",
    )


def _told_standing(trial: CaseFacts, stand: Stand) -> int:
    """How often the host told that the operation stands at its window; no message shows it."""
    marks = (
        json.loads(record.mark_json)
        for record in trial.facts.trace
        if record.kind == interposer_pb2.TRACE_KIND_MARK
    )
    own = {"kind": STOOD_MARK, "workflow": trial.member.workflow_id, "window": stand.name}
    return sum(all(mark.get(name) == value for name, value in own.items()) for mark in marks)


def _copied(*methods: str) -> Judge:
    """A judge that wants the very bytes of a request of each method to have come twice."""

    def judge(trial: CaseFacts) -> None:
        most = _copies(trial)
        lacking = [method.rpartition("/")[2] for method in methods if most[method] < 2]
        trial.find.rig(
            "rig.network",
            trial.case.requirement_id,
            not lacking,
            "the same bytes came twice",
            f"no copy of {', '.join(lacking)}",
        )

    return judge


def _copies(trial: CaseFacts) -> Mapping[str, int]:
    """By method: how often the same bytes came at most."""
    seen: Counter[tuple[str, str]] = Counter()
    for record in trial.facts.trace:
        if (
            record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
            and record.metadata["memqual-workflow"] == trial.member.workflow_id
        ):
            seen[record.method, record.payload_digest] += 1
    most: Counter[str] = Counter()
    for (method, _), count in seen.items():
        most[method] = max(most[method], count)
    return most


def _place(trial: CaseFacts, points: tuple[_Place, ...]) -> _Place:
    members = trial.facts.evidence.batch.members
    return point_of(points, members.index(trial.member))


def _batch_id(trial: CaseFacts) -> str:
    return trial.facts.evidence.batch.batch_id


def _records(trial: CaseFacts, kind: interposer_pb2.TraceKind.ValueType, rule_id: str) -> int:
    """Records of one kind that a rule, or one of those that were named after it, left."""
    return sum(
        record.kind == kind
        and record.rule_id.startswith(rule_id)
        and record.metadata["memqual-workflow"] == trial.member.workflow_id
        for record in trial.facts.trace
    )


JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(MESSAGES, _message_met),
    **dict.fromkeys(PARTITIONS, _stood_when_cut),
    "network.late_copy.begin": _copied(BEGIN),
    "network.late_copy.receipt": _copied(RECORD_RECEIPT, BEGIN),
    "network.late_copy.query": _copied(RECORD_QUERY),
    "network.late_copy.invoke": _copied(INVOKE),
    "network.late_copy.invoke_fenced": _copied(INVOKE),
}
