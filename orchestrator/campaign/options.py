"""What a person asked a run to be."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from orchestrator.model import Frozen, Profile

__all__ = ["DEFAULT_SEED", "QualifyOptions", "new_run_id"]

DEFAULT_SEED = 20260922
"""The published study's seed, so that two people who name none compare the same trials."""


class QualifyOptions(Frozen):
    """The options of `memqual qualify`.

    Attributes:
        profile: Which cells are scheduled.
        seed: Root of every sub-seed.
        runtime: `docker`, `process`, or `auto` (docker when an engine answers).
        vendor: Path of a vendor.yaml; None qualifies the reference memory.
        memory_image: `name:tag` of a vendor's image, in place of a vendor.yaml.
        retail_store: The benchmark's db.json for the retail tools; None: a generated store.
        stories: Folder of one's own stories for the narrative axis; None: memqual's.
        resume: Run id (or folder) of a run that was cut.
        runs_folder: Where run folders are made.
        base_image: Base of the images, in place of Debian packages.
        stacks: How many stacks run side by side, 1..4.
        json_progress: Log lines instead of a live display.
    """

    profile: Profile = Profile.QUICK
    seed: int = DEFAULT_SEED
    runtime: str = "auto"
    vendor: Path | None = None
    memory_image: str | None = None
    retail_store: Path | None = None
    stories: Path | None = None
    resume: str | None = None
    runs_folder: Path = Path("runs")
    base_image: str | None = None
    stacks: int = 2
    json_progress: bool = False


def new_run_id() -> str:
    """A run id that sorts by time and that two runs started at once do not share."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime()) + "-" + secrets.token_hex(3)
