"""What happens to the whole memory while the trials of a job wait for it (DESIGN §5).

Every act ends with the proof that it happened. What does not show what it must raises: the stack is
then in no state that a trial can go on from, and nothing of the job is kept.
"""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import structlog

from chaos.client import Fate
from chaos.errors import ChaosError
from chaos.faults import ClockJump
from chaos.holding import HeldByRule
from chaos.injection import Injection
from chaos.plans import KillPlan
from chaos.receipts import (
    AnyReceipt,
    ClockReading,
    ClockReceipt,
    JournalPrecondition,
    RestartReceipt,
    TargetKill,
)
from chaos.windows import WORKFLOW_KEY
from memqual.v1 import interposer_pb2, memory_pb2, vendor_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import Frozen
from orchestrator.suites.integrity.calls import (
    OK,
    UNANSWERED,
    Answer,
    PassTime,
    Phase,
    Restart,
    ScanVolume,
    StackStep,
    Strike,
    StrikeBurst,
    method_of,
)
from orchestrator.suites.integrity.evidence import NeedleFound, ScanReport, StackKind, StackLine
from orchestrator.suites.integrity.needles import Haystack
from orchestrator.suites.integrity.trial import LiveMemory

__all__ = ["VOLUME_BYTES_MAX", "Meeting", "Waiting"]

VOLUME_BYTES_MAX = 512 * 1024 * 1024

_MEMORY = "memory"
_ORCHESTRATOR = "orchestrator"
_HELD_SECONDS = 30.0
_EXIT_SECONDS = 10.0
_HEALTHY_SECONDS = 30.0
_POLL_SECONDS = 0.01
_NS = 1_000_000_000
_MOMENT_SECONDS_MAX = 0.004

_log = structlog.get_logger(__name__)
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


class _Act(Frozen):
    """What an act came to, before it is a line."""

    unavailable: str = ""
    receipt: AnyReceipt | None = None
    scan: ScanReport | None = None


@dataclass
class Meeting:
    """The stack steps of one job, in order.

    Attributes:
        context: The stack.
        job_id: Names injections and draws moments.
        lines: What was done so far.
    """

    context: StackContext
    job_id: str
    lines: list[StackLine] = field(default_factory=list)

    def meet(self, waiting: Sequence[Waiting]) -> Mapping[str, Answer]:
        """Give every waiting trial what it wants; trials that want the same get it together.

        Returns:
            What came of it, by trial id.

        Raises:
            StackError: The stack cannot be used any more.
        """
        answers: dict[str, Answer] = {}
        groups: dict[tuple[StackKind, str], list[Waiting]] = {}
        for one in waiting:
            groups.setdefault((_kind(one.step), one.step.step), []).append(one)
        for (kind, step), together in groups.items():
            began = time.monotonic_ns()
            try:
                act, given = self._act(kind, together)
            except ChaosError as error:
                raise StackError(
                    f"The memory could not be brought through {kind.value} at {step}: {error}",
                    next_step="See the memory's log in the run folder; it ended or hangs.",
                ) from error
            answers |= given
            concerned = [
                one.trial_id for one in together if not _answered(kind, given[one.trial_id])
            ]
            line = StackLine(
                number=len(self.lines),
                kind=kind,
                step=step,
                trial_ids=tuple(concerned),
                unavailable=act.unavailable,
                receipt=act.receipt,
                scan=act.scan,
                began_mono_ns=began,
                ended_mono_ns=time.monotonic_ns(),
            )
            if concerned:
                self.lines.append(line)
            _log.info("integrity_stack_step", job=self.job_id, kind=kind.value, step=step)
        return answers

    def _act(
        self, kind: StackKind, together: Sequence[Waiting]
    ) -> tuple[_Act, Mapping[str, Answer]]:
        if kind is StackKind.RESTART:
            return self._restart(), _same(together, Answer(OK))
        if kind is StackKind.PASS_TIME:
            act = self._pass_time([one.step for one in together])
            return act, _same(together, Answer(OK, act.unavailable))
        if kind is StackKind.SCAN_VOLUME:
            return self._scan(together)
        if kind is StackKind.STRIKE:
            return self._strike(together)
        return self._strike_burst(together)

    # Death and life

    def _restart(self) -> _Act:
        return _Act(receipt=RestartReceipt(target=self._kill(), healthy_after_ms=self._revive()))

    def _kill(self) -> TargetKill:
        target = self.context.stack.service(_MEMORY)
        pid, started_ns = target.pid(), target.started_at_ns()
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
        return self.context.interposer.refresh(_MEMORY, _HEALTHY_SECONDS)

    # Time

    def _pass_time(self, steps: Sequence[StackStep]) -> _Act:
        if not self.context.skew:
            return _Act(unavailable="the memory's clock cannot be set on this machine")
        until_ns = max(step.until_unix_ns for step in steps if isinstance(step, PassTime))
        jump_ns = until_ns - self._now().wall_unix_ns + _NS
        # A moment that has passed needs no jump: a receipt wants one all the same.
        fault = ClockJump(max(jump_ns, _NS), self._now)
        receipt = fault.inject(self.context.stack.service(_MEMORY)).lift()
        assert isinstance(receipt, ClockReceipt)  # what a ClockJump gives
        return _Act(receipt=receipt)

    def _now(self) -> ClockReading:
        clock = self.context.session.memory.vendor.Now(vendor_pb2.NowRequest()).clock
        return ClockReading(wall_unix_ns=clock.wall_unix_ns, monotonic_ns=clock.monotonic_ns)

    # Bytes

    def _scan(self, together: Sequence[Waiting]) -> tuple[_Act, Mapping[str, Answer]]:
        data = bytearray()
        for piece in self.context.stack.volume_bytes(_MEMORY):
            data += piece
            if len(data) > VOLUME_BYTES_MAX:
                raise StackError(
                    f"The memory's volume holds more than {VOLUME_BYTES_MAX} bytes.",
                    next_step="A scan reads it whole; give the memory less, or free what it keeps.",
                )
        haystack = Haystack(bytes(data))
        answers: dict[str, Answer] = {}
        found: list[NeedleFound] = []
        for one in together:
            assert isinstance(one.step, ScanVolume)  # what the group is made of
            named = [(needle.name, haystack.find(needle.text)) for needle in one.step.needles]
            there = tuple((name, tuple(map(str, forms))) for name, forms in named if forms)
            answers[one.trial_id] = Answer(OK, found=there)
            found += [NeedleFound(trial_id=one.trial_id, name=n, forms=f) for n, f in there]
        report = ScanReport(
            bytes_read=len(data), sha256=hashlib.sha256(data).hexdigest(), found=tuple(found)
        )
        return _Act(scan=report), answers

    # Kills within calls

    def _strike(self, together: Sequence[Waiting]) -> tuple[_Act, Mapping[str, Answer]]:
        interposer = self.context.interposer
        rule_id = f"{self.job_id}-{len(self.lines)}"
        interposer.arm(_rule(rule_id, together))
        hold = HeldByRule(interposer, rule_id)
        with ThreadPoolExecutor(len(together), thread_name_prefix="strike") as pool:
            calls = {one.trial_id: pool.submit(_struck, one) for one in together}
            held = self._await_standing(rule_id, list(calls.values()))
            act = _Act()
            if held:
                act = _Act(receipt=self._inject(rule_id, hold, held))
            else:
                interposer.clear(rule_id)
        return act, {trial_id: call.result() for trial_id, call in calls.items()}

    def _await_standing(self, rule_id: str, calls: Sequence[Future[Answer]]) -> int:
        """Wait until each call is held, or was answered otherwise; how many are held."""
        deadline = time.monotonic() + _HELD_SECONDS
        while time.monotonic() < deadline:
            held = len(self.context.interposer.await_held(rule_id, 0, 0.0))
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
            targets=(self.context.stack.service(_MEMORY),),
            hold=hold,
            expected_held=held,
            fate=Fate.DISCONNECT,
            restart=(_MEMORY,),
            refresh=(_MEMORY,),
        )
        return Injection(plan, self.context.interposer, _no_destination).run()

    def _strike_burst(self, together: Sequence[Waiting]) -> tuple[_Act, Mapping[str, Answer]]:
        draw = random.Random(f"{self.job_id}/{len(self.lines)}")
        asked = sum(len(one.step.asks) for one in together if isinstance(one.step, StrikeBurst))
        gate = _Gate(draw.randint(1, max(1, asked - 1)))
        with ThreadPoolExecutor(len(together), thread_name_prefix="burst") as pool:
            calls = {one.trial_id: pool.submit(_burst, one, gate) for one in together}
            gate.reached.wait(_HELD_SECONDS)
            time.sleep(draw.random() * _MOMENT_SECONDS_MAX)
            kill = self._kill()
            healthy_after_ms = self._revive()
            wait(calls.values(), timeout=_HELD_SECONDS)
            answers = {trial_id: call.result() for trial_id, call in calls.items()}
        parts = [part for answer in answers.values() for part in answer.parts]
        receipt = RestartReceipt(
            target=kill,
            healthy_after_ms=healthy_after_ms,
            answered=sum(part.status == OK for part in parts),
            unanswered=sum(part.status == UNANSWERED for part in parts),
        )
        return _Act(receipt=receipt), answers


class _Gate:
    """Opens when so many calls have begun."""

    def __init__(self, calls: int) -> None:
        self._left = calls
        self._lock = threading.Lock()
        self.reached = threading.Event()

    def passing(self) -> None:
        """One more call begins."""
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self.reached.set()


def _struck(one: Waiting) -> Answer:
    assert isinstance(one.step, Strike)  # what the group is made of
    return one.memory.struck(one.step.ask)


def _burst(one: Waiting, gate: _Gate) -> Answer:
    assert isinstance(one.step, StrikeBurst)  # what the group is made of
    return one.memory.burst(one.step, gate.passing)


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


def _kind(step: StackStep) -> StackKind:
    return {
        Restart: StackKind.RESTART,
        PassTime: StackKind.PASS_TIME,
        ScanVolume: StackKind.SCAN_VOLUME,
        Strike: StackKind.STRIKE,
        StrikeBurst: StackKind.STRIKE_BURST,
    }[type(step)]


def _answered(kind: StackKind, answer: Answer) -> bool:
    """Whether a call that was to be struck was answered before it could be."""
    return kind is StackKind.STRIKE and answer.status != UNANSWERED


def _same(together: Sequence[Waiting], answer: Answer) -> Mapping[str, Answer]:
    return {one.trial_id: answer for one in together}
