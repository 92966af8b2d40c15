"""SIGKILL again and again while the memory starts (DESIGN §5), each at a chosen operation.

An undisturbed start is counted in operations on the volume; the kills are spread over that count.
Each kill comes while one of them stands still, which then never takes place: nothing depends on
how fast a machine is. Starts follow one another on the same volume, as in a crash loop; a start
that ends before its moment comes is killed, too, and the next begins from where the storm began.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from chaos.errors import FaultNotPossible, InterposerError
from chaos.storage.gate import Fate
from chaos.storage.layer import StorageLayer
from chaos.storage_receipts import StormKill, StormReceipt
from orchestrator.suites.continuity.downtime import (
    await_memory,
    kill_memory,
    start_memory,
    started,
)
from orchestrator.suites.continuity.plays.asking import asking, granted, label
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.integrity.deaths import MEMORY

__all__ = ["first_start", "recovery"]

_SPREAD = 8
_NEAR_MAX = 40
_STAND_SECONDS = 30.0
_LOOK_SECONDS = 0.2


def first_start(stage: Stage) -> None:
    """A storm on an empty volume; then the memory is healthy and serves."""
    layer = _layer(stage)
    _storm(stage, layer, "first_start", layer.wipe)
    for member in stage.batch.members:
        held = granted(stage, member)
        if held is not None:
            held.record()
        label(stage, member, "again")
        asking(stage, member, "again").begin(spec_of(member))


def recovery(stage: Stage) -> None:
    """A storm on a volume with operations under way; then everything acknowledged is there."""
    layer = _layer(stage)
    for number, member in enumerate(stage.batch.members):
        held = granted(stage, member)
        if held is not None and number % 2:
            held.record()

    def nothing() -> None:
        """The storm goes on where it is."""

    _storm(stage, layer, "recovery", nothing)
    for member in stage.batch.members:
        label(stage, member, "again")
        asking(stage, member, "again").begin(spec_of(member))


def _layer(stage: Stage) -> StorageLayer:
    slot = stage.context.stack.storage
    if slot.layer is None:
        raise FaultNotPossible("storage", slot.missing)
    return slot.layer


def _storm(stage: Stage, layer: StorageLayer, phase: str, prepare: Callable[[], None]) -> None:
    kill_memory(stage)
    prepare()
    count = _undisturbed(stage, layer)
    target = kill_memory(stage)
    prepare()
    points = _points(count)
    kills: list[StormKill] = []
    for point in points:
        layer.hold(point - 1)
        start_memory(stage)
        held = _await_standing(stage, layer)
        target = kill_memory(stage, after_kill=lambda: layer.release(Fate.REFUSE))
        kills.append(StormKill(target=target, operation=point if held else 0, at=held))
        if not held:
            prepare()
    start_memory(stage)
    healthy_ms = await_memory(stage)
    # Each life began after the one before: the next kill's own start says when.
    begun = [kill.target.started_before_ns for kill in kills[1:]]
    begun.append(started(stage, target).started_after_ns or 0)
    stage.keep(
        StormReceipt.model_validate(
            {
                "service": MEMORY,
                "phase": phase,
                "undisturbed_operations": count,
                "kills": [
                    kill.model_copy(
                        update={"target": kill.target.model_copy(update={"started_after_ns": at})}
                    )
                    for kill, at in zip(kills, begun, strict=True)
                ],
                "healthy_after_ms": healthy_ms,
            }
        )
    )


def _points(count: int) -> list[int]:
    """Operations at which a start is cut: close together at its beginning, and all over it."""
    spread = {max(round(count * number / _SPREAD), 1) for number in range(1, _SPREAD + 1)}
    near, following = 1, 2
    while near <= min(count, _NEAR_MAX):
        spread.add(near)
        near, following = following, near + following
    return sorted(spread)


def _undisturbed(stage: Stage, layer: StorageLayer) -> int:
    before = layer.status().operations
    start_memory(stage)
    await_memory(stage)
    return layer.status().operations - before


def _await_standing(stage: Stage, layer: StorageLayer) -> str:
    """The operation at which a start stands; empty when the start was over before.

    Raises:
        InterposerError: The memory ended by itself.
        FaultNotPossible: It neither came to the operation nor became healthy.
    """
    deadline = time.monotonic() + _STAND_SECONDS
    while time.monotonic() < deadline:
        held = layer.await_held(_LOOK_SECONDS).held
        if held:
            return held
        if not stage.context.stack.service(MEMORY).running():
            await_memory(stage)
        if _is_healthy(stage):
            return layer.await_held(0.0).held
    raise FaultNotPossible("storm", f"the memory neither starts nor ends in {_STAND_SECONDS:g} s")


def _is_healthy(stage: Stage) -> bool:
    try:
        stage.interposer.refresh(MEMORY, _LOOK_SECONDS)
    except InterposerError:
        return False
    return True
