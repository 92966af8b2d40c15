"""Judges of `families.concurrency`: the history as a whole, agreement, and real contention."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from memqual.v1 import interposer_pb2
from orchestrator.oracle.history import HistoryResult
from orchestrator.oracle.view import Outage
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.history_checks import check_histories
from orchestrator.scoring.outages import outages_from_marks
from orchestrator.suites.continuity.crowd import END_MARK, AgentEnd
from orchestrator.suites.continuity.families.concurrency import AGENTS

__all__ = ["JUDGES"]

_ENDED = ("completed", "confirm", "silent")
_HOSTS = 2


def _at_once(trial: CaseFacts) -> None:
    results = _history(trial)
    _contention(trial, results)
    _agents(trial)


def _memory_killed(trial: CaseFacts) -> None:
    _at_once(trial)
    outages = outages_from_marks(trial.facts.trace)
    calls = [call for call in trial.calls if call.answered_ns is not None]
    before = any(_before(call.answered_ns or 0, outages) for call in calls)
    after = any(not _before(call.answered_ns or 0, outages) for call in calls)
    trial.find.rig(
        "rig.kill_within_work",
        "MQ-C-72",
        before and after,
        "answers before the kill and after it",
        f"before: {before}, after: {after}",
    )


def _two_hosts(trial: CaseFacts) -> None:
    """Both hosts ask; which of their questions reaches the memory first nobody arranges."""
    _history(trial)
    asked = {call.source for call in trial.calls if call.method == "Begin"}
    trial.find.rig(
        "rig.both_hosts",
        "MQ-C-72",
        len(asked) >= _HOSTS,
        "both hosts asked",
        f"asked: {', '.join(sorted(asked)) or 'nobody'}",
    )


def _history(trial: CaseFacts) -> tuple[HistoryResult, ...]:
    return check_histories(
        trial.find, trial.facts, trial.member, trial.judgements, trial.case.requirement_id
    )


def _contention(trial: CaseFacts, results: tuple[HistoryResult, ...]) -> None:
    overlapping = sum(result.overlapping for result in results)
    trial.find.rig(
        "rig.contention",
        "MQ-C-72",
        overlapping > 0,
        "calls that overlap",
        "every call ended before the next began",
    )


def _agents(trial: CaseFacts) -> None:
    """Everybody stops somewhere, and all that go on have one result."""
    ends = list(_ends(trial))
    digests = {end.result_digest for end in ends if end.state == "completed"}
    trial.find.that(
        "continuity.concurrency.agreement",
        "MQ-C-71",
        len(digests) <= 1,
        "one result for all",
        f"{len(digests)} results",
    )
    blamed = any(one.violations for one in trial.judgements)
    lost = [end for end in ends if end.state not in _ENDED]
    missing = len(ends) < AGENTS[trial.case.name]
    if blamed or not (lost or missing):
        return
    told = ", ".join(sorted({end.state for end in lost})) or f"{len(ends)} agents"
    if trial.proven:
        trial.find.open("continuity.concurrency.ended", "MQ-C-73", f"agents stopped at: {told}")


def _ends(trial: CaseFacts) -> Iterator[AgentEnd]:
    for record in trial.facts.trace:
        if record.kind != interposer_pb2.TRACE_KIND_MARK:
            continue
        mark = json.loads(record.mark_json)
        if mark.get("kind") == END_MARK and mark.get("workflow") == trial.member.workflow_id:
            yield AgentEnd(mark["agent"], mark["state"], mark["result_digest"])


def _before(instant_ns: int, outages: tuple[Outage, ...]) -> bool:
    return all(instant_ns <= outage.dead_ns for outage in outages)


JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(AGENTS, _at_once),
    "concurrency.memory_killed": _memory_killed,
    "concurrency.two_hosts": _two_hosts,
}
