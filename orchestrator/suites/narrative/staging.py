"""What each trial of a job plays: its story, its namespace, what stands beside it.

The same for a live memory and for kept lines, so that both ask the same.
"""

from __future__ import annotations

from functools import cached_property

from orchestrator.plan import Member
from orchestrator.suites.integrity.calls import Script
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.integrity.evidence import JobLine, evidence_error
from orchestrator.suites.integrity.playing import WANTS_MAX
from orchestrator.suites.narrative.cases import CASES
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.gauge import Gauge
from orchestrator.suites.narrative.others import Speakers
from orchestrator.suites.narrative.scene import NarrativeCase, Scene
from orchestrator.suites.narrative.stories import Story
from orchestrator.suites.narrative.tally import Tally
from orchestrator.suites.narrative.told import FactsTold

__all__ = ["Staging"]

_TIMES_TOLD_MAX = 10
"""More often than any script tells a story, or asks its questions."""


class Staging:
    """The trials of one job.

    Args:
        job: The job.
        corpus: What is told and asked.
        declared: What the memory declares.
        deterministic: It declares that equal calls give equal answers.

    Raises:
        EvidenceError: A trial is of no case, or of no story of the corpus.
    """

    def __init__(
        self, job: JobLine, corpus: Corpus, declared: Declared, deterministic: bool
    ) -> None:
        self._declared = declared
        self._deterministic = deterministic
        self._shared = job.trials[0].workflow_id
        self._facts = FactsTold()
        self._tallies: dict[str, Tally] = {}
        self._stories: dict[str, Story] = {}
        self._beside: dict[str, tuple[Story, ...]] = {}
        self._others: dict[str, Story] = {}
        for name in dict.fromkeys(member.cell.case for member in job.trials):
            self._cast(_case(name), [one for one in job.trials if one.cell.case == name], corpus)

    @cached_property
    def _speakers(self) -> Speakers:
        """Everybody who tells something in the job."""
        told = [*self._stories.values(), *(one for each in self._beside.values() for one in each)]
        return Speakers({story.story_id: story for story in told}.values())

    @property
    def facts(self) -> FactsTold:
        """What the memory told of the facts that it stored; all trials share it."""
        return self._facts

    def not_run(self, member: Member) -> NotRun | None:
        """Why a trial does not apply to the memory or to its story; None when it does."""
        story = self._stories[member.trial_id]
        return _case(member.cell.case).not_run(self._declared, self._deterministic, story)

    def scene(self, member: Member) -> Scene:
        """One trial, as its script sees it."""
        case = _case(member.cell.case)
        story = self._stories[member.trial_id]
        return Scene(
            story=story,
            beside=self._beside[member.trial_id],
            other=self._others.get(member.trial_id),
            namespace=self._shared if case.together else member.workflow_id,
            own=member.workflow_id,
            declared=self._declared,
            deterministic=self._deterministic,
            findings=Findings(case.checks),
            gauge=Gauge(story, case.questions(story)),
            tally=self._tallies.setdefault(case.case, Tally()),
            facts=self._facts,
            speakers=self._speakers if case.together else Speakers(()),
            number=_number(member),
            case=case,
        )

    def script(self, scene: Scene) -> Script:
        """The script of a trial."""
        return scene.case.script(scene)

    def wants_max(self, scene: Scene) -> int:
        """More wants than the script of a trial has: a few times what is told and what is asked.

        A small corpus is filled up to the largest level by few trials, each of which tells much.
        """
        told = sum(len(story.batches) for story in (scene.story, *scene.beside))
        asked = len(scene.story.questions) + (len(scene.other.questions) if scene.other else 0)
        return WANTS_MAX + _TIMES_TOLD_MAX * (told + asked)

    def _cast(self, case: NarrativeCase, members: list[Member], corpus: Corpus) -> None:
        stories = case.stories(corpus)
        beside = case.beside(corpus) if case.beside is not None else ()
        for member in members:
            number = _number(member)
            if number >= len(stories):
                raise evidence_error(f"trial {member.trial_id!r} is of no story of the corpus")
            self._stories[member.trial_id] = stories[number]
            self._beside[member.trial_id] = tuple(beside[number]) if beside else ()
        for member, other in zip(members, [*members[1:], members[0]], strict=True):
            if other is not member:
                self._others[member.trial_id] = self._stories[other.trial_id]


def _case(name: str) -> NarrativeCase:
    case = CASES.get(name)
    if case is None:
        raise evidence_error(f"{name!r} is no narrative case")
    return case


def _number(member: Member) -> int:
    number = member.trial_id.rpartition("#")[2]
    if not number.isdecimal():
        raise evidence_error(f"trial {member.trial_id!r} has no number")
    return int(number)
