"""Jobs of narrative cases, played on a small memory of this process."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.model import Profile, TrialRecord
from orchestrator.plan import VENDOR, TrialPlan
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.driver import NarrativeJob, narrative_jobs
from orchestrator.suites.narrative.planned import planned_narrative
from orchestrator.suites.narrative.score import score_narrative
from tests.orchestrator.suites.integrity.contexts import Rig, rig_at
from tests.orchestrator.suites.narrative.small_memory import SmallNarrative, serve
from tests.orchestrator.suites.narrative.tiny_stories import TINY

__all__ = ["SEED", "jobs_of", "lines_of", "play", "played_on"]

SEED = 5


def jobs_of(
    *cases: str, corpus: Corpus = TINY, trials: int | None = None
) -> tuple[NarrativeJob, ...]:
    """Jobs with the trials of some cases, as the profile of this axis plans them."""
    every = planned_narrative(Profile.ATANT, SEED, corpus)
    plans: list[TrialPlan] = []
    for case in cases:
        plans += [plan for plan in every if plan.cell.case == case][:trials]
    return narrative_jobs(VENDOR, plans, corpus)


def played_on(
    rig: Rig, *cases: str, corpus: Corpus = TINY, trials: int | None = None
) -> list[TrialRecord]:
    """The records of some cases on a rig; what is scored from their lines is the same."""
    records: list[TrialRecord] = []
    for job in jobs_of(*cases, corpus=corpus, trials=trials):
        found = list(job.run(rig.context))
        assert list(score_narrative(lines_of(rig, job), corpus)) == found
        records += found
    return records


def lines_of(rig: Rig, job: NarrativeJob) -> Sequence[str]:
    """The lines that a job kept."""
    return rig.kept.files[f"narrative/{job.job_id}.jsonl"]


def play(*cases: str, flaw: str = "none", corpus: Corpus = TINY) -> list[TrialRecord]:
    """The records of some cases on a small memory with a flaw."""
    memory = SmallNarrative(flaw=flaw)
    running = serve(memory)
    try:
        with rig_at(f"127.0.0.1:{running.port}", memory.describe()) as rig:
            return played_on(rig, *cases, corpus=corpus)
    finally:
        running.stop()
