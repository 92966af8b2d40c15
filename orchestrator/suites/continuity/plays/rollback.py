"""Plays of `families.rollback`: hosts that are set back, and what is presented again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import grpc

from chaos.client import Fate
from chaos.storage_receipts import CheckpointRestoreReceipt
from chaos.windows import window
from memqual.v1 import agent_pb2, continuity_pb2, memory_pb2
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.plays.asking import Held, asking, granted, label
from orchestrator.suites.continuity.plays.operator import (
    Word,
    challenge_for,
    said,
    say,
    signed_word,
)
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage, statuses_of
from orchestrator.suites.continuity.workload import PRINCIPAL, workflow_of
from orchestrator.suites.integrity.reviewer import APPROVE, Reviewer
from services.common.canonical import sha256_hex

__all__ = ["PLAYS"]


def _messages(stage: Stage, workflow_id: str) -> int:
    request = agent_pb2.ReadCheckpointRequest(workflow_id=workflow_id)
    answer = stage.context.session.active.audit.ReadCheckpoint(request)
    return len(json.loads(answer.checkpoint_json)["messages"])


def _set_back(stage: Stage) -> None:
    """Restore every workflow's checkpoint to before its last assistant message; keep the proof."""
    host = stage.context.session.active
    before = {name: _messages(stage, name) for name in stage.rig.workflow_ids}
    for name in stage.rig.workflow_ids:
        host.audit.RestoreCheckpoint(agent_pb2.RestoreCheckpointRequest(workflow_id=name))
    after = {name: _messages(stage, name) for name in stage.rig.workflow_ids}
    stage.keep(CheckpointRestoreReceipt(service=host.service, before=before, after=after))


def _replay(stage: Stage) -> None:
    """The host goes on from the older state: its model is asked again and answers anew."""
    stage.rig.wake(new_life=True)
    stage.settle("replayed")


def _start(stage: Stage, times: int) -> None:
    """Start workflows in which the model asks for the same call so many times, on purpose."""
    workflows = [workflow_of(one, stage.context.run_id) for one in stage.batch.members]
    for workflow in workflows:
        for _ in range(times - 1):
            workflow.turns.add().CopyFrom(workflow.turns[0])
    stage.rig.start(workflows)


def _complete(stage: Stage) -> None:
    stage.rig.start()
    stage.settle("complete")
    _set_back(stage)
    _replay(stage)


def _lose_answers(stage: Stage, at: str) -> None:
    """Every host loses what it waits for at a window, and asks again."""
    stage.rig.window = window(at)
    hold = stage.rig.arm()
    stage.rig.start()
    stage.rig.await_window(hold)
    hold.release(Fate.DISCONNECT, 0.0)
    stage.settle("lost")


def _uncertain(stage: Stage) -> None:
    _lose_answers(stage, "after_commit")
    _set_back(stage)
    _replay(stage)
    stage.reach_lease_end()
    stage.wake_until_settled("expired")


def _after_restart(stage: Stage) -> None:
    stage.rig.start()
    stage.settle("complete")
    _set_back(stage)
    kill_and_restart(stage, "memory")
    _replay(stage)


def _second_of_two(stage: Stage) -> None:
    _start(stage, 2)
    stage.settle("complete")
    _set_back(stage)
    _replay(stage)


def _second_obligation(stage: Stage) -> None:
    _start(stage, 2)
    stage.settle("complete")


def _ask(
    stage: Stage, held: Held, call: str, settled: Sequence[str]
) -> continuity_pb2.OperationSpec:
    """Begin one more operation of the intent, by a host whose past holds what it says."""
    spec = spec_of(held.member, call)
    asking(stage, held.member, f"host-{call}").begin(spec, settled=settled)
    return spec


def _intent(stage: Stage) -> None:
    """The first is live, expired, complete; each time another identity asks from another past."""
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    for held in trials:
        label(stage, held.member, "live")
        _ask(stage, held, "live", ())
    stage.reach_lease_end()
    for held in trials:
        label(stage, held.member, "expired")
        _ask(stage, held, "expired", ())
        held.record()
        label(stage, held.member, "complete")
        forked = _ask(stage, held, "complete", ())
        label(stage, held.member, "complete, again")
        asking(stage, held.member, "another").begin(forked, settled=())
        label(stage, held.member, "complete, of an older past")
        _ask(stage, held, "older", (sha256_hex(b"another operation"),))


def _obligations(stage: Stage) -> None:
    """New ones, one after the other; another intent, another workflow, and a silent host."""
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    stage.reach_lease_end()
    for held in trials:
        held.record()
        past = [held.spec.operation_id]
        for name in ("second", "third"):
            label(stage, held.member, name)
            spec = spec_of(held.member, name)
            host = asking(stage, held.member, f"host-{name}")
            decision = host.begin(spec, settled=past).answer
            if decision is None or not decision.HasField("execute"):
                break
            told = decision.execute
            Held(held.member, host, spec, told.attempt, told.lease_token).record()
            past.append(spec.operation_id)
        for name, change in _UNLIKE.items():
            label(stage, held.member, name)
            spec = spec_of(held.member, name)
            change(spec)
            asking(stage, held.member, f"host-{name}").begin(spec, settled=())
        label(stage, held.member, "silent host")
        asking(stage, held.member, "silent").begin(spec_of(held.member, "silent"))


def _of_another_intent(spec: continuity_pb2.OperationSpec) -> None:
    spec.arguments_digest = sha256_hex(b"other arguments")
    spec.intent_digest = sha256_hex(b"other intent")


def _of_another_workflow(spec: continuity_pb2.OperationSpec) -> None:
    spec.workflow_id += "-other"


_UNLIKE: Mapping[str, Callable[[continuity_pb2.OperationSpec], None]] = {
    "another intent": _of_another_intent,
    "another workflow": _of_another_workflow,
}


def _ruled_out(stage: Stage) -> None:
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    stage.reach_lease_end()
    for held in trials:
        label(stage, held.member, "uncertain")
        spec = _ask(stage, held, "forked", ())
        if said(stage, held, "word", "did_not_happen"):
            label(stage, held.member, "ruled out")
            asking(stage, held.member, "host-forked").begin(spec, settled=())


def _confirmed(stage: Stage) -> list[tuple[Held, Word]]:
    """Every workflow that was left for confirmation, with a word of the operator's."""
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
        if challenge is not None:
            words.append((held, signed_word(stage, challenge, "did_not_happen")))
    return words


def _resolution(stage: Stage) -> None:
    _lose_answers(stage, "in_request")
    stage.reach_lease_end()
    stage.wake_until_settled("expired")
    words = _confirmed(stage)
    for held, word in words:
        label(stage, held.member, "first")
        say(stage, held, word)
    stage.wake_until_settled("resolved")
    _set_back(stage)
    for held, word in words:
        label(stage, held.member, "after the restore")
        say(stage, held, word)
    kill_and_restart(stage, "memory")
    for held, word in words:
        label(stage, held.member, "after a restart")
        say(stage, held, word)
    _replay(stage)


def _approval(stage: Stage) -> None:
    stage.rig.start()
    stage.settle("complete")
    reviewer = stage.reviewer
    decisions = {} if reviewer is None else _approvals(stage, reviewer)
    _present(stage, decisions, "first")
    _set_back(stage)
    _present(stage, decisions, "after the restore")
    kill_and_restart(stage, "memory")
    _present(stage, decisions, "after a restart")
    _replay(stage)


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
            stage.interposer.mark({"kind": "no_review", "workflow": member.workflow_id})
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


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "rollback.complete": _complete,
    "rollback.uncertain": _uncertain,
    "rollback.after_restart": _after_restart,
    "rollback.second_of_two": _second_of_two,
    "rollback.second_obligation": _second_obligation,
    "rollback.intent": _intent,
    "rollback.obligations": _obligations,
    "rollback.ruled_out": _ruled_out,
    "rollback.resolution": _resolution,
    "rollback.approval": _approval,
}
