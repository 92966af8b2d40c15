"""Plays of `families.concurrency`: agents of the evaluator, or both hosts, at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from chaos.client import Fate
from chaos.windows import window
from memqual.v1 import agent_pb2
from orchestrator.model import WindowName
from orchestrator.suites.continuity.crowd import END_MARK, AgentEnd, Crowd
from orchestrator.suites.continuity.families.concurrency import AGENTS
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import model_seed

__all__ = ["PLAYS"]

_GRANTED_SECONDS = 20.0
_SECOND_LIFE = 1
_ASKS_MAX = 150
"""Ten a second at most: a crowd may have to wait out a short lease."""


def _at_once(stage: Stage) -> None:
    agents = AGENTS[stage.cell.case]
    for member in stage.batch.members:
        crowd = Crowd(stage.context.session, stage.interposer, member)
        _keep(stage, crowd, crowd.run(agents, "a"))


def _memory_killed(stage: Stage) -> None:
    with _crowds(stage, silent=False) as (crowds, running):
        _await_grants(crowds)
        for crowd in crowds:
            crowd.reachable.clear()
        try:
            kill_and_restart(stage, "memory")
        finally:
            for crowd in crowds:
                crowd.reachable.set()
        stage.mark_clock()
        for crowd, ends in zip(crowds, running, strict=True):
            _keep(stage, crowd, ends.result())
    _once_more(stage)


def _holder_silent(stage: Stage) -> None:
    with _crowds(stage, silent=True) as (crowds, running):
        _await_grants(crowds)
        stage.reach_lease_end()
        for crowd, ends in zip(crowds, running, strict=True):
            _keep(stage, crowd, ends.result())
    _once_more(stage)


def _two_hosts(stage: Stage) -> None:
    """Both hosts are given the workflows of one checkpoint, and told to go on at the same time.

    The first host's question is held until the standby is woken, too: before it is asked, the
    message may not be in the checkpoint, and each host would have a call of its own.
    """
    stage.rig.window = window(WindowName.BEFORE_INTENT.value)
    hold = stage.rig.arm()
    stage.rig.start()
    stage.rig.await_window(hold)
    session = stage.context.session
    request = agent_pb2.ResumeRequest(
        workflow_ids=stage.rig.workflow_ids, model_seed=model_seed(stage.batch, _SECOND_LIFE)
    )
    with ThreadPoolExecutor(2) as pool:
        woken = [
            pool.submit(host.agent.Resume, request) for host in (session.active, session.standby)
        ]
        for one in woken:
            one.result()
    hold.release(Fate.DELIVER, 0.0)
    stage.wake_until_settled("both", others_work=True)


@contextmanager
def _crowds(
    stage: Stage, *, silent: bool
) -> Iterator[tuple[list[Crowd], list[Future[list[AgentEnd]]]]]:
    """A crowd on each operation of the batch, all under way."""
    agents = AGENTS[stage.cell.case]
    crowds = [
        Crowd(stage.context.session, stage.interposer, member, silent, _ASKS_MAX)
        for member in stage.batch.members
    ]
    with ThreadPoolExecutor(len(crowds)) as pool:
        yield crowds, [pool.submit(crowd.run, agents, "a") for crowd in crowds]


def _await_grants(crowds: list[Crowd]) -> None:
    # A crowd without a grant is no trouble here: the oracle blames what was answered instead.
    ends_at = time.monotonic() + _GRANTED_SECONDS
    for crowd in crowds:
        crowd.granted.wait(max(0.0, ends_at - time.monotonic()))


def _once_more(stage: Stage) -> None:
    """One more agent for each operation, alone: what is settled is settled for everybody."""
    for member in stage.batch.members:
        crowd = Crowd(stage.context.session, stage.interposer, member)
        _keep(stage, crowd, crowd.run(1, "z"))


def _keep(stage: Stage, crowd: Crowd, ends: list[AgentEnd]) -> None:
    for end in ends:
        stage.interposer.mark(
            {
                "kind": END_MARK,
                "workflow": crowd.member.workflow_id,
                "agent": end.agent,
                "state": end.state,
                "result_digest": end.result_digest,
            }
        )


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    **{f"concurrency.agents_{agents}": _at_once for agents in (2, 4, 8, 16)},
    "concurrency.memory_killed": _memory_killed,
    "concurrency.holder_silent": _holder_silent,
    "concurrency.two_hosts": _two_hosts,
}
