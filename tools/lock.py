"""Makes the hash-locked requirement files from ``pyproject.toml`` and ``requirements/*.in``.

Run as ``python -m tools.lock [--upgrade]``. ``dev.lock`` is universal (one file for every host);
the image locks are resolved for Linux alone, so that a host of any kind can download an image's
wheels without evaluating markers for itself. Image locks take the versions of ``dev.lock`` where
the vendor allows it. No file names a location.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parents[1]
LOCK_TIMEOUT_SECONDS = 600
# The oldest Python that any host or image may have.
PYTHON_VERSION = "3.11"
HEADER = "# Made by `make lock`; every version is pinned by hash and no location is named.\n"


@dataclass(frozen=True)
class Lock:
    """One lock file, relative to ``requirements/``, and how it is resolved."""

    output: str
    source: str
    universal: bool = False
    follows_dev: bool = True
    groups: tuple[str, ...] = ()


LOCKS = (
    Lock("dev.lock", "pyproject.toml", universal=True, follows_dev=False, groups=("dev",)),
    Lock("pip.lock", "requirements/pip.in", universal=True),
    Lock("python-base.lock", "requirements/python-base.in"),
    Lock("agent.lock", "requirements/agent.in"),
    Lock("memory.lock", "requirements/memory.in"),
    # The vendor caps cryptography below the version that the testbed itself uses.
    Lock("vendors/atmem.lock", "requirements/vendors/atmem.in", follows_dev=False),
    Lock("vendors/atmem-2.3.6.lock", "requirements/vendors/atmem-2.3.6.in", follows_dev=False),
)


def resolve(lock: Lock, upgrade: bool) -> None:
    """Writes one lock file.

    Raises:
        subprocess.CalledProcessError: no set of versions satisfies the inputs.
    """
    output = REPO_ROOT / "requirements" / lock.output
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", lock.source),
        *("--python-version", PYTHON_VERSION, "--generate-hashes", "--quiet"),
        *("--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header"),
        *(["--universal"] if lock.universal else ["--python-platform", "linux"]),
        *(["--constraints", "requirements/dev.lock"] if lock.follows_dev else []),
        *(part for group in lock.groups for part in ("--group", group)),
        *(["--upgrade"] if upgrade else []),
    ]
    with tempfile.TemporaryDirectory(prefix="memqual-lock-") as folder:
        fresh = Path(folder) / output.name
        if output.exists():
            # uv keeps the versions that it finds in its output file.
            fresh.write_bytes(output.read_bytes())
        subprocess.run(
            [*command, "--output-file", str(fresh)],
            cwd=REPO_ROOT,
            check=True,
            timeout=LOCK_TIMEOUT_SECONDS,
            env={**os.environ, "UV_PYTHON": sys.executable},
        )
        body = fresh.read_text(encoding="utf-8")
    output.write_text(HEADER + body.removeprefix(HEADER), encoding="utf-8", newline="\n")


def main() -> int:
    """Command line; resolves every lock, ``dev.lock`` first."""
    parser = argparse.ArgumentParser(prog="tools.lock", description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest allowed versions")
    upgrade = parser.parse_args().upgrade
    for lock in LOCKS:
        resolve(lock, upgrade)
        print(f"lock: requirements/{lock.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
