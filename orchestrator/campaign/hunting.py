"""What `memqual explore` and `memqual search` share: a folder, one stack, finds played again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from orchestrator.campaign.console import progress_for
from orchestrator.campaign.housekeeping import collect_quietly, sweep
from orchestrator.campaign.images import images_for
from orchestrator.campaign.logs import log_to
from orchestrator.campaign.options import DEFAULT_SEED, new_run_id
from orchestrator.campaign.signals import StopSignals
from orchestrator.campaign.sink import Progress
from orchestrator.errors import MemqualError, RunDirectoryError
from orchestrator.evidence.manifest import commit_of
from orchestrator.model import Frozen
from orchestrator.runtimes.base import Runtime, StackSpec
from orchestrator.runtimes.select import select_runtime
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import VendorConfig, load_vendor, vendor_for_image

__all__ = ["FOUND", "NOTHING", "TELL_SECONDS", "Hunt", "HuntOptions", "hunting", "revision"]

NOTHING, FOUND = 0, 1
"""Exit codes: nothing was found, something was."""
TELL_SECONDS = 10.0
"""How often a person is told how far it is."""

_ROOT = Path(__file__).resolve().parent.parent.parent

_log = structlog.get_logger(__name__)


class HuntOptions(Frozen):
    """What both commands are told.

    Attributes:
        vendor: Path of a vendor.yaml; None takes the reference memory.
        memory_image: `name:tag` of a vendor's image, in place of a vendor.yaml.
        runtime: `docker`, `process`, or `auto` (docker when an engine answers).
        runs_folder: Where the folder of what is found is made.
        base_image: Base of the images, in place of Debian packages.
        seed: Root of everything that is drawn.
        minutes: End after so many minutes.
        replay: A case to be played once, in place of a hunt.
    """

    vendor: Path | None = None
    memory_image: str | None = None
    runtime: str = "auto"
    runs_folder: Path = Path("runs")
    base_image: str | None = None
    seed: int = DEFAULT_SEED
    minutes: float = 10.0
    replay: Path | None = None


@dataclass(frozen=True)
class Hunt:
    """A hunt that can begin.

    Attributes:
        root: Its folder, with `logs` and `cases` in it; the folder's name is the run id.
        runtime: Where its stack runs.
        spec: The stack with the memory in it, not started.
        reviewer: Whose keys the memory is given.
        signals: Set when a person wants it to end.
        progress: Where a person is told how far it is.
    """

    root: Path
    runtime: Runtime
    spec: StackSpec
    reviewer: Reviewer
    signals: StopSignals
    progress: Progress


@contextmanager
def hunting(options: HuntOptions, kind: str, *, clock_skew: bool = False) -> Iterator[Hunt]:
    """Make everything ready; whatever comes, nothing of a stack is left afterwards.

    Args:
        options: What the command was told.
        kind: `explore` or `search`; the folder's name begins with it.
        clock_skew: The stack's clocks are to be set.

    Raises:
        UsageError: The vendor's file cannot be read.
        MemqualError: There is no runtime, image or folder.
    """
    root = _made_folder(options.runs_folder, f"{kind}-{new_run_id()}")
    log_to(root / "logs" / "orchestrator.jsonl", run_id=root.name)
    progress = progress_for(lines=True)
    with StopSignals() as signals:
        try:
            vendor = _vendor_of(options)
            selection = select_runtime(None if options.runtime == "auto" else options.runtime)
            runtime = selection.runtime
            progress.note(f"{kind.capitalize()} {root.name}: {selection.reason}.")
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
                clock_skew=clock_skew,
            )
            signals.on_stop(lambda: None)
            with _swept(runtime, root.name, progress):
                yield Hunt(root, runtime, spec, reviewer, signals, progress)
        except MemqualError as error:
            _log.error(f"{kind}_ended", cause=error.diagnosis)
            raise
        finally:
            progress.close()


def revision() -> str:
    """The testbed's own revision, with `+changed` where its files were changed."""
    commit = commit_of(_ROOT)
    return commit.revision + ("" if commit.clean else "+changed")


@contextmanager
def _swept(runtime: Runtime, run_id: str, progress: Progress) -> Iterator[None]:
    try:
        yield
    finally:
        left = sweep(runtime, run_id)
        if left:
            progress.note(f"Left behind: {left[0]}. Next step: mend that, then `memqual gc`.")


def _made_folder(runs_folder: Path, run_id: str) -> Path:
    root = runs_folder / run_id
    try:
        (root / "logs").mkdir(parents=True)
        (root / "cases").mkdir()
    except OSError as error:
        raise RunDirectoryError(
            f"The folder {root} cannot be made: {error}.",
            next_step="Free space there or mend its permissions, or name another: --runs FOLDER.",
        ) from error
    return root


def _vendor_of(options: HuntOptions) -> VendorConfig | None:
    if options.memory_image:
        return vendor_for_image(options.memory_image)
    return load_vendor(options.vendor) if options.vendor else None
