"""Judges of `families.clock`: mostly that the clock stood where it should when it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from memqual.v1 import interposer_pb2
from orchestrator.oracle.judgement import CallJudgement, OperationJudgement
from orchestrator.oracle.messages import DecisionKind
from orchestrator.oracle.worlds import Row
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.suites.continuity.families.clock_others import DRIFTS, OFFSETS, Clock

__all__ = ["JUDGES"]

_MARK = "clock_case"
# A clock that loses time by small steps may be a little behind its mark.
_LIVE = frozenset({Row.LEASE_LIVE, Row.SAME_BEGIN, Row.CLOCK_BEHIND})
_OVER = frozenset({Row.EXPIRED, Row.FINAL_ABSENCE, Row.COMPLETE})


def _marked_ns(facts: BatchFacts, step: str) -> int | None:
    """When the play marked a step, on the interposer's clock; None when it never did."""
    for record in facts.trace:
        if record.kind == interposer_pb2.TRACE_KIND_MARK:
            mark = json.loads(record.mark_json)
            if mark.get("kind") == _MARK and mark.get("step") == step:
                return record.monotonic_ns
    return None


def _asked(trial: CaseFacts, first: str, last: str = "") -> Iterator[CallJudgement]:
    """Answers to Begin that were asked for and seen between two marks, or after the only one."""
    from_ns = _marked_ns(trial.facts, first)
    until_ns = _marked_ns(trial.facts, last) if last else None
    if from_ns is None or (last and until_ns is None):
        return
    for call in trial.calls:
        if call.method != "Begin" or call.answered_ns is None or call.forwarded_ns < from_ns:
            continue
        if until_ns is None or call.answered_ns <= until_ns:
            yield call


def _effects(trial: CaseFacts) -> EffectFacts:
    return trial.facts.effects.get(trial.member.workflow_id, EffectFacts())


def _met(trial: CaseFacts, met: bool, wanted: str, seen: str) -> None:
    """The fault met what it was meant for; after a violation, the memory may have kept it away."""
    if trial.proven and not any(one.violations for one in trial.judgements):
        trial.find.rig("rig.clock", "MQ-C-10", met, wanted, seen)


def _held(trial: CaseFacts, times: int = 1) -> None:
    held = trial.facts.held[trial.member.workflow_id]
    _met(trial, held == times, f"held {times} times", f"held {held} times")


def _told(calls: list[CallJudgement]) -> str:
    told = (f"{call.observed} in row {''.join(row.value for row in call.rows)}" for call in calls)
    return ", ".join(told) or "never asked"


def _around(trial: CaseFacts) -> None:
    _held(trial)
    before = list(_asked(trial, "before_end", "after_end"))
    _met(
        trial,
        any(Row.LEASE_LIVE in call.rows and set(call.rows) <= _LIVE for call in before),
        "asked while the lease was live",
        _told(before),
    )
    after = list(_asked(trial, "after_end"))
    _met(
        trial,
        any(_OVER & set(call.rows) for call in after),
        "asked when it was over",
        _told(after),
    )


def _behind(trial: CaseFacts) -> None:
    _held(trial)
    asked = list(_asked(trial, "behind", "back"))
    _met(
        trial,
        any(Row.CLOCK_BEHIND in call.rows for call in asked),
        "asked while the clock was behind its mark",
        _told(asked),
    )


def _set_back(trial: CaseFacts) -> None:
    """A second is too little to be seen behind a mark: it must have been asked about, no more."""
    _asked_while(trial, "behind", "back")


def _apart(trial: CaseFacts) -> None:
    _asked_while(trial, "apart", "whole")


def _asked_while(trial: CaseFacts, first: str, last: str) -> None:
    _held(trial)
    asked = list(_asked(trial, first, last))
    _met(trial, bool(asked), "asked while the clock was wrong", _told(asked))


def _drifted(trial: CaseFacts) -> None:
    _held(trial)
    rows = {row for call in trial.calls if call.method == "Begin" for row in call.rows}
    _met(trial, bool(_OVER & rows), "asked when the lease was over", ", ".join(sorted(rows)))


def _near_key_end(trial: CaseFacts) -> None:
    _held(trial, 2)
    asked = list(_asked(trial, "key_end"))
    _met(trial, bool(asked), "asked near the key's end", _told(asked))


def _key_was_over(trial: CaseFacts) -> None:
    """A retry on a key that the destination has forgotten must have shown, or there was none."""
    _held(trial)
    attempts = {call.attempt for call in trial.calls if call.kind is DecisionKind.EXECUTE}
    applied = _effects(trial).applied
    met = len(attempts) < 2 or applied > 1
    _met(trial, met, "the retry was applied anew", f"{applied} effects")


def _refused_late(trial: CaseFacts) -> None:
    _held(trial)
    refused = _effects(trial).refused
    _met(trial, refused > 0, "the destination refused what came late", f"{refused} refusals")


def _taken(trial: CaseFacts) -> None:
    _held(trial)
    applied = _effects(trial).applied
    _met(trial, applied == 1, "the destination applied it", f"{applied} effects")


def _same_without(trial: CaseFacts) -> None:
    """The decisions of a trial under the host's wrong clock are those of one without."""
    _held(trial)
    members = trial.facts.evidence.batch.members
    at = next(
        index for index, one in enumerate(members) if one.workflow_id == trial.member.workflow_id
    )
    if at % 2 == 0:
        return
    without = _kinds(trial.facts.judgements(members[at - 1].workflow_id))
    here = _kinds(trial.judgements)
    if not trial.proven:
        return
    trial.find.that(
        "continuity.clock.host",
        trial.case.requirement_id,
        here == without,
        ", ".join(without),
        ", ".join(here),
    )


def _kinds(judgements: Sequence[OperationJudgement]) -> list[str]:
    """Kinds of decisions in order; how often one is repeated is a matter of time."""
    calls = [call for one in judgements for call in one.decisions]
    return [str(kind) for kind, _ in groupby(call.kind or call.observed for call in calls)]


def _memory_fast(clocks: Sequence[Clock]) -> bool:
    return any(one.service == "memory" and one.by > 1 for one in clocks)


JUDGES: Mapping[str, Judge] = {
    "clock.around_lease_end": _around,
    "clock.across_lease_end": _held,
    "clock.memory_ahead_5_minutes": _held,
    "clock.memory_ahead_1_day": _held,
    "clock.memory_back_1_second": _set_back,
    "clock.memory_back_5_minutes": _behind,
    "clock.memory_back_1_day": _behind,
    "clock.restart_back_1_second": _set_back,
    "clock.restart_back_5_minutes": _behind,
    "clock.restart_back_1_day": _behind,
    "clock.memory_fast": _drifted,
    "clock.memory_slow": _around,
    "clock.key_covers_by_1_second": _near_key_end,
    "clock.key_short_by_1_second": _near_key_end,
    "clock.key_over_at_destination": _key_was_over,
    "clock.memory_set_back_above_mark": _key_was_over,
    "clock.deadline_destination_ahead": _refused_late,
    "clock.deadline_destination_ahead_memory_back": _refused_late,
    "clock.deadline_destination_behind": _taken,
    "clock.agent_ahead_1_day": _same_without,
    "clock.agent_back_1_day": _same_without,
    "clock.agent_ahead_5_minutes": _same_without,
    "clock.agent_back_5_minutes": _same_without,
    **dict.fromkeys(OFFSETS, _apart),
    **{name: _drifted if _memory_fast(clocks) else _around for name, clocks in DRIFTS.items()},
}
