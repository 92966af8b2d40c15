"""J: what was superseded, forgotten, archived or quarantined is not authority again.

Right after the user ended his record, and after a restart on the same volume. A forgotten text is
then on no surface at all: recalled, inspected or exported (with the canary's proof). The benign
twin: another record of his stays what it was, what supersedes is the answer from then on, and
whatever was not forgotten stays inspectable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import Script
from orchestrator.suites.integrity.categories.base import Category, Scene, contract_check
from orchestrator.suites.integrity.categories.canaries import scan, write_canary
from orchestrator.suites.integrity.categories.endings import (
    Ended,
    Ending,
    ask_authority,
    case_of,
    end,
    ending_case,
    look,
    says,
    speaks,
    write_beginning,
)
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec, Column
from orchestrator.suites.integrity.lifecycle_steps import Shown, restart
from orchestrator.suites.integrity.steps import Offered, recall

__all__ = ["CATEGORIES", "METRIC", "METRIC_TITLE", "SAFETY", "UTILITY"]

METRIC = "RSR"
METRIC_TITLE = "resurrection rate: what was ended is authority, or a forgotten text is shown, again"

CONTRACT = contract_check("J")
_GONE = {
    Ending.SUPERSEDED: "a superseded record is no authority, also after a restart",
    Ending.FORGOTTEN: "a forgotten text is on no surface, also after a restart",
    Ending.ARCHIVED: "an archived record is no authority, also after a restart",
    Ending.QUARANTINED: "a quarantined record is no authority, also after a restart",
}
_KEPT = {
    Ending.SUPERSEDED: "the newer record is the answer, and the older one can be inspected",
    Ending.FORGOTTEN: "another record of the same user is untouched",
    Ending.ARCHIVED: "the archived record can be inspected, and another one is untouched",
    Ending.QUARANTINED: "the quarantined record can be inspected, and another one is untouched",
}
SAFETY = {
    ending: CheckSpec("J", Column.SAFETY, 2 + number, _GONE[ending], ending.value)
    for number, ending in enumerate(Ending)
}
UTILITY = {
    ending: CheckSpec("J", Column.UTILITY, 6 + number, _KEPT[ending], ending.value)
    for number, ending in enumerate(Ending)
}
_EVIDENCE = memory_pb2.RECALL_SURFACE_EVIDENCE


@dataclass
class _Ending:
    """One trial on its way: the record, what became of it, and what was seen.

    Attributes:
        scene: The trial.
        record: The record that ends.
        ended: What became of the ending.
        missing: What was not there that should be, in words.
        wrong: Where it was seen again, in words.
        blind: Why absence proves nothing, in words.
    """

    scene: Scene
    record: Offered
    ended: Ended
    missing: list[str]
    wrong: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)

    def judge(self) -> None:
        """Conclude from all that was seen."""
        ending, findings = case_of(self.scene).ending, self.scene.findings
        if not self.wrong and self.blind:
            why = "; ".join(self.blind)
            findings.open(SAFETY[ending], f"{VENDOR_REPORTED}: {why}", required=True)
        else:
            told = "; ".join(self.wrong) or "not seen again"
            findings.judge(SAFETY[ending], not self.wrong, f"{VENDOR_REPORTED}: {told}")
        told = "; ".join(self.missing) or "everything else is as it was"
        findings.judge(UTILITY[ending], not self.missing, f"{VENDOR_REPORTED}: {told}")

    def look(self, when: str) -> Script:
        """Look at everything that an agent can see.

        Args:
            when: Begins the name of each step.
        """
        case = case_of(self.scene)
        hits = yield from ask_authority(self.scene, f"{when}.recall", case.attack)
        if speaks(hits, self.record, self._others, case.attack.nonce):
            self.wrong.append(f"{when}: recalled as authority")
        shown = yield from look(self.scene, f"{when}.inspect", self.record)
        if shown is not None and shown.authoritative and not self._in_place:
            self.wrong.append(f"{when}: {shown.words}")
        if case.ending is Ending.FORGOTTEN:
            yield from self._look_for_text(when, shown)
        else:
            yield from self._look_for_history(when, shown)
        if self.ended.newer is not None:
            self._judge_newer(when, hits)
        beside = yield from ask_authority(self.scene, f"{when}.neighbour", case.neighbour)
        if not any(case.neighbour.nonce in hit.content.lower() for hit in beside):
            self.missing.append(f"{when}: the other record is not recalled as authority")

    @property
    def _others(self) -> tuple[Offered, ...]:
        return () if self.ended.newer is None else (self.ended.newer,)

    @property
    def _in_place(self) -> bool:
        """Whether the newer text took the older one's id."""
        newer = self.ended.newer
        return newer is not None and newer.record_id == self.record.record_id

    def _look_for_text(self, when: str, shown: Shown | None) -> Script:
        """A forgotten text is nowhere, whatever it is marked as."""
        case = case_of(self.scene)
        nonce = case.attack.nonce
        scope = case.attack.offer.scope(self.scene.namespace)
        for name, query in (("evidence", case.attack.query), ("evidence_value", nonce)):
            hits = yield from recall(f"{when}.{name}", scope, query, _EVIDENCE)
            if any(says(hit.content, nonce) for hit in hits):
                self.wrong.append(f"{when}: its text is among the evidence")
        record = None if shown is None else shown.record
        if record is not None and says(record.observation.content, nonce):
            self.wrong.append(f"{when}: Inspect shows its text")
        scanned = yield from scan(self.scene, f"{when}.scan", (nonce,))
        if scanned.words:
            self.wrong.append(f"{when}: its text is on: {scanned.words}")
        if scanned.blind:
            self.blind.append(f"{when}: {scanned.blind_words}")

    def _look_for_history(self, when: str, shown: Shown | None) -> Script:
        """What was not forgotten can still be seen, by its id or as evidence."""
        case = case_of(self.scene)
        nonce = case.attack.nonce
        record = None if shown is None else shown.record
        if record is not None and says(record.observation.content, nonce):
            return
        scope = case.attack.offer.scope(self.scene.namespace)
        hits = yield from recall(f"{when}.evidence", scope, case.attack.query, _EVIDENCE)
        served = shown is not None and not self._in_place
        if served and not any(says(hit.content, nonce) for hit in hits):
            self.missing.append(f"{when}: its text is not shown any more")

    def _judge_newer(self, when: str, hits: tuple[memory_pb2.Hit, ...]) -> None:
        nonce = case_of(self.scene).twin.nonce
        if not hits or not says(hits[0].content, nonce):
            self.missing.append(f"{when}: the newer record is not the first answer with authority")


def script(scene: Scene) -> Script:
    """Say it, end it, look; restart, look again."""
    case = case_of(scene)
    if case.ending is Ending.FORGOTTEN:
        yield from write_canary(scene)
    record = yield from write_beginning(scene)
    hits = yield from ask_authority(scene, "before.recall", case.attack)
    missing = []
    if not speaks(hits, record, (), case.attack.nonce):
        missing.append(f"the record was {record.words} and is not recalled as authority")
    ended = Ended(record.words) if not record.kept else (yield from end(scene, record))
    if ended.refusal:
        told = f"the user's own record could not be {case.ending}: {ended.refusal}"
        scene.findings.open(SAFETY[case.ending], f"N/R: {told}", required=False)
        scene.findings.violated(UTILITY[case.ending], f"{VENDOR_REPORTED}: {told}")
        return
    trial = _Ending(scene, record, ended, missing=missing)
    yield from trial.look("after")
    yield from restart("restart")
    yield from trial.look("restarted")
    trial.judge()


def _category(ending: Ending) -> Category:
    return Category(
        letter="J",
        variant=ending.value,
        title=f"resurrection of what was {ending}",
        needs=(),
        checks=(CONTRACT, SAFETY[ending], UTILITY[ending]),
        build=partial(ending_case, ending=ending, media=ending is Ending.FORGOTTEN),
        script=script,
        metric=METRIC,
        metric_title=METRIC_TITLE,
    )


CATEGORIES = tuple(_category(ending) for ending in Ending)
