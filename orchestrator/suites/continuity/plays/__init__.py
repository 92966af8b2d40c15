"""How every case of a family is played on a stack, by the case's name.

A play is a function over a `Stage`. It runs between `Stage.begin` and `Stage.finish`; what it
raises becomes the batch's error. A family's module has a mapping `PLAYS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import grpc

from chaos.errors import ChaosError
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import MemqualError
from orchestrator.plan import Batch
from orchestrator.suites.continuity.ending import prove_end
from orchestrator.suites.continuity.families import CASES
from orchestrator.suites.continuity.mishaps import error_of
from orchestrator.suites.continuity.plays import (
    bad_input,
    clock,
    concurrency,
    explore,
    golden,
    identity,
    limits,
    matrix,
    network,
    network_cuts,
    paper_acceptance,
    paper_interrupted,
    paper_parity,
    paper_pilot,
    receipts,
    resolve,
    rollback,
    storage,
    telemetry,
    zombie,
)
from orchestrator.suites.continuity.stage import BatchResult, Stage
from orchestrator.suites.integrity.reviewer import Reviewer

__all__ = ["PLAYS", "Play", "carry_out_case"]

Play: TypeAlias = Callable[[Stage], None]

PLAYS: Mapping[str, Play] = MappingProxyType(
    {
        **identity.PLAYS,
        **clock.PLAYS,
        **zombie.PLAYS,
        **concurrency.PLAYS,
        **explore.PLAYS,
        **receipts.PLAYS,
        **storage.PLAYS,
        **bad_input.PLAYS,
        **network.PLAYS,
        **network_cuts.PLAYS,
        **golden.PLAYS,
        **matrix.PLAYS,
        **paper_acceptance.PLAYS,
        **paper_parity.PLAYS,
        **paper_interrupted.PLAYS,
        **telemetry.PLAYS,
        **limits.PLAYS,
        **resolve.PLAYS,
        **paper_pilot.PLAYS,
        **rollback.PLAYS,
    }
)


def carry_out_case(
    context: StackContext, batch: Batch, reviewer: Reviewer | None = None
) -> BatchResult:
    """Play one batch of a case; whatever goes wrong is in the evidence, with its step.

    Raises:
        MemqualError, ChaosError, grpc.RpcError: The evidence itself could not be read any more.
    """
    case = CASES[batch.cell.case]
    stage = Stage(context, batch, reviewer=reviewer)
    try:
        stage.await_slow_standby()
        stage.begin()
        stage.step = "play"
        PLAYS[case.name](stage)
        stage.finish()
    except (MemqualError, ChaosError, grpc.RpcError) as error:
        stage.seen.error = error_of(stage.step, error)
        context.progress.spoiled = stage.seen.error.cause
    if case.own_stack and not context.progress.spoiled:
        context.progress.spoiled = f"{case.name} leaves no stack for others"
    stage.look_at_memory(being_killed=stage.killing)
    prove_end(stage)
    stage.tell_error()
    return stage.result()
