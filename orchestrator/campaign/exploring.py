"""`memqual explore`: random schedules of faults on one stack, and finds played again (issue 4)."""

from __future__ import annotations

import time
from pathlib import Path

from orchestrator.campaign.hunting import (
    FOUND,
    NOTHING,
    TELL_SECONDS,
    Hunt,
    HuntOptions,
    hunting,
    revision,
)
from orchestrator.campaign.signals import StopSignals
from orchestrator.campaign.stack_supply import Stacks
from orchestrator.errors import StackError
from orchestrator.evidence.rundir import json_bytes
from orchestrator.model import Frozen, Verdict
from orchestrator.report.text import visible
from orchestrator.suites.continuity.explore.cases import ExploredCase, read_case, write_case
from orchestrator.suites.continuity.explore.engine import (
    Bounds,
    Exploration,
    ExplorationResult,
)
from services.common.platform import atomic_write_bytes

__all__ = ["ExploreOptions", "run_explore"]


class ExploreOptions(HuntOptions):
    """The options of `memqual explore`.

    Attributes:
        schedules: End after so many schedules; None for no such bound.
        finds: End after so many finds.
    """

    schedules: int | None = None
    finds: int = 8


class _Summary(Frozen):
    """explore.json: what was explored, how far, and what was found."""

    run_id: str
    seed: int
    memory: str
    revision: str
    runtime: str
    schedules: int
    trials: dict[str, int]
    seconds: float
    pairs: int
    rows: dict[str, int]
    errors: dict[str, int]
    stopped: bool
    cases: tuple[str, ...]


def run_explore(options: ExploreOptions) -> int:
    """Explore one memory, or play one case; print what was found.

    Returns:
        0 when nothing was found, 1 when something was.

    Raises:
        UsageError: The vendor's file or the case cannot be read.
        MemqualError: It could not be run.
    """
    case = None if options.replay is None else read_case(options.replay)
    with hunting(options, "explore", clock_skew=True) as hunt:
        stacks = Stacks(hunt.runtime, hunt.spec, hunt.reviewer, hunt.signals)
        try:
            if case is not None:
                return _play(stacks, case)
            return _explore(stacks, options, hunt)
        finally:
            stacks.close()


def _exploration(stacks: Stacks, options_seed: int, signals: StopSignals | None) -> Exploration:
    describe = stacks.context().describe
    exploration = Exploration(
        ground=stacks,
        seed=options_seed,
        token=stacks.run_id[-6:],
        memory=visible(f"{describe.name} {describe.version}"),
        revision=revision(),
    )
    if signals is not None:
        exploration.stopping = signals.stopping
    return exploration


def _explore(stacks: Stacks, options: ExploreOptions, hunt: Hunt) -> int:
    root, signals, progress = hunt.root, hunt.signals, hunt.progress
    exploration = _exploration(stacks, options.seed, signals)
    progress.note(f"Exploring {exploration.memory} with seed {options.seed}.")
    said_at = [time.monotonic()]
    names: list[str] = []

    def tell(schedules: int, cases: int) -> None:
        if time.monotonic() - said_at[0] >= TELL_SECONDS:
            said_at[0] = time.monotonic()
            progress.note(f"{schedules} schedules, {cases} found.")

    def keep(case: ExploredCase) -> None:
        name = f"cases/{len(names) + 1:02d}-{case.name}.json"
        write_case(root / name, case)
        names.append(name)
        print(_told(case, root / name), flush=True)

    exploration.on_schedule, exploration.on_case = tell, keep
    result = exploration.run(
        Bounds(seconds=options.minutes * 60, schedules=options.schedules, cases=options.finds)
    )
    stopped = signals.stopping.is_set()
    _write_summary(stacks, exploration, root, result, tuple(names), stopped=stopped)
    trials = sum(result.trials.values())
    judged = trials - result.trials.get(Verdict.ERROR.value, 0)
    print(
        f"{len(names)} found in {result.schedules} schedules, {judged} of {trials} trials judged, "
        f"{result.seconds:.0f} s; {root}"
    )
    if stopped and not names:
        raise StackError("The exploration was stopped early.", next_step="Start it again.")
    return FOUND if names else NOTHING


def _play(stacks: Stacks, case: ExploredCase) -> int:
    """Play a case; 1 when it breaks a rule again."""
    results = _exploration(stacks, case.seed, None).play_again(case.schedule)
    broken = [one for result in results for one in result.all_broken]
    if not broken:
        record = results[0].record
        print(f"{record.verdict.value}: {visible(record.cause) or 'no rule broken'}")
        return NOTHING
    print(visible(broken[0].words))
    if case.rule in (one.rule for one in broken):
        print("The same rule is broken again.")
    return FOUND


def _told(case: ExploredCase, path: Path) -> str:
    """A case for a person."""
    lines = [f"{visible(case.words)} ({case.schedule.capabilities[0].value})"]
    lines += [
        f"  {number}. {visible(step.model_dump_json(exclude_defaults=True), 200)}"
        for number, step in enumerate(case.schedule.steps, start=1)
    ]
    lines.append(f"  Seen again {case.confirmed} of 2 times.")
    lines.append(f"  Again: memqual explore --replay {path}")
    return "\n".join(lines)


def _write_summary(
    stacks: Stacks,
    exploration: Exploration,
    root: Path,
    result: ExplorationResult,
    names: tuple[str, ...],
    *,
    stopped: bool,
) -> None:
    summary = _Summary(
        run_id=root.name,
        seed=exploration.seed,
        memory=exploration.memory,
        revision=exploration.revision,
        runtime=stacks.runtime.name,
        schedules=result.schedules,
        trials=dict(result.trials),
        seconds=result.seconds,
        pairs=result.pairs,
        rows=dict(result.rows),
        errors=dict(result.errors),
        stopped=stopped,
        cases=names,
    )
    atomic_write_bytes(root / "explore.json", json_bytes(summary))
