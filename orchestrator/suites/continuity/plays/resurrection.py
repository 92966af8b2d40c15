"""Plays of `families.rollback` in which what a person decided once is presented again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import grpc

from memqual.v1 import agent_pb2, memory_pb2
from orchestrator.suites.continuity.families.rollback import NO_REVIEW
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.plays.asking import Held, asking, label
from orchestrator.suites.continuity.plays.operator import (
    Word,
    challenge_for,
    found_by_operator,
    say,
    signed_word,
)
from orchestrator.suites.continuity.plays.setting_back import lose_answers, replay, set_back
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage, statuses_of
from orchestrator.suites.continuity.workload import PRINCIPAL
from orchestrator.suites.integrity.reviewer import APPROVE, Reviewer

__all__ = ["RESURRECTION"]


def _confirmed(stage: Stage, word: str) -> list[tuple[Held, Word]]:
    """Every workflow that was left for confirmation, with a true word of the operator's."""
    members = {member.workflow_id: member for member in stage.batch.members}
    words: list[tuple[Held, Word]] = []
    for status in statuses_of(stage.settle("asked")):
        if status.state != agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION:
            continue
        member = members[status.workflow_id]
        spec = spec_of(member)
        spec.operation_id = status.operations[-1].operation_id
        held = Held(member, asking(stage, member, "operator"), spec, 1, "")
        challenge = challenge_for(stage, held)
        result = found_by_operator(stage, status.workflow_id) if word == "happened" else ""
        if challenge is not None and result is not None:
            words.append((held, signed_word(stage, challenge, word, result)))
    return words


def _resolution(stage: Stage, *, at: str, word: str) -> None:
    """A window at which the word is true, or given up; it is taken, and then presented again."""
    lose_answers(stage, at)
    stage.reach_lease_end()
    stage.wake_until_settled("expired")
    words = _confirmed(stage, word)
    _say_all(stage, words, "first")
    stage.wake_until_settled("resolved")
    set_back(stage)
    _say_all(stage, words, "after the restore")
    kill_and_restart(stage, "memory")
    _say_all(stage, words, "after a restart")
    replay(stage)


def _say_all(stage: Stage, words: Sequence[tuple[Held, Word]], name: str) -> None:
    for held, word in words:
        label(stage, held.member, name)
        say(stage, held, word)


def _approval(stage: Stage) -> None:
    stage.rig.start()
    stage.settle("complete")
    reviewer = stage.reviewer
    decisions = {} if reviewer is None else _approvals(stage, reviewer)
    _present(stage, decisions, "first")
    set_back(stage)
    _present(stage, decisions, "after the restore")
    kill_and_restart(stage, "memory")
    _present(stage, decisions, "after a restart")
    replay(stage)


def _approvals(stage: Stage, reviewer: Reviewer) -> dict[str, memory_pb2.DecideReviewRequest]:
    """A record that waits for a review in each workflow's partition, and its signed approval."""
    made: dict[str, memory_pb2.DecideReviewRequest] = {}
    for member in stage.batch.members:
        memory = stage.context.session.with_workflow(member.workflow_id).memory
        scope = memory_pb2.Scope(namespace=member.workflow_id, principal=PRINCIPAL)
        offered = memory_pb2.Observation(
            scope=scope,
            kind=memory_pb2.RECORD_KIND_FACT,
            content=f"The notices of {member.workflow_id} go out on Fridays.",
            source=memory_pb2.Source(
                type=memory_pb2.SOURCE_TYPE_WEB,
                binding=memory_pb2.SOURCE_BINDING_CALLER_ASSERTED,
                source_id="page-1",
            ),
        )
        try:
            record = memory.Write(memory_pb2.WriteRequest(observation=offered)).admission.record_id
            asked = memory_pb2.RequestReviewRequest(
                scope=scope, record_ids=[record], action="promote"
            )
            challenge = memory.RequestReview(asked).challenge
        except grpc.RpcError:
            # It keeps nothing of such a source, or has nothing to review in it: so be it.
            stage.interposer.mark({"kind": NO_REVIEW, "workflow": member.workflow_id})
            continue
        made[member.workflow_id] = memory_pb2.DecideReviewRequest(
            scope=scope,
            challenge_id=challenge.challenge_id,
            decision=memory_pb2.REVIEW_DECISION_APPROVE,
            key_id=reviewer.public_key.key_id,
            signature=reviewer.sign(challenge, APPROVE),
        )
    return made


def _present(
    stage: Stage, decisions: Mapping[str, memory_pb2.DecideReviewRequest], name: str
) -> None:
    for member in stage.batch.members:
        request = decisions.get(member.workflow_id)
        if request is None:
            continue
        memory = stage.context.session.with_workflow(member.workflow_id).memory
        label(stage, member, name)
        try:
            memory.DecideReview(request)
        except grpc.RpcError:
            # What it came to stands in the trace.
            continue


RESURRECTION: Mapping[str, Callable[[Stage], None]] = {
    "rollback.resolution": partial(_resolution, at="in_request", word="did_not_happen"),
    "rollback.resolution_happened": partial(_resolution, at="after_commit", word="happened"),
    "rollback.resolution_abandon": partial(_resolution, at="in_request", word="abandon"),
    "rollback.approval": _approval,
}
