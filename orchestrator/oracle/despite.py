"""The worlds to go on with after an answer that no world allows (DESIGN §6).

What was answered was answered: one mistake is not counted again in every later answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from orchestrator.oracle.decisions import granted
from orchestrator.oracle.frame import Frame
from orchestrator.oracle.linearize import Candidate, Configuration, Step
from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    BeginAsked,
    DecisionKind,
    DecisionTold,
    Disposition,
    Malformed,
    ReceiptAsked,
)
from orchestrator.oracle.moments import moments_of
from orchestrator.oracle.outcomes import Taken
from orchestrator.oracle.view import Call
from orchestrator.oracle.worlds import Completion, World
from orchestrator.oracle.zone import Instant

__all__ = ["keeps_back", "worlds_despite"]


def keeps_back(answer: Answer, candidates: Iterable[Candidate]) -> bool:
    """Whether a receipt that completes was kept as mere evidence: it licenses nothing."""
    patterns = (candidate.outcome.pattern for candidate in candidates)
    return answer == Accepted(Disposition.EVIDENCE_ONLY) and any(
        isinstance(pattern, Taken) and Disposition.COMPLETED in pattern.dispositions
        for pattern in patterns
    )


def worlds_despite(call: Call, step: Step, frame: Frame) -> Iterator[tuple[Configuration, World]]:
    """The worlds to go on with after an answer that no world allows."""
    answer, asked = call.answer, call.request
    befores = tuple(dict.fromkeys(candidate.before for candidate in step.candidates))
    if isinstance(answer, DecisionTold) and isinstance(asked, BeginAsked):
        if answer.kind is DecisionKind.EXECUTE:
            yield from _granted_despite(call, asked, answer, befores, frame)
            return
        for before in befores:
            yield before, _told_despite(before.world, asked, answer)
        return
    for before in befores:
        yield before, before.world
    if isinstance(answer, Malformed):
        for candidate, world in step.matching():
            yield candidate.before, world
    elif isinstance(asked, ReceiptAsked) and answer == Accepted(Disposition.COMPLETED):
        for before in befores:
            yield before, replace(before.world, completion=Completion(asked.receipt))
    elif isinstance(asked, ReceiptAsked) and keeps_back(answer, step.candidates):
        for before in befores:
            yield before, _lease_given_back(before.world)


def _lease_given_back(world: World) -> World:
    """Its holder said that the attempt is over: a memory may have ended the lease with it.

    What ends at the mark is over at every later moment.
    """
    return replace(world, zone=world.zone.assign(Instant.LEASE_END, Instant.MARK, 0))


def _granted_despite(
    call: Call,
    asked: BeginAsked,
    told: DecisionTold,
    befores: Iterable[Configuration],
    frame: Frame,
) -> Iterator[tuple[Configuration, World]]:
    """The grant took place, allowed or not: what comes after is judged by it."""
    for before in befores:
        world = replace(before.world, spec=before.world.spec or asked.spec)
        for moment in moments_of(world, call, frame):
            after = granted(world, moment, asked, frame)
            yield before, after.with_latest(told.attempt, told.token)


def _told_despite(world: World, asked: BeginAsked, told: DecisionTold) -> World:
    bound = replace(world, spec=world.spec or asked.spec)
    if told.kind is DecisionKind.QUERY and bound.grants:
        return replace(bound.with_used_ticket(), ticket=told.token)
    return bound
