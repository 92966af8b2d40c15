"""The active host dies at a window, as a case's own step (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Callable

from chaos.client import Fate
from chaos.injection import Injection
from chaos.plans import KillPlan
from chaos.windows import BarrierHold, window
from orchestrator.suites.continuity.preconditions import read_precondition
from orchestrator.suites.continuity.stage import Stage

__all__ = ["kill_host_at"]


def kill_host_at(
    stage: Stage, window_name: str, start: Callable[[], None], *, calls_before: int = 0
) -> str:
    """Hold every workflow of the batch at a window, kill the host there, and keep the receipt.

    What was held is lost with its host.

    Args:
        stage: The batch.
        window_name: Where.
        start: Starts the batch's workflows on the active host.
        calls_before: Calls of each workflow that pass the window before one is held.

    Returns:
        The service that was killed; `Stage.take_over` wants to know.

    Raises:
        WindowMissed, ChaosError, StackError: A step did not show what it must.
    """
    point = stage.rig.window = window(window_name)
    hold = stage.do("hold", lambda: stage.rig.arm(calls_before))
    stage.do("start", start)
    stage.do("window", lambda: stage.rig.await_window(hold))
    stage.do("standby", stage.await_standby)
    service = stage.context.session.active.service
    plan = KillPlan(
        injection_id=stage.batch.batch_id,
        window=point.name,
        targets=(stage.context.stack.service(service),),
        hold=hold,
        expected_held=len(stage.batch.members),
        fate=Fate.DELIVER if isinstance(point.hold, BarrierHold) else Fate.DROP,
    )
    stage.context.progress.spoiled = "a kill was not carried out to its end"

    def injected() -> None:
        injection = Injection(
            plan,
            stage.interposer,
            lambda: read_precondition(
                point, stage.rig.workflow_ids, stage.rig.journal_from(stage.journal_first)
            ),
        )
        stage.keep(injection.run())

    stage.do("kill", injected)
    stage.context.progress.spoiled = ""
    return service
