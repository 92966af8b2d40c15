"""What a kill may have done to a change, and what it may not (issue 3, part 4).

Three looks decide: at a subject before its change, at another one after the same change was made
undisturbed, and at both after the kill. What was acknowledged looks as it did; what was not looks
as before or as a whole change does, and anything else is half of one.
"""

from __future__ import annotations

from collections.abc import Generator

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    REFUSALS,
    UNIMPLEMENTED,
    Answer,
    Ask,
    Phase,
)
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.categories.fire.changes import Ready, make
from orchestrator.suites.integrity.categories.fire.views import View, look
from orchestrator.suites.integrity.steps import call

__all__ = ["REFUSED", "after_change", "consumed", "lost", "of_struck"]

REFUSED = REFUSALS | {UNIMPLEMENTED, "NOT_FOUND"}
"""What says that a change was not made; every other status but OK leaves that open."""


def lost(acknowledged: View, now: View) -> str:
    """How an acknowledged change does not hold after the kill, in words; empty when it holds."""
    if now == acknowledged:
        return ""
    return f"acknowledged; to what was seen before the kill it now {now.beside(acknowledged)}"


def of_struck(
    status: str, phase: Phase | None, before: View, whole: View, now: View
) -> tuple[bool, str]:
    """Whether a change during which the memory was killed was made, and what is wrong with it.

    Args:
        status: What came of its call.
        phase: Where the call was; None for one within a burst.
        before: The subject before its change.
        whole: Another subject after the same change.
        now: The subject after the kill.

    Returns:
        Whether it looks like a whole change; and what is wrong in words, empty when nothing is.
    """
    absent, made = now == before, now.shape == whole.shape
    done = made and not absent
    to_before, to_whole = now.beside(before), now.beside(whole)
    if status == OK:
        return done, "" if made else f"acknowledged, and to a whole one it {to_whole}"
    if status in REFUSED or phase is Phase.REQUEST:
        never = "never seen by the memory" if phase is Phase.REQUEST else "refused"
        return done, "" if absent else f"{never}, and to what was before it {to_before}"
    if absent or made:
        return done, ""
    return False, f"half made: to what was before it {to_before}; to a whole one it {to_whole}"


def after_change(before: View, whole: View, now: View) -> tuple[str, str]:
    """What is wrong after a change was asked for again: with its safety, and with its use.

    Two texts that say the same are not blamed: copies of one look count once.
    """
    if now.shape == whole.shape:
        return "", ""
    told = f"asked for again, to a whole one it {now.beside(whole)}"
    too_much = now.acted_on - whole.acted_on
    return (told, "") if too_much and now != before else ("", told)


def consumed(step: str, scene: Scene, ready: Ready) -> Generator[Ask, Answer, str]:
    """Send an approval that has done its work once more; how it works again, in words.

    What was approved is taken out of authority first, where the memory can: an approval that still
    counts would bring it back.
    """
    scope = ready.known.subject.statement.scope(scene.namespace)
    request = memory_pb2.QuarantineRequest(
        scope=scope, record_id=ready.target, reason="reported_wrong"
    )
    yield from call(f"{step}.quarantine", request, refusals=REFUSALS | {UNIMPLEMENTED})
    (before,) = yield from look(f"{step}.before", scene, (ready.known,))
    status = yield from make(f"{step}.replay", ready, again=True)
    (after,) = yield from look(f"{step}.after", scene, (ready.known,))
    if after.acted_on <= before.acted_on:
        return ""
    told = after.beside(before)
    return f"sent again, it was answered {status} and worked again: to what was before it {told}"
