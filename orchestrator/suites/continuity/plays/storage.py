"""Plays of `families.storage`: the evaluator asks in a host's place, and the volume is not kind.

Every play ends with the same questions: what was acknowledged is asked about again by a new life
of a host. The oracle knows what is owed: REUSE of what was completed, WAIT under a live lease.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from chaos.errors import InterposerError
from chaos.storage.gate import Fate
from chaos.storage_receipts import (
    FullVolumeReceipt,
    RollbackReceipt,
    TornWriteReceipt,
)
from orchestrator.plan import Member
from orchestrator.suites.continuity.downtime import (
    await_memory,
    disturbed,
    end_memory,
    kill_memory,
    start_memory,
    started,
)
from orchestrator.suites.continuity.plays.asking import granted
from orchestrator.suites.continuity.plays.power import POWER
from orchestrator.suites.continuity.plays.storms import first_start, recovery
from orchestrator.suites.continuity.plays.volumes import acknowledge, ask_again, layer_of
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.integrity.deaths import MEMORY

__all__ = ["PLAYS"]

_FULL_QUESTIONS_MAX = 400
_QUESTIONS_IN_PLACE = 60
"""After so many that needed no room, the memory writes in place: then that needs room, too."""
_ROOM_OPERATIONS = 1
"""Operations that still find room: a commit of several is cut within."""
_HELD_SECONDS = 10.0
_END_SECONDS = 15.0


def _full_volume(stage: Stage) -> None:
    """Room ends within a commit: the first write that needs some finds it, the next does not."""
    layer, members = layer_of(stage), stage.batch.members
    for number, member in enumerate(members):
        acknowledge(stage, member, complete=bool(number % 2))
    disturbed(stage)
    layer.fill(after=_ROOM_OPERATIONS)
    asked: list[tuple[Member, str]] = []
    without_room = 0
    # Room that a log has already may take some commits more.
    while without_room < len(members) and len(asked) < _FULL_QUESTIONS_MAX:
        member = members[len(asked) % len(members)]
        call = f"full-{len(asked) // len(members)}"
        asked.append((member, call))
        acknowledge(stage, member, complete=True, call=call)
        without_room += 1 if layer.status().refused else 0
        if not without_room and len(asked) == _QUESTIONS_IN_PLACE:
            layer.fill(everything=True)
    stage.keep(
        FullVolumeReceipt(
            service=MEMORY, operations_let=_ROOM_OPERATIONS, operations_refused=layer.lift()
        )
    )
    # A memory may end itself over it, or go on; either way a new life finds room.
    end_memory(stage)
    start_memory(stage)
    await_memory(stage)
    ask_again(stage, members)
    for member, call in asked:
        ask_again(stage, [member], [call])
    for member in members:
        acknowledge(stage, member, complete=True, call="after")
    ask_again(stage, members, ["after"])


def _rolled_back(stage: Stage) -> None:
    """A copy is taken while some is acknowledged, then more is, then the copy comes back."""
    layer, members = layer_of(stage), stage.batch.members
    for number, member in enumerate(members):
        acknowledge(stage, member, complete=bool(number % 2))
    size = layer.snapshot()
    for number, member in enumerate(members):
        # What was granted is completed, and something new is granted and half of it completed.
        held = granted(stage, member, name="later", spec=spec_of(member, "later"))
        if held is not None and number % 2:
            held.record()
    target = kill_memory(stage)
    restored = layer.restore()
    stage.interposer.mark({"kind": "rolled_back", "bytes": str(size)})
    start_memory(stage)
    stage.keep(
        RollbackReceipt(
            target=started(stage, target),
            content_bytes=restored.content_bytes,
            differs=restored.differs,
        )
    )
    if _comes_back(stage):
        ask_again(stage, members, ["0", "later"])


def _torn_write(stage: Stage) -> None:
    """A kill for each trial, within another write after its acknowledgement.

    What is owed: a write that was under way tells nobody anything, so everything acknowledged
    before it must still be there, or the memory must refuse to serve. A memory that starts and
    serves less than it had acknowledged is wrong; one that says that its volume is damaged is
    honest. Nothing that was written before the torn write is touched.
    """
    layer = layer_of(stage)
    kept: list[Member] = []
    for number, member in enumerate(stage.batch.members):
        acknowledge(stage, member, complete=bool(number % 2))
        kept.append(member)
        layer.hold(number // 2, writes_only=True)
        asker = threading.Thread(
            target=acknowledge, args=(stage, member), kwargs={"complete": True, "call": "torn"}
        )
        asker.start()
        held = layer.await_held(_HELD_SECONDS)
        target = kill_memory(stage, after_kill=lambda: layer.release(Fate.TEAR))
        asker.join(_END_SECONDS)
        start_memory(stage)
        if held.held:
            stage.keep(
                TornWriteReceipt(
                    target=started(stage, target),
                    written=held.held.rpartition("/")[2],
                    offset=held.held_offset,
                    asked_bytes=held.held_bytes,
                    kept_bytes=held.held_bytes // 2,
                )
            )
        if _comes_back(stage):
            ask_again(stage, kept)
            ask_again(stage, [member], ["torn"])
        else:
            # What the volume held is not asked for: the memory has said that it cannot serve it.
            kept.clear()


def _comes_back(stage: Stage) -> bool:
    """Whether the memory serves; one that refuses its volume gets an empty one, so all can end."""
    try:
        await_memory(stage)
    except InterposerError:
        memory = stage.context.stack.service(MEMORY)
        if memory.running():
            raise
        ended = memory.wait_exit(_END_SECONDS)
        stage.interposer.mark({"kind": "refused_volume", "exit_code": str(ended.exit_code)})
        stage.interposer.thaw(MEMORY)
        stage.context.stack.replace_memory(stage.context.stack.spec.vendor)
        stage.killing = False
        stage.context.progress.spoiled = "the memory refused a volume that was changed"
        return False
    return True


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    **POWER,
    "storage.first_start_storm": first_start,
    "storage.recovery_storm": recovery,
    "storage.full_volume": _full_volume,
    "storage.rolled_back": _rolled_back,
    "storage.torn_write": _torn_write,
}
