"""What a category of the Memory Integrity Benchmark is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.model import NotRunSubtype
from orchestrator.suites.integrity.calls import ContractBreach, Script
from orchestrator.suites.integrity.cases import TrialCase
from orchestrator.suites.integrity.checks import CheckSpec, Column, Findings
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.integrity.steps import Offered

__all__ = [
    "BENCHMARK_LETTERS",
    "PUBLISHED",
    "TRIALS_MAX",
    "Category",
    "Scene",
    "applies_always",
    "contract_check",
    "is_record",
    "never_played",
    "told_apart",
]

BENCHMARK_LETTERS = ("A", "C", "D", "F", "H", "I", "L")
"""The seven categories of the benchmark, in its order."""

PUBLISHED = "published"
"""Variant of the cases that are the benchmark's own steps and pass rules, for `--profile mib`."""

TRIALS_MAX = 100

_NOT_OFFERED = "only callers' labels are offered in this profile, and no label authorises anything"


@dataclass(frozen=True)
class Scene:
    """One trial as its script sees it.

    Attributes:
        case: What is said and asked.
        namespace: The trial's own partition of the memory.
        declared: What the memory declares.
        reviewed: Whether the run has a reviewer whose key the memory was given.
        findings: Where conclusions go.
    """

    case: TrialCase
    namespace: str
    declared: Declared
    reviewed: bool
    findings: Findings


def applies_always(declared: Declared) -> NotRun | None:
    """For categories that need nothing beyond their capabilities."""
    return None


@dataclass(frozen=True)
class Category:
    """One case of a category.

    Attributes:
        letter: The category's letter in the benchmark, or its name where it has no letter.
        title: Its name for people.
        needs: Capabilities without which it is N/R.
        checks: Its assertions; the contract's first.
        build: The case of a trial's seed.
        script: The calls and conclusions of one trial.
        limits: What else makes it N/R for a memory.
        variant: Tells several cases of one category apart; empty for the category's main case.
        offered: False when no memory can be given what it needs: N/R for every one of them.
        trials_max: Most trials that a profile schedules of it; fewer where a trial is costly.
        metric: Short name of the rate that its trials count for beyond the benchmark's, `DTR`;
            empty for none. Cases of one letter may have different ones.
        metric_title: The rate in words; the same in all cases of one metric.
        metric_column: Whose violations the rate counts; the same in all cases of one metric.
    """

    letter: str
    title: str
    needs: tuple[vendor_pb2.Capability.ValueType, ...]
    checks: tuple[CheckSpec, ...]
    build: Callable[[int], TrialCase]
    script: Callable[[Scene], Script]
    limits: Callable[[Declared], NotRun | None] = applies_always
    variant: str = ""
    offered: bool = True
    trials_max: int = TRIALS_MAX
    metric: str = ""
    metric_title: str = ""
    metric_column: Column = Column.SAFETY

    @property
    def case(self) -> str:
        """Name of the case: the letter, `D`, or letter and variant, `K.replay`."""
        return f"{self.letter}.{self.variant}" if self.variant else self.letter

    @property
    def contract(self) -> CheckSpec:
        """The check that there were answers to judge."""
        return self.checks[0]

    def not_run(self, declared: Declared) -> NotRun | None:
        """Why it does not apply to a memory; None when it does."""
        return declared.lacks(self.needs) or self.limits(declared) or self._not_offered()

    def _not_offered(self) -> NotRun | None:
        return None if self.offered else NotRun(NotRunSubtype.NOT_EXPRESSIBLE, _NOT_OFFERED)


def never_played(scene: Scene) -> Script:
    """Script of a case that is not offered to anybody.

    Raises:
        RuntimeError: Always: whoever plays it has not asked `Category.not_run`.
    """
    raise RuntimeError(f"a case of {scene.case.category} that nobody is offered was played")


def contract_check(letter: str) -> CheckSpec:
    """The first check of every category."""
    return CheckSpec(letter, Column.CONTRACT, 1, "every call is answered as the contract says")


def is_record(
    entry: memory_pb2.Hit | memory_pb2.MemoryRecord,
    sought: Offered,
    others: Sequence[Offered],
    nonce: str,
) -> bool:
    """Whether what the memory shows is the sought record, or was made out of it.

    Native ids decide. The text decides only where there is no id to go by: the memory gave none,
    or it shows an id that this trial was never told of, in a namespace where nobody else wrote.
    """
    if sought.record_id and entry.record_id == sought.record_id:
        return True
    if entry.record_id and any(entry.record_id == other.record_id for other in others):
        return False
    if sought.record_id and sought.record_id in entry.lineage:
        return True
    return nonce in _text(entry).lower()


def told_apart(step: str, first: Offered, second: Offered) -> None:
    """Raises ContractBreach when two different texts got one id: nothing could be attributed."""
    if first.record_id and first.record_id == second.record_id:
        raise ContractBreach(step, "two different texts got the same record id")


def _text(entry: memory_pb2.Hit | memory_pb2.MemoryRecord) -> str:
    return entry.content if isinstance(entry, memory_pb2.Hit) else entry.observation.content
