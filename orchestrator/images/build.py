"""Makes sure that images exist, and builds those that do not.

Layers, from the bottom: base system, ``memqual/python`` (one for each lock file), service images.
"""

import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import filelock

from orchestrator.errors import ImageError
from orchestrator.images import base, contexts, recipes, wheelhouse
from orchestrator.images.contexts import ContextFile
from orchestrator.images.engine import Engine

__all__ = [
    "BASE_IMAGE_VARIABLE",
    "ImageRef",
    "Presence",
    "ensure_images",
    "look_for",
    "prune_images",
]

BASE_IMAGE_VARIABLE = "MEMQUAL_BASE_IMAGE"
BUILD_FOLDER = recipes.REPO_ROOT / "build"
# A cold build takes two minutes; a second run waits for it rather than building the same again.
LOCK_TIMEOUT_SECONDS = 1800
TAG_DIGITS = 20


@dataclass(frozen=True)
class ImageRef:
    """One image that exists in the engine.

    Attributes:
        name: Name of its recipe, such as ``memory``.
        tag: Full reference with a tag derived from all of its inputs.
        digest: Identity of its content in the engine, ``sha256:`` and 64 hex digits.
    """

    name: str
    tag: str
    digest: str


@dataclass(frozen=True)
class _Plan:
    """An image that must exist: its reference, and what it is built from if it does not."""

    name: str
    inputs: str
    files: tuple[ContextFile, ...]

    @property
    def repository(self) -> str:
        return f"memqual/{self.name}"

    @property
    def tag(self) -> str:
        return f"{self.repository}:{self.inputs[:TAG_DIGITS]}"


def ensure_images(
    names: Iterable[str],
    *,
    base_image: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
    root: Path = recipes.REPO_ROOT,
) -> dict[str, ImageRef]:
    """Returns the image of each recipe, building what is missing.

    A warm call asks the engine for each image and does nothing else. Two calls at once, in one or
    several processes, build each image once.

    Args:
        names: Names of recipes (see ``recipe_names``).
        base_image: Reference of an image with glibc and Python >= 3.11 to build on; by default the
            one named by the variable MEMQUAL_BASE_IMAGE, else one made from Debian packages.
        progress: Told what is being done, one line at a time.
        root: Repository whose recipes and sources are used.

    Raises:
        EngineError: no container engine answers.
        ImageError: an image, its base or its wheels cannot be had.
    """
    wanted = [recipes.read_recipe(name, root) for name in dict.fromkeys(names)]
    with Engine.connect() as engine:
        builder = _Builder(
            engine, base_image or os.environ.get(BASE_IMAGE_VARIABLE) or None, progress, root
        )
        return {recipe.name: builder.service(recipe) for recipe in wanted}


@dataclass(frozen=True)
class Presence:
    """What the engine has of the images that a run needs.

    Attributes:
        present: Names of recipes whose image is there.
        missing: Names of those that a run would build first.
        base: The base that they are built on.
        base_present: Whether the engine has it.
        base_named: Whether the user named it, so that it can be pulled and is never made.
    """

    present: tuple[str, ...]
    missing: tuple[str, ...]
    base: str
    base_present: bool
    base_named: bool


def look_for(
    names: Iterable[str], *, base_image: str | None = None, root: Path = recipes.REPO_ROOT
) -> Presence:
    """Look for images without building or pulling anything.

    Args:
        names: Names of recipes.
        base_image: As in ``ensure_images``.
        root: Repository whose recipes and sources are used.

    Raises:
        EngineError: no container engine answers.
        ImageError: a recipe cannot be read, or this host's packages make no base.
    """
    named = base_image or os.environ.get(BASE_IMAGE_VARIABLE) or None
    wanted = [recipes.read_recipe(name, root) for name in dict.fromkeys(names)]
    with Engine.connect() as engine:
        if named is not None and engine.image_id(named) is None:
            return Presence((), tuple(one.name for one in wanted), named, False, True)
        builder = _Builder(engine, named, lambda line: None, root)
        present = tuple(one.name for one in wanted if builder.has(one))
        return Presence(
            present=present,
            missing=tuple(one.name for one in wanted if one.name not in present),
            base=named or builder.base_identity,
            base_present=engine.image_id(named or builder.base_identity) is not None,
            base_named=named is not None,
        )


def prune_images(*, older_than_hours: int = 7 * 24) -> int:
    """Removes memqual's own images that no container uses and that are older; returns freed bytes.

    Every change of a source makes a new image, so old ones pile up while a person develops.

    Raises:
        EngineError: no container engine answers, or it refused.
    """
    with Engine.connect() as engine:
        return engine.prune_images(older_than_hours)


class _Builder:
    """One call of ensure_images: remembers what it has found or built so far."""

    def __init__(
        self, engine: Engine, base_image: str | None, progress: Callable[[str], None], root: Path
    ) -> None:
        self._engine = engine
        self._progress = progress
        self._root = root
        self._base_image = base_image
        if base_image is None:
            inputs = base.base_tag(base.read_os_release(), engine.machine)
            self.base_identity = f"memqual/base:{inputs[:TAG_DIGITS]}"
        else:
            self.base_identity = engine.require(base_image)

    def has(self, recipe: recipes.Recipe) -> bool:
        """Whether the engine has the service image of one recipe."""
        plan = self._service_plan(recipe, self._python_plan(recipe.lock))
        return self._engine.image_id(plan.tag) is not None

    def service(self, recipe: recipes.Recipe) -> ImageRef:
        """The service image of one recipe."""
        parent = self._python_plan(recipe.lock)
        plan = self._service_plan(recipe, parent)
        found = self._engine.image_id(plan.tag)
        if found is None:
            with self._lock():
                found = self._build_service(plan, parent, recipe.lock)
        if self._engine.image_id(f"{plan.repository}:latest") != found:
            self._engine.add_tag(plan.tag, plan.repository, "latest")
        return ImageRef(name=recipe.name, tag=plan.tag, digest=found)

    def _service_plan(self, recipe: recipes.Recipe, parent: _Plan) -> _Plan:
        files = (
            contexts.text_file("Dockerfile", recipe.dockerfile),
            *contexts.source_files(self._root, recipe.sources),
        )
        return _Plan(recipe.name, contexts.inputs_digest(parent.inputs, files), files)

    def _build_service(self, plan: _Plan, parent: _Plan, lock: str) -> str:
        # Another process may have built it while this one waited for the lock.
        found = self._engine.image_id(plan.tag)
        if found is not None:
            return found
        if self._engine.image_id(parent.tag) is None:
            self._build_python(parent, lock)
        return self._build(plan, {"PYTHON": parent.tag})

    def _python_plan(self, lock: str) -> _Plan:
        files = (
            contexts.text_file("Dockerfile", recipes.python_dockerfile(self._root)),
            *(
                contexts.text_file(f"wheelhouse/{name}", path.read_text(encoding="utf-8"))
                for name, path in (
                    ("requirements.lock", recipes.lock_path(lock, self._root)),
                    ("pip.lock", recipes.lock_path("pip", self._root)),
                )
            ),
        )
        inputs = contexts.inputs_digest(self.base_identity, files)
        return _Plan(recipes.PYTHON_RECIPE, inputs, files)

    def _build_python(self, plan: _Plan, lock: str) -> None:
        base_tag = self._ensure_base()
        target = self._engine.wheel_target(base_tag)
        wheels: list[ContextFile] = []
        for name, inside in ((lock, "wheelhouse"), ("pip", "wheelhouse/pip")):
            folder = wheelhouse.ensure_wheelhouse(
                recipes.lock_path(name, self._root),
                target,
                BUILD_FOLDER / "wheelhouse",
                self._progress,
            )
            wheels += [ContextFile(f"{inside}/{p.name}", p) for p in sorted(folder.iterdir())]
        full = _Plan(plan.name, plan.inputs, (*plan.files, *wheels))
        stage = secrets.token_hex(8)
        self._build(full, {"BASE": base_tag, "STAGE": stage})
        # The name that the service Dockerfiles start from when a person builds one by hand.
        self._engine.add_tag(plan.tag, plan.repository, lock)
        self._engine.remove_stage(stage)

    def _ensure_base(self) -> str:
        if self._base_image is not None:
            return self._base_image
        if self._engine.image_id(self.base_identity) is None:
            os_release = base.read_os_release()
            BUILD_FOLDER.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="base-", dir=BUILD_FOLDER) as scratch:
                archive = base.make_rootfs_tar(
                    os_release["VERSION_CODENAME"], Path(scratch), self._progress
                )
                self._engine.import_rootfs(archive, self.base_identity)
        return self.base_identity

    def _build(self, plan: _Plan, arguments: dict[str, str]) -> str:
        self._progress(f"building {plan.tag}")
        started = time.monotonic()
        labels = {"memqual.image": plan.name, "memqual.inputs": plan.inputs}
        with contexts.write_context(plan.files) as stream:
            image = self._engine.build(stream, plan.tag, arguments, labels)
        self._progress(f"built {plan.tag} in {time.monotonic() - started:.1f} s")
        return image

    def _lock(self) -> filelock.BaseFileLock:
        BUILD_FOLDER.mkdir(exist_ok=True)
        lock = filelock.FileLock(BUILD_FOLDER / "images.lock")
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            self._progress("another run builds images; waiting for it")
            try:
                lock.acquire(timeout=LOCK_TIMEOUT_SECONDS)
            except filelock.Timeout as error:
                raise ImageError(
                    f"Another run has been building images for {LOCK_TIMEOUT_SECONDS} s.",
                    next_step="End that run, or wait for it, then run again.",
                ) from error
        return lock
