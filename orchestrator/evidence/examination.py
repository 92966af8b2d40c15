"""What a look at a bundle found: problems with their file and next step, and what is worth knowing.

Everything printed may be the text of whoever made the bundle, so it is shown with every character
seen (`report.text.visible`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType

from orchestrator.errors import MemqualError
from orchestrator.evidence.bundle import ALTERED, OTHER_VERSION
from orchestrator.report.text import counted, say, visible

__all__ = ["Examination", "Problem"]

SHOWN_MAX = 10
_KEPT_MAX = 10_000


@dataclass(frozen=True)
class Problem:
    """Something that does not fit.

    Attributes:
        file: File of the bundle.
        cause: What is wrong with it, as a sentence without its dot.
        next_step: What to do about it.
    """

    file: str
    cause: str
    next_step: str = ALTERED


@dataclass
class Examination:
    """One step of a look at a bundle.

    Attributes:
        name: What is looked at.
        problems: In order; at most _KEPT_MAX are kept.
        problem_count: All of them.
        notes: What is no problem and should be known.
        looked_at: What was looked at, in words; shown when there is no problem.
        skipped: Why nothing was looked at; empty when it was.
    """

    name: str
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    notes: list[str] = field(default_factory=list)
    looked_at: str = ""
    skipped: str = ""

    def problem(self, file: str, cause: str, next_step: str = ALTERED) -> None:
        """Note something that does not fit."""
        self.problem_count += 1
        if len(self.problems) < _KEPT_MAX:
            self.problems.append(Problem(file, cause, next_step))

    def note(self, text: str) -> None:
        """Note something that is no problem."""
        if len(self.notes) < _KEPT_MAX:
            self.notes.append(text)

    def reading(self, file: str) -> _Reading:
        """A context that turns whatever a file makes the reader raise into a problem of that file.

        A bundle can hold anything, and what nobody foresaw about it must never end as "verified".
        """
        return _Reading(self, file)

    def print(self) -> None:
        """Print the step's outcome."""
        if self.problem_count:
            told = f"not ok: {counted(self.problem_count, 'problem')}"
        elif self.skipped:
            told = f"not looked at: {visible(self.skipped)}"
        else:
            told = f"ok: {visible(self.looked_at)}"
        say(f"{self.name:<12} {told}")
        said = ""
        for problem in self.problems[:SHOWN_MAX]:
            say(f"  {visible(problem.file)}: {visible(problem.cause, 1_000)}.")
            if problem.next_step != said:
                say(f"    next step: {visible(problem.next_step)}")
                said = problem.next_step
        if self.problem_count > SHOWN_MAX:
            say(f"  … and {self.problem_count - SHOWN_MAX} more problems")
        for note in self.notes[:SHOWN_MAX]:
            say(f"  note: {visible(note, 1_000)}")
        if len(self.notes) > SHOWN_MAX:
            say(f"  … and {len(self.notes) - SHOWN_MAX} more notes")


@dataclass(frozen=True)
class _Reading:
    """See `Examination.reading`."""

    examination: Examination
    file: str

    def __enter__(self) -> None:
        """Nothing has gone wrong so far."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Note what was raised; True keeps it from going on."""
        if isinstance(error, MemqualError):
            self.examination.problem(self.file, error.diagnosis.rstrip("."), error.next_step)
        elif isinstance(error, Exception):
            told = f"cannot be evaluated: {type(error).__name__}: {error}"
            self.examination.problem(self.file, told, OTHER_VERSION)
        return isinstance(error, Exception)
