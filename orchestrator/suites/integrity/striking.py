"""Kills the memory within calls, with the proof of each kill (DESIGN §5)."""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial

from chaos.client import Fate
from chaos.holding import HeldByRule
from chaos.injection import Injection
from chaos.plans import KillPlan
from chaos.receipts import (
    AnyReceipt,
    JournalPrecondition,
    RestartReceipt,
)
from chaos.windows import WORKFLOW_KEY
from memqual.v1 import interposer_pb2, memory_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.suites.integrity.calls import (
    UNANSWERED,
    Answer,
    Phase,
    StackStep,
    Strike,
    StrikeBurst,
    method_of,
)
from orchestrator.suites.integrity.deaths import MEMORY, CarryOut, Deaths
from orchestrator.suites.integrity.moments import Gate, Start
from orchestrator.suites.integrity.trial import LiveMemory

__all__ = ["Killing", "Struck", "Waiting"]

_ORCHESTRATOR = "orchestrator"
_HELD_SECONDS = 30.0
_POLL_SECONDS = 0.01
_MOMENT_SECONDS_MAX = 0.004
_UNDERWAY_SECONDS_MIN = 0.002
_UNDERWAY_SECONDS_MAX = 5.0
_SPAN = 1.2
_NS = 1_000_000_000

_METHODS = memory_pb2.DESCRIPTOR.services_by_name["MemoryService"]


@dataclass(frozen=True)
class Waiting:
    """One trial that waits.

    Attributes:
        workflow_id: Its workflow, by which its messages are told apart.
        memory: Makes its calls.
        step: What it wants.
    """

    workflow_id: str
    memory: LiveMemory
    step: StackStep

    @property
    def trial_id(self) -> str:
        """The trial."""
        return self.memory.trial_id


@dataclass(frozen=True)
class Struck:
    """What became of calls during which the memory was killed.

    Attributes:
        receipt: Proof of the kill; None when no call could be held and nobody was killed.
        answers: Each trial's answer, by trial id.
    """

    receipt: AnyReceipt | None
    answers: Mapping[str, Answer]


class Killing:
    """The kills of one job.

    Args:
        context: The stack.
        job_id: Names injections and draws moments.
    """

    def __init__(self, context: StackContext, job_id: str) -> None:
        self._context = context
        self._job_id = job_id
        self._deaths = Deaths(context)

    def strike(self, number: int, together: Sequence[Waiting]) -> Struck:
        """Kill the memory while a message of each trial's call is held.

        Args:
            number: Place among the job's stack steps, by which ids and draws differ.
            together: The trials, all with the same call at the same phase.
        """
        interposer = self._context.interposer
        rule_id = f"{self._job_id}-{number}"
        interposer.arm(_rule(rule_id, together))
        hold = HeldByRule(interposer, rule_id)
        killed = threading.Event()
        with ThreadPoolExecutor(len(together), thread_name_prefix="strike") as pool:
            calls = {one.trial_id: pool.submit(_struck, one, killed.is_set) for one in together}
            held = self._await_standing(rule_id, list(calls.values()))
            receipt: AnyReceipt | None = None
            if held:
                killed.set()
                receipt = self._inject(rule_id, hold, held)
            else:
                interposer.clear(rule_id)
        return Struck(receipt, {trial: call.result() for trial, call in calls.items()})

    def strike_underway(self, number: int, together: Sequence[Waiting]) -> Struck:
        """Start the calls one after another and kill while they are at different points of work.

        The starts are spread over a little more than the time that such a call took undisturbed, so
        that one kill meets the first calls at their end and the last ones at their beginning.

        Args:
            number: Place among the job's stack steps, by which draws differ.
            together: The trials, all with the same call.
        """
        draw = random.Random(f"{self._job_id}/{number}")
        span_seconds = _span_seconds(together)
        part = span_seconds / len(together)
        places = draw.sample(range(len(together)), len(together))
        offset = draw.random()
        begun, killed = Start(), threading.Event()

        def carry_out(kill: Callable[[], None]) -> None:
            begun.now()
            begun.sleep_until(span_seconds)
            killed.set()
            kill()

        with ThreadPoolExecutor(len(together), thread_name_prefix="underway") as pool:
            calls = {
                one.trial_id: pool.submit(
                    _struck, one, killed.is_set, partial(begun.sleep_until, (place + offset) * part)
                )
                for place, one in zip(places, together, strict=True)
            }
            receipt = self._killed_within(carry_out, calls)
        if receipt.unanswered == 0:
            # Every answer came first: the memory was idle by then, and has all the more to keep.
            receipt = receipt.model_copy(update={"answered": None, "unanswered": None})
        return Struck(receipt, {trial: call.result() for trial, call in calls.items()})

    def _killed_within(
        self,
        carry_out: CarryOut,
        calls: Mapping[str, Future[Answer]],
    ) -> RestartReceipt:
        """Kill within these calls, start again, and wait for their ends."""
        kill = self._deaths.kill(carry_out)
        healthy_after_ms = self._deaths.revive()
        wait(calls.values(), timeout=_HELD_SECONDS)
        answers = [call.result() for call in calls.values()]
        parts = [part for answer in answers for part in answer.parts or (answer,)]
        unanswered = sum(part.status == UNANSWERED for part in parts)
        return RestartReceipt(
            target=kill,
            healthy_after_ms=healthy_after_ms,
            answered=len(parts) - unanswered,
            unanswered=unanswered,
        )

    def _await_standing(self, rule_id: str, calls: Sequence[Future[Answer]]) -> int:
        """Wait until each call is held, or was answered otherwise; how many are held."""
        deadline = time.monotonic() + _HELD_SECONDS
        while time.monotonic() < deadline:
            held = len(self._context.interposer.await_held(rule_id, 0, 0.0))
            if held + sum(call.done() for call in calls) >= len(calls):
                return held
            time.sleep(_POLL_SECONDS)
        raise StackError(
            f"After {_HELD_SECONDS:.0f} s some calls are neither held nor answered.",
            next_step="The memory is too slow or hangs; see its log in the run folder.",
        )

    def _inject(self, rule_id: str, hold: HeldByRule, held: int) -> AnyReceipt:
        plan = KillPlan(
            injection_id=rule_id,
            window="call",
            targets=(self._context.stack.service(MEMORY),),
            hold=hold,
            expected_held=held,
            fate=Fate.DISCONNECT,
            restart=(MEMORY,),
            refresh=(MEMORY,),
        )
        return Injection(plan, self._context.interposer, _no_destination).run()

    def strike_burst(self, number: int, together: Sequence[Waiting]) -> Struck:
        """Kill the memory at a drawn moment within the calls of all trials.

        Args:
            number: Place among the job's stack steps, by which draws differ.
            together: The trials.
        """
        draw = random.Random(f"{self._job_id}/{number}")
        asked = sum(len(one.step.asks) for one in together if isinstance(one.step, StrikeBurst))
        # Not in the last part: there the calls may all be over before the kill is carried out.
        gate = Gate(draw.randint(1, max(1, asked * 2 // 3)))
        # Right on an answer, where what is not durable yet is lost; or a moment later.
        wait_seconds = draw.choice((0.0, draw.random() * _MOMENT_SECONDS_MAX))
        begun, killed = Start(), threading.Event()

        def carry_out(kill: Callable[[], None]) -> None:
            def kill_now() -> None:
                time.sleep(wait_seconds)
                killed.set()
                kill()

            gate.when_reached(kill_now)
            begun.now()
            gate.await_done(_HELD_SECONDS)

        with ThreadPoolExecutor(len(together), thread_name_prefix="burst") as pool:
            calls = {
                one.trial_id: pool.submit(
                    _burst, one, gate.passing, killed.is_set, partial(begun.sleep_until, 0.0)
                )
                for one in together
            }
            receipt = self._killed_within(carry_out, calls)
        return Struck(receipt, {trial: call.result() for trial, call in calls.items()})


def _struck(
    one: Waiting, killed: Callable[[], bool], await_turn: Callable[[], None] | None = None
) -> Answer:
    assert isinstance(one.step, Strike)  # what the group is made of
    if await_turn is not None:
        await_turn()
    return one.memory.struck(one.step.ask, killed)


def _span_seconds(together: Sequence[Waiting]) -> float:
    """A little more than such a call takes, by the median of those that were made before."""
    step = together[0].step
    assert isinstance(step, Strike)  # what the group is made of
    method = method_of(step.ask.request).name
    taken = [
        (line.ended_mono_ns - line.started_mono_ns) / _NS
        for one in together
        for line in one.memory.lines
        if line.method == method
    ]
    usual = statistics.median(taken) if taken else 0.0
    return min(max(_SPAN * usual, _UNDERWAY_SECONDS_MIN), _UNDERWAY_SECONDS_MAX)


def _burst(
    one: Waiting,
    before_call: Callable[[], None],
    killed: Callable[[], bool],
    await_turn: Callable[[], None],
) -> Answer:
    assert isinstance(one.step, StrikeBurst)  # what the group is made of
    await_turn()
    return one.memory.burst(one.step, before_call, killed)


def _rule(rule_id: str, together: Sequence[Waiting]) -> interposer_pb2.Rule:
    """Holds each trial's call once; all of them make the same call."""
    step = together[0].step
    assert isinstance(step, Strike)  # what the group is made of
    phases = {
        Phase.REQUEST: interposer_pb2.MESSAGE_PHASE_REQUEST,
        Phase.RESPONSE: interposer_pb2.MESSAGE_PHASE_RESPONSE,
    }
    return interposer_pb2.Rule(
        rule_id=rule_id,
        edge=interposer_pb2.Edge(source=_ORCHESTRATOR, target=MEMORY),
        method=f"/{_METHODS.full_name}/{method_of(step.ask.request).name}",
        phase=phases[step.phase],
        matches=[
            interposer_pb2.MetadataMatch(
                key=WORKFLOW_KEY, values=[one.workflow_id for one in together]
            )
        ],
        action=interposer_pb2.RULE_ACTION_HOLD,
        max_hits_per_workflow=1,
    )


def _no_destination() -> JournalPrecondition:
    """No destination takes part in a call to the memory, so there is no effect to look for."""
    return JournalPrecondition(
        name="no effect is part of it", expected=0, seen=0, journal_sequence=0
    )
