"""Narrative lines that were altered are noticed before anything is concluded from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import EvidenceError
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.score import score_narrative
from tests.orchestrator.suites.integrity.contexts import rig_at
from tests.orchestrator.suites.narrative.rigs import jobs_of, lines_of
from tests.orchestrator.suites.narrative.small_memory import SmallNarrative, serve
from tests.orchestrator.suites.narrative.tiny_stories import FERRY, LOOM, TINY


@cache
def kept(*cases: str) -> tuple[str, ...]:
    """The lines of one job of a small memory."""
    memory = SmallNarrative()
    running = serve(memory)
    (job,) = jobs_of(*cases)
    try:
        with rig_at(f"127.0.0.1:{running.port}", memory.describe()) as rig:
            job.run(rig.context)
            return tuple(lines_of(rig, job))
    finally:
        running.stop()


TOGETHER = ("level.scale_scoped", "level.scale_open")


def refused(lines: Sequence[str], corpus: Corpus = TINY) -> str:
    with pytest.raises(EvidenceError) as raised:
        score_narrative(lines, corpus)
    return raised.value.diagnosis


def altered(lines: Sequence[str], at: int, change: Callable[[dict[str, Any]], None]) -> list[str]:
    fields = json.loads(lines[at])
    change(fields)
    return [*lines[:at], json.dumps(fields), *lines[at + 1 :]]


def test_a_score_is_a_function_of_the_lines() -> None:
    lines = kept(*TOGETHER)
    assert score_narrative(lines, TINY) == score_narrative(lines, TINY)


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_line_that_is_missing_or_moved_is_noticed(data: st.DataObject) -> None:
    lines = kept(*TOGETHER)
    at = data.draw(st.integers(1, len(lines) - 1))
    if data.draw(st.booleans()):
        refused([*lines[:at], *lines[at + 1 :]])
    else:
        other = data.draw(st.integers(1, len(lines) - 1).filter(lambda it: it != at))
        moved = list(lines)
        moved[at], moved[other] = moved[other], moved[at]
        refused(moved)


def test_another_question_than_the_storys_is_noticed() -> None:
    lines = kept("level.core")
    at = next(at for at, line in enumerate(lines) if '"ask.q1"' in line)

    def change(fields: dict[str, Any]) -> None:
        fields["request"]["question"] = "Who dyes it?"

    assert "is not what step" in refused(altered(lines, at, change))


def test_an_answer_that_was_altered_is_scored_as_it_stands() -> None:
    lines = kept("level.core")
    at = next(at for at, line in enumerate(lines) if '"ask.q1"' in line)

    def change(fields: dict[str, Any]) -> None:
        fields["responses"][0]["answer"]["text"] = "nobody"

    (before,) = score_narrative(lines, TINY)
    (after,) = score_narrative(altered(lines, at, change), TINY)
    assert before.figures != after.figures


def test_other_stories_are_noticed() -> None:
    lines = kept("level.core")

    renamed = LOOM.model_copy(update={"narrator": "Somebody Else"})
    assert "is not what step" in refused(lines, Corpus((renamed, FERRY)))
    assert "of no story" in refused(lines, Corpus(()))


def test_a_failed_call_wants_proof_of_a_healthy_memory() -> None:
    lines = kept("level.core")
    at = next(at for at, line in enumerate(lines) if '"ask.q3"' in line)

    def change(fields: dict[str, Any]) -> None:
        fields |= {"status": "INTERNAL", "responses": []}

    assert "no proof of health" in refused(altered(lines, at, change))


def test_a_trial_of_no_case_is_refused() -> None:
    lines = kept("level.core")

    def change(fields: dict[str, Any]) -> None:
        fields["trials"][0]["cell"]["case"] = "level.none"

    assert "no narrative case" in refused(altered(lines, 0, change))


def test_a_job_without_a_trial_is_refused() -> None:
    def change(fields: dict[str, Any]) -> None:
        fields["trials"] = []

    assert "has no trial" in refused(altered(kept("level.core")[:1], 0, change))
