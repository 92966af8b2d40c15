"""A kill at a drawn moment within a burst of every kind of change."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from orchestrator.suites.integrity.calls import (
    Answer,
    Ask,
    NotExpressible,
    NotPossible,
    NotServed,
    Script,
    StrikeBurst,
)
from orchestrator.suites.integrity.categories.base import Category, Scene, contract_check
from orchestrator.suites.integrity.categories.fire.changes import (
    CHANGES,
    Change,
    Ready,
    Unkept,
    fire_case,
    make,
)
from orchestrator.suites.integrity.categories.fire.strikes import (
    METRIC,
    METRIC_TITLE,
    NEEDS,
    kept_is_recalled,
)
from orchestrator.suites.integrity.categories.fire.texts import LETTER, build
from orchestrator.suites.integrity.categories.fire.verdicts import lost, of_struck
from orchestrator.suites.integrity.categories.fire.views import look
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec, Column
from orchestrator.suites.integrity.steps import write

__all__ = ["CATEGORY", "SAFETY", "UTILITY"]

SAFETY = CheckSpec(
    LETTER,
    Column.SAFETY,
    60,
    "every change that was acknowledged before a kill holds, and no other one is half made",
    "burst",
)
UTILITY = CheckSpec(
    LETTER, Column.UTILITY, 61, "what the user said before the burst is recalled after it", "burst"
)


@dataclass(frozen=True)
class _Pair:
    """One kind of change, made undisturbed on one subject and in the burst on another."""

    change: Change
    first: Ready
    second: Ready


def script(scene: Scene) -> Script:
    """Make each change that the memory serves; make them again in a burst; look at all."""
    said = yield from write("kept.write", scene.case.twin.offer.observation(scene.namespace))
    try:
        pairs = yield from _pairs(scene)
    except Unkept as unkept:
        scene.findings.violated(UTILITY, f"{VENDOR_REPORTED}: {unkept}")
        return
    known = [ready.known for pair in pairs for ready in (pair.first, pair.second)]
    earlier = yield from look("before", scene, known)
    asks = tuple(pair.second.ask(f"burst.{pair.change.name}") for pair in pairs)
    answer = yield StrikeBurst("burst", asks)
    later = yield from look("after", scene, known)

    for number, (pair, part) in enumerate(zip(pairs, answer.parts, strict=True)):
        whole, before = earlier[2 * number], earlier[2 * number + 1]
        acknowledged, now = later[2 * number], later[2 * number + 1]
        _, wrong = of_struck(part.status, None, before, whole, now)
        _judge(scene, f"{pair.change.name} before the burst", lost(whole, acknowledged))
        _judge(scene, f"{pair.change.name} in the burst ({part.status})", wrong)
    yield from kept_is_recalled(scene, UTILITY, said)


def _pairs(scene: Scene) -> Generator[Ask, Answer, Sequence[_Pair]]:
    """Prepare everything, make each change once, and leave out what the memory does not serve.

    Raises:
        NotServed: The memory has no Write.
    """
    case = fire_case(scene)
    pairs: list[_Pair] = []
    for number, change in enumerate(CHANGES.values()):
        if scene.declared.lacks(NEEDS.get(change.name, ())) is not None:
            continue
        name, subjects = change.name, case.subjects[2 * number : 2 * number + 2]
        try:
            first = yield from change.prepare(f"first.{name}", scene, subjects[0])
            second = yield from change.prepare(f"second.{name}", scene, subjects[1])
            yield from make(f"first.{name}", first)
        except (NotServed, NotExpressible, NotPossible):
            if not pairs:
                raise
            continue
        pairs.append(_Pair(change, first, second))
    turn = case.rotation % len(pairs)
    return [*pairs[turn:], *pairs[:turn]]


def _judge(scene: Scene, what: str, wrong: str) -> None:
    told = f"{what}: {wrong}" if wrong else "held, whole or absent"
    scene.findings.judge(SAFETY, not wrong, f"{VENDOR_REPORTED}: {told}")


CATEGORY = Category(
    letter=LETTER,
    title="killed within a burst of changes",
    needs=(),
    checks=(contract_check(LETTER), SAFETY, UTILITY),
    build=build,
    script=script,
    variant="burst",
    metric=METRIC,
    metric_title=METRIC_TITLE,
)
