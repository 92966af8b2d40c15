"""Many incarnations on one operation at once, each by the host's protocol (DESIGN §4, §6)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import grpc

from chaos.client import Fate, InterposerClient
from chaos.windows import BEGIN
from memqual.v1 import continuity_pb2, interposer_pb2
from orchestrator.plan import Member
from orchestrator.session import Session
from orchestrator.suites.continuity.dispatching import ask_destination, dispatch
from orchestrator.suites.continuity.incarnation import Incarnation, Reply
from orchestrator.suites.continuity.specs import spec_of

__all__ = ["AGENTS_MAX", "END_MARK", "AgentEnd", "Crowd"]

_Answer = TypeVar("_Answer")

AGENTS_MAX = 16

END_MARK = "agent_end"
"""Kind of the mark that keeps where each agent stood at last."""

_CALLS_MAX = 4
_RETRY_SECONDS = 0.1
_WAIT_SECONDS = 0.1
_TOGETHER_SECONDS = 20.0
_DOWN_SECONDS = 60.0

_AGAIN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


@dataclass(frozen=True)
class AgentEnd:
    """Where one agent stood when it stopped.

    Attributes:
        agent: Its incarnation id.
        state: `completed`, `waiting`, `confirm`, `rejected`, `silent`, `uncertain` or `refused`.
        result_digest: Of the result that it goes on with; empty unless completed.
    """

    agent: str
    state: str
    result_digest: str = ""


@dataclass
class Crowd:
    """Agents that start together on one operation.

    Attributes:
        session: The stack's session.
        interposer: Control of its interposer.
        member: The trial; its workflow's operation is asked about.
        silent: The first agent that is told EXECUTE dispatches and is never heard of again.
        asks_max: Questions after which an agent that is put off gives up.
        granted: Set as soon as one of them was told EXECUTE.
        reachable: Cleared while the memory is known to be down: nobody asks again before it is up.
    """

    session: Session
    interposer: InterposerClient
    member: Member
    silent: bool = False
    asks_max: int = 30
    granted: threading.Event = field(default_factory=threading.Event)
    reachable: threading.Event = field(default_factory=threading.Event)
    _granting: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self.reachable.set()

    def run(self, agents: int, life: str) -> list[AgentEnd]:
        """Let so many new incarnations ask at once until each has stopped.

        The interposer keeps their first questions until all are there, and lets them go together.

        Args:
            agents: How many.
            life: Tells these incarnations from those of another run.

        Raises:
            NotInTime: They did not all ask.
        """
        names = [f"{life}{number}-{self.member.workflow_id}" for number in range(agents)]
        rule_id = f"crowd-{life}-{self.member.workflow_id}"
        self.interposer.arm(self._first_questions(rule_id, agents))
        with ThreadPoolExecutor(agents) as pool:
            running = [pool.submit(self._agent, name) for name in names]
            try:
                self.interposer.await_held(rule_id, agents, _TOGETHER_SECONDS)
            finally:
                self.interposer.release(rule_id, Fate.DELIVER)
            return [one.result() for one in running]

    def _first_questions(self, rule_id: str, agents: int) -> interposer_pb2.Rule:
        workflow = interposer_pb2.MetadataMatch(
            key="memqual-workflow", values=[self.member.workflow_id]
        )
        return interposer_pb2.Rule(
            rule_id=rule_id,
            edge=interposer_pb2.Edge(target="memory"),
            method=BEGIN,
            phase=interposer_pb2.MESSAGE_PHASE_REQUEST,
            matches=[workflow],
            action=interposer_pb2.RULE_ACTION_HOLD,
            max_hits_per_workflow=agents,
        )

    def _agent(self, name: str) -> AgentEnd:
        agent = Incarnation(self.session, name)
        spec = spec_of(self.member)
        state = "waiting"
        for asked in range(self.asks_max):
            begin_id = f"{name}-{asked}"[-64:]
            decision = self._until_answered(partial(agent.begin, spec, begin_id))
            if decision is None:
                return AgentEnd(name, "refused")
            match decision.WhichOneof("kind"):
                case "execute":
                    return self._execute(agent, spec, decision.execute)
                case "reuse":
                    return AgentEnd(name, "completed", decision.reuse.receipt.result_digest)
                case "confirm":
                    return AgentEnd(name, "confirm")
                case "reject":
                    return AgentEnd(name, "rejected")
                case "query":
                    self._query(agent, spec, decision.query)
                    state = "uncertain"
                case _:
                    state = "waiting"
            time.sleep(_WAIT_SECONDS)
        return AgentEnd(name, state)

    def _execute(
        self,
        agent: Incarnation,
        spec: continuity_pb2.OperationSpec,
        told: continuity_pb2.Execute,
    ) -> AgentEnd:
        with self._granting:
            first = not self.granted.is_set()
            self.granted.set()
        receipt = dispatch(self.session, self.member, spec, told.attempt)
        if receipt is None:
            return AgentEnd(agent.name, "uncertain")
        if self.silent and first:
            return AgentEnd(agent.name, "silent")
        recorded = self._until_answered(
            lambda: agent.record(spec, told.attempt, told.lease_token, receipt)
        )
        state = "refused" if recorded is None else "completed"
        return AgentEnd(agent.name, state, receipt.result_digest if recorded else "")

    def _query(
        self, agent: Incarnation, spec: continuity_pb2.OperationSpec, told: continuity_pb2.Query
    ) -> None:
        presence, receipt = ask_destination(self.session, spec, told.attempt)
        agent.record_query(spec, told.attempt, told.query_ticket, presence, receipt)

    def _until_answered(self, call: Callable[[], Reply[_Answer]]) -> _Answer | None:
        """A call that is repeated as it is when there was no answer, as often as a host does."""
        for _ in range(_CALLS_MAX):
            reply = call()
            if reply.code not in _AGAIN:
                return reply.answer
            self.reachable.wait(_DOWN_SECONDS)
            time.sleep(_RETRY_SECONDS)
        return None
