"""Which flaws drawn schedules can show: `python -m <this> [SCHEDULES] [NAME ...]`.

A lane is played against two memories within this process, the reference and a flawed one, on one
pretended clock. A schedule can show a flaw when the two answer differently. Nothing is judged, no
message is lost, and no host works: what an exploration finds it finds on a real stack.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import grpc
from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2, destination_pb2, vendor_pb2
from orchestrator.model import Arm, CapabilityVariant, Cell, Suite
from orchestrator.plan import Member
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.explore.befalling import distance_ns
from orchestrator.suites.continuity.explore.drawing import Coverage, draw
from orchestrator.suites.continuity.explore.lane import Lane
from orchestrator.suites.continuity.explore.operators import Operator
from orchestrator.suites.continuity.explore.steps import Act, Schedule
from orchestrator.suites.continuity.explore.wearing import LONG_LIMITS
from orchestrator.suites.continuity.families.explore import SEEDED
from orchestrator.suites.integrity.reviewer import Reviewer
from services.common.canonical import canonical_json
from services.common.database import Database, Synchronous
from services.common.errors import ServiceError
from services.controls import limit_flaws, receipt_flaws
from services.controls.registry import FLAWS
from services.memory.continuity_servicer import ContinuityServicer
from services.memory.model import Policy
from services.memory.operations import Operations
from services.memory.process import Composition
from services.memory.vendor_servicer import describe
from tests.orchestrator.suites.continuity.explore import flawed

SEED = 20261201
LANES = 12
_TICK_NS = 2_000_000
_EPOCH_NS = 1_700_000_000 * NS


class _Refusal(grpc.RpcError):
    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return ""


@dataclass
class _Clock:
    now_ns: int = _EPOCH_NS

    def read(self) -> int:
        self.now_ns += _TICK_NS
        return self.now_ns


@dataclass
class _Memory:
    """A memory on a file of its own; `restart` is a kill and a start."""

    composition: Composition
    path: Path
    clock: _Clock
    reviewer: Reviewer
    told: list[tuple[str, ...]] = field(default_factory=list)
    _servicer: ContinuityServicer = field(init=False)
    _database: Database | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        if self._database is not None:
            self._database.close()
        made, policy = self.composition, Policy()
        read = self.clock.read
        self._database = Database(self.path, synchronous=Synchronous.NORMAL)
        keys = {key.key_id: key for key in self.reviewer.public_keys.values()}
        operations = Operations(
            self._database, made.decisions(policy), made.recordings, read_clock_ns=read
        )
        resolutions = made.resolutions(
            self._database, made.recordings, policy, keys, read_clock_ns=read
        )
        reporter = cast(Any, mock.Mock())
        self._servicer = ContinuityServicer(operations, resolutions, reporter, made.formats)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()

    def call(self, method: str, request: Message) -> Message:
        try:
            answer: Message = getattr(self._servicer, method)(request, cast(Any, None))
        except ServiceError as error:
            self.told.append((method, error.code.name))
            raise _Refusal(error.code) from error
        self.told.append((method, _words(answer)))
        return answer


def _words(answer: Message) -> str:
    """An answer without what is drawn by lot or told by the clock."""
    if isinstance(answer, continuity_pb2.BeginResponse):
        decision = answer.decision
        kind = decision.WhichOneof("kind") or ""
        return f"{kind} {decision.execute.attempt} {decision.reuse.receipt.result_digest}"
    if isinstance(answer, continuity_pb2.RequestResolveResponse):
        return ""
    if isinstance(answer, continuity_pb2.RenewResponse):
        return str(answer.remaining_renewals)
    return str(answer)


@dataclass
class _Destination:
    """As the workflow's capability says, on its own and at once."""

    capability: CapabilityVariant
    done: list[int] = field(default_factory=list)
    fence: int = 0

    def Invoke(self, request: destination_pb2.InvokeRequest, timeout: float) -> Message:
        if request.attempt <= self.fence:
            raise _Refusal(grpc.StatusCode.FAILED_PRECONDITION)
        self.done.append(request.attempt)
        return destination_pb2.InvokeResponse(result=self._result())

    def QueryEffect(self, request: destination_pb2.QueryEffectRequest, timeout: float) -> Message:
        answer = destination_pb2.QueryEffectResponse()
        if self.done:
            answer.presence = common_pb2.EFFECT_PRESENCE_PRESENT
            answer.result.CopyFrom(self._result())
        elif self.capability is CapabilityVariant.QUERY_FENCED:
            self.fence = max(self.fence, request.fence_attempt)
            answer.presence = common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
        else:
            answer.presence = common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
        return answer

    def _result(self) -> destination_pb2.ToolResult:
        keyed = self.capability in (
            CapabilityVariant.IDEMPOTENT,
            CapabilityVariant.IDEMPOTENT_EXPIRED,
        )
        number = 1 if keyed else len(self.done)
        told = canonical_json({"value": {"number": number}}).decode()
        return destination_pb2.ToolResult(result_json=told, effect_id=f"effect-{number}")


class _Calls:
    def __init__(self, memory: _Memory) -> None:
        self._memory = memory

    def __getattr__(self, method: str) -> Callable[..., Message]:
        return lambda request, timeout=0.0: self._memory.call(method, request)


@dataclass
class _NoFaults:
    patience_seconds: float = 1.0

    def arm(self, fault: str) -> None:
        pass

    def release(self, *, deliver: bool) -> None:
        pass


def _lane(
    memory: _Memory, number: int, capability: CapabilityVariant, limits: vendor_pb2.Limits
) -> Lane:
    cell = Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, capability=capability, case=SEEDED)
    member = Member(
        trial_id=f"t{number}", cell=cell, sub_seed=number, workflow_id=f"workflow-{number}"
    )
    destination = _Destination(capability)
    session = SimpleNamespace(
        with_workflow=lambda *ids: SimpleNamespace(continuity=_Calls(memory)),
        destination_for=lambda *ids: destination,
    )
    stage = SimpleNamespace(
        context=SimpleNamespace(
            session=session, describe=vendor_pb2.DescribeResponse(limits=limits)
        )
    )
    made = cast(Any, session)
    return Lane(
        cast(Any, stage), member, cast(Any, _NoFaults()), Operator(made, member, memory.reviewer)
    )


def answers(
    schedule: Schedule,
    composition: Composition,
    folder: Path,
    reviewer: Reviewer,
    *,
    long: bool = True,
) -> list[tuple[str, ...]]:
    """What a memory answers to a schedule, call by call; `long`: limits of hundreds are met."""
    clock = _Clock()
    made = replace(composition, read_clock_ns=clock.read)
    with tempfile.TemporaryDirectory(dir=folder) as own:
        memory = _Memory(made, Path(own) / "memory.db", clock, reviewer)
        limits = describe(Policy(), None, None, "pretended").limits
        lanes = [
            _lane(memory, number, capability, limits)
            for number, capability in enumerate(schedule.capabilities)
        ]
        with mock.patch.object(receipt_flaws, "wall_ns", clock.read):
            for step in schedule.steps:
                if step.variant in LONG_LIMITS and not long:
                    continue
                if not step.act.of_all:
                    lanes[step.lane].take(step)
                elif step.act is Act.JUMP and ":" not in step.variant:
                    clock.now_ns += distance_ns(step.variant, limits.lease_seconds * NS)
                elif step.act in (Act.KILL, Act.KILL_AT_WORK):
                    _, _, how_far = step.variant.partition(":")
                    clock.now_ns += (
                        distance_ns(how_far, limits.lease_seconds * NS) if how_far else 0
                    )
                    memory.restart()
        memory.close()
        return memory.told


def compositions() -> Mapping[str, Composition]:
    """Every planted flaw that can show here; clocks that are not the lease's cannot."""
    own = {
        **{name: Composition(name, decisions=rules) for name, rules in flawed.DECISIONS.items()},
        **{
            name: Composition(name, recordings=rules()) for name, rules in flawed.RECORDINGS.items()
        },
    }
    return {**{name: flaw.composition for name, flaw in FLAWS.items()}, **own}


@contextmanager
def _folder() -> Iterator[Path]:
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        yield Path(folder)


def showing(names: Sequence[str], schedules: int, seed: int = SEED) -> dict[str, list[int]]:
    """The numbers of the drawn schedules that show each flaw."""
    coverage, reviewer = Coverage(), Reviewer.generate()
    known = compositions()
    names = [name for name in names if name in known]
    found: dict[str, list[int]] = {name: [] for name in names}
    with _folder() as folder:
        for number in range(schedules):
            schedule = draw(seed, number, LANES, coverage)
            coverage.note(schedule)
            right: dict[bool, list[tuple[str, ...]]] = {}
            for name in names:
                # All others show without hundreds of calls, or not at all.
                long = name in limit_flaws.FLAWS
                play = partial(answers, schedule, folder=folder, reviewer=reviewer, long=long)
                if long not in right:
                    right[long] = play(Composition())
                if play(known[name]) != right[long]:
                    found[name].append(number)
    return found


def _main() -> None:
    schedules = int(sys.argv[1]) if sys.argv[1:] else 40
    began = time.monotonic()
    for name, numbers in showing(sys.argv[2:], schedules).items():
        print(f"{len(numbers):4} of {schedules}  {name} {numbers[:8]}", flush=True)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    _main()
