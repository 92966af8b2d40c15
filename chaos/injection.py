"""One kill, in the order of DESIGN §5, with the proof of each step.

held → precondition read from the destination's journal → every edge of the targets frozen →
SIGKILL → exit seen → EOF on every edge → release with the chosen fate, or kept for later → new life
started → healthy on fresh channels → thawed, strays counted. Takeover and resume are the
orchestrator's. Each step is marked in the trace, so that it stands between the messages it
separates. A step that does not show what it must ends the injection: the stack is then in no state
that a trial can go on from.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from chaos.client import Fate, InterposerClient
from chaos.errors import (
    InjectionError,
    InterposerError,
    KillNotSeen,
    NotHealthyAgain,
    PreconditionFailed,
    ReleaseFailed,
    StillConnected,
    WindowMissed,
)
from chaos.plans import AT_ONCE, KillPlan, Step
from chaos.receipts import (
    JournalPrecondition,
    KillReceipt,
    ReleaseRecord,
    StepRecord,
    TargetKill,
)
from chaos.windows import RuleHold, window
from services.common.canonical import JsonValue

__all__ = ["Injection"]

DIED = "died with its host"
HOSTS = frozenset({"agent", "standby"})

_log = structlog.get_logger(__name__)


class Injection:
    """Carries out one plan, once."""

    def __init__(
        self,
        plan: KillPlan,
        client: InterposerClient,
        precondition: Callable[[], JournalPrecondition],
    ) -> None:
        """Prepares; nothing happens before `run`.

        Args:
            plan: what to do.
            client: control of the stack's interposer.
            precondition: reads the destination's journal while the operations are held.
        """
        self._plan = plan
        self._client = client
        self._read_precondition = precondition
        self._names = tuple(target.name for target in plan.targets)
        self._held: tuple[str, ...] = ()
        self._precondition: JournalPrecondition | None = None
        self._frozen_ns: int | None = None
        self._kills: dict[str, TargetKill] = {}
        self._clients_gone: int | None = None
        self._release: ReleaseRecord | None = None
        self._healthy_after_ms: dict[str, int] = {}
        self._strays: int | None = None
        self._steps: list[StepRecord] = []

    def run(self) -> KillReceipt:
        """Does every step.

        Raises:
            InjectionError: a step did not show what it must; the stack must not be used further.
                What a target or the precondition raises passes through, with the same meaning.
        """
        for step, action in (
            (Step.HELD, self._await_held),
            (Step.PRECONDITION, self._check_precondition),
            (Step.FROZEN, self._freeze),
            (Step.KILLED, self._kill),
            (Step.EXITED, self._await_exit),
            (Step.DISCONNECTED, self._await_eof),
            (Step.RELEASED, self._release_now),
            (Step.RESTARTED, self._restart),
            (Step.HEALTHY, self._await_healthy),
            (Step.THAWED, self._thaw),
        ):
            try:
                detail = action()
            except InjectionError:
                raise
            except InterposerError as error:
                raise _ERRORS.get(step, InjectionError)(step, str(error)) from error
            if detail is not None:
                self._mark(step, detail)
        return self.receipt()

    def receipt(self) -> KillReceipt:
        """What is proven so far; after a failed `run` it says by `missing` what is not."""
        return KillReceipt(
            injection_id=self._plan.injection_id,
            window=self._plan.window,
            expected_held=self._plan.expected_held,
            held_workflows=self._held,
            precondition=self._precondition,
            frozen_monotonic_ns=self._frozen_ns,
            targets=tuple(self._kills.values()),
            eof_clients_gone=self._clients_gone,
            strays=self._strays,
            release=self._release,
            restarted=self._plan.restart,
            healthy_after_ms=self._healthy_after_ms,
            steps=tuple(self._steps),
        )

    def _mark(self, step: Step, detail: dict[str, JsonValue]) -> StepRecord:
        now_ns = time.monotonic_ns()
        position = self._client.mark(
            {
                "kind": "injection",
                "injection": self._plan.injection_id,
                "step": step.value,
                # Nanoseconds do not fit the numbers of RFC 8785.
                "evaluator_monotonic_ns": str(now_ns),
                **detail,
            }
        )
        record = StepRecord(
            step=step.value,
            evaluator_monotonic_ns=now_ns,
            interposer_monotonic_ns=position.monotonic_ns,
            trace_sequence=position.sequence,
        )
        self._steps.append(record)
        _log.info("injection_step", injection=self._plan.injection_id, step=step.value, **detail)
        return record

    def _await_held(self) -> dict[str, JsonValue]:
        plan = self._plan
        self._held = plan.hold.await_held(plan.expected_held, plan.times.held)
        if len(set(self._held)) != plan.expected_held or len(self._held) != plan.expected_held:
            raise WindowMissed(
                Step.HELD, f"{len(self._held)} messages are held, {plan.expected_held} must be"
            )
        return {"held": len(self._held)}

    def _check_precondition(self) -> dict[str, JsonValue]:
        found = self._read_precondition()
        self._precondition = found
        if not found.holds:
            raise PreconditionFailed(
                Step.PRECONDITION, f"{found.name}: {found.seen} of {found.expected}"
            )
        return {"name": found.name, "seen": found.seen}

    def _freeze(self) -> dict[str, JsonValue]:
        self._frozen_ns = self._client.freeze(*self._names)
        return {"services": self._names}

    def _kill(self) -> dict[str, JsonValue]:
        # What can be looked up is looked up first, so that the deaths lie close together.
        lives = [(target, target.pid(), target.started_at_ns()) for target in self._plan.targets]
        for target, pid, started_ns in lives:
            target.kill()
            self._kills[target.name] = TargetKill(
                service=target.name,
                pid=pid,
                started_before_ns=started_ns,
                kill_monotonic_ns=time.monotonic_ns(),
            )
        return {"services": self._names}

    def _await_exit(self) -> dict[str, JsonValue]:
        for target in self._plan.targets:
            ended = target.wait_exit(self._plan.times.exited)
            kill = self._kills[target.name].model_copy(
                update={
                    "exit_code": ended.exit_code,
                    "oom_killed": ended.oom_killed,
                    "exit_monotonic_ns": time.monotonic_ns(),
                }
            )
            self._kills[target.name] = kill
            lacking = kill.missing(restarted=False)
            if ended.started_at_ns != kill.started_before_ns:
                lacking.append(
                    f"{target.name}: that the life that ended is the one that was killed"
                )
            if lacking:
                raise KillNotSeen(Step.EXITED, "; ".join(lacking))
        return {"exit_codes": {name: kill.exit_code for name, kill in self._kills.items()}}

    def _await_eof(self) -> dict[str, JsonValue]:
        self._clients_gone = self._client.await_eof(
            *self._names, timeout_seconds=self._plan.times.disconnected
        )
        return {"clients_gone": self._clients_gone}

    def _release_now(self) -> dict[str, JsonValue] | None:
        plan = self._plan
        if plan.hold.dies_with_agent and HOSTS.intersection(self._names):
            self._release = self._released(DIED, 0)
            return {"fate": DIED}
        if plan.fate is None:
            return None
        released = plan.hold.release(plan.fate, self._release_wait_seconds())
        if released != len(self._held):
            raise ReleaseFailed(
                Step.RELEASED, f"{released} of {len(self._held)} messages got their fate"
            )
        self._release = self._released(plan.fate.name.lower(), released)
        return {"fate": self._release.fate, "released": released}

    def _release_wait_seconds(self) -> float:
        if self._plan.fate is not Fate.DELIVER:
            return 0.0
        hold = window(self._plan.window).hold
        # What goes to a target that is dead now is delivered at the thaw; waiting would be in vain.
        if isinstance(hold, RuleHold) and hold.target in self._names:
            return 0.0
        return self._plan.times.released

    def _released(self, fate: str, released: int) -> ReleaseRecord:
        return ReleaseRecord.model_validate(
            {
                "fate": fate,
                "point": AT_ONCE,
                "released": released,
                "interposer_monotonic_ns": self._client.statistics().monotonic_ns,
            }
        )

    def _restart(self) -> dict[str, JsonValue] | None:
        if not self._plan.restart:
            return None
        for target in self._plan.targets:
            if target.name not in self._plan.restart:
                continue
            target.start()
            kill = self._kills[target.name].model_copy(
                update={"started_after_ns": target.started_at_ns()}
            )
            self._kills[target.name] = kill
            lacking = kill.missing(restarted=True)
            if lacking:
                raise NotHealthyAgain(Step.RESTARTED, "; ".join(lacking))
        return {"services": self._plan.restart}

    def _await_healthy(self) -> dict[str, JsonValue] | None:
        if not self._plan.refresh:
            return None
        for name in self._plan.refresh:
            self._healthy_after_ms[name] = self._client.refresh(name, self._plan.times.healthy)
        return {"healthy_after_ms": dict(self._healthy_after_ms)}

    def _thaw(self) -> dict[str, JsonValue]:
        self._strays = self._client.thaw(*self._names)
        return {"strays": self._strays}


_ERRORS: dict[Step, type[InjectionError]] = {
    Step.HELD: WindowMissed,
    Step.DISCONNECTED: StillConnected,
    Step.RELEASED: ReleaseFailed,
    Step.HEALTHY: NotHealthyAgain,
}
