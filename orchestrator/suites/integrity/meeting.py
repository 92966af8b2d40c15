"""What happens to the whole memory while the trials of a job wait for it (DESIGN §5).

Every act ends with the proof that it happened. What does not show what it must raises: the stack is
then in no state that a trial can go on from, and nothing of the job is kept.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import grpc
import structlog
import tenacity

from chaos.errors import ChaosError
from chaos.faults import ClockJump
from chaos.receipts import (
    AnyReceipt,
    ClockReading,
    ClockReceipt,
    ReconfigureReceipt,
)
from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import Frozen
from orchestrator.suites.integrity.calls import (
    OK,
    UNANSWERED,
    Answer,
    Gather,
    PassTime,
    Phase,
    Reconfigure,
    Restart,
    Revive,
    ScanVolume,
    StackStep,
    Strike,
    StrikeBurst,
    TurnBack,
)
from orchestrator.suites.integrity.deaths import Deaths
from orchestrator.suites.integrity.evidence import NeedleFound, ScanReport, StackKind, StackLine
from orchestrator.suites.integrity.needles import Haystack
from orchestrator.suites.integrity.striking import Killing, Waiting
from orchestrator.suites.integrity.trial import TRIES_MAX

__all__ = ["VOLUME_BYTES_MAX", "Meeting", "Waiting"]

VOLUME_BYTES_MAX = 512 * 1024 * 1024

_MEMORY = "memory"
_NS = 1_000_000_000
_TRY_AGAIN_SECONDS = 0.2
_NO_CLOCK = "the memory's clock cannot be set on this machine"
# What differs between two machines that run one image, and must never show in an answer.
_SECOND_CONFIGURATION = {
    "LANG": "C",
    "LC_ALL": "C",
    "PYTHONHASHSEED": "20260922",
    "TZ": "Pacific/Kiritimati",
}

_LIVES = "the memory has not ended"

_log = structlog.get_logger(__name__)


class _Act(Frozen):
    """What an act came to, before it is a line."""

    unavailable: str = ""
    lost: str = ""
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

    @property
    def _killing(self) -> Killing:
        return Killing(self.context, self.job_id)

    def meet(self, waiting: Sequence[Waiting]) -> Mapping[str, Answer]:
        """Give every waiting trial what it wants; trials that want the same get it together.

        Returns:
            What came of it, by trial id; nothing for trials whose memory did not come back.

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
                lost = Deaths(self.context).lost(f"{kind.value} at {step}", error)
                act, given = _Act(lost=lost), {}
            answers |= given
            concerned = [
                one.trial_id
                for one in together
                if act.lost or not _answered(kind, given[one.trial_id])
            ]
            line = StackLine(
                number=len(self.lines),
                kind=kind,
                step=step,
                trial_ids=tuple(concerned),
                unavailable=act.unavailable,
                lost=act.lost,
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
        steps = [one.step for one in together]
        match kind:
            case StackKind.GATHER:
                act = _Act()
            case StackKind.RESTART:
                act = _Act(receipt=Deaths(self.context).restart())
            case StackKind.PASS_TIME:
                act = self._pass_time(steps)
            case StackKind.TURN_BACK:
                act = self._turn_back(steps)
            case StackKind.RECONFIGURE:
                act = self._reconfigure()
            case StackKind.REVIVE:
                act = self._revive()
            case StackKind.SCAN_VOLUME:
                return self._scan(together)
            case _:
                return self._strike(kind, together)
        return act, _same(together, Answer(OK, act.unavailable))

    def _strike(
        self, kind: StackKind, together: Sequence[Waiting]
    ) -> tuple[_Act, Mapping[str, Answer]]:
        number = len(self.lines)
        if kind is StackKind.STRIKE:
            struck = self._killing.strike(number, together)
        elif kind is StackKind.STRIKE_UNDERWAY:
            struck = self._killing.strike_underway(number, together)
        else:
            struck = self._killing.strike_burst(number, together)
        return _Act(receipt=struck.receipt), struck.answers

    # Time

    def _pass_time(self, steps: Sequence[StackStep]) -> _Act:
        if not self.context.skew:
            return _Act(unavailable=_NO_CLOCK)
        until_ns = max(step.until_unix_ns for step in steps if isinstance(step, PassTime))
        jump_ns = until_ns - self._now().wall_unix_ns + _NS
        # A moment that has passed needs no jump: a receipt wants one all the same.
        return self._jump(max(jump_ns, _NS))

    def _turn_back(self, steps: Sequence[StackStep]) -> _Act:
        if not self.context.skew:
            return _Act(unavailable=_NO_CLOCK)
        # Time only moves forward within a stack (DESIGN §5): nothing else is played on this one.
        self.context.progress.spoiled = "its memory's clock was turned back"
        return self._jump(-_NS * max(step.seconds for step in steps if isinstance(step, TurnBack)))

    def _jump(self, jump_ns: int) -> _Act:
        fault = ClockJump(jump_ns, self._now)
        receipt = fault.inject(self.context.stack.service(_MEMORY)).lift()
        assert isinstance(receipt, ClockReceipt)  # what a ClockJump gives
        return _Act(receipt=receipt)

    def _reconfigure(self) -> _Act:
        """Another machine's settings, and what a vendor names for a second configuration."""
        stack = self.context.stack
        vendor = stack.spec.vendor
        environment = dict(_SECOND_CONFIGURATION)
        if vendor is not None:
            seconds = stack.spec.lease_seconds
            environment |= vendor.second_for(run_id=self.context.run_id, lease_seconds=seconds)
        before_ns = stack.service(_MEMORY).started_at_ns()
        self.context.progress.spoiled = "its memory runs in its second configuration"
        stack.reconfigure_memory(environment)
        healthy_after_ms = Deaths(self.context).revive()
        receipt = ReconfigureReceipt(
            service=_MEMORY,
            variables=tuple(sorted(environment)),
            started_before_ns=before_ns,
            started_after_ns=stack.service(_MEMORY).started_at_ns(),
            healthy_after_ms=healthy_after_ms,
        )
        return _Act(receipt=receipt)

    def _revive(self) -> _Act:
        receipt = Deaths(self.context).after_own_end()
        return _Act(receipt=receipt, unavailable="" if receipt else _LIVES)

    def _now(self) -> ClockReading:
        """The memory's clocks; asked again while it says "try again", as every call of a script.

        Raises:
            StackError: It does not tell them, which nobody was asked to judge here.
        """
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRIES_MAX),
            wait=tenacity.wait_fixed(_TRY_AGAIN_SECONDS),
            retry=tenacity.retry_if_exception(_asks_to_try_again),
            reraise=True,
        )
        now = self.context.session.memory.vendor.Now
        try:
            clock = retrying(now, vendor_pb2.NowRequest()).clock
        except grpc.RpcError as error:
            raise StackError(
                f"The memory does not tell its clock: {error.code().name}.",
                next_step="See the memory's log in the run folder; the clock was being set.",
            ) from error
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


def _asks_to_try_again(error: BaseException) -> bool:
    return isinstance(error, grpc.RpcError) and error.code() is grpc.StatusCode.UNAVAILABLE


def _kind(step: StackStep) -> StackKind:
    if isinstance(step, Strike) and step.phase is Phase.UNDERWAY:
        return StackKind.STRIKE_UNDERWAY
    return {
        Gather: StackKind.GATHER,
        Restart: StackKind.RESTART,
        PassTime: StackKind.PASS_TIME,
        TurnBack: StackKind.TURN_BACK,
        Reconfigure: StackKind.RECONFIGURE,
        Revive: StackKind.REVIVE,
        ScanVolume: StackKind.SCAN_VOLUME,
        Strike: StackKind.STRIKE,
        StrikeBurst: StackKind.STRIKE_BURST,
    }[type(step)]


def _answered(kind: StackKind, answer: Answer) -> bool:
    """Whether a call that was to be struck was answered before it could be."""
    return kind is StackKind.STRIKE and answer.status != UNANSWERED


def _same(together: Sequence[Waiting], answer: Answer) -> Mapping[str, Answer]:
    return {one.trial_id: answer for one in together}
