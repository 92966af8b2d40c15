"""Kills within one change: its request held, its response held, or the change underway.

One subject is changed undisturbed, another one is struck. Afterwards the change is asked for again:
what had not been made is made then, and what had been made is not made twice.
"""

from __future__ import annotations

from collections.abc import Generator

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import OK, UNANSWERED, Answer, Ask, Phase, Script, Strike
from orchestrator.suites.integrity.categories.base import Category, Scene, contract_check, is_record
from orchestrator.suites.integrity.categories.fire.changes import (
    CHANGES,
    Change,
    Ready,
    Unkept,
    approved_anew,
    fire_case,
    make,
)
from orchestrator.suites.integrity.categories.fire.texts import LETTER, build
from orchestrator.suites.integrity.categories.fire.verdicts import (
    after_change,
    consumed,
    lost,
    of_struck,
)
from orchestrator.suites.integrity.categories.fire.views import View, look
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec, Column
from orchestrator.suites.integrity.steps import Offered, recall, write

__all__ = ["CATEGORIES", "METRIC", "METRIC_TITLE", "NEEDS", "kept_is_recalled"]

METRIC = "IFR"
METRIC_TITLE = "under fire: after a kill memory was lost, halved or gave authority"
TRIALS = {Phase.REQUEST: 20, Phase.RESPONSE: 20, Phase.UNDERWAY: 60}
"""One kill for every twenty; where the moment of the kill varies, there are more of them."""

NEEDS = {
    "decide": (
        vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY,
        vendor_pb2.CAPABILITY_AUTHORITY_GATING,
    ),
}
"""Capabilities without which a change makes no sense; methods are asked for by calling them."""

_FIRST_NUMBER = 2
_TITLES = {
    Phase.REQUEST: "killed before it sees a {change}",
    Phase.RESPONSE: "killed after a {change} that nobody heard of",
    Phase.UNDERWAY: "killed while it works on a {change}",
}


class _Striking:
    """The script of one case.

    Args:
        change: What is struck.
        phase: Where it is when the kill comes.
        safety: What was acknowledged holds, and what was not is whole or absent.
        utility: What was kept is recalled, and the change can be made after all.
    """

    def __init__(self, change: Change, phase: Phase, safety: CheckSpec, utility: CheckSpec) -> None:
        self._change = change
        self._phase = phase
        self._safety = safety
        self._utility = utility

    def __call__(self, scene: Scene) -> Script:
        """Change one subject, strike another, look at both, and ask again."""
        twin = scene.case.twin
        said = yield from write("kept.write", twin.offer.observation(scene.namespace))
        first, second = fire_case(scene).subjects[:2]
        try:
            done = yield from self._change.prepare("first", scene, first)
            struck = yield from self._change.prepare("second", scene, second)
        except Unkept as unkept:
            scene.findings.violated(self._utility, f"{VENDOR_REPORTED}: {unkept}")
            return
        yield from make("first.change", done)
        whole, before = yield from look("before", scene, (done.known, struck.known))
        answer = yield Strike(struck.ask("second.change"), self._phase)
        acknowledged, now = yield from look("after", scene, (done.known, struck.known))

        made, wrong = of_struck(answer.status, self._phase, before, whole, now)
        self._judge(scene, f"the first {self._change.name}", lost(whole, acknowledged))
        self._judge(scene, f"the struck {self._change.name} ({answer.status})", wrong)
        if self._change.shows and before.shape == whole.shape:
            told = f"{self._change.name} changes nothing that can be seen, undisturbed"
            scene.findings.violated(self._utility, f"{VENDOR_REPORTED}: {told}")
        if not wrong:
            yield from self._again(scene, struck, made, before, whole)
        yield from self._replayed(scene, done, "first.again")
        yield from kept_is_recalled(scene, self._utility, said)
        if answer.status != UNANSWERED and self._phase is not Phase.UNDERWAY:
            why = f"answered with {answer.status} before it could be struck"
            scene.findings.open(self._safety, why, required=True)

    def _again(
        self, scene: Scene, struck: Ready, made: bool, before: View, whole: View
    ) -> Generator[Ask, Answer, None]:
        """Ask for the change again; an approval that was made is left for its replay."""
        if not (made and struck.signing):
            status = yield from make("second.again", struck, again=True)
            if struck.signing and status != OK:
                anew = yield from approved_anew("second.anew", scene, struck)
                struck, status = anew or (struck, status)
            (now,) = yield from look("again", scene, (struck.known,))
            unsafe, useless = after_change(before, whole, now)
            self._judge(scene, f"the struck {self._change.name}", unsafe)
            if useless:
                told = f"{VENDOR_REPORTED}: {self._change.name}, {status}: {useless}"
                scene.findings.violated(self._utility, told)
        yield from self._replayed(scene, struck, "second.consumed")

    def _replayed(self, scene: Scene, ready: Ready, step: str) -> Generator[Ask, Answer, None]:
        if ready.signing is not None:
            again = yield from consumed(step, scene, ready)
            self._judge(scene, "a consumed approval", again)

    def _judge(self, scene: Scene, what: str, wrong: str) -> None:
        told = f"{what}: {wrong}" if wrong else "held, whole or absent"
        scene.findings.judge(self._safety, not wrong, f"{VENDOR_REPORTED}: {told}")


def kept_is_recalled(
    scene: Scene, utility: CheckSpec, said: Offered
) -> Generator[Ask, Answer, None]:
    """Whether the user's statement from before the kill is recalled as authority after it."""
    twin = scene.case.twin
    scope, surface = twin.offer.scope(scene.namespace), memory_pb2.RECALL_SURFACE_AUTHORITATIVE
    hits = yield from recall("kept.recall", scope, twin.query, surface)
    found = said.kept and any(
        hit.authoritative and is_record(hit, said, (), twin.nonce) for hit in hits
    )
    told = f"{VENDOR_REPORTED}: the user's statement was {said.words}, and is"
    told += f" {'' if found else 'not '}recalled as authority after the kill"
    scene.findings.judge(utility, found, told)


def _category(number: int, change: Change, phase: Phase) -> Category:
    variant = f"{change.name}_{phase.value}"
    safety = CheckSpec(
        LETTER,
        Column.SAFETY,
        number,
        "what was acknowledged holds after a kill, and what was not is whole or absent",
        variant,
    )
    utility = CheckSpec(
        LETTER,
        Column.UTILITY,
        number + 1,
        "what the user said is recalled after a kill, and the change can be made after all",
        variant,
    )
    return Category(
        letter=LETTER,
        title=_TITLES[phase].format(change=change.name),
        needs=NEEDS.get(change.name, ()),
        checks=(contract_check(LETTER), safety, utility),
        build=build,
        script=_Striking(change, phase, safety, utility),
        variant=variant,
        trials_max=TRIALS[phase],
        metric=METRIC,
        metric_title=METRIC_TITLE,
    )


CATEGORIES = tuple(
    _category(_FIRST_NUMBER + 2 * number, change, phase)
    for number, (change, phase) in enumerate(
        (change, phase) for change in CHANGES.values() for phase in Phase
    )
)
"""Every change with every phase."""
