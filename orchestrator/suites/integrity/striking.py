"""Kills the memory and brings it back, idle or within calls, with the proof of each (DESIGN §5).

A memory that ends by itself each time it is started on the volume that it had when it was killed,
and starts on an empty one, has lost what it acknowledged: that is its own doing, and no trouble of
the infrastructure.
"""

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
from chaos.errors import ChaosError, InterposerError
from chaos.holding import HeldByRule
from chaos.injection import Injection
from chaos.plans import KillPlan
from chaos.receipts import (
    KILLED_EXIT_CODES,
    AnyReceipt,
    JournalPrecondition,
    RestartReceipt,
    TargetKill,
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
from orchestrator.suites.integrity.trial import LiveMemory

__all__ = ["Killing", "Struck", "Waiting"]

_MEMORY = "memory"
_ORCHESTRATOR = "orchestrator"
_HELD_SECONDS = 30.0
_EXIT_SECONDS = 10.0
_HEALTHY_SECONDS = 30.0
_LOOK_SECONDS = 3.0
_MS_PER_SECOND = 1_000
_POLL_SECONDS = 0.01
_MOMENT_SECONDS_MAX = 0.004
_UNDERWAY_SECONDS_MIN = 0.002
_UNDERWAY_SECONDS_MAX = 5.0
_SPAN = 1.2
_NS = 1_000_000_000
_LAST_LINES = 5
_LAST_WORDS_CHARACTERS = 300

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

    def restart(self) -> RestartReceipt:
        """Kill the memory while it is idle, and bring it back.

        Raises:
            ChaosError: It was not seen healthy again, as for every kill.
        """
        return RestartReceipt(target=self._kill(), healthy_after_ms=self._revive())

    def _kill(self, await_moment: Callable[[], None] | None = None) -> TargetKill:
        """Kill the memory and start it again.

        Args:
            await_moment: Returns when the kill is due; what takes time is looked up before.
        """
        target = self._context.stack.service(_MEMORY)
        pid, started_ns = target.pid(), target.started_at_ns()
        if await_moment is not None:
            await_moment()
        target.kill()
        killed_ns = time.monotonic_ns()
        ended = target.wait_exit(_EXIT_SECONDS)
        exited_ns = time.monotonic_ns()
        target.start()
        return TargetKill(
            service=_MEMORY,
            pid=pid,
            started_before_ns=started_ns,
            kill_monotonic_ns=killed_ns,
            exit_code=ended.exit_code,
            oom_killed=ended.oom_killed,
            exit_monotonic_ns=exited_ns,
            started_after_ns=target.started_at_ns(),
        )

    def _revive(self) -> int:
        """Wait until the memory is healthy, in ms; not for one that has ended by itself.

        Raises:
            ChaosError: It is not.
        """
        memory, began = self._context.stack.service(_MEMORY), time.monotonic()
        while True:
            try:
                self._context.interposer.refresh(_MEMORY, _LOOK_SECONDS)
            except InterposerError:
                late = time.monotonic() - began > _HEALTHY_SECONDS
                if late or not memory.running():
                    raise
            else:
                return round((time.monotonic() - began) * _MS_PER_SECOND)

    def lost(self, what: str, error: ChaosError) -> str:
        """How a memory ended that does not start on its own volume any more, in words.

        It is started once more, and then on an empty volume: only one that ends by itself both
        times and is healthy without its volume has broken its own store.

        Args:
            what: What was done to it.
            error: What came of that.

        Raises:
            StackError: Anything else: it hangs, was killed by others, or does not start at all.
        """
        unusable = StackError(
            f"The memory could not be brought through {what}: {error}",
            next_step="See the memory's log in the run folder; it ended or hangs.",
        )
        stack = self._context.stack
        memory = stack.service(_MEMORY)
        for start_again in (True, False):
            if memory.running():
                raise unusable from error
            ended = memory.wait_exit(_EXIT_SECONDS)
            if ended.oom_killed or ended.exit_code in KILLED_EXIT_CODES:
                raise unusable from error
            if start_again:
                memory.start()
                try:
                    self._revive()
                except InterposerError:
                    continue
                raise unusable from error
        words = " ".join(memory.logs_tail(_LAST_LINES).split())[-_LAST_WORDS_CHARACTERS:]
        self._context.interposer.thaw(_MEMORY)
        stack.replace_memory(stack.spec.vendor)
        self._context.progress.spoiled = "the memory does not start on the volume that it had"
        return (
            "killed, the memory does not start again on its own volume, and does on an empty one:"
            f" it ends by itself with exit code {ended.exit_code}: {words or '(it wrote nothing)'}"
        )

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
        begun, killed = _Start(), threading.Event()

        def moment() -> None:
            begun.now()
            begun.sleep_until(span_seconds)
            killed.set()

        with ThreadPoolExecutor(len(together), thread_name_prefix="underway") as pool:
            calls = {
                one.trial_id: pool.submit(
                    _struck, one, killed.is_set, partial(begun.sleep_until, (place + offset) * part)
                )
                for place, one in zip(places, together, strict=True)
            }
            receipt = self._killed_within(moment, calls)
        if receipt.unanswered == 0:
            # Every answer came first: the memory was idle by then, and has all the more to keep.
            receipt = receipt.model_copy(update={"answered": None, "unanswered": None})
        return Struck(receipt, {trial: call.result() for trial, call in calls.items()})

    def _killed_within(
        self, moment: Callable[[], None], calls: Mapping[str, Future[Answer]]
    ) -> RestartReceipt:
        """Kill at a moment of these calls, start again, and wait for their ends."""
        kill = self._kill(moment)
        healthy_after_ms = self._revive()
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
            targets=(self._context.stack.service(_MEMORY),),
            hold=hold,
            expected_held=held,
            fate=Fate.DISCONNECT,
            restart=(_MEMORY,),
            refresh=(_MEMORY,),
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
        gate = _Gate(draw.randint(1, max(1, asked * 2 // 3)))
        killed = threading.Event()

        def moment() -> None:
            gate.reached.wait(_HELD_SECONDS)
            time.sleep(draw.random() * _MOMENT_SECONDS_MAX)
            killed.set()

        with ThreadPoolExecutor(len(together), thread_name_prefix="burst") as pool:
            calls = {
                one.trial_id: pool.submit(_burst, one, gate, killed.is_set) for one in together
            }
            receipt = self._killed_within(moment, calls)
        return Struck(receipt, {trial: call.result() for trial, call in calls.items()})


class _Gate:
    """Opens when so many calls have passed it."""

    def __init__(self, calls: int) -> None:
        self._left = calls
        self._lock = threading.Lock()
        self.reached = threading.Event()

    def passing(self) -> None:
        """One more call."""
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self.reached.set()


class _Start:
    """A moment that many wait for, to do something so many seconds after it."""

    def __init__(self) -> None:
        self._began = 0.0
        self._known = threading.Event()

    def now(self) -> None:
        """It is now."""
        self._began = time.monotonic()
        self._known.set()

    def sleep_until(self, seconds: float) -> None:
        """Return so many seconds after it, at once when that has passed."""
        self._known.wait(_HELD_SECONDS)
        time.sleep(max(0.0, self._began + seconds - time.monotonic()))


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


def _burst(one: Waiting, gate: _Gate, killed: Callable[[], bool]) -> Answer:
    assert isinstance(one.step, StrikeBurst)  # what the group is made of
    return one.memory.burst(one.step, gate.passing, killed)


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
        edge=interposer_pb2.Edge(source=_ORCHESTRATOR, target=_MEMORY),
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
