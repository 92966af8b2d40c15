"""A judged operation: what the oracle says of every answer, as frozen values (DESIGN §6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.oracle.messages import DecisionKind
from orchestrator.oracle.particulars import Problem
from orchestrator.oracle.worlds import Row

__all__ = ["CallJudgement", "Classification", "OperationJudgement"]


class Classification(StrEnum):
    """What one answer is."""

    OK = "ok"
    BOUNDARY = "boundary"
    UNSAFE = "unsafe"
    NEEDLESS = "needless"
    MALFORMED = "malformed"


@dataclass(frozen=True)
class CallJudgement:
    """One answer, judged.

    Attributes:
        call_id: The interposer's id.
        sequence: Trace sequence of the answer.
        source: Who asked.
        method: "Begin", "RecordReceipt", …
        incarnation_id: Asking life of the host; empty where the call has none.
        observed: The answer in words, "EXECUTE", "OK(COMPLETED)", "REFUSED(7)".
        kind: Kind of the decision; None for what is no decision.
        reason: Reason code of the decision.
        attempt: Attempt that the decision names; 0 without one.
        remaining_ms: Time that the decision tells to be left: of a lease, or until asking again.
        allowed: Labels of every allowed answer, sorted.
        rows: Rows that allow the observed answer; of every possible world when nothing allows it.
        classification: The verdict on this answer.
        problems: What is wrong with the particulars of an allowed answer.
        forwarded_ns: When the request was forwarded (interposer time).
        answered_ns: When the answer was seen; None when none was.
    """

    call_id: int
    sequence: int
    source: str
    method: str
    incarnation_id: str
    observed: str
    kind: DecisionKind | None
    reason: str
    attempt: int
    remaining_ms: int
    allowed: tuple[str, ...]
    rows: tuple[Row, ...]
    classification: Classification
    problems: tuple[Problem, ...]
    forwarded_ns: int
    answered_ns: int | None

    @property
    def violates(self) -> bool:
        """Whether a correct memory cannot have answered this."""
        return self.classification not in (Classification.OK, Classification.BOUNDARY)


@dataclass(frozen=True)
class OperationJudgement:
    """Every answer of one operation, judged, in the order in which the answers were seen.

    Attributes:
        operation_id: The operation.
        calls: One entry for each answer; missing answers that nothing excuses come last.
    """

    operation_id: str
    calls: tuple[CallJudgement, ...]

    @property
    def decisions(self) -> tuple[CallJudgement, ...]:
        """The answers to Begin."""
        return tuple(call for call in self.calls if call.method == "Begin")

    @property
    def violations(self) -> tuple[CallJudgement, ...]:
        """The answers that a correct memory cannot have given."""
        return tuple(call for call in self.calls if call.violates)

    @property
    def boundary(self) -> bool:
        """Whether an answer is allowed only because an instant is known by bounds."""
        return any(call.classification is Classification.BOUNDARY for call in self.calls)

    @property
    def grant_outside(self) -> bool:
        """Whether some EXECUTE was outside the oracle: extra effects are then the memory's."""
        return any(
            call.violates and call.kind is DecisionKind.EXECUTE and call.method == "Begin"
            for call in self.calls
        )

    def count(self, classification: Classification) -> int:
        """How many answers are of one class."""
        return sum(call.classification is classification for call in self.calls)

    def history(self) -> tuple[str, ...]:
        """P5's history: `kind:reason:attempt` of each decision, consecutive WAITs collapsed."""
        told: list[str] = []
        for call in self.decisions:
            if call.kind is None:
                told.append(call.observed)
                continue
            entry = f"{call.kind}:{call.reason}:{call.attempt}"
            repeated = call.kind is DecisionKind.WAIT and told and told[-1] == entry
            if not repeated:
                told.append(entry)
        return tuple(told)
