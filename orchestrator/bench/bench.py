"""What all benchmarks share: the runtime, a folder for what they leave behind, lanes and stacks."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from chaos.client import InterposerClient
from orchestrator.campaign.images import images_for
from orchestrator.campaign.jobs import Job, StackContext, StackProgress, SubjectWork
from orchestrator.campaign.lane import Lane, LaneSettings
from orchestrator.campaign.preflight import examine_stack
from orchestrator.campaign.queue import WorkQueue
from orchestrator.campaign.schedule import LONG_LEASE_SECONDS
from orchestrator.campaign.sink import Sink
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.images import ImageRef
from orchestrator.model import TrialRecord, Verdict
from orchestrator.plan import VENDOR
from orchestrator.runtimes.base import Runtime, StackSpec
from orchestrator.session import Session
from orchestrator.suites.integrity.reviewer import Reviewer

__all__ = ["Bench", "Pace", "PaceMeter"]


@dataclass(frozen=True)
class Pace:
    """How fast trials ended.

    Attributes:
        seconds: From the first job's begin to the last trial's end, stacks being up already.
        verdicts: Trials by verdict.
    """

    seconds: float
    verdicts: Mapping[Verdict, int]

    @property
    def evaluated(self) -> int:
        """Trials that were carried out and scored; N/R and ERROR are no work done."""
        return sum(
            count
            for verdict, count in self.verdicts.items()
            if verdict not in (Verdict.ERROR, Verdict.NOT_RUN)
        )

    @property
    def per_second(self) -> float:
        """Evaluated trials a second; 0 when nothing ended."""
        return self.evaluated / self.seconds if self.seconds else 0.0

    @property
    def text(self) -> str:
        """The verdicts, for a person."""
        return ", ".join(f"{count} {verdict.value}" for verdict, count in self.verdicts.items())


class PaceMeter:
    """A run's display (`campaign.sink.Progress`) that shows nothing and keeps the time."""

    def __init__(self, say: Callable[[str], None] | None = None) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._began = 0.0
        self._ended = 0.0
        self._verdicts: Counter[Verdict] = Counter()

    def planned(self, trials: int) -> None:
        """The number is not needed."""

    def running(self, lane: str, what: str) -> None:
        """The first of these starts the clock."""
        with self._lock:
            self._began = self._began or time.monotonic()

    def finished(self, trials: Sequence[TrialRecord]) -> None:
        """The last of these stops it."""
        with self._lock:
            self._ended = time.monotonic()
            self._verdicts.update(trial.verdict for trial in trials)

    def note(self, text: str) -> None:
        """Hand on what a person should know."""
        if self._say is not None:
            self._say(text)

    def close(self) -> None:
        """Nothing is open."""

    def pace(self) -> Pace:
        """What was seen so far."""
        with self._lock:
            seconds = max(0.0, self._ended - self._began) if self._verdicts else 0.0
            return Pace(seconds, dict(self._verdicts))


@dataclass
class Bench:
    """One run of the benchmarks.

    Attributes:
        bench_id: Run id of every stack.
        runtime: Where stacks come from.
        records: Where evidence is written, as durably as in a run; removed at the end.
        logs: Folder of the stacks' logs, which stay.
        say: Tells a person what goes on.
        large: Whether sizes that take many minutes to reach are measured, too.
        stopping: Set when everything is to end early.
        reviewer: The memory's reviewer.
    """

    bench_id: str
    runtime: Runtime
    records: RunDirectory
    logs: Path
    say: Callable[[str], None]
    large: bool = False
    stopping: threading.Event = field(default_factory=threading.Event)
    reviewer: Reviewer = field(default_factory=Reviewer.generate)

    @cached_property
    def images(self) -> Mapping[str, ImageRef]:
        """The images of a stack, built when one is missing: benchmarks start warm.

        Raises:
            ImageError, EngineError: They cannot be had.
        """
        meter = PaceMeter(self.say)
        return images_for(self.runtime, None, base_image=None, progress=meter)

    @property
    def scratch(self) -> Path:
        """Folder for what a benchmark needs while it runs; removed at the end."""
        return self.records.root

    def spec(self, stack_id: str) -> StackSpec:
        """A stack with the reference memory, as a run asks for it."""
        keys = self.logs / "reviewer-keys.json"
        keys.write_text(self.reviewer.public_keys_json(), encoding="utf-8")
        return StackSpec(
            run_id=self.bench_id,
            stack_id=stack_id,
            folder=self.logs,
            images=self.images,
            lease_seconds=LONG_LEASE_SECONDS,
            reviewer_keys=keys,
            clock_skew=True,
        )

    @contextmanager
    def open_stack(self, stack_id: str) -> Iterator[StackContext]:
        """A stack that was looked at as a run looks at its first one; closed at the end.

        Raises:
            MemqualError: It does not start, or does not hold what the testbed assumes.
        """
        sink = Sink(self.records, PaceMeter())
        with closing(self.runtime.start(self.spec(stack_id))) as stack:
            report, describe = examine_stack(stack, None, sink, self.bench_id)
            session = Session(stack.control_address, stack.control_token, self.bench_id)
            with closing(session):
                yield StackContext(
                    run_id=self.bench_id,
                    subject=VENDOR,
                    stack=stack,
                    session=session,
                    interposer=InterposerClient(session.channel, stack.control_token),
                    describe=describe,
                    progress=StackProgress(),
                    skew=report.skew_proven,
                    sink=sink,
                )

    def pace_of(self, jobs: Sequence[Job], stacks: int, name: str) -> Pace:
        """Carry jobs out as a run does: lanes that share them, each with a stack of its own.

        Args:
            jobs: What to do; their number is the bound.
            stacks: How many lanes; all stacks are up before the clock starts.
            name: Two letters at most, first part of the stacks' names.

        Raises:
            MemqualError: A stack does not start, or none can be had any more.
        """
        meter = PaceMeter(self.say)
        sink = Sink(self.records, meter)
        queue = WorkQueue(SubjectWork(VENDOR, None, LONG_LEASE_SECONDS, (job,)) for job in jobs)
        lanes: list[Lane] = []
        try:
            for number in range(stacks):
                lanes.append(self._lane(f"{name}{number}-", sink))
            with ThreadPoolExecutor(stacks, thread_name_prefix="lane") as pool:
                ended = [pool.submit(lane.run, queue) for lane in lanes]
                try:
                    for one in ended:
                        one.result()
                except BaseException:
                    self.stopping.set()
                    # What is under way ends when its stack goes.
                    for lane in lanes:
                        lane.close()
                    raise
        finally:
            for lane in lanes:
                lane.close()
        return meter.pace()

    def _lane(self, name: str, sink: Sink) -> Lane:
        """A lane with a stack that is up."""
        spec = self.spec(f"{name}0")
        stack = self.runtime.start(spec)
        try:
            report, _ = examine_stack(stack, None, sink, self.bench_id)
            settings = LaneSettings(name, spec, report.skew_proven)
            lane = Lane(self.runtime, settings, sink, self.stopping)
            lane.adopt(stack, VENDOR)
        except BaseException:
            stack.close()
            raise
        return lane
