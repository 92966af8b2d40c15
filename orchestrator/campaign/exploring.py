"""`memqual explore`: random schedules of faults on one stack, and finds played again (issue 4)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from orchestrator.campaign.console import progress_for
from orchestrator.campaign.housekeeping import collect_quietly, sweep
from orchestrator.campaign.images import images_for
from orchestrator.campaign.logs import log_to
from orchestrator.campaign.options import DEFAULT_SEED, new_run_id
from orchestrator.campaign.signals import StopSignals
from orchestrator.campaign.sink import Progress
from orchestrator.campaign.stack_supply import Stacks
from orchestrator.errors import MemqualError, RunDirectoryError, StackError
from orchestrator.evidence.manifest import commit_of
from orchestrator.evidence.rundir import json_bytes
from orchestrator.model import Frozen, Verdict
from orchestrator.report.text import visible
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.select import select_runtime
from orchestrator.suites.continuity.explore.cases import ExploredCase, read_case, write_case
from orchestrator.suites.continuity.explore.engine import (
    Bounds,
    Exploration,
    ExplorationResult,
)
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import VendorConfig, load_vendor, vendor_for_image
from services.common.platform import atomic_write_bytes

__all__ = ["ExploreOptions", "run_explore"]

_ROOT = Path(__file__).resolve().parent.parent.parent
_NOTHING, _FOUND = 0, 1
_TELL_SECONDS = 10.0

_log = structlog.get_logger(__name__)


class ExploreOptions(Frozen):
    """The options of `memqual explore`.

    Attributes:
        vendor: Path of a vendor.yaml; None explores the reference memory.
        memory_image: `name:tag` of a vendor's image, in place of a vendor.yaml.
        runtime: `docker`, `process`, or `auto` (docker when an engine answers).
        runs_folder: Where the exploration's folder is made.
        base_image: Base of the images, in place of Debian packages.
        seed: Root of everything that is drawn.
        minutes: End after so many minutes.
        schedules: End after so many schedules; None for no such bound.
        finds: End after so many finds.
        replay: A case to be played once, in place of an exploration.
    """

    vendor: Path | None = None
    memory_image: str | None = None
    runtime: str = "auto"
    runs_folder: Path = Path("runs")
    base_image: str | None = None
    seed: int = DEFAULT_SEED
    minutes: float = 10.0
    schedules: int | None = None
    finds: int = 8
    replay: Path | None = None


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
    run_id = f"explore-{new_run_id()}"
    root = options.runs_folder / run_id
    try:
        (root / "logs").mkdir(parents=True)
        (root / "cases").mkdir()
    except OSError as error:
        raise RunDirectoryError(
            f"The exploration's folder {root} cannot be made: {error}.",
            next_step="Free space there or mend its permissions, or name another: --runs FOLDER.",
        ) from error
    log_to(root / "logs" / "orchestrator.jsonl", run_id=run_id)
    progress = progress_for(lines=True)
    with StopSignals() as signals:
        try:
            with _stacks(options, root, signals, progress) as stacks:
                if case is not None:
                    return _play(stacks, case)
                return _explore(stacks, options, root, signals, progress)
        except MemqualError as error:
            _log.error("exploration_ended", cause=error.diagnosis)
            raise
        finally:
            progress.close()


@contextmanager
def _stacks(
    options: ExploreOptions, root: Path, signals: StopSignals, progress: Progress
) -> Iterator[Stacks]:
    """Stacks with the memory in them; whatever comes, nothing of them is left afterwards."""
    vendor = _vendor_of(options)
    selection = select_runtime(None if options.runtime == "auto" else options.runtime)
    runtime = selection.runtime
    progress.note(f"Exploration {root.name}: {selection.reason}.")
    collect_quietly(progress)
    images = images_for(runtime, vendor, base_image=options.base_image, progress=progress)
    reviewer = Reviewer.generate()
    keys = root / "reviewer-keys.json"
    keys.write_text(reviewer.public_keys_json(), encoding="utf-8")
    spec = StackSpec(
        run_id=root.name,
        stack_id="s0",
        folder=root / "logs",
        images=images,
        vendor=vendor,
        reviewer_keys=keys,
        clock_skew=True,
    )
    signals.on_stop(lambda: None)
    stacks = Stacks(runtime, spec, reviewer, signals)
    try:
        yield stacks
    finally:
        stacks.close()
        left = sweep(runtime, root.name)
        if left:
            progress.note(f"Left behind: {left[0]}. Next step: mend that, then `memqual gc`.")


def _exploration(stacks: Stacks, options_seed: int, signals: StopSignals | None) -> Exploration:
    describe = stacks.context().describe
    commit = commit_of(_ROOT)
    exploration = Exploration(
        ground=stacks,
        seed=options_seed,
        token=stacks.run_id[-6:],
        memory=visible(f"{describe.name} {describe.version}"),
        revision=commit.revision + ("" if commit.clean else "+changed"),
    )
    if signals is not None:
        exploration.stopping = signals.stopping
    return exploration


def _explore(
    stacks: Stacks, options: ExploreOptions, root: Path, signals: StopSignals, progress: Progress
) -> int:
    exploration = _exploration(stacks, options.seed, signals)
    progress.note(f"Exploring {exploration.memory} with seed {options.seed}.")
    said_at = [time.monotonic()]
    names: list[str] = []

    def tell(schedules: int, cases: int) -> None:
        if time.monotonic() - said_at[0] >= _TELL_SECONDS:
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
    return _FOUND if names else _NOTHING


def _play(stacks: Stacks, case: ExploredCase) -> int:
    """Play a case; 1 when it breaks a rule again."""
    results = _exploration(stacks, case.seed, None).play(case.schedule)
    result = next((one for one in results if one.broken is not None), results[0])
    if result.broken is None:
        print(f"{result.record.verdict.value}: {visible(result.record.cause) or 'no rule broken'}")
        return _NOTHING
    print(visible(result.broken.words))
    if result.broken.rule == case.rule:
        print("The same rule is broken again.")
    return _FOUND


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


def _vendor_of(options: ExploreOptions) -> VendorConfig | None:
    if options.memory_image:
        return vendor_for_image(options.memory_image)
    return load_vendor(options.vendor) if options.vendor else None
