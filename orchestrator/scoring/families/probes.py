"""What the evaluator asked in a host's place, found in the trace by the labels of its play."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import grpc

from memqual.v1 import continuity_pb2, interposer_pb2
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families.facts import CaseFacts, Judge

__all__ = ["Probe", "every", "marks_of", "probes_of", "refused_with"]

_SERVICES = ("/memqual.v1.ContinuityService/", "/memqual.v1.MemoryService/")
_ENDS = frozenset(
    (interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED, interposer_pb2.TRACE_KIND_UPSTREAM_FAILED)
)
_REQUIREMENT_OF_RIG = "MQ-C-10"


@dataclass(frozen=True)
class Probe:
    """One labelled question and what came of it.

    Attributes:
        name: Its label.
        method: Method of ContinuityService, or of MemoryService.
        status_code: gRPC's number; None when nothing was seen.
        payload: The answer as it was on the wire.
    """

    name: str
    method: str
    status_code: int | None
    payload: bytes

    @property
    def status(self) -> str:
        """The status by name; "NO ANSWER" when nothing was seen."""
        known = {code.value[0]: code.name for code in grpc.StatusCode}
        return "NO ANSWER" if self.status_code is None else known.get(self.status_code, "UNKNOWN")

    @property
    def kind(self) -> str:
        """Kind of a decision, in capitals; empty for what is none."""
        if self.status_code != 0 or self.method != "Begin":
            return ""
        decision = continuity_pb2.BeginResponse.FromString(self.payload).decision
        return (decision.WhichOneof("kind") or "").upper()

    @property
    def words(self) -> str:
        """Label and answer for a report."""
        return f"{self.name}: {self.kind or self.status}"


def probes_of(facts: BatchFacts, workflow_id: str) -> tuple[Probe, ...]:
    """Every labelled question of one trial, in order, with its answer."""
    found: list[tuple[str, interposer_pb2.TraceRecord]] = []
    ends: dict[int, interposer_pb2.TraceRecord] = {}
    name: str | None = None
    for record in facts.trace:
        if record.kind == interposer_pb2.TRACE_KIND_MARK:
            mark = json.loads(record.mark_json)
            if mark.get("kind") == "probe":
                name = mark["name"] if mark["workflow"] == workflow_id else None
        elif record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED:
            if name is not None and _is_evaluators(record):
                found.append((name, record))
                name = None
        elif record.kind in _ENDS:
            ends.setdefault(record.call_id, record)
    return tuple(_probe(name, record, ends.get(record.call_id)) for name, record in found)


def marks_of(facts: BatchFacts, kind: str, workflow_id: str) -> list[dict[str, str]]:
    """The evaluator's marks of one kind about one trial, in order."""
    marks = (
        json.loads(record.mark_json)
        for record in facts.trace
        if record.kind == interposer_pb2.TRACE_KIND_MARK
    )
    return [
        {key: str(value) for key, value in mark.items()}
        for mark in marks
        if mark.get("kind") == kind and mark.get("workflow") == workflow_id
    ]


def every(
    check_id: str,
    holds: Callable[[Probe], bool],
    expected: str,
    names: Iterable[str] = (),
) -> Judge:
    """A judge to whom every labelled question of a case must have come to the same.

    Where the memory granted nothing to ask about, which the oracle has judged, nothing is checked.

    Args:
        check_id: The rule's own check.
        holds: Whether a question came to what it must come to.
        expected: That, in words.
        names: Labels that must be there, each once at least; by default any.
    """
    wanted = frozenset(names)

    def judge(trial: CaseFacts) -> None:
        probes = probes_of(trial.facts, trial.member.workflow_id)
        asked = [one for one in probes if not wanted or one.name in wanted]
        missing = sorted(wanted - {one.name for one in asked})
        bad = [one.words for one in asked if not holds(one)]
        if not asked or missing:
            _ask_why(trial, ", ".join(missing) or "no question", wrong=bool(bad))
        if asked:
            told = "; ".join(bad)
            trial.find.that(check_id, trial.case.requirement_id, not bad, expected, told)

    return judge


def refused_with(*codes: grpc.StatusCode) -> Callable[[Probe], bool]:
    """Whether a question was refused, by one of these statuses; by any definite one without."""
    numbers = frozenset(code.value[0] for code in codes or _DEFINITE)
    return lambda probe: probe.status_code in numbers


_DEFINITE = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.UNAUTHENTICATED,
)


def _ask_why(trial: CaseFacts, lacking: str, *, wrong: bool) -> None:
    """Questions that a play could not get to are the rig's doing, or an answer's before them."""
    explained = wrong or any(call.violates for call in trial.calls)
    trial.find.rig(
        "rig.probe",
        _REQUIREMENT_OF_RIG,
        explained,
        "every question of the case was asked, or a wrong answer kept it from being asked",
        f"never asked: {lacking}",
    )


def _is_evaluators(record: interposer_pb2.TraceRecord) -> bool:
    return (
        record.edge.source == "orchestrator"
        and record.edge.target == "memory"
        and record.method.startswith(_SERVICES)
    )


def _probe(
    name: str,
    record: interposer_pb2.TraceRecord,
    end: interposer_pb2.TraceRecord | None,
) -> Probe:
    return Probe(
        name=name,
        method=record.method.rpartition("/")[2],
        status_code=None if end is None else end.status_code,
        payload=b"" if end is None else end.payload,
    )
