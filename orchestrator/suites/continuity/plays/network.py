"""Plays of `families.network` in which a host lives through the fault, or another takes over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from chaos.client import Fate as MessageFate
from chaos.errors import WindowMissed
from chaos.injection import Injection
from chaos.network_faults import (
    Disturbance,
    Disturbed,
    message_rule,
    partition_rules,
)
from chaos.plans import KillPlan
from chaos.receipts import NetworkReceipt
from chaos.windows import REQUEST, RESPONSE, RuleHold
from chaos.windows import window as window_named
from memqual.v1 import agent_pb2, destination_pb2
from memqual.v1 import interposer_pb2 as pb
from orchestrator.suites.continuity.families.network_points import (
    ALL_POINTS,
    MESSAGES,
    PARTITIONS,
    Messages,
    Partition,
    Point,
    point_of,
    rule_id_of,
)
from orchestrator.suites.continuity.plays.network_arrivals import await_delayed
from orchestrator.suites.continuity.plays.network_copies import COPIES
from orchestrator.suites.continuity.preconditions import read_precondition
from orchestrator.suites.continuity.rig import NotSettled
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import settings_of

__all__ = ["PLAYS", "await_points", "disturb", "hold_points", "prove", "recover"]

_HOLD_SECONDS = 20.0
_LOOK_SECONDS = 0.1
# A sender of telemetry gives a silent observer two tries of 2 s each before the next event.
_PASSES_SECONDS = 10.0
_HEALED_CANARY = 2
_DEATH_WINDOW = "in_request"


def disturb(stage: Stage, fault: Messages) -> Disturbed:
    """Arm a fault of single messages for the batch: its operations take the messages in turn."""
    rules = tuple(
        message_rule(
            point.hold,
            fault.action,
            workflows,
            rule_id_of(stage.batch.batch_id, point),
            fault.delay_ms,
        )
        for point, workflows in _turns(stage, fault.points)
    )
    return Disturbance(stage.interposer, fault.action, fault.direction, rules).inject()


def _turns(stage: Stage, points: tuple[Point, ...]) -> list[tuple[Point, list[str]]]:
    """Each message with the workflows whose turn it is; messages without any are left out."""
    taken: dict[Point, list[str]] = {}
    for position, workflow_id in enumerate(stage.rig.workflow_ids):
        taken.setdefault(point_of(points, position), []).append(workflow_id)
    return list(taken.items())


def hold_points(stage: Stage) -> list[tuple[Point, list[str]]]:
    """Hold each operation at its window, the windows in turn; returns which waits where."""
    turns = _turns(stage, ALL_POINTS)
    for point, workflows in turns:
        rule = message_rule(point.hold, "reset", workflows, rule_id_of(stage.batch.batch_id, point))
        rule.action, rule.fail_code = pb.RULE_ACTION_HOLD, 0
        stage.interposer.arm(rule)
    return turns


def await_points(stage: Stage, turns: Sequence[tuple[Point, list[str]]]) -> None:
    """Wait until every operation stands at its window.

    Raises:
        WindowMissed: Some cannot arrive any more, or did not in time.
    """
    wanted = len(stage.rig.workflow_ids)
    rule_ids = [rule_id_of(stage.batch.batch_id, point) for point, _ in turns]
    deadline = time.monotonic() + _HOLD_SECONDS
    while True:
        settled = _settled(stage)
        held = sum(len(stage.interposer.await_held(rule_id, 0, 0.0)) for rule_id in rule_ids)
        if held >= wanted:
            return
        if held + settled >= wanted or time.monotonic() > deadline:
            stage.interposer.clear(*rule_ids)
            raise WindowMissed(
                "held", f"{held} of {wanted} stand; {settled} workflows settled without it"
            )
        time.sleep(_LOOK_SECONDS)


def _settled(stage: Stage) -> int:
    request = agent_pb2.StatusRequest(workflow_ids=stage.rig.workflow_ids)
    answer = stage.context.session.active.agent.Status(request)
    return sum(one.state != agent_pb2.WORKFLOW_STATE_RUNNING for one in answer.workflows)


def recover(stage: Stage) -> None:
    """After the fault: the host is woken while leases live, and again when they are over."""

    def wake() -> None:
        stage.rig.wake(new_life=False)
        stage.settle("healed")

    stage.do("wake", wake)
    stage.do("expire", stage.reach_lease_end)
    stage.do(
        "wake_after_lease",
        lambda: stage.wake_until_settled("expired", stage.wakes_for_declared_bound()),
    )


def _meet_messages(stage: Stage) -> None:
    fault = MESSAGES[stage.cell.case]
    if fault.once:
        stage.do("configure", lambda: _apply_once(stage))
    disturbed = disturb(stage, fault)
    stage.do("start", stage.rig.start)
    stage.do("settle", lambda: stage.settle("live"))
    _end_of_messages(stage, fault, disturbed)
    recover(stage)
    prove(stage, disturbed)


def _apply_once(stage: Stage) -> None:
    settings = [settings_of(member) for member in stage.batch.members]
    for one in settings:
        one.one_apply_per_attempt = True
    request = destination_pb2.ConfigureWorkflowRequest(settings=settings)
    stage.context.session.destination_audit.ConfigureWorkflow(request)


def _end_of_messages(stage: Stage, fault: Messages, disturbed: Disturbed) -> None:
    """What is still on its way arrives; nothing more is met."""
    if fault.action == "delayed":
        stage.do("arrive", lambda: await_delayed(stage, fault, disturbed))
    disturbed.lift()


def prove(stage: Stage, disturbed: Disturbed) -> None:
    """A message passes on the destination's edge, whatever the operations came to; the proof."""
    stage.do("canary_healed", lambda: stage.canary(_HEALED_CANARY))
    stage.keep(stage.do("receipt", lambda: _receipt(disturbed)))


def _receipt(disturbed: Disturbed) -> NetworkReceipt:
    """The proof, once something passes again: who was met with silence waits for a while."""
    deadline = time.monotonic() + _PASSES_SECONDS
    while True:
        receipt = disturbed.receipt()
        if receipt.passed_after or time.monotonic() > deadline:
            return receipt
        time.sleep(_LOOK_SECONDS)


def _query_after_death(stage: Stage) -> None:
    """The host dies with its Invoke on the way; what its follower asks with is met."""
    fault = MESSAGES[stage.cell.case]
    killed = _kill_host(stage)
    disturbed = disturb(stage, fault)
    stage.do("take_over", lambda: stage.take_over(killed))
    stage.do("settle", lambda: stage.settle("live"))
    stage.do("expire", stage.reach_lease_end)
    stage.do(
        "wake_after_lease",
        lambda: stage.wake_until_settled("expired", stage.wakes_for_declared_bound()),
    )
    _end_of_messages(stage, fault, disturbed)
    stage.do("wake", lambda: stage.wake_until_settled("healed"))
    prove(stage, disturbed)


def _kill_host(stage: Stage) -> str:
    """Kill the active host while its requests are held, and lose them; returns who died."""
    window = window_named(_DEATH_WINDOW)
    stage.rig.window = window
    hold = stage.rig.arm()
    stage.do("start", stage.rig.start)
    stage.do("hold", lambda: stage.rig.await_window(hold))
    stage.do("standby", stage.await_standby)
    stage.step = "kill"
    service = stage.context.session.active.service
    plan = KillPlan(
        injection_id=stage.batch.batch_id,
        window=window.name,
        targets=(stage.context.stack.service(service),),
        hold=hold,
        expected_held=len(stage.batch.members),
        fate=MessageFate.DROP,
    )
    injection = Injection(
        plan,
        stage.interposer,
        lambda: read_precondition(
            window, stage.rig.workflow_ids, stage.rig.journal_from(stage.journal_first)
        ),
    )
    stage.keep(injection.run())
    return service


def _cut(stage: Stage) -> None:
    """Edges are cut while each operation stands at its window, and are whole again later."""
    cut = PARTITIONS[stage.cell.case]
    turns = hold_points(stage)
    stage.do("start", stage.rig.start)
    stage.do("hold", lambda: await_points(stage, turns))
    action: Literal["lost", "reset"] = "lost" if cut.silent else "reset"
    rules = partition_rules(cut.edges, cut.direction, action, f"cut-{stage.batch.batch_id}")
    disturbed = Disturbance(stage.interposer, action, cut.direction, rules, True).inject()
    for point, _ in turns:
        fate = _fate(cut, point.hold)
        stage.interposer.release(rule_id_of(stage.batch.batch_id, point), fate)
    stage.do("settle", lambda: _settle_patiently(stage))
    disturbed.lift()
    recover(stage)
    prove(stage, disturbed)


def _fate(cut: Partition, held: RuleHold) -> MessageFate:
    """What the cut does to a message that is under way on an edge in that moment."""
    phases = {"requests": (REQUEST,), "responses": (RESPONSE,)}.get(
        cut.direction, (REQUEST, RESPONSE)
    )
    if (held.source, held.target) not in cut.edges or held.phase not in phases:
        return MessageFate.DELIVER
    return MessageFate.DROP if cut.silent else MessageFate.DISCONNECT


def _settle_patiently(stage: Stage) -> None:
    """A host that hears nothing tries a receipt and a question for all of their deadlines."""
    try:
        stage.settle("cut")
    except NotSettled:
        stage.settle("cut")


_BY_HOSTS = {
    name: _query_after_death if ".query." in name else _meet_messages
    for name in MESSAGES
    if ".renew." not in name
}

PLAYS: Mapping[str, Callable[[Stage], None]] = {
    **_BY_HOSTS,
    **dict.fromkeys(PARTITIONS, _cut),
    **COPIES,
}
