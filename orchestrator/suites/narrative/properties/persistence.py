"""Persistence: whatever the memory acknowledged, it answers after its death as before."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from memqual.v1 import vendor_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    UNANSWERED,
    Answer,
    Ask,
    ContractBreach,
    Restart,
    Script,
    StrikeBurst,
)
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.integrity.steps import call, response_of
from orchestrator.suites.narrative.properties.common import differing, every_story, judge_same
from orchestrator.suites.narrative.scene import (
    NarrativeCase,
    NarrativeCheck,
    Scene,
    answered_check,
    contract_check,
)
from orchestrator.suites.narrative.steps import (
    Said,
    answers,
    ingest_request,
    note_undisturbed,
    tell,
)
from orchestrator.suites.narrative.stories import Batch

__all__ = ["PERSISTENCE", "PERSISTENCE_INGEST"]

_IDLE = "property.persistence"
_INGEST = "property.persistence_ingest"

_SAME = NarrativeCheck(
    _IDLE, Column.SAFETY, 10, "after a kill every question is answered as before it", "answers"
)
_STATE = NarrativeCheck(
    _IDLE, Column.SAFETY, 11, "the state's digest is the same after a kill", "state"
)
_ACKNOWLEDGED = NarrativeCheck(
    _INGEST,
    Column.SAFETY,
    12,
    "after a kill within ingest all acknowledged turns are answered from, the struck one whole or "
    "not at all",
    "answers",
)


def _idle(scene: Scene) -> Script:
    """Tell, ask, kill, ask again."""
    yield from tell(scene, scene.story, scene.namespace)
    before = yield from answers("before", scene, scene.namespace)
    note_undisturbed(scene, before)
    state = yield from _state("before.state", scene.namespace)
    yield Restart("killed")
    after = yield from answers("after", scene, scene.namespace)
    judge_same(scene, _SAME, before, after)
    state_after = yield from _state("after.state", scene.namespace)
    told = "the digest is the same" if state == state_after else "the digest is another one"
    scene.findings.judge(_STATE, state == state_after, told)


def _within(scene: Scene) -> Script:
    """Kill within the turns; what is answered afterwards is what an undisturbed memory answers.

    The turn that was underway may have been taken or not: both are compared.
    """
    first, *rest = scene.story.batches
    yield from tell(scene, scene.story, scene.namespace, batches=[first])
    asks = tuple(
        Ask(f"burst.{batch.batch}", ingest_request(scene.namespace, scene.story, batch))
        for batch in rest
    )
    burst = yield StrikeBurst("burst", asks)
    after = yield from answers("after", scene, scene.namespace)
    statuses = [part.status for part in burst.parts]
    wrong = [status for status in statuses if status not in (OK, UNANSWERED)]
    if wrong:
        raise ContractBreach("burst", f"{wrong[0]} to a turn")
    kept = [first, *(batch for batch, status in zip(rest, statuses, strict=True) if status == OK)]
    without = yield from _undisturbed("without", scene, kept)
    wrong_without = differing(scene, without, after)
    if wrong_without and UNANSWERED in statuses:
        struck = rest[statuses.index(UNANSWERED)]
        whole = yield from _undisturbed("with", scene, [*kept, struck])
        wrong_with = differing(scene, whole, after)
    else:
        wrong_with = wrong_without
    held = not wrong_without or not wrong_with
    told = f"{len(kept)} turns acknowledged of {len(rest) + 1}"
    scene.findings.judge(_ACKNOWLEDGED, held, told if held else f"{told}; {wrong_without}")
    # A kill may come so early that nothing was told that a question asks for.
    note_undisturbed(scene, (yield from _undisturbed("whole", scene, scene.story.batches)))


def _undisturbed(
    name: str, scene: Scene, batches: Sequence[Batch]
) -> Generator[Ask, Answer, tuple[Said, ...]]:
    """What the same memory answers that was told these turns without a fault."""
    namespace = f"{scene.own}-{name}"
    yield from tell(scene, scene.story, namespace, batches=batches)
    said = yield from answers(name, scene, namespace)
    return said


def _state(step: str, namespace: str) -> Generator[Ask, Answer, str]:
    answer = yield from call(step, vendor_pb2.StateHashRequest(namespace=namespace))
    return response_of(step, answer, vendor_pb2.StateHashResponse).digest


PERSISTENCE = NarrativeCase(
    case=_IDLE,
    title="Persistence: killed between ingest and ask",
    checks=(contract_check(_IDLE), answered_check(_IDLE), _SAME, _STATE),
    script=_idle,
    stories=every_story,
)

PERSISTENCE_INGEST = NarrativeCase(
    case=_INGEST,
    title="Persistence: killed in the middle of ingest",
    checks=(contract_check(_INGEST), answered_check(_INGEST), _ACKNOWLEDGED),
    script=_within,
    stories=every_story,
)
