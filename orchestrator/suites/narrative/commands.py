"""The command `memqual stories`: lint, schema, measure.

Exit codes: 0 nothing is wrong, 1 a story has errors or a value is beyond its limit, 2 wrong usage.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from orchestrator.errors import StoryError
from orchestrator.suites.narrative.findings import Finding, Severity
from orchestrator.suites.narrative.lint import Linted, lint_paths
from orchestrator.suites.narrative.measure import Bounded, Limits, Measured, measure
from orchestrator.suites.narrative.overlap import Pair, Repetition
from orchestrator.suites.narrative.schema import story_schema

__all__ = ["lint_stories", "measure_stories", "print_schema"]

_SHOWN = 5
_WRONG = 1


def lint_stories(paths: Sequence[Path], *, counts_only: bool, json_output: bool) -> int:
    """Prints what is wrong with story files, one finding a line; 1 if one is an error.

    Args:
        paths: Files and folders.
        counts_only: Print how many findings each rule has, and nothing of what stories say.
        json_output: Print JSON.

    Raises:
        UsageError: a path does not exist, or a folder holds no story.
    """
    linted = lint_paths(paths)
    if json_output:
        print(json.dumps(_lint_json(linted, counts_only=counts_only), indent=2))
    else:
        if not counts_only:
            for finding in linted.findings:
                print(finding)
        for name, count in _rule_counts(linted.findings).items():
            print(f"{name}: {count}")
        questions = sum(len(story.questions) for story in linted.stories)
        turns = sum(len(story.batches) for story in linted.stories)
        wrong = len(linted.errors)
        print(
            f"{len(linted.files)} files, {len(linted.stories)} stories, {turns} turns, "
            f"{questions} questions: {wrong} errors, {len(linted.findings) - wrong} warnings"
        )
    return _WRONG if linted.errors else 0


def print_schema() -> int:
    """Prints the JSON Schema of a story."""
    print(json.dumps(story_schema(), indent=2))
    return 0


def measure_stories(
    paths: Sequence[Path], limits: Limits, *, counts_only: bool, json_output: bool
) -> int:
    """Prints how much stories share and how sound they are; 1 if a value is beyond its limit.

    Args:
        paths: Files and folders.
        limits: What the stories must stay within.
        counts_only: Print figures, and nothing of what stories say.
        json_output: Print JSON.

    Raises:
        UsageError: a path does not exist, or a folder holds no story.
        StoryError: no story can be measured, or two have one id.
    """
    stories = lint_paths(paths).stories
    twice = [name for name, count in Counter(it.story_id for it in stories).items() if count > 1]
    if not stories or twice:
        raise StoryError(
            f"{len(twice)} ids stand in two stories." if twice else "No story can be measured.",
            next_step="Correct what `memqual stories lint` says of them.",
        )
    measured = measure(stories, limits)
    if json_output:
        print(json.dumps(_measured_json(measured, counts_only=counts_only), indent=2))
    else:
        print("\n".join(_measured_lines(measured, counts_only=counts_only)))
    return 0 if measured.held else _WRONG


def _rule_counts(findings: Sequence[Finding]) -> dict[str, int]:
    counted = Counter(f"{finding.severity} {finding.rule}" for finding in findings)
    return dict(sorted(counted.items()))


def _lint_json(linted: Linted, *, counts_only: bool) -> dict[str, object]:
    answer: dict[str, object] = {
        "files": len(linted.files),
        "stories": len(linted.stories),
        "errors": len(linted.errors),
        "warnings": sum(it.severity is Severity.WARNING for it in linted.findings),
        "rules": _rule_counts(linted.findings),
    }
    if not counts_only:
        answer["findings"] = [
            {**dataclasses.asdict(it), "path": it.path.as_posix()} for it in linted.findings
        ]
    return answer


def _measured_json(measured: Measured, *, counts_only: bool) -> dict[str, object]:
    answer: dict[str, object] = {
        "held": measured.held,
        "counts": dataclasses.asdict(measured.counts),
        "soundness": dataclasses.asdict(measured.soundness),
        "bounds": [{**dataclasses.asdict(it), "held": it.held} for it in measured.bounds],
        "pairs": {
            "vocabulary": [dataclasses.asdict(it) for it in measured.vocabulary[:_SHOWN]],
            "runs": [dataclasses.asdict(it) for it in measured.runs[:_SHOWN]],
        },
    }
    if not counts_only:
        answer["repeated"] = {
            name: [dataclasses.asdict(it) for it in repetition.most]
            for name, repetition in _repetitions(measured)
        }
    return answer


def _measured_lines(measured: Measured, *, counts_only: bool) -> list[str]:
    counts = measured.counts
    lines = [
        f"{counts.stories} stories, {counts.turns} turns, {counts.questions} questions, "
        f"{counts.words} words; {counts.questions / counts.stories:.2f} questions a story; "
        f"{counts.shared_names} names of persons in several stories"
    ]
    for name in ("rounds", "categories", "patterns", "question_types"):
        parts = ", ".join(f"{key} {count}" for key, count in getattr(counts, name).items())
        lines.append(f"{name.replace('_', ' ')}: {parts}")
    lines.append(f"words of questions that their story has, too: {measured.soundness.wording:.0%}")
    for name, pairs in (("vocabulary", measured.vocabulary), ("runs", measured.runs)):
        lines.append(f"pairs by {name}: {_pairs(pairs)}")
    if not counts_only:
        for name, repetition in _repetitions(measured):
            for each in repetition.most[:_SHOWN]:
                lines.append(f"{name}: {each.text!r} in {', '.join(each.stories[:_SHOWN])}")
    return lines + [_bound_line(bound) for bound in measured.bounds]


def _repetitions(measured: Measured) -> tuple[tuple[str, Repetition], ...]:
    return (
        ("sentence shape", measured.shapes),
        ("question shape", measured.question_shapes),
        ("opening", measured.openings),
    )


def _pairs(pairs: Sequence[Pair]) -> str:
    shown = [f"{it.first} {it.second} {it.share:.3f}" for it in pairs[:_SHOWN]]
    return "; ".join(shown) or "none"


def _bound_line(bound: Bounded) -> str:
    mark, limit = "ok  " if bound.held else "OVER", "at most"
    if bound.least:
        mark, limit = "ok  " if bound.held else "UNDER", "at least"
    return f"{mark} {bound.name}: {bound.value:.3f} ({limit} {bound.limit:g})"
