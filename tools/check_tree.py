"""Finds tracked text that ties the repository to one machine or to one package registry.

Run as ``python -m tools.check_tree``. Lock files carry hashes and no locations, so that any mirror
serves; a home folder or a workspace path in a tracked file would only work where it was written.
A package that was downloaded belongs in a wheelhouse, never in the repository.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parents[1]

REGISTRY_HOST = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs|(?:deb|snapshot|security)\.debian\.org"
    r"|archive\.ubuntu\.com|ports\.ubuntu\.com"
)
PACKAGE = re.compile(r"\.(?:whl|tar\.gz|tgz|zip|deb|egg)$")
MACHINE_PATH = re.compile(r"(?<![\w.\-~}\])])/(?:work|farm|root|home/\w+|Users/\w+)/")


@dataclass(frozen=True)
class Finding:
    """One line of a tracked file that must not be there; line 0 is the file itself."""

    path: str
    line_number: int
    reason: str


def tracked_files() -> list[Path]:
    """Files that git tracks or would track (new and not ignored), as absolute paths."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPO_ROOT,
        check=True,
        capture_output=True,
        timeout=60,
    ).stdout
    paths = (REPO_ROOT / name for name in listing.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def findings_in(text: str, name: str) -> list[Finding]:
    """The findings of one file's text; ``REPO_ROOT`` itself counts wherever it is."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if REGISTRY_HOST.search(line):
            found.append(Finding(name, number, "names a package registry's host"))
        if MACHINE_PATH.search(line) or f"{REPO_ROOT}/" in line:
            found.append(Finding(name, number, "names an absolute path of one machine"))
    return found


def main() -> int:
    """Prints each finding; exit code 1 if there is one."""
    found: list[Finding] = []
    for path in tracked_files():
        name = path.relative_to(REPO_ROOT).as_posix()
        if PACKAGE.search(name):
            found.append(Finding(name, 0, "is a package or an archive"))
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # binary: the descriptor baseline
        found += findings_in(text, name)
    for finding in found:
        print(f"{finding.path}:{finding.line_number}: {finding.reason}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
