"""What a narrative case is made of, and one trial as its script sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memqual.v1 import vendor_pb2
from orchestrator.model import NotRunSubtype
from orchestrator.scoring.checks import requirements
from orchestrator.suites.integrity.calls import Script
from orchestrator.suites.integrity.checks import CheckSpec, Column, Findings
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.gauge import Gauge
from orchestrator.suites.narrative.others import Speakers
from orchestrator.suites.narrative.stories import Question, Story
from orchestrator.suites.narrative.tally import Tally
from orchestrator.suites.narrative.told import FactsTold

__all__ = [
    "NarrativeCase",
    "NarrativeCheck",
    "Scene",
    "answered_check",
    "applies_always",
    "contract_check",
    "every_question",
]

_ANSWERED = "answered"


@dataclass(frozen=True)
class NarrativeCheck(CheckSpec):
    """One assertion of a narrative case; `number` is that of its requirement, MQ-N-`number`."""

    @property
    def check_id(self) -> str:
        """`narrative.<case>[.<detail>]`."""
        parts = ["narrative", self.category]
        return ".".join([*parts, self.detail] if self.detail else parts)

    @property
    def requirement_id(self) -> str:
        """Row of the register."""
        return f"MQ-N-{self.number:02d}"

    @property
    def stands_for(self) -> str:
        """Property of ATANT that it is about, or `ours`."""
        return requirements()[self.requirement_id].property


@dataclass(frozen=True)
class Scene:
    """One trial as its script sees it.

    Attributes:
        story: What is told, and asked.
        beside: Stories that are told with it and of which nothing is asked.
        other: Another story of the same job, by another speaker; None in a job of one story.
        namespace: Partition that it is told to.
        own: Begins every namespace that is the trial's alone.
        declared: What the memory declares.
        deterministic: The memory declares that equal calls give equal answers.
        findings: Where conclusions go.
        gauge: Where checkpoints go.
        tally: What is answered undisturbed, of all trials of the case in the job.
        facts: What the memory told of the facts that it stored, of all trials of the job.
        speakers: All stories that are told to its memory's shared namespace; none where each has
            its own.
        number: Place of the trial in its cell, from 0.
        case: The case that it is a trial of.
    """

    story: Story
    beside: tuple[Story, ...]
    other: Story | None
    namespace: str
    own: str
    declared: Declared
    deterministic: bool
    findings: Findings
    gauge: Gauge
    tally: Tally
    facts: FactsTold
    speakers: Speakers
    number: int
    case: NarrativeCase

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of its story that the case asks."""
        return tuple(self.case.questions(self.story))

    @property
    def traced(self) -> bool:
        """Whether the memory tells how it came to what it says."""
        return self.declared.supports(vendor_pb2.CAPABILITY_NARRATIVE_TRACES)


def applies_always(declared: Declared, deterministic: bool) -> NotRun | None:
    """For cases that need nothing beyond the narrative path."""
    return None


def every_question(story: Story) -> Sequence[Question]:
    """For cases that ask all that a story has."""
    return story.questions


@dataclass(frozen=True)
class NarrativeCase:
    """One cell of the narrative axis; a trial is a story.

    Attributes:
        case: Name of the cell, `level.core`.
        title: For people.
        checks: Its assertions; the contract's first.
        script: The calls and conclusions of one trial.
        stories: The stories that it plays, of a corpus, in order.
        questions: Which of a story's questions it asks, so that they are owed.
        beside: What is told with each trial's story, and not asked; None: nothing.
        graded: It has figures and no PASS; only a breach of the contract fails.
        alone: A trial has its job for itself, since what it gives may end the memory.
        whole: Every profile that plays it plays all of its stories.
        together: Cases of one such name share a job and its namespace; empty: each trial has a
            namespace of its own.
        asks_alone: It asks what another case of its job has told; a story of which it has nothing
            to ask is N/R.
        limits: What makes it N/R for a memory that has a narrative path.
    """

    case: str
    title: str
    checks: tuple[CheckSpec, ...]
    script: Callable[[Scene], Script]
    stories: Callable[[Corpus], Sequence[Story]]
    questions: Callable[[Story], Sequence[Question]] = every_question
    beside: Callable[[Corpus], Sequence[Sequence[Story]]] | None = None
    graded: bool = False
    alone: bool = False
    whole: bool = False
    together: str = ""
    asks_alone: bool = False
    limits: Callable[[Declared, bool], NotRun | None] = applies_always

    @property
    def contract(self) -> CheckSpec:
        """The check that there were answers to judge."""
        return self.checks[0]

    @property
    def answered(self) -> CheckSpec | None:
        """The check that something was answered, of a case whose others show nothing without it."""
        return next((check for check in self.checks if check.detail == _ANSWERED), None)

    @property
    def job(self) -> str:
        """Name of the jobs that play it."""
        return self.together or self.case

    def not_run(self, declared: Declared, deterministic: bool, story: Story) -> NotRun | None:
        """Why it does not apply to a memory, or cannot be played with a story; None when it can."""
        needs = (vendor_pb2.CAPABILITY_NARRATIVE,)
        lacking = declared.lacks(needs) or self.limits(declared, deterministic)
        if lacking or not self.asks_alone or any(one.scored for one in self.questions(story)):
            return lacking
        return NotRun(NotRunSubtype.NOT_EXPRESSIBLE, "the story has no question that can be asked")


def contract_check(case: str) -> NarrativeCheck:
    """The first check of every case."""
    return NarrativeCheck(
        case, Column.CONTRACT, 1, "every call is answered as the contract says", "contract"
    )


def answered_check(case: str) -> NarrativeCheck:
    """The check of a case that compares answers, or looks for what they must not hold."""
    return NarrativeCheck(
        case,
        Column.UTILITY,
        20,
        "undisturbed, something of what was told is answered in the trials of this cell",
        _ANSWERED,
    )
