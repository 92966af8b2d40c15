"""What a run was made of."""

import hashlib
import platform
import subprocess
from pathlib import Path

from orchestrator.evidence.manifest import (
    Commit,
    commit_of,
    dependencies,
    interpreter,
    platform_name,
    sha256_of,
    tree_digest,
)


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    command = ["git", *identity, *arguments]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=30)
    return done.stdout.strip()


def test_a_checkout_is_clean_until_a_tracked_file_differs(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("1\n")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-q", "-m", "one")
    revision = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "new.txt").write_text("untracked\n")
    assert commit_of(tmp_path) == Commit(revision=revision, clean=True)
    (tmp_path / "a.py").write_text("2\n")
    assert commit_of(tmp_path) == Commit(revision=revision, clean=False)


def test_outside_a_checkout_there_is_no_commit(tmp_path: Path) -> None:
    assert commit_of(tmp_path / "nothing") == Commit(revision="", clean=False)


def test_digests_follow_names_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.py").write_text("1")
    first = tree_digest(tmp_path)
    assert tree_digest(tmp_path) == first
    (tmp_path / "p" / "notes.txt").write_text("no code")
    assert tree_digest(tmp_path) == first
    (tmp_path / "p" / "a.py").rename(tmp_path / "p" / "b.py")
    second = tree_digest(tmp_path)
    (tmp_path / "p" / "b.py").write_text("2")
    assert len({first, second, tree_digest(tmp_path)}) == 3
    assert sha256_of(tmp_path / "p" / "b.py") == hashlib.sha256(b"2").hexdigest()
    assert sha256_of(tmp_path / "none") == ""


def test_what_is_installed_is_named_and_what_is_not_is_left_out() -> None:
    assert list(dependencies(("pydantic", "no-such-distribution"))) == ["pydantic"]
    assert platform.python_version() in interpreter()
    assert platform.machine() in platform_name()
