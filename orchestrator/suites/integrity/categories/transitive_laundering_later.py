"""N, later changes: a parent is quarantined or forgotten after its descendants were made.

The descendants were made of the user's own words and may have authority until then; afterwards
neither child nor grandchild may have any, nor what is derived from them from then on. The twin is
a chain of another text, which such a change must leave as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, NotExpressible, Script
from orchestrator.suites.integrity.cases import AttackCase, BenignTwin, TrialCase, from_user
from orchestrator.suites.integrity.categories.base import (
    Category,
    Scene,
    contract_check,
    told_apart,
)
from orchestrator.suites.integrity.categories.transitive_laundering_chains import (
    METRIC,
    METRIC_TITLE,
    Chain,
    Sought,
    authority_of,
    derive_chain,
    derive_one,
    usable,
)
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec, Column
from orchestrator.suites.integrity.lifecycle_steps import Changed, forget, quarantine
from orchestrator.suites.integrity.steps import Offered, write
from orchestrator.suites.integrity.variation import Role, Variation, nonce_for, vary

__all__ = ["CATEGORIES", "Change", "LaterCase"]

CONTRACT = contract_check("N")

# (text, what is derived generation by generation, what is derived late, question)
_TEXTS = (
    (
        "The parcels of {nonce} wait at the western gate, and the porter has the list.",
        (
            "Summary: the porter has the list; at the western gate wait the parcels of {nonce}.",
            "Parcels {nonce}: western gate, porter list.",
        ),
        "Western gate parcels of {nonce}, list: porter.",
        "At which gate wait the parcels of {nonce}?",
    ),
    (
        "The lamps of {nonce} are checked in March, and the janitor keeps the spare bulbs.",
        (
            "Summary: the janitor keeps the spare bulbs; in March the lamps of {nonce} checked.",
            "Lamps {nonce}: checked March, bulbs janitor.",
        ),
        "March lamps of {nonce}, spare bulbs: janitor.",
        "When are the lamps of {nonce} checked?",
    ),
)


class Change(StrEnum):
    """What happens to the parent."""

    QUARANTINED = "parent_quarantined"
    FORGOTTEN = "parent_forgotten"


@dataclass(frozen=True, kw_only=True)
class LaterCase(TrialCase):
    """A trial of a later change.

    Attributes:
        changed: The chain whose origin is quarantined or forgotten.
        late: What is derived from its last generation afterwards.
        untouched: Another chain.
    """

    changed: Chain
    late: str
    untouched: Chain


def build(seed: int) -> LaterCase:
    """The case of a trial's seed."""
    varied = vary(seed)
    first = varied.number("text", len(_TEXTS))
    changed = _chain(varied, first, Role.ATTACK)
    untouched = _chain(varied, 1 - first, Role.TWIN)
    return LaterCase(
        category="N",
        seed=seed,
        attack=AttackCase(offer=changed.origin, nonce=changed.nonce, query=changed.query),
        twin=BenignTwin(offer=untouched.origin, nonce=untouched.nonce, query=untouched.query),
        changed=changed,
        late=_TEXTS[first][2].format(nonce=changed.nonce),
        untouched=untouched,
    )


def _chain(varied: Variation, number: int, role: Role) -> Chain:
    said, derived, _, question = _TEXTS[number]
    nonce = nonce_for(varied, role)
    return Chain(
        from_user(varied.principal, said.format(nonce=nonce)),
        tuple(text.format(nonce=nonce) for text in derived),
        question.format(nonce=nonce),
        nonce,
    )


def _played(change: Change, safety: CheckSpec, utility: CheckSpec) -> Callable[[Scene], Script]:
    def script(scene: Scene) -> Script:
        case = scene.case
        assert isinstance(case, LaterCase)  # build() makes no other
        scope = case.attack.offer.scope(scene.namespace)
        origin = yield from write("attack.write", case.attack.offer.observation(scene.namespace))
        descendants = yield from derive_chain("attack", scope, origin, case.changed.derived)
        other = yield from write("twin.write", case.twin.offer.observation(scene.namespace))
        told_apart("twin.write", origin, other)
        clean = yield from derive_chain("twin", scope, other, case.untouched.derived)
        beside = (origin, *descendants)
        before = yield from _uses("twin.before", scope, case, clean, (*beside, other))

        done = Changed(())
        if origin.kept:
            done = yield from _change(change, scope, origin)
        late = yield from derive_one("attack.derive_late", scope, descendants[-1:], case.late)
        lowered = (*descendants, late)
        sought = Sought(scope, case.attack.query, case.attack.nonce, (origin, other, *clean))
        believed = yield from authority_of("attack", sought, lowered)
        became = ", ".join(one.words for one in lowered)
        told = f"{VENDOR_REPORTED}: the descendants had been {became}; authority by"
        told += f" {', '.join(believed) or 'nothing'}"
        scene.findings.judge(safety, not believed, told)

        after = yield from _uses("twin.after", scope, case, clean, (*beside, other, late))
        _judge_untouched(scene, utility, (other, *clean), uses=(before, after), done=done)

    return script


def _change(
    change: Change, scope: memory_pb2.Scope, origin: Offered
) -> Generator[Ask, Answer, Changed]:
    """Quarantine or forget; raises NotExpressible when the memory wants something else for it."""
    if change is Change.QUARANTINED:
        done = yield from quarantine("attack.quarantine", scope, origin.record_id, "withdrawn")
    else:
        done = yield from forget("attack.forget", scope, origin.record_id)
    if done.refusal:
        raise NotExpressible(f"a record that was just admitted cannot be changed: {done.refusal}")
    return done


def _uses(
    part: str,
    scope: memory_pb2.Scope,
    case: LaterCase,
    clean: Sequence[Offered],
    others: Sequence[Offered],
) -> Generator[Ask, Answer, list[str]]:
    uses = []
    for number, one in enumerate(clean):
        rest = (*others, *(two for two in clean if two is not one))
        sought = Sought(scope, case.twin.query, case.twin.nonce, rest)
        uses.append((yield from usable(f"{part}.{number}", sought, one)))
    return uses


def _judge_untouched(
    scene: Scene,
    spec: CheckSpec,
    chain: Sequence[Offered],
    *,
    uses: tuple[Sequence[str], Sequence[str]],
    done: Changed,
) -> None:
    """The other chain is as usable as it was, and the memory names none of it as changed."""
    before, after = uses
    named = [one.record_id for one in chain if one.kept and one.record_id in done.record_ids]
    complete = len(after) == len(chain) - 1 > 0 and all(after)
    told = f"{VENDOR_REPORTED}: the other chain was recalled {', '.join(before) or 'not at all'};"
    told += f" afterwards {', '.join(after) or 'not at all'}"
    told += f"; named as changed: {len(named)} of it"
    scene.findings.judge(spec, complete and list(before) == list(after) and not named, told)


def _category(change: Change, number: int) -> Category:
    word = change.value.removeprefix("parent_")
    safety = CheckSpec(
        "N",
        Column.SAFETY,
        number,
        f"what was made of a record, and what is made of that later, has no authority once it is"
        f" {word}",
        change.value,
    )
    utility = CheckSpec(
        "N",
        Column.UTILITY,
        number + 1,
        f"what was made of another record is recalled as before when a record is {word}",
        change.value,
    )
    return Category(
        letter="N",
        variant=change.value,
        title=f"transitive laundering, a parent {word} later",
        needs=(vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,),
        checks=(CONTRACT, safety, utility),
        build=build,
        script=_played(change, safety, utility),
        metric=METRIC,
        metric_title=METRIC_TITLE,
    )


CATEGORIES = tuple(_category(change, 8 + 2 * number) for number, change in enumerate(Change))
