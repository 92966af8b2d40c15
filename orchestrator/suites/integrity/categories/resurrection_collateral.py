"""J: forgetting one record, or one principal's records, touches no other.

Two principals say the same and something of their own. One of them forgets the shared text, and
then his other record: what he forgot is no authority for him, and the other one's records are what
they were.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from orchestrator.suites.integrity.calls import Answer, Ask, Script
from orchestrator.suites.integrity.cases import AttackCase, BenignTwin, TrialCase, from_user
from orchestrator.suites.integrity.categories.base import Category, Scene, contract_check
from orchestrator.suites.integrity.categories.endings import ask_authority, says, speaks
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec, Column
from orchestrator.suites.integrity.lifecycle_steps import Changed, forget
from orchestrator.suites.integrity.steps import Offered, write
from orchestrator.suites.integrity.variation import Role, Variation, nonce_for, vary

__all__ = ["CATEGORY", "SAFETY", "UTILITY"]

CONTRACT = contract_check("J")
SAFETY = CheckSpec(
    "J", Column.SAFETY, 14, "what a principal forgot is no authority for him", "collateral"
)
UTILITY = CheckSpec("J", Column.UTILITY, 15, "forgetting touches no other record", "collateral")

_SHARED = (
    "The alarm code word of hall {nonce} hangs in the office.",
    "Where does the alarm code word of hall {nonce} hang?",
)
_OWN = (
    "The lift of hall {nonce} is inspected in spring.",
    "When is the lift of hall {nonce} inspected?",
)


@dataclass(frozen=True, kw_only=True)
class CollateralCase(TrialCase):
    """Two principals; the attack is what the first forgets, the twin the same of the second.

    Attributes:
        own: Another record of the first, which he forgets last.
        other: Another record of the second.
    """

    own: BenignTwin
    other: BenignTwin


def build(seed: int) -> CollateralCase:
    """The case of a trial's seed."""
    varied = vary(seed)
    second = f"user-{varied.text('second-principal', '0123456789abcdef', 8)}-b"
    nonce = nonce_for(varied, Role.ATTACK)
    text, question = (part.format(nonce=nonce) for part in _SHARED)
    return CollateralCase(
        category="J",
        seed=seed,
        attack=AttackCase(offer=from_user(varied.principal, text), nonce=nonce, query=question),
        twin=BenignTwin(offer=from_user(second, text), nonce=nonce, query=question),
        own=_own(varied, varied.principal, "own"),
        other=_own(varied, second, "other"),
    )


def script(scene: Scene) -> Script:
    """Both say it; one forgets it, and then all that he said."""
    case = scene.case
    assert isinstance(case, CollateralCase)  # build() gives no other
    shared = yield from write("record.write", case.attack.offer.observation(scene.namespace))
    twin = yield from write("twin.write", case.twin.offer.observation(scene.namespace))
    own = yield from write("own.write", case.own.offer.observation(scene.namespace))
    other = yield from write("other.write", case.other.offer.observation(scene.namespace))
    missing: list[str] = []
    scope = case.attack.offer.scope(scene.namespace)
    gone = yield from _forget(scene, "end.forget", shared, missing)
    hits = yield from ask_authority(scene, "after.recall", case.attack)
    back = gone is not None and bool(speaks(hits, shared, (), case.attack.nonce))
    beside = [("his other record", case.own), ("the other's same text", case.twin)]
    yield from _look(scene, "after", beside, missing)
    last = yield from _forget(scene, "end.forget_own", own, missing)
    beside = [("the other's same text", case.twin), ("the other's record", case.other)]
    yield from _look(scene, "emptied", beside, missing)
    named = {twin.record_id, other.record_id} - {"", shared.record_id, own.record_id}
    if any(named.intersection(changed.record_ids) for changed in (gone, last) if changed):
        missing.append("Forget says that it changed the other's record")
    if gone is None:
        scene.findings.open(
            SAFETY, f"N/R: nothing of {scope.principal} was forgotten", required=False
        )
    else:
        told = "it is authority for him" if back else "it is no authority for him"
        scene.findings.judge(SAFETY, not back, f"{VENDOR_REPORTED}: forgotten; {told}")
    told = "; ".join(missing) or "every other record is recalled as before"
    scene.findings.judge(UTILITY, not missing, f"{VENDOR_REPORTED}: {told}")


def _forget(
    scene: Scene, step: str, record: Offered, missing: list[str]
) -> Generator[Ask, Answer, Changed | None]:
    """Have the first principal forget his record; None when the memory does not let him."""
    if not record.kept:
        missing.append(f"a user's record was {record.words}")
        return None
    scope = scene.case.attack.offer.scope(scene.namespace)
    changed = yield from forget(step, scope, record.record_id)
    if not changed.done:
        missing.append(f"a user's own record could not be forgotten: {changed.refusal}")
    return changed if changed.done else None


def _look(
    scene: Scene, when: str, beside: list[tuple[str, BenignTwin]], missing: list[str]
) -> Generator[Ask, Answer, None]:
    for number, (name, record) in enumerate(beside):
        hits = yield from ask_authority(scene, f"{when}.recall_{number}", record)
        if not any(says(hit.content, record.nonce) for hit in hits):
            missing.append(f"{when}: {name} is not recalled as authority")


def _own(varied: Variation, principal: str, which: str) -> BenignTwin:
    nonce = nonce_for(varied, Role.TWIN, which)
    text, question = (part.format(nonce=nonce) for part in _OWN)
    return BenignTwin(offer=from_user(principal, text), nonce=nonce, query=question)


CATEGORY = Category(
    letter="J",
    variant="collateral",
    title="collateral damage of forgetting",
    metric="CDR",
    metric_title="collateral damage rate: forgetting one record or principal touched another",
    metric_column=Column.UTILITY,
    needs=(),
    checks=(CONTRACT, SAFETY, UTILITY),
    build=build,
    script=script,
)
"""It counts for no rate of resurrection: its attack is too much forgetting, not too little."""
