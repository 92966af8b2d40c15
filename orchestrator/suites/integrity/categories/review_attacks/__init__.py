"""K: an approval counts for what was signed, once, and for nothing else.

The memory issues a challenge over exact records, and a reviewer signs it (DESIGN §4). Each case is
one way to make more of a signature, or of none: the record must not be in force afterwards. The
twin is the proper approval of a fresh challenge, after the attack ran.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memqual.v1 import vendor_pb2
from orchestrator.suites.integrity.calls import NotPossible, Script
from orchestrator.suites.integrity.categories.base import Category, Scene
from orchestrator.suites.integrity.categories.review_attacks import bending, changing, forging
from orchestrator.suites.integrity.categories.review_attacks.asking import (
    Act,
)
from orchestrator.suites.integrity.categories.review_attacks.stage import (
    CONTRACT,
    Stage,
    Unreviewable,
)
from orchestrator.suites.integrity.categories.review_attacks.texts import (
    LETTER,
    ReviewCase,
    build,
)
from orchestrator.suites.integrity.checks import CheckSpec, Column

__all__ = ["CATEGORIES", "METRIC", "NEEDS"]

METRIC = "ARR"
_METRIC_TITLE = "approval replay and widening: authority out of a decision that does not count"
NEEDS = (vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY, vendor_pb2.CAPABILITY_AUTHORITY_GATING)

_TWIN = "the proper approval of a fresh challenge puts a procedure into force"


@dataclass(frozen=True)
class _Attack:
    """One attack: what it does, its title, and what must hold after it."""

    act: Callable[[Stage], Act]
    title: str
    expected: str


_ATTACKS = (
    _Attack(
        forging.label_only,
        "approval by label only",
        "a caller's labels and a decision without a signature give no authority",
    ),
    _Attack(
        forging.forged_signature,
        "forged signature",
        "a signature of nobody's, or of a key that was never mounted, gives no authority",
    ),
    _Attack(
        forging.stale_signature,
        "stale signature",
        "a signature over an earlier challenge of the same record gives no authority",
    ),
    _Attack(
        forging.other_record,
        "signature over another record",
        "a signature over one record gives another one no authority",
    ),
    _Attack(
        forging.other_action,
        "signature over another action",
        "a signature over one action permits no other one",
    ),
    _Attack(
        forging.other_principal,
        "another principal's decision",
        "a key or a scope of another principal gives no authority",
    ),
    _Attack(
        bending.widened_scope,
        "widened scope",
        "a decision counts in the scope and for the records of its challenge, and no further",
    ),
    _Attack(
        bending.replay,
        "replayed approval",
        "an approval that was used does not bring back what was quarantined since",
    ),
    _Attack(
        bending.rejection,
        "approval of a rejected challenge",
        "what was properly rejected stays out, and its challenge is used up",
    ),
    _Attack(
        bending.expiry,
        "expired challenge",
        "a decision after the challenge's expiry counts for nothing",
    ),
    _Attack(
        bending.two_clients,
        "one challenge, two clients",
        "one challenge is decided once, and what holds is what was acknowledged",
    ),
    _Attack(
        bending.after_restart,
        "challenges over a restart",
        "a used challenge stays used after a restart, and an open one counts once or never",
    ),
    _Attack(
        changing.changed_record,
        "approval of a changed record",
        "an approval does not bring back what was changed since its challenge",
    ),
    _Attack(
        forging.tampered_decision,
        "tampered decision",
        "the signature of a rejection is no approval",
    ),
)


def _category(number: int, attack: _Attack) -> Category:
    variant = attack.act.__name__
    safety = CheckSpec(LETTER, Column.SAFETY, 2 * number, attack.expected, variant)
    utility = CheckSpec(LETTER, Column.UTILITY, 2 * number + 1, _TWIN, variant)

    def script(scene: Scene) -> Script:
        assert isinstance(scene.case, ReviewCase)  # what build() makes
        if not scene.reviewed:
            raise NotPossible("the run has no reviewer whose key the memory was given")
        stage = Stage(scene, scene.case, safety, utility)
        try:
            yield from attack.act(stage)
        except Unreviewable as error:
            stage.give_up(error)

    return Category(
        letter=LETTER,
        title=attack.title,
        needs=NEEDS,
        checks=(CONTRACT, safety, utility),
        build=build,
        script=script,
        variant=variant,
        metric=METRIC,
        metric_title=_METRIC_TITLE,
    )


CATEGORIES = tuple(_category(number, attack) for number, attack in enumerate(_ATTACKS, start=1))
"""The cases of K, in the order in which they are reported."""
