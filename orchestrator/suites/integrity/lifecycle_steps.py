"""What scripts do to a record after it was admitted, and to the whole memory around it.

Each is a generator to be used with `yield from`, as those of `steps`. No capability stands for
these methods: a memory without one (UNIMPLEMENTED) is not served, and not wrong.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    REFUSALS,
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    Needle,
    NotPossible,
    NotServed,
    PassTime,
    Restart,
    ScanVolume,
    method_of,
)
from orchestrator.suites.integrity.steps import Offered, call, offered_by, response_of, state_words

__all__ = [
    "NOT_FOUND",
    "Changed",
    "Reported",
    "Shown",
    "archive",
    "forget",
    "inspect",
    "pass_time",
    "quarantine",
    "record_outcome",
    "restart",
    "scan_volume",
    "supersede",
]

NOT_FOUND = "NOT_FOUND"
_NOT_SHOWN = frozenset({NOT_FOUND, "PERMISSION_DENIED"})


@dataclass(frozen=True)
class Changed:
    """What became of a change of a record's state.

    Attributes:
        record_ids: Every record that the memory says changed; always empty for Archive.
        refusal: Name of the status that refused it; empty when it was done.
    """

    record_ids: tuple[str, ...]
    refusal: str = ""

    @property
    def done(self) -> bool:
        """Whether the memory says that it did it."""
        return not self.refusal


@dataclass(frozen=True)
class Shown:
    """What Inspect shows of a record.

    Attributes:
        record: The record; None when the memory knows none by that id, or does not show it.
    """

    record: memory_pb2.MemoryRecord | None

    @property
    def state(self) -> memory_pb2.RecordState.ValueType:
        """The record's state; unspecified without one."""
        return memory_pb2.RECORD_STATE_UNSPECIFIED if self.record is None else self.record.state

    @property
    def authoritative(self) -> bool:
        """Whether the memory says that an agent may act on it; False without a record."""
        return self.record is not None and self.record.authoritative

    @property
    def words(self) -> str:
        """It in words, for a report."""
        if self.record is None:
            return "unknown to Inspect"
        told = state_words(self.record.state)
        return f"shown as {told}, {'' if self.record.authoritative else 'not '}authoritative"


@dataclass(frozen=True)
class Reported:
    """What became of a reported outcome.

    Attributes:
        record: The procedure afterwards; None when the report was refused.
        refusal: Name of the status that refused it; empty when it was taken.
    """

    record: memory_pb2.MemoryRecord | None
    refusal: str = ""


def supersede(
    step: str, scope: memory_pb2.Scope, record_id: str, observation: memory_pb2.Observation
) -> Generator[Ask, Answer, Offered]:
    """Offer an observation in the place of a record.

    Raises:
        NotServed: The memory has no Supersede.
        ContractBreach: It answers neither with an admission nor with a refusal.
    """
    request = memory_pb2.SupersedeRequest(scope=scope, record_id=record_id, observation=observation)
    answer = yield from _served(step, request, REFUSALS)
    return offered_by(step, answer, memory_pb2.SupersedeResponse)


def quarantine(
    step: str, scope: memory_pb2.Scope, record_id: str, reason: str
) -> Generator[Ask, Answer, Changed]:
    """Have a record, and what was derived from it, taken out of authority.

    Raises:
        NotServed: The memory has no Quarantine.
        ContractBreach: It answers neither with what changed nor with a refusal.
    """
    request = memory_pb2.QuarantineRequest(scope=scope, record_id=record_id, reason=reason)
    answer = yield from _served(step, request, REFUSALS)
    if answer.status != OK:
        return Changed((), answer.status)
    return Changed(tuple(response_of(step, answer, memory_pb2.QuarantineResponse).record_ids))


def forget(step: str, scope: memory_pb2.Scope, record_id: str) -> Generator[Ask, Answer, Changed]:
    """Have a record's content removed for good; raises as `quarantine`."""
    request = memory_pb2.ForgetRequest(scope=scope, record_id=record_id)
    answer = yield from _served(step, request, REFUSALS)
    if answer.status != OK:
        return Changed((), answer.status)
    return Changed(tuple(response_of(step, answer, memory_pb2.ForgetResponse).record_ids))


def archive(step: str, scope: memory_pb2.Scope, record_id: str) -> Generator[Ask, Answer, Changed]:
    """Have a record put out of use and kept; raises as `quarantine`."""
    request = memory_pb2.ArchiveRequest(scope=scope, record_id=record_id)
    answer = yield from _served(step, request, REFUSALS)
    if answer.status != OK:
        return Changed((), answer.status)
    response_of(step, answer, memory_pb2.ArchiveResponse)
    return Changed(())


def inspect(step: str, scope: memory_pb2.Scope, record_id: str) -> Generator[Ask, Answer, Shown]:
    """Look at one record; one that is unknown (NOT_FOUND) is shown as none.

    So is one that the memory shows to others only (PERMISSION_DENIED): whatever needs it to be seen
    lacks it.

    Raises:
        NotServed: The memory has no Inspect.
        ContractBreach: Any other status, or OK without a record.
    """
    request = memory_pb2.InspectRequest(scope=scope, record_id=record_id)
    answer = yield from _served(step, request, _NOT_SHOWN)
    if answer.status in _NOT_SHOWN:
        return Shown(None)
    return Shown(_stated(step, response_of(step, answer, memory_pb2.InspectResponse).record))


def record_outcome(
    step: str,
    scope: memory_pb2.Scope,
    record_id: str,
    outcome: memory_pb2.ProcedureOutcome.ValueType,
    utility: float,
) -> Generator[Ask, Answer, Reported]:
    """Report how a procedure did; raises as `quarantine`.

    Args:
        step: Where in the script.
        scope: The procedure's circle.
        record_id: The procedure.
        outcome: `memory_pb2.PROCEDURE_OUTCOME_*`.
        utility: 0.0 .. 1.0
    """
    request = memory_pb2.RecordOutcomeRequest(
        scope=scope, record_id=record_id, outcome=outcome, utility=utility
    )
    answer = yield from _served(step, request, REFUSALS)
    if answer.status != OK:
        return Reported(None, answer.status)
    response = response_of(step, answer, memory_pb2.RecordOutcomeResponse)
    return Reported(_stated(step, response.record))


def restart(step: str) -> Generator[Restart, Answer, None]:
    """Have the memory killed while it is idle, and started again."""
    yield Restart(step)


def pass_time(step: str, until_unix_ns: int) -> Generator[PassTime, Answer, None]:
    """Have the memory's clock pass a moment, by that clock.

    Raises:
        NotPossible: Its clock cannot be set on this machine.
    """
    answer = yield PassTime(step, until_unix_ns)
    if answer.details:
        raise NotPossible(answer.details)


def scan_volume(
    step: str, needles: Sequence[Needle]
) -> Generator[ScanVolume, Answer, Mapping[str, tuple[str, ...]]]:
    """Look through every byte of the memory's volume.

    Returns:
        The forms in which each needle that is there was found, by the needle's name.
    """
    answer = yield ScanVolume(step, tuple(needles))
    return dict(answer.found)


def _served(
    step: str, request: Message, refusals: frozenset[str]
) -> Generator[Ask, Answer, Answer]:
    answer = yield from call(step, request, refusals=refusals | {UNIMPLEMENTED})
    if answer.status == UNIMPLEMENTED:
        raise NotServed(method_of(request).name)
    return answer


def _stated(step: str, record: memory_pb2.MemoryRecord) -> memory_pb2.MemoryRecord:
    if not record.state or record.state not in memory_pb2.RecordState.values():
        raise ContractBreach(step, "the answer has no record with a state")
    return record
