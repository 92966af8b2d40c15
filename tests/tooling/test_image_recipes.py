"""Recipes: what a Dockerfile copies is what its tag covers, and no more than the service needs."""

import re
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import ImageError
from orchestrator.images import contexts, recipes

NAMES = recipes.recipe_names()
SHARED = {"protos/memqual", "services/__init__.py", "services/common"}
OWN = {
    "agent": {"services/agent"},
    "control": {"services/memory", "services/controls"},
    "destination": {"services/destination"},
    "interposer": {"chaos/__init__.py", "chaos/interposer"},
    "memory": {"services/memory"},
    "observer": {"services/observer"},
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository with one image: its recipe, one lock and two sources."""
    folder = tmp_path / "compose" / "images" / "thing"
    folder.mkdir(parents=True)
    (folder / "Dockerfile").write_text(
        "ARG PYTHON=memqual/python:base\nFROM ${PYTHON}\nCOPY app app\nCOPY one.py one.py\n",
        encoding="utf-8",
    )
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.lock").write_text("", encoding="utf-8")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.py").write_text("print(1)\n", encoding="utf-8")
    (tmp_path / "one.py").write_text("", encoding="utf-8")
    return tmp_path


def digest(root: Path, parent: str = "parent") -> str:
    recipe = recipes.read_recipe("thing", root)
    files = (
        contexts.text_file("Dockerfile", recipe.dockerfile),
        *contexts.source_files(root, recipe.sources),
    )
    return contexts.inputs_digest(parent, files)


@pytest.mark.parametrize("name", NAMES)
def test_recipe_reads_every_copy_line(name: str) -> None:
    recipe = recipes.read_recipe(name)
    lines = [
        line for line in recipe.dockerfile.splitlines() if re.match(r"(?i)\s*(copy|add)\b", line)
    ]
    assert len(recipe.sources) == len(lines)
    assert recipes.lock_path(recipe.lock).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_image_holds_its_own_package_and_the_shared_ones_only(name: str) -> None:
    sources = set(recipes.read_recipe(name).sources)
    if name.startswith("vendor-"):
        # One adapter may have an image for each version of its vendor, vendor-<name>-<version>.
        vendor = re.sub(r"-\d[\d.]*$", "", name.removeprefix("vendor-"))
        own = {"services/vendors/__init__.py", f"services/vendors/{vendor}"}
    else:
        own = OWN[name]
    assert sources == SHARED | own


@pytest.mark.parametrize("name", NAMES)
def test_image_starts_a_module_that_exists(name: str) -> None:
    (module,) = re.findall(r'^CMD \["([\w.]+)"', recipes.read_recipe(name).dockerfile, re.MULTILINE)
    path = recipes.REPO_ROOT / module.replace(".", "/")
    assert (path / "__main__.py").is_file() or path.with_suffix(".py").is_file()


def test_tag_changes_with_each_input(repository: Path) -> None:
    seen = {digest(repository), digest(repository, parent="another")}
    (repository / "app" / "main.py").write_text("print(2)\n", encoding="utf-8")
    seen.add(digest(repository))
    (repository / "app" / "main.py").rename(repository / "app" / "other.py")
    seen.add(digest(repository))
    (repository / "app" / "new.py").write_text("", encoding="utf-8")
    seen.add(digest(repository))
    dockerfile = repository / "compose" / "images" / "thing" / "Dockerfile"
    dockerfile.write_text(dockerfile.read_text(encoding="utf-8") + "USER 0\n", encoding="utf-8")
    seen.add(digest(repository))
    assert len(seen) == 6


def test_tag_ignores_what_is_not_sent(repository: Path) -> None:
    before = digest(repository)
    (repository / "app" / "__pycache__").mkdir()
    (repository / "app" / "__pycache__" / "main.pyc").write_bytes(b"x")
    (repository / "app" / "main.pyi").write_text("", encoding="utf-8")
    (repository / "elsewhere.py").write_text("", encoding="utf-8")
    (repository / "app" / "main.py").touch()
    assert digest(repository) == before


@given(
    st.dictionaries(st.text("ab/", min_size=1), st.binary(max_size=4), max_size=4),
    st.dictionaries(st.text("ab/", min_size=1), st.binary(max_size=4), max_size=4),
)
def test_digests_agree_exactly_when_files_do(
    left: dict[str, bytes], right: dict[str, bytes]
) -> None:
    def of(files: dict[str, bytes]) -> str:
        return contexts.inputs_digest(
            "p", [contexts.ContextFile(name, data) for name, data in files.items()]
        )

    assert (of(left) == of(right)) == (left == right)


def test_context_is_the_same_bytes_again(repository: Path) -> None:
    files = contexts.source_files(repository, ("app", "one.py"))
    with contexts.write_context(files) as first, contexts.write_context(files) as second:
        assert first.read() == second.read()
        first.seek(0)
        with tarfile.open(fileobj=first) as archive:
            assert archive.getnames() == ["app/main.py", "one.py"]
            assert {(entry.mtime, entry.uid, entry.mode) for entry in archive} == {(0, 0, 0o644)}


def test_unknown_image_is_named_with_the_known_ones(repository: Path) -> None:
    with pytest.raises(ImageError, match="'gone'") as caught:
        recipes.read_recipe("gone", repository)
    assert "thing" in caught.value.next_step


def test_missing_source_is_named(repository: Path) -> None:
    (repository / "one.py").unlink()
    with pytest.raises(ImageError, match=r"copies one\.py, which does not exist"):
        recipes.read_recipe("thing", repository)


def test_empty_source_is_named(repository: Path) -> None:
    (repository / "app" / "main.py").unlink()
    with pytest.raises(ImageError, match="copies app, which does not exist or has no code"):
        recipes.read_recipe("thing", repository)


def test_missing_lock_is_named(repository: Path) -> None:
    with pytest.raises(ImageError, match="'vendors-gone'"):
        recipes.lock_path("vendors-gone", repository)


def test_dockerfile_without_parent_is_refused(repository: Path) -> None:
    dockerfile = repository / "compose" / "images" / "thing" / "Dockerfile"
    dockerfile.write_text("FROM scratch\n", encoding="utf-8")
    with pytest.raises(ImageError, match="which lock"):
        recipes.read_recipe("thing", repository)
