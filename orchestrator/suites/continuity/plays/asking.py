"""What plays share in which the evaluator asks the memory in a host's place.

Each question that a judge looks at is labelled right before it is asked: a mark in the trace names
it, and the next call of the evaluator's to the memory is the one. What was asked and answered is
read from the trace, never from the mark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.incarnation import Incarnation, Reply
from orchestrator.suites.continuity.specs import receipt_for, spec_of
from orchestrator.suites.continuity.stage import Stage

__all__ = ["Held", "Part", "asking", "finish", "granted", "in_turn", "label"]


@dataclass
class Held:
    """An attempt that the evaluator was granted.

    Attributes:
        member: The trial.
        host: Who was granted it.
        spec: The operation.
        attempt: Its number.
        token: The lease's secret.
        challenge: The challenge that was issued for it last; None before the first.
    """

    member: Member
    host: Incarnation
    spec: continuity_pb2.OperationSpec
    attempt: int
    token: str
    challenge: common_pb2.Challenge | None = None

    def record(
        self, receipt: continuity_pb2.Receipt | None = None
    ) -> Reply[continuity_pb2.RecordReceiptResponse]:
        """Report a receipt as its holder; without one, the attempt's own."""
        told = receipt or receipt_for(self.spec, self.attempt)
        return self.host.record(self.spec, self.attempt, self.token, told)


Part: TypeAlias = Callable[[Stage, Held], None]


def asking(stage: Stage, member: Member, name: str) -> Incarnation:
    """One life of a host of the evaluator's, for one trial."""
    return Incarnation(stage.context.session, f"{name}-{member.workflow_id}")


def label(stage: Stage, member: Member, name: str) -> None:
    """Name the evaluator's next question to the memory, for the trial's judge."""
    stage.interposer.mark({"kind": "probe", "workflow": member.workflow_id, "name": name})


def granted(
    stage: Stage,
    member: Member,
    *,
    name: str = "first",
    spec: continuity_pb2.OperationSpec | None = None,
) -> Held | None:
    """Ask for an operation; None where the memory grants nothing, which the oracle judges."""
    host = asking(stage, member, name)
    asked = spec or spec_of(member)
    decision = host.begin(asked).answer
    if decision is None or not decision.HasField("execute"):
        return None
    return Held(member, host, asked, decision.execute.attempt, decision.execute.lease_token)


def finish(stage: Stage, held: Held) -> None:
    """The operation goes on unharmed: its own receipt completes it, and everybody reuses it."""
    held.record()
    asking(stage, held.member, "last").begin(held.spec)


def in_turn(*parts: Part | None) -> Callable[[Stage], None]:
    """A play in which each trial is granted its operation and then taken through every part.

    None among the parts stands for the lease's end, which comes for all trials together.
    """

    def play(stage: Stage) -> None:
        trials = [granted(stage, member) for member in stage.batch.members]
        for part in parts:
            if part is None:
                stage.reach_lease_end()
                continue
            for held in trials:
                if held is not None:
                    part(stage, held)

    return play
