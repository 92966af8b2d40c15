"""A kill outside of every window, with the proof of the death and of the next life (DESIGN §5).

Marks in the trace say when the service may have been gone, so that the oracle holds no silence of
that time against the memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from chaos.receipts import RestartReceipt, TargetKill
from orchestrator.runtimes.base import ServiceHandle
from orchestrator.suites.continuity.stage import Stage

__all__ = ["channels_of", "kill_and_restart", "kill_host", "kill_together"]

_EXIT_SECONDS = 10.0
_HEALTHY_SECONDS = 30.0
_MILLISECONDS_A_SECOND = 1_000
_AUDITED = ("destination", "observer")


def channels_of(service: str) -> tuple[str, ...]:
    """Control targets of a service: its own, and its evaluator-only twin where it has one."""
    return (service, f"{service}-audit") if service in _AUDITED else (service,)


def kill_and_restart(
    stage: Stage, service: str, while_down: Callable[[], None] | None = None
) -> None:
    """Kill a service, start it again, wait until it is healthy, and keep the receipt.

    Args:
        stage: The batch.
        service: `memory`, `destination` or `observer`; a host that dies is the standby's to
            follow (`Stage.restart_standby`).
        while_down: Done between its end and its next start.

    Raises:
        StackError, ChaosError: It did not end, or is not healthy again.
    """
    stage.killing = service == "memory"
    target = stage.context.stack.service(service)
    death = _killed(stage, target)
    if while_down is not None:
        while_down()
    _mark(stage, service, "restarting")
    target.start()
    began = time.monotonic()
    for name in channels_of(service):
        stage.interposer.refresh(name, _HEALTHY_SECONDS)
    healthy_ms = round((time.monotonic() - began) * _MILLISECONDS_A_SECOND)
    _mark(stage, service, "healthy")
    stage.killing = False
    _keep(stage, death, target, healthy_ms)


def kill_host(stage: Stage) -> None:
    """Kill the active host at whatever it is; the standby goes on with its workflows.

    The killed host is waited for: its next life is part of the receipt.

    Raises:
        StackError, ChaosError: It did not end, or is not healthy again.
    """
    stage.await_standby()
    service = stage.context.session.active.service
    target = stage.context.stack.service(service)
    death = _killed(stage, target)
    stage.take_over(service)
    stage.await_standby()
    _keep(
        stage, death, target, round(stage.context.progress.standby_seconds * _MILLISECONDS_A_SECOND)
    )


def kill_together(stage: Stage, services: Sequence[str], *, host: bool) -> None:
    """Kill several services at one moment and start them again; the standby follows a host.

    Args:
        stage: The batch.
        services: Without hosts; at least one.
        host: The active host is killed as well.

    Raises:
        StackError, ChaosError: One did not end, or is not healthy again.
    """
    if host:
        stage.await_standby()
    killed_host = stage.context.session.active.service
    names = [*services, *([killed_host] if host else [])]
    stage.killing = "memory" in services
    deaths = _killed_at_once(stage, names)
    if host:
        stage.take_over(killed_host)
    for name in services:
        _mark(stage, name, "restarting")
        stage.context.stack.service(name).start()
    began = time.monotonic()
    for name in services:
        for channel in channels_of(name):
            stage.interposer.refresh(channel, _HEALTHY_SECONDS)
        healthy_ms = round((time.monotonic() - began) * _MILLISECONDS_A_SECOND)
        _mark(stage, name, "healthy")
        _keep(stage, deaths[name], stage.context.stack.service(name), healthy_ms)
    stage.killing = False
    if host:
        stage.await_standby()
        seconds = stage.context.progress.standby_seconds
        target = stage.context.stack.service(killed_host)
        _keep(stage, deaths[killed_host], target, round(seconds * _MILLISECONDS_A_SECOND))


def _killed_at_once(stage: Stage, names: Sequence[str]) -> dict[str, TargetKill]:
    targets = [stage.context.stack.service(name) for name in names]
    with ThreadPoolExecutor(len(targets)) as pool:
        deaths = list(pool.map(lambda target: _killed(stage, target), targets))
    return {death.service: death for death in deaths}


def _killed(stage: Stage, target: ServiceHandle) -> TargetKill:
    pid, started_ns = target.pid(), target.started_at_ns()
    _mark(stage, target.name, "began")
    target.kill()
    killed_ns = time.monotonic_ns()
    ended = target.wait_exit(_EXIT_SECONDS)
    exited_ns = time.monotonic_ns()
    _mark(stage, target.name, "exited")
    return TargetKill(
        service=target.name,
        pid=pid,
        started_before_ns=started_ns,
        kill_monotonic_ns=killed_ns,
        exit_code=ended.exit_code,
        oom_killed=ended.oom_killed,
        exit_monotonic_ns=exited_ns,
    )


def _keep(stage: Stage, death: TargetKill, target: ServiceHandle, healthy_after_ms: int) -> None:
    kill = death.model_copy(update={"started_after_ns": target.started_at_ns()})
    stage.keep(RestartReceipt(target=kill, healthy_after_ms=healthy_after_ms))


def _mark(stage: Stage, service: str, step: str) -> None:
    stage.interposer.mark({"kind": "outage", "service": service, "step": step})
