"""Judges every answer of one operation against what a correct memory may answer (DESIGN §6).

A decision is `unsafe` when it licenses what nothing licenses: EXECUTE outside the allowed set,
REUSE of what was never recorded, an acknowledgement that completes what it must not. It is
`needless` when something else, and less cautious, is owed, or is put off for longer than anything
declared. `malformed` is an answer that is none,
or an allowed one whose particulars are wrong. `boundary` is allowed, and only because an instant is
known by bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from orchestrator.oracle.clockmap import ClockMap
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.despite import keeps_back, worlds_despite
from orchestrator.oracle.errors import OracleLimitError, ViewError
from orchestrator.oracle.frame import Frame
from orchestrator.oracle.judgement import CallJudgement, Classification, OperationJudgement
from orchestrator.oracle.linearize import (
    Candidate,
    Configuration,
    Explorer,
    Step,
    in_order_of_answers,
)
from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    BeginAsked,
    DecisionKind,
    DecisionTold,
    Malformed,
    PeekAsked,
    Refused,
    Renewed,
    Request,
    Unanswered,
)
from orchestrator.oracle.outcomes import label
from orchestrator.oracle.particulars import Problem, identity_problems, problems_of
from orchestrator.oracle.revisions import Revisions
from orchestrator.oracle.siblings import Siblings
from orchestrator.oracle.view import Call, OperationView
from orchestrator.oracle.worlds import World

__all__ = ["judge_operation"]


def judge_operation(
    view: OperationView,
    clock: ClockMap,
    declared: DeclaredMemory,
    siblings: Siblings | None = None,
) -> OperationJudgement:
    """Judges every answer of one operation.

    After an answer that no correct memory can have given, the judgement goes on with the worlds in
    which the answer was as it was, so that one mistake is not counted again in every later answer.
    Where a memory was wrong so often that too much is possible, the judgement ends there.

    Args:
        view: All calls that concern the operation.
        clock: The memory's lease clock over the trial.
        declared: What the memory declares.
        siblings: The workflow's other operations; None where they do not matter.

    Raises:
        OracleLimitError: Too many worlds are possible, and no answer so far was wrong.
        ViewError: No memory at all can have taken the calls at those times.
    """
    frame = Frame(
        view.operation_id,
        clock,
        declared,
        siblings or Siblings(),
        apart=view.apart,
        revisions=Revisions.of(view),
    )
    explorer = Explorer(view.calls, frame)
    judged: list[CallJudgement] = []
    try:
        for position in in_order_of_answers(view.calls):
            judged.append(_judge_next(view, position, explorer, frame))
    except OracleLimitError:
        if not any(one.violates for one in judged):
            raise
    missing = [
        _missing(call)
        for call in view.calls
        if isinstance(call.answer, Unanswered) and call.answer.blamed
    ]
    return OperationJudgement(view.operation_id, (*judged, *missing))


def _judge_next(
    view: OperationView, position: int, explorer: Explorer, frame: Frame
) -> CallJudgement:
    """The next answer's judgement; the explorer goes on with what it leaves possible."""
    call = view.calls[position]
    step = explorer.step(position)
    judgement, worlds = _judge(call, step, frame)
    if not worlds:
        raise ViewError(
            f"the trace and the clock readings of operation {view.operation_id} contradict"
            f" each other at record {call.sequence}"
        )
    if judgement.violates:
        explorer.judge_on()
    explorer.follow(position, worlds)
    return judgement


_Following = tuple[tuple[Configuration, World], ...]


def _judge(call: Call, step: Step, frame: Frame) -> tuple[CallJudgement, _Following]:
    """One answer's judgement, and the worlds to go on with."""
    fits = [] if isinstance(call.answer, Malformed) else step.matching()
    checked = [(candidate, world, _problems(call, candidate, frame)) for candidate, world in fits]
    clean = [entry for entry in checked if not entry[2]]
    chosen = clean or checked
    if not chosen:
        found = _identity_problems(call, step)
        classification = Classification.MALFORMED if found else _class_of_refused(call, step)
        judgement = _judgement(call, step, step.candidates, classification, found)
        return judgement, tuple(worlds_despite(call, step, frame))
    problems: tuple[Problem, ...] = ()
    classification = Classification.OK
    if not clean:
        problems = tuple(sorted(set(chosen[0][2])))
        # Whoever is put off for too long has something else owed to it.
        too_long = problems == (Problem.WAIT_TOO_LONG,)
        classification = Classification.NEEDLESS if too_long else Classification.MALFORMED
    elif all(candidate.outcome.timing for candidate, _, _ in chosen):
        classification = Classification.BOUNDARY
    candidates = [candidate for candidate, _, _ in chosen]
    judgement = _judgement(call, step, candidates, classification, problems)
    return judgement, tuple((candidate.before, world) for candidate, world, _ in chosen)


def _problems(call: Call, candidate: Candidate, frame: Frame) -> tuple[Problem, ...]:
    if not isinstance(call.answer, DecisionTold) or isinstance(call.request, PeekAsked):
        return ()
    return problems_of(call, call.answer, candidate.world, candidate.outcome, frame)


def _identity_problems(call: Call, step: Step) -> tuple[Problem, ...]:
    told = call.answer
    if not isinstance(told, DecisionTold) or told.kind is not DecisionKind.EXECUTE:
        return ()
    return identity_problems(told, ((entry.world, entry.outcome) for entry in step.candidates))


def _class_of_refused(call: Call, step: Step) -> Classification:
    """The class of an answer that no world allows."""
    answer = call.answer
    if isinstance(answer, Malformed):
        return Classification.MALFORMED
    if isinstance(call.request, BeginAsked | PeekAsked):
        if not isinstance(answer, DecisionTold):
            return Classification.MALFORMED
        if answer.kind in (DecisionKind.EXECUTE, DecisionKind.REUSE):
            return Classification.UNSAFE
        return Classification.NEEDLESS
    withheld = isinstance(answer, Refused) or keeps_back(answer, step.candidates)
    return Classification.NEEDLESS if withheld else Classification.UNSAFE


def _judgement(
    call: Call,
    step: Step,
    candidates: Iterable[Candidate],
    classification: Classification,
    problems: tuple[Problem, ...],
) -> CallJudgement:
    allowed = {label(candidate.outcome.pattern) for candidate in step.candidates}
    rows = {candidate.outcome.row for candidate in candidates if candidate.outcome.row is not None}
    told = call.answer if isinstance(call.answer, DecisionTold) else None
    return CallJudgement(
        call_id=call.call_id,
        sequence=call.sequence,
        source=call.source,
        method=_method(call.request),
        incarnation_id=_incarnation(call.request),
        observed=_words(call.answer),
        kind=told.kind if told else None,
        reason=told.reason if told else "",
        attempt=told.attempt if told else 0,
        remaining_ms=told.remaining_ms if told else 0,
        allowed=tuple(sorted(allowed)),
        rows=tuple(sorted(rows)),
        classification=classification,
        problems=problems,
        forwarded_ns=call.forwarded_ns,
        answered_ns=call.last_ns,
    )


def _missing(call: Call) -> CallJudgement:
    empty = Step(0, ())
    judgement = _judgement(call, empty, (), Classification.MALFORMED, ())
    return replace(judgement, answered_ns=None)


def _method(asked: Request) -> str:
    return {
        "BeginAsked": "Begin",
        "PeekAsked": "Peek",
        "ReceiptAsked": "RecordReceipt",
        "QueryAsked": "RecordQuery",
        "RenewAsked": "Renew",
        "ResolveAsked": "Resolve",
    }[type(asked).__name__]


def _incarnation(asked: Request) -> str:
    return getattr(asked, "incarnation_id", "")


def _words(answer: Answer) -> str:
    if isinstance(answer, DecisionTold):
        return answer.kind.value
    if isinstance(answer, Accepted):
        return f"OK({answer.disposition or ''})"
    if isinstance(answer, Renewed):
        return "OK(renewed)"
    if isinstance(answer, Refused):
        return f"REFUSED({answer.status_code})"
    if isinstance(answer, Malformed):
        return f"MALFORMED({answer.reason})"
    return f"NO ANSWER({answer.status_code})"
