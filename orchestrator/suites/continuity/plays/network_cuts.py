"""Plays of `families.network` in which edges are cut while each operation stands at a window."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from chaos.client import Fate
from chaos.errors import WindowMissed
from chaos.holding import HeldByBarrier, HeldByRule, Hold
from chaos.network_faults import Disturbance, message_rule, partition_rules
from chaos.windows import REQUEST, RESPONSE, BarrierHold
from memqual.v1 import agent_pb2
from memqual.v1 import interposer_pb2 as pb
from orchestrator.suites.continuity.families.network_points import (
    PARTITIONS,
    STANDS,
    STOOD_MARK,
    Partition,
    Stand,
    rule_id_of,
)
from orchestrator.suites.continuity.plays.network import prove, recover, turns_of
from orchestrator.suites.continuity.rig import NotSettled
from orchestrator.suites.continuity.stage import Stage

__all__ = ["PLAYS"]

_HOLD_SECONDS = 20.0
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class _Held:
    """Operations that are kept at one window.

    Attributes:
        stand: Which window.
        hold: What keeps them.
    """

    stand: Stand
    hold: Hold

    def standing(self) -> tuple[str, ...]:
        """The workflows that stand there now."""
        return self.hold.await_held(0, 0.0)

    def go_on(self, cut: Partition) -> None:
        """Let them go on while edges are cut; what is under way on one of those is lost."""
        self.hold.release(_fate(cut, self.stand), 0.0)


def _cut(stage: Stage) -> None:
    """Edges are cut while each operation stands at its window, and are whole again later."""
    cut = PARTITIONS[stage.cell.case]
    held = [_hold(stage, *turn) for turn in turns_of(stage, STANDS)]
    stage.do("start", stage.rig.start)
    stage.do("hold", lambda: _await_all(stage, held))
    action: Literal["lost", "reset"] = "lost" if cut.silent else "reset"
    rules = partition_rules(cut.edges, cut.direction, action, f"cut-{stage.batch.batch_id}")
    disturbed = Disturbance(stage.interposer, action, cut.direction, rules, True).inject()
    for one in held:
        one.go_on(cut)
    stage.do("settle", lambda: _settle_patiently(stage))
    disturbed.lift()
    recover(stage)
    prove(stage, disturbed)


def _hold(stage: Stage, stand: Stand, workflow_ids: list[str]) -> _Held:
    """Keep these operations at a window as soon as they come there."""
    if isinstance(stand.hold, BarrierHold):
        barrier = HeldByBarrier(stage.context.session.active.audit, stand.hold.barrier)
        barrier.arm(workflow_ids)
        return _Held(stand, barrier)
    rule_id = rule_id_of(stage.batch.batch_id, stand)
    rule = message_rule(stand.hold, "reset", workflow_ids, rule_id)
    rule.action, rule.fail_code = pb.RULE_ACTION_HOLD, 0
    stage.interposer.arm(rule)
    return _Held(stand, HeldByRule(stage.interposer, rule_id))


def _await_all(stage: Stage, held: Sequence[_Held]) -> None:
    """Wait until every operation stands at its window, and tell which the host itself holds.

    Raises:
        WindowMissed: Some cannot arrive any more, or did not in time.
    """
    wanted = len(stage.rig.workflow_ids)
    deadline = time.monotonic() + _HOLD_SECONDS
    while True:
        settled = _settled(stage)
        standing = [(one, one.standing()) for one in held]
        count = sum(len(workflows) for _, workflows in standing)
        if count >= wanted:
            break
        if count + settled >= wanted or time.monotonic() > deadline:
            for one in held:
                one.hold.release(Fate.DELIVER, 0.0)
            raise WindowMissed(
                "held", f"{count} of {wanted} stand; {settled} workflows settled without it"
            )
        time.sleep(_LOOK_SECONDS)
    for one, workflows in standing:
        if isinstance(one.stand.hold, BarrierHold):
            for workflow in workflows:
                stage.interposer.mark(
                    {"kind": STOOD_MARK, "workflow": workflow, "window": one.stand.name}
                )


def _settled(stage: Stage) -> int:
    request = agent_pb2.StatusRequest(workflow_ids=stage.rig.workflow_ids)
    answer = stage.context.session.active.agent.Status(request)
    return sum(one.state != agent_pb2.WORKFLOW_STATE_RUNNING for one in answer.workflows)


def _fate(cut: Partition, stand: Stand) -> Fate:
    """What the cut does to a message that is under way on an edge in that moment."""
    held = stand.hold
    if isinstance(held, BarrierHold):
        return Fate.DELIVER
    phases = {"requests": (REQUEST,), "responses": (RESPONSE,)}.get(
        cut.direction, (REQUEST, RESPONSE)
    )
    if (held.source, held.target) not in cut.edges or held.phase not in phases:
        return Fate.DELIVER
    return Fate.DROP if cut.silent else Fate.DISCONNECT


def _settle_patiently(stage: Stage) -> None:
    """A host that hears nothing tries a receipt and a question for all of their deadlines."""
    try:
        stage.settle("cut")
    except NotSettled:
        stage.settle("cut")


PLAYS: Mapping[str, Callable[[Stage], None]] = dict.fromkeys(PARTITIONS, _cut)
