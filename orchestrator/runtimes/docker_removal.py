"""Removing what is labelled: containers first, since networks and volumes are in use until then."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from orchestrator.errors import EngineError, MemqualError
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_types import Labelled

__all__ = ["remove_all", "remove_everything"]

# Removals at the same time.
WORKERS = 12
# What a thread was making when the removal began is found by the next look.
PASSES = 4

BeforeContainer = Callable[[DockerEngine, str, str], None]


def remove_everything(
    engine: DockerEngine, mark: str, *, what: str, before_container: BeforeContainer
) -> None:
    """Removes all that carries a label, also what still comes while it looks.

    Args:
        engine: Where.
        mark: ``key=value`` of the label.
        what: What it is, for people.
        before_container: Called with id and name of each container before it goes.

    Raises:
        EngineError: something could not be removed.
    """
    failed: tuple[str, ...] = ()
    for _ in range(PASSES):
        left = engine.labelled(mark)
        if not left:
            return
        failed = remove_all(engine, left, before_container=before_container)
    if engine.labelled(mark):
        raise EngineError(
            f"A part of {what} could not be removed: {'; '.join(failed)}.",
            next_step="Run `memqual gc` when the engine answers again.",
        )


def remove_all(
    engine: DockerEngine,
    things: tuple[Labelled, ...],
    *,
    before_container: BeforeContainer | None = None,
) -> tuple[str, ...]:
    """Removes containers, then networks and volumes; returns failures, ``kind name: cause``."""
    failed: list[str] = []

    def remove(thing: Labelled) -> None:
        try:
            if thing.kind == "container" and before_container is not None:
                before_container(engine, thing.identity, thing.name)
            engine.remove(thing)
        except MemqualError as error:
            failed.append(f"{thing.kind} {thing.name}: {error.diagnosis}")

    with ThreadPoolExecutor(WORKERS) as pool:
        wait([pool.submit(remove, thing) for thing in things if thing.kind == "container"])
        wait([pool.submit(remove, thing) for thing in things if thing.kind != "container"])
    return tuple(failed)
