"""What the narrative trials of one subject amount to: levels, tiers, checkpoints (ATANT).

Questions are counted, stories beside them. A question that could not be asked, since the memory
broke the contract before it, counts as answered wrongly; trials that are N/R or ERROR count for
nothing and stand beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.model import Cell, Frozen, Suite, TrialRecord, Verdict
from orchestrator.suites.narrative.cases import CASES
from orchestrator.suites.narrative.checkpoints import Checkpoint
from orchestrator.suites.narrative.gauge import AskedFigure, rate_of, read_asked
from orchestrator.suites.narrative.vocabulary import QuestionType

__all__ = [
    "CheckpointRate",
    "FailedTogether",
    "GroupRate",
    "NarrativeRow",
    "NarrativeTotals",
    "is_graded",
]

_BY_TYPE = "type"
_PLAYED = (Verdict.PASS, Verdict.FAIL, Verdict.UNSCORED)


class CheckpointRate(Frozen):
    """One checkpoint: what held of what was expected."""

    checkpoint: Checkpoint
    held: int
    counted: int


class GroupRate(Frozen):
    """Questions of one type, one pattern or one round.

    Attributes:
        by: `type`, `pattern` or `round`.
        name: Which one.
        questions: Asked.
        questions_strict: Those of them that can be read strictly: none of a published story.
        published, strict: Right by each reading of CP8.
    """

    by: str
    name: str
    questions: int
    questions_strict: int
    published: int
    strict: int


class FailedTogether(Frozen):
    """How often a checkpoint failed in stories with a pattern."""

    checkpoint: Checkpoint
    pattern: str
    count: int


class NarrativeRow(Frozen):
    """One cell of the axis.

    Attributes:
        case: Its name.
        title: For people.
        graded: It has no PASS.
        trials: All of them.
        stories: Trials that were played.
        passed, failed, not_run, errors: Trials by verdict.
        stories_asked: Stories of which a question was asked, or owed.
        stories_asked_strict: Those of them that can be read strictly.
        stories_published, stories_strict: Stories of which every question is right by each reading.
        questions: Asked, or owed where the memory broke the contract.
        questions_strict: Those of them that can be read strictly: none of a published story.
        published, strict: Questions that are right by each reading of CP8.
        checkpoints: Every checkpoint of which something was expected.
        groups: The same questions by type, pattern and round.
        failures: Failed checkpoints by pattern.
    """

    case: str
    title: str
    graded: bool
    trials: int
    stories: int
    passed: int
    failed: int
    not_run: int
    errors: int
    stories_asked: int
    stories_asked_strict: int
    stories_published: int
    stories_strict: int
    questions: int
    questions_strict: int
    published: int
    strict: int
    checkpoints: tuple[CheckpointRate, ...]
    groups: tuple[GroupRate, ...]
    failures: tuple[FailedTogether, ...]

    @property
    def general_knowledge(self) -> int:
        """Questions that are to be declined: none of them can be wrong as published."""
        return sum(
            group.questions
            for group in self.groups
            if (group.by, group.name) == (_BY_TYPE, QuestionType.GENERAL_KNOWLEDGE.value)
        )


@dataclass
class _Cell:
    """What is added up of one cell."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    held: Counter[Checkpoint] = field(default_factory=Counter)
    counted: Counter[Checkpoint] = field(default_factory=Counter)
    groups: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    failures: Counter[tuple[Checkpoint, str]] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)

    def add(self, trial: TrialRecord) -> None:
        """Add a trial of the cell.

        Raises:
            ValueError: A figure is not as a gauge writes it.
        """
        self.verdicts[trial.verdict] += 1
        if trial.verdict not in _PLAYED or not trial.figures:
            return
        named = {figure.name: figure.value for figure in trial.figures}
        patterns = named.get("patterns", "none").split()
        for figure in trial.figures:
            if figure.name in _CHECKPOINTS:
                checkpoint, (held, counted) = Checkpoint(figure.name), rate_of(figure)
                self.held[checkpoint] += held
                self.counted[checkpoint] += counted
                for pattern in patterns if counted > held else ():
                    self.failures[checkpoint, pattern] += counted - held
        asked = [one for one in map(read_asked, trial.figures) if one is not None]
        for one in asked:
            self._add_asked(one, named.get("round", "none"), patterns)
        if asked:
            readable = all(one.strict is not None for one in asked)
            self.sums.update(
                stories_asked=1,
                stories_asked_strict=readable,
                stories_published=all(one.published for one in asked),
                stories_strict=readable and all(one.strict for one in asked),
            )

    def _add_asked(self, asked: AskedFigure, round_name: str, patterns: Sequence[str]) -> None:
        added = {
            "questions": 1,
            "questions_strict": asked.strict is not None,
            "published": asked.published,
            "strict": bool(asked.strict),
        }
        self.sums.update(added)
        keys = [(_BY_TYPE, asked.expected_type), ("round", round_name)]
        keys += [("pattern", pattern) for pattern in patterns]
        for key in keys:
            group = self.groups.setdefault(key, Counter())
            group.update(added)

    def row(self, case: str) -> NarrativeRow:
        """What was added."""
        verdicts = self.verdicts
        return NarrativeRow(
            case=case,
            title=CASES[case].title,
            graded=CASES[case].graded,
            trials=verdicts.total(),
            stories=sum(verdicts[one] for one in _PLAYED),
            passed=verdicts[Verdict.PASS],
            failed=verdicts[Verdict.FAIL],
            not_run=verdicts[Verdict.NOT_RUN],
            errors=verdicts[Verdict.ERROR],
            stories_asked=self.sums["stories_asked"],
            stories_asked_strict=self.sums["stories_asked_strict"],
            stories_published=self.sums["stories_published"],
            stories_strict=self.sums["stories_strict"],
            questions=self.sums["questions"],
            questions_strict=self.sums["questions_strict"],
            published=self.sums["published"],
            strict=self.sums["strict"],
            checkpoints=tuple(
                CheckpointRate(checkpoint=one, held=self.held[one], counted=self.counted[one])
                for one in Checkpoint
                if self.counted[one]
            ),
            groups=tuple(
                GroupRate(
                    by=by,
                    name=name,
                    questions=group["questions"],
                    questions_strict=group["questions_strict"],
                    published=group["published"],
                    strict=group["strict"],
                )
                for (by, name), group in sorted(self.groups.items())
            ),
            failures=tuple(
                FailedTogether(checkpoint=checkpoint, pattern=pattern, count=count)
                for (checkpoint, pattern), count in sorted(self.failures.items())
            ),
        )


_CHECKPOINTS = frozenset(one.value for one in Checkpoint)


class NarrativeTotals:
    """Adds the narrative trials of one subject up, one at a time, in any order."""

    def __init__(self) -> None:
        self._cells: dict[str, _Cell] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial; one of another axis is passed over.

        Raises:
            ValueError: A figure is not as a gauge writes it, or there is no such case.
        """
        if trial.cell.suite is not Suite.NARRATIVE:
            return
        if trial.cell.case not in CASES:
            raise ValueError(f"{trial.cell.case!r} is no narrative case")
        self._cells.setdefault(trial.cell.case, _Cell()).add(trial)

    def rows(self) -> tuple[NarrativeRow, ...]:
        """Every cell that has trials, in the order of the plan."""
        return tuple(self._cells[case].row(case) for case in CASES if case in self._cells)


def is_graded(cell: Cell) -> bool:
    """Whether a cell is a narrative one that has figures and no PASS."""
    return cell.suite is Suite.NARRATIVE and cell.case in CASES and CASES[cell.case].graded
