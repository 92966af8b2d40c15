"""What a case's judge is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from orchestrator.model import Figure
from orchestrator.oracle.judgement import CallJudgement, OperationJudgement
from orchestrator.plan import Member
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.families import FamilyCase

__all__ = ["CaseFacts", "Judge"]


@dataclass(frozen=True)
class CaseFacts:
    """One trial of a case.

    Attributes:
        find: Where checks go.
        facts: The batch's raw evidence.
        member: The trial.
        judgements: Every answer about its operations, judged by the oracle.
        case: The case.
        proven: Every declared fault has its receipt.
        figures: What a study's tables tell of the trial; a judge adds to it.
        findings: What is told of the trial and is no check; a judge adds to it.
    """

    find: Finder
    facts: BatchFacts
    member: Member
    judgements: Sequence[OperationJudgement]
    case: FamilyCase
    proven: bool
    figures: list[Figure] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    def figure(self, name: str, value: object) -> None:
        """Tell a study's tables one thing of this trial."""
        self.figures.append(Figure(name=name, value=str(value)))

    @property
    def calls(self) -> list[CallJudgement]:
        """Every judged call of the trial, operation by operation."""
        return [call for one in self.judgements for call in one.calls]


Judge: TypeAlias = Callable[[CaseFacts], None]
