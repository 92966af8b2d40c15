"""What a run was made of, written before its first trial (DESIGN §8)."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from orchestrator.model import Frozen
from orchestrator.suites.continuity.paper.study import Study

__all__ = [
    "Commit",
    "ImageRecord",
    "Manifest",
    "commit_of",
    "dependencies",
    "interpreter",
    "platform_name",
    "sha256_of",
    "tree_digest",
]

MANIFEST_VERSION = 1
_GIT_SECONDS = 10


class Commit(Frozen):
    """Version of the testbed's own sources.

    Attributes:
        revision: Commit hash; empty outside a checkout.
        clean: No tracked file differs from it.
    """

    revision: str
    clean: bool


class ImageRecord(Frozen):
    """One image that the run used."""

    name: str
    tag: str
    digest: str


class Manifest(Frozen):
    """The run's fixed facts; a resumed run must find them unchanged where it says so.

    Attributes:
        run_id: Run id.
        profile, seed, requirement_revision: What the expected cells follow from.
        runtime: `docker` or `process`.
        subject_name, subject_version: What the memory calls itself.
        subject_source: Image reference or command that was qualified.
        vendor_json: Its vendor.yaml as it was read; empty for the reference memory.
        describe_json: Its declaration, as protobuf JSON.
        stacks: Stacks side by side.
        lease_seconds: Lease asked of the memory in skewed and real cells.
        tools_digest: SHA-256 over the destination's sources: the frozen tools.
        lock_digest: SHA-256 of the host's dependency lock.
        batches: Number of continuity batches: the trial range is 0..expected_trials-1.
        retail_store_digest: SHA-256 of the retail tools' store; empty for the generated one.
        stories_digest: SHA-256 of stories.json; empty without narrative cells.
        stories_own: The stories are somebody's own, and did not come with memqual.
        study: Design of the profile's study, as it was before the first trial; None without one.
    """

    version: int = MANIFEST_VERSION
    run_id: str
    profile: str
    seed: int
    requirement_revision: str
    runtime: str
    runtime_detail: str
    commit: Commit
    interpreter: str
    platform: str
    lock_digest: str
    tools_digest: str
    dependencies: dict[str, str]
    images: tuple[ImageRecord, ...]
    subject_name: str
    subject_version: str
    subject_source: str
    vendor_json: str
    describe_json: str
    lease_mode: str
    lease_seconds: int
    skew_proven: bool
    skew_detail: str
    isolation: str
    findings: tuple[str, ...] = ()
    stacks: int
    expected_trials: int
    batches: int
    started_unix_ns: int
    retail_store_digest: str = ""
    stories_digest: str = ""
    stories_own: bool = False
    study: Study | None = None


def commit_of(root: Path) -> Commit:
    """The checkout's commit; empty when git or the checkout is missing."""
    try:
        revision = _git(root, "rev-parse", "HEAD")
        clean = not _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return Commit(revision="", clean=False)
    return Commit(revision=revision, clean=clean)


def dependencies(names: tuple[str, ...]) -> dict[str, str]:
    """Installed versions of distributions; one that is not installed is left out."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def tree_digest(folder: Path) -> str:
    """SHA-256 over the names and bytes of a folder's Python files, in order."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file; empty when there is none, as in an installed wheel."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def platform_name() -> str:
    """This operating system and machine, in words."""
    return platform.platform()


def interpreter() -> str:
    """This interpreter, in words."""
    return f"{platform.python_implementation()} {platform.python_version()} "


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ("git", *arguments),
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
        timeout=_GIT_SECONDS,
    ).stdout.strip()
