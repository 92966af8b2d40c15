"""Reads what an image is made of from its Dockerfile, the only place where that is written.

A recipe is the folder ``compose/images/<name>`` with a Dockerfile that starts from
``memqual/python:<lock>`` and copies paths of the repository. A new service or vendor adds a folder.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ImageError

__all__ = [
    "PYTHON_RECIPE",
    "REPO_ROOT",
    "Recipe",
    "lock_path",
    "python_dockerfile",
    "read_recipe",
    "recipe_names",
]

REPO_ROOT = Path(__file__).resolve().parents[2]
RECIPES_FOLDER = "compose/images"
# The layer that installs a lock file's wheels; every service image starts from one of its builds.
PYTHON_RECIPE = "python"

_PARENT = re.compile(r"^ARG PYTHON=memqual/python:(?P<lock>[a-z0-9.-]+)$", re.MULTILINE)
_COPY = re.compile(r"^COPY (?P<source>[^-\s]\S*) \S+$", re.MULTILINE)


@dataclass(frozen=True)
class Recipe:
    """What one service image is made of.

    Attributes:
        name: Name of the image and of its folder.
        dockerfile: Text of its Dockerfile.
        lock: Name of the lock whose wheels its parent carries, such as ``python-base``.
        sources: Paths, relative to the repository, that its Dockerfile copies, in its order.
    """

    name: str
    dockerfile: str
    lock: str
    sources: tuple[str, ...]


def recipe_names(root: Path = REPO_ROOT) -> tuple[str, ...]:
    """Names of all service images that have a recipe, sorted."""
    folders = (root / RECIPES_FOLDER).glob("*/Dockerfile")
    return tuple(sorted(path.parent.name for path in folders if path.parent.name != PYTHON_RECIPE))


def read_recipe(name: str, root: Path = REPO_ROOT) -> Recipe:
    """The recipe of one service image.

    Raises:
        ImageError: there is no such recipe, it names no lock, or a path that it copies is missing.
    """
    known = recipe_names(root)
    if name not in known:
        raise ImageError(
            f"No recipe for an image named {name!r}.",
            next_step=f"Use one of: {', '.join(known)}; or add {RECIPES_FOLDER}/{name}/Dockerfile.",
        )
    text = (root / RECIPES_FOLDER / name / "Dockerfile").read_text(encoding="utf-8")
    parent = _PARENT.search(text)
    if parent is None:
        raise ImageError(
            f"The Dockerfile of {name!r} does not say which lock its parent carries.",
            next_step="Start it with `ARG PYTHON=memqual/python:<lock>` and `FROM ${PYTHON}`.",
        )
    sources = tuple(match["source"] for match in _COPY.finditer(text))
    for source in sources:
        path = root / source
        if not path.is_file() and not any(path.rglob("*.py")):
            raise ImageError(
                f"The Dockerfile of {name!r} copies {source}, which does not exist or has no code.",
                next_step="Correct the COPY line, or restore the path with git.",
            )
    return Recipe(name=name, dockerfile=text, lock=parent["lock"], sources=sources)


def python_dockerfile(root: Path = REPO_ROOT) -> str:
    """Text of the Dockerfile that installs a lock file's wheels on a base."""
    return (root / RECIPES_FOLDER / PYTHON_RECIPE / "Dockerfile").read_text(encoding="utf-8")


def lock_path(lock: str, root: Path = REPO_ROOT) -> Path:
    """The lock file of that name; ``vendors-atmem`` is ``requirements/vendors/atmem.lock``.

    Raises:
        ImageError: there is no such lock file.
    """
    folder = root / "requirements"
    locks = {
        path.relative_to(folder).with_suffix("").as_posix().replace("/", "-"): path
        for path in folder.rglob("*.lock")
    }
    if lock not in locks:
        raise ImageError(
            f"There is no lock file named {lock!r} in requirements/.",
            next_step=f"Use one of: {', '.join(sorted(locks))}; or add it to tools/lock.py.",
        )
    return locks[lock]
