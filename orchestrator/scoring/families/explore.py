"""Judge of `families.explore` and `families.regression`: the history as a whole, and what is bound.

The oracle allows a memory to answer a question that differs in a field beside DESIGN §6's four as
if it did not. The cases of `families.identity` do not, and neither do schedules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.oracle.messages import BeginAsked, DecisionKind, DecisionTold
from orchestrator.oracle.view import Call, OperationView
from orchestrator.scoring.end_checks import waits_for_ever
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.history_checks import check_histories
from orchestrator.suites.continuity.families.explore import SEEDED
from orchestrator.suites.continuity.families.regression import EXPLORED

__all__ = ["JUDGES", "not_rejected"]

_BOUND = "continuity.explore.bound"


def not_rejected(view: OperationView) -> Iterator[Call]:
    """Questions that differ from what was granted before in a bound field, and were not rejected.

    Those that differ in DESIGN §6's four, or in form, are the oracle's.
    """
    grants = [call for call in view.calls if _kind(call) is DecisionKind.EXECUTE]
    if view.apart or not grants:
        return
    first = min(grants, key=lambda call: call.last_ns or 0)
    assert isinstance(first.request, BeginAsked)  # `_kind` has seen it
    bound = first.request.spec
    for call in view.calls:
        asked = call.request
        if not isinstance(asked, BeginAsked) or call.forwarded_ns <= (first.last_ns or 0):
            continue
        differs = asked.spec.core == bound.core and asked.spec.rest != bound.rest
        if differs and asked.spec.well_formed and _kind(call) not in (None, DecisionKind.REJECT):
            yield call


def _kind(call: Call) -> DecisionKind | None:
    if isinstance(call.request, BeginAsked) and isinstance(call.answer, DecisionTold):
        return call.answer.kind
    return None


def _judge(trial: CaseFacts) -> None:
    check_histories(
        trial.find, trial.facts, trial.member, trial.judgements, trial.case.requirement_id
    )
    views = trial.facts.views(trial.member.workflow_id)
    wrong = [call for view in views for call in not_rejected(view)]
    trial.find.that(
        _BOUND,
        trial.case.requirement_id,
        not wrong,
        "REJECT of another key, retention, principal, workflow or intent",
        "; ".join(f"{_kind(call)} at trace record {call.sequence}" for call in wrong),
    )
    decisions = [call for one in trial.judgements for call in one.decisions]
    trial.find.that(
        "continuity.end",
        trial.case.requirement_id,
        not waits_for_ever(decisions, trial.facts.clock),
        "another answer when the time that WAIT told is over",
        "WAIT, time after time",
    )


JUDGES: Mapping[str, Judge] = dict.fromkeys((SEEDED, *EXPLORED), _judge)
