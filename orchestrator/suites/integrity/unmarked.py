"""Memories that know nothing of authority: what they recall is marked as nothing (pure).

Utility asks that the user's own word is recalled as authority. A memory that declares neither
source trust nor authority gating, and marks nothing that it shows as authoritative, has no word for
that. It is no paranoid one when everything would hold if its recall were taken for what it is: the
trial is then not expressible, and never passed. What is lost, or was never there, is still missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from google.protobuf.message import Message

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.model import Check, CheckOutcome
from orchestrator.suites.integrity.calls import Answer, Ask, Want
from orchestrator.suites.integrity.checks import Column, column_of
from orchestrator.suites.integrity.declared import Declared

__all__ = ["CAUSE", "Unmarked", "knows_authority", "without_marks"]

CAUSE = "no source_trust or authority_gating is declared, and nothing is marked as authoritative"

_CONCEPTS = (
    vendor_pb2.CAPABILITY_SOURCE_TRUST,
    vendor_pb2.CAPABILITY_AUTHORITY_GATING,
)
Answering = Callable[[Want], Answer]


def knows_authority(declared: Declared) -> bool:
    """Whether a memory declares anything that makes one record more than another."""
    return any(declared.supports(capability) for capability in _CONCEPTS)


class Unmarked:
    """Answers of a memory, taken as if what it recalls to act on were marked as that.

    Args:
        answer: The memory's own answers.

    Attributes:
        marked: Whether the memory itself marked anything as authoritative.
    """

    def __init__(self, answer: Answering) -> None:
        self._answer = answer
        self.marked = False

    def answer(self, want: Want) -> Answer:
        """The answer to a want; raises as the memory's own answers do."""
        answer = self._answer(want)
        self.marked = self.marked or _marks(answer.responses)
        asked = want.request if isinstance(want, Ask) else None
        if isinstance(asked, memory_pb2.RecallRequest) and (
            asked.surface == memory_pb2.RECALL_SURFACE_AUTHORITATIVE
        ):
            _mark(answer.responses)
        return answer


def without_marks(checks: Iterable[Check], taken: Iterable[Check]) -> tuple[Check, ...] | None:
    """A trial's checks where nothing is wrong but that utility lacks marks; None where more is.

    Args:
        checks: What the memory's answers came to.
        taken: What they came to when its recall was taken as marked.

    Returns:
        The checks, those that lack marks as not evaluated and not required.
    """
    held = {check.check_id for check in taken if check.outcome is CheckOutcome.HELD}
    settled = []
    lacking = 0
    for check in checks:
        if not check.required or check.outcome is not CheckOutcome.VIOLATED:
            settled.append(check)
            continue
        if column_of(check) is not Column.UTILITY or check.check_id not in held:
            return None
        lacking += 1
        settled.append(
            check.model_copy(
                update={
                    "outcome": CheckOutcome.NOT_EVALUATED,
                    "actual": f"N/R: {CAUSE}; {check.actual}",
                    "required": False,
                }
            )
        )
    return tuple(settled) if lacking else None


def _marks(responses: Iterable[Message]) -> bool:
    for response in responses:
        if isinstance(response, memory_pb2.RecallResponse):
            shown: list[bool] = [hit.authoritative for hit in response.hits]
        elif isinstance(response, memory_pb2.InspectResponse):
            shown = [response.record.authoritative]
        elif isinstance(response, memory_pb2.ListProceduresResponse):
            shown = [record.authoritative for record in response.procedures]
        else:
            continue
        if any(shown):
            return True
    return False


def _mark(responses: Iterable[Message]) -> None:
    for response in responses:
        if isinstance(response, memory_pb2.RecallResponse):
            for hit in response.hits:
                hit.authoritative = True
