"""Plays of `families.network` in which a host lives through the fault, or another takes over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from chaos.client import Fate as MessageFate
from chaos.injection import Injection
from chaos.network_faults import Disturbance, Disturbed, message_rule
from chaos.plans import KillPlan
from chaos.receipts import NetworkReceipt
from chaos.windows import window as window_named
from memqual.v1 import destination_pb2
from orchestrator.suites.continuity.families.network_points import (
    MESSAGES,
    Messages,
    point_of,
    rule_id_of,
)
from orchestrator.suites.continuity.plays.network_arrivals import await_delayed
from orchestrator.suites.continuity.plays.network_copies import COPIES
from orchestrator.suites.continuity.preconditions import read_precondition
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import settings_of

__all__ = ["PLAYS", "disturb", "prove", "recover", "turns_of"]

_Place = TypeVar("_Place")

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
        for point, workflows in turns_of(stage, fault.points)
    )
    return Disturbance(stage.interposer, fault.action, fault.direction, rules).inject()


def turns_of(stage: Stage, points: tuple[_Place, ...]) -> list[tuple[_Place, list[str]]]:
    """Each message or window with the workflows whose turn it is, if there are any."""
    taken: dict[_Place, list[str]] = {}
    for position, workflow_id in enumerate(stage.rig.workflow_ids):
        taken.setdefault(point_of(points, position), []).append(workflow_id)
    return list(taken.items())


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


_BY_HOSTS = {
    name: _query_after_death if ".query." in name else _meet_messages
    for name in MESSAGES
    if ".renew." not in name
}

PLAYS: Mapping[str, Callable[[Stage], None]] = {
    **_BY_HOSTS,
    **COPIES,
}
