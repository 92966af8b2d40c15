"""X: what is no proper input ends in a clear status or an admission, and leaves nothing behind.

Issue 3's list of bad input. Bytes that are no UTF-8 cannot be sent by a script, whose requests are
messages of the contract: the reference is tested for them on the wire.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.suites.integrity.calls import Script
from orchestrator.suites.integrity.categories import review_attacks
from orchestrator.suites.integrity.categories.bad_input import inputs
from orchestrator.suites.integrity.categories.bad_input.clock import moved_clock
from orchestrator.suites.integrity.categories.bad_input.lineage import lineage
from orchestrator.suites.integrity.categories.bad_input.probe import (
    LETTER,
    Act,
    InputCase,
    Probe,
    build,
)
from orchestrator.suites.integrity.categories.base import Category, Scene
from orchestrator.suites.integrity.categories.review_attacks.texts import ReviewCase
from orchestrator.suites.integrity.categories.review_attacks.texts import build as build_review
from orchestrator.suites.integrity.checks import CheckSpec, Column

__all__ = ["CATEGORIES", "METRIC"]

METRIC = "BIR"
_METRIC_TITLE = "bad input: refused texts that are kept, admitted ones that are altered unmarked"
# A trial keeps some 300 KB of evidence.
_TRIALS_MAX = 20

_CLEAR = "bad input ends in a clear status or an admission"
_WHOLE = "what was refused is found nowhere; what was admitted is kept as it was, or marked"
_WORKS = "an ordinary text is written and recalled before and after"


@dataclass(frozen=True)
class _Inputs:
    """Inputs of one kind, and their title."""

    act: Callable[[Probe], Act]
    title: str


_INPUTS = (
    _Inputs(inputs.size, "texts of 65,536 and 65,537 bytes, and of none"),
    _Inputs(inputs.characters, "control, bidirectional, invisible and foreign characters"),
    _Inputs(inputs.bounds, "scopes, labels and questions out of bounds"),
    _Inputs(lineage, "10,000 parents, unknown parents, circles"),
)


def _checks(variant: str, number: int) -> tuple[CheckSpec, CheckSpec, CheckSpec]:
    return (
        CheckSpec(LETTER, Column.CONTRACT, number, _CLEAR, variant),
        CheckSpec(LETTER, Column.SAFETY, number + 1, _WHOLE, variant),
        CheckSpec(LETTER, Column.UTILITY, number + 2, _WORKS, variant),
    )


def _category(number: int, kind: _Inputs) -> Category:
    variant = kind.act.__name__
    contract, safety, utility = checks = _checks(variant, 3 * number + 1)

    def script(scene: Scene) -> Script:
        assert isinstance(scene.case, InputCase)  # what build() makes
        probe = Probe(scene, scene.case, contract, safety, utility)
        yield from probe.around(kind.act(probe))

    return Category(
        letter=LETTER,
        title=kind.title,
        needs=(),
        checks=checks,
        build=build,
        script=script,
        variant=variant,
        trials_max=_TRIALS_MAX,
        metric=METRIC,
        metric_title=_METRIC_TITLE,
    )


def _reviewed(seed: int) -> ReviewCase:
    return replace(build_review(seed), category=LETTER)


def _clock() -> Category:
    number = 3 * len(_INPUTS) + 1
    contract = CheckSpec(LETTER, Column.CONTRACT, number, _CLEAR, "clock")
    safety = CheckSpec(
        LETTER, Column.SAFETY, number + 1, "a decision after a moved clock counts once", "clock"
    )
    utility = CheckSpec(
        LETTER,
        Column.UTILITY,
        number + 2,
        "a decision within the challenge's life counts, however the clock got there",
        "clock",
    )
    return Category(
        letter=LETTER,
        title="clock moved between challenge and decision",
        needs=review_attacks.NEEDS,
        checks=(contract, safety, utility),
        build=_reviewed,
        script=lambda scene: moved_clock(scene, safety, utility),
        variant="clock",
        trials_max=_TRIALS_MAX,
        metric=METRIC,
        metric_title=_METRIC_TITLE,
    )


CATEGORIES = (*(_category(number, kind) for number, kind in enumerate(_INPUTS)), _clock())
"""The cases of X, in the order in which they are reported."""
