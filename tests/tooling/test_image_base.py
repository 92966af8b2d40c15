"""The base system: which archive is used, and what its tag depends on; wheels for a target."""

from pathlib import Path

import pytest

from orchestrator.errors import ImageError
from orchestrator.images import base
from orchestrator.images.wheelhouse import WheelTarget, ensure_wheelhouse

DEBIAN = {"ID": "debian", "VERSION_CODENAME": "bookworm"}
TARGET = WheelTarget(python=(3, 11), machine="x86_64", glibc=(2, 36))
LISTING = """\
https://vendor.example/repo/|bookworm|bookworm|stable|Vendor
https://tools.example/apt/|bookworm|bookworm|main|Tools
http://mirror.example/debian/|bookworm-updates|bookworm-updates|main|Debian
http://mirror.example/debian/|bookworm|bookworm|contrib|Debian
http://mirror.example/debian/|bookworm|bookworm|main|Debian
"""


def test_takes_the_distribution_before_other_archives() -> None:
    assert base.choose_source(LISTING, "bookworm") == base.AptSource(
        mirror="http://mirror.example/debian/", suite="bookworm"
    )


def test_finds_a_suite_by_its_code_name() -> None:
    listing = "http://mirror.example/debian/|stable|bookworm|main|Debian"
    assert base.choose_source(listing, "bookworm").mirror == "http://mirror.example/debian/"


def test_works_before_apt_knows_origins() -> None:
    listing = "http://mirror.example/debian/|bookworm||main|\n"
    assert base.choose_source(listing, "bookworm").mirror == "http://mirror.example/debian/"


def test_reads_a_list_of_mirrors(tmp_path: Path) -> None:
    mirrors = tmp_path / "mirrors.txt"
    mirrors.write_text("# first\nhttp://one.example/ubuntu/\tpriority:1\nhttp://two.example/\n")
    listing = f"mirror+file:{mirrors}/|noble|noble|main|Ubuntu"
    assert base.choose_source(listing, "noble").mirror == "http://one.example/ubuntu/"


@pytest.mark.parametrize("listing", ["", "http://x.example/|trixie|trixie|main|Debian"])
def test_no_archive_is_an_error_with_a_next_step(listing: str) -> None:
    with pytest.raises(ImageError, match="no archive for bookworm main") as caught:
        base.choose_source(listing, "bookworm")
    assert "BASE_IMAGE" in caught.value.next_step


def test_tag_depends_on_release_and_architecture() -> None:
    tags = {
        base.base_tag(DEBIAN, "x86_64"),
        base.base_tag(DEBIAN, "aarch64"),
        base.base_tag({**DEBIAN, "VERSION_CODENAME": "trixie"}, "x86_64"),
        base.base_tag({**DEBIAN, "ID": "ubuntu"}, "x86_64"),
    }
    assert len(tags) == 4
    assert base.base_tag({**DEBIAN, "NAME": "x"}, "x86_64") in tags


@pytest.mark.parametrize("release", [{}, {"ID": "fedora", "VERSION_CODENAME": ""}])
def test_other_hosts_are_told_to_name_an_image(release: dict[str, str]) -> None:
    with pytest.raises(ImageError) as caught:
        base.base_tag(release, "x86_64")
    assert "BASE_IMAGE=" in caught.value.next_step


def test_os_release_is_read_with_and_without_quotes(tmp_path: Path) -> None:
    path = tmp_path / "os-release"
    path.write_text(
        'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12"\n# note\nVERSION_CODENAME=bookworm\n'
    )
    assert base.read_os_release(path) == {
        "ID": "debian",
        "PRETTY_NAME": "Debian GNU/Linux 12",
        "VERSION_CODENAME": "bookworm",
    }
    assert base.read_os_release(tmp_path / "absent") == {}


def test_platforms_are_those_that_the_c_library_runs() -> None:
    platforms = TARGET.platforms()
    assert platforms[0] == "manylinux_2_36_x86_64"
    assert {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "linux_x86_64"} <= set(platforms)
    assert "manylinux_2_37_x86_64" not in platforms
    assert len(set(platforms)) == len(platforms)


def test_existing_wheelhouse_is_used_without_pip(tmp_path: Path) -> None:
    lock = tmp_path / "empty.lock"
    lock.write_text("# nothing to install\n", encoding="utf-8")
    lines: list[str] = []
    first = ensure_wheelhouse(lock, TARGET, tmp_path / "houses", lines.append)
    again = ensure_wheelhouse(lock, TARGET, tmp_path / "houses", lines.append)
    other = ensure_wheelhouse(
        lock, WheelTarget((3, 12), "x86_64", (2, 36)), tmp_path / "houses", lines.append
    )
    assert first == again
    assert first != other
    assert len(lines) == 2


def test_pip_failure_names_the_lock_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    lock = tmp_path / "broken.lock"
    lock.write_text(f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    with pytest.raises(ImageError, match=r"broken\.lock for Python 3\.11 on x86_64"):
        ensure_wheelhouse(lock, TARGET, tmp_path / "houses", lambda line: None)
    assert list((tmp_path / "houses").iterdir()) == []
