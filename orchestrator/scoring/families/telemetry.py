"""Judges of `families.telemetry`: what telemetry carried, and whether anybody waited for it.

That decisions are the same whatever happens to telemetry is judged over all cells of the parity
group (`scoring.parity`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chaos.telemetry_faults import EMIT
from memqual.v1 import interposer_pb2, observer_pb2
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.telemetry_content import (
    Emitted,
    Secret,
    emitted,
    leaks,
    secrets_of,
    unlisted,
)
from orchestrator.scoring.telemetry_waiting import marks_of, waited_for
from orchestrator.suites.continuity.families.telemetry import (
    COUNTED_MARK,
    DISTURBANCES,
    KEPT_MARK,
)

__all__ = ["JUDGES"]

_HOSTS = frozenset({"agent", "standby"})
_HEARD_AT_ONCE = frozenset({"errors"})
"""Troubles that an emitter hears of at once, so that its counter must show them.

Where a dead observer was a container, nobody refuses the connection: that takes its time.
"""
_UNDER_WAY = 1
"""Events that an emitter may have been sending when the trace began."""


def _carries_ids_only(trial: CaseFacts) -> None:
    """No content and no field beyond the contract's, whoever sent it."""
    secrets = _secrets(trial)
    calls = emitted(trial.facts.trace)
    for prefix, sent in (
        ("continuity", [one for one in calls if one.source == "memory"]),
        ("rig", [one for one in calls if one.source in _HOSTS]),
    ):
        check = trial.find.rig if prefix == "rig" else trial.find.that
        told = _told(secrets, sent)
        check(f"{prefix}.telemetry.content", "MQ-C-66", not told, "ids, no content", told)
        told = _outside(_about(trial, sent))
        check(f"{prefix}.telemetry.allowed", "MQ-C-67", not told, "what is listed", told)


def _told(secrets: frozenset[Secret], calls: Iterable[Emitted]) -> str:
    found = leaks(secrets, calls)
    return "; ".join(f"{name} ({', '.join(forms)})" for name, forms in found.items())


def _outside(calls: Iterable[Emitted]) -> str:
    return "; ".join(sorted({text for one in calls if (text := unlisted(one))}))


def _secrets(trial: CaseFacts) -> frozenset[Secret]:
    workflow = trial.member.workflow_id
    allowed = (workflow, *trial.facts.operations.get(workflow, ()))
    return secrets_of(trial.facts.trace, workflow, allowed)


def _about(trial: CaseFacts, calls: Iterable[Emitted]) -> list[Emitted]:
    """The calls that name the trial's workflow, or nobody's of the batch."""
    others = {one.workflow_id for one in trial.facts.evidence.batch.members}
    others.discard(trial.member.workflow_id)
    return [one for one in calls if not one.workflow_ids or not one.workflow_ids <= others]


def _grouped(trial: CaseFacts) -> None:
    _carries_ids_only(trial)
    disturbance = DISTURBANCES[trial.case.name]
    _check_counted(trial, heard=disturbance.trouble in _HEARD_AT_ONCE)
    if disturbance.prices:
        _check_prices(trial)


def _check_counted(trial: CaseFacts, *, heard: bool) -> None:
    """The host counts what it could not send, and no more than it had."""
    marks = marks_of(trial.facts.trace, COUNTED_MARK)
    if len(marks) < 2:
        trial.find.open("rig.telemetry.counted", "MQ-C-69", "the host's counter was not read")
        return
    dropped = int(str(marks[-1]["dropped"])) - int(str(marks[0]["dropped"]))
    sent = sum(
        len(observer_pb2.EmitRequest.FromString(one.payload).events)
        for one in emitted(trial.facts.trace)
        if one.source in _HOSTS
    )
    least = 1 if heard else 0
    trial.find.rig(
        "rig.telemetry.counted",
        "MQ-C-69",
        least <= dropped <= sent + _UNDER_WAY,
        f"{least} to {sent + _UNDER_WAY} events that the host could not send",
        f"{dropped}",
    )


def _check_prices(trial: CaseFacts) -> None:
    """The observer: unknown stays unknown, wrong stays as it was said, malformed is refused."""
    workflow = trial.member.workflow_id
    kept = [
        {str(one["name"]): one["price"] for one in mark["events"]}
        for mark in marks_of(trial.facts.trace, KEPT_MARK)
        if mark.get("workflow") == workflow
    ]
    said = _prices_said(trial, workflow)
    trial.find.rig(
        "rig.telemetry.prices",
        "MQ-C-69",
        kept == [said] and len(said) > 1,
        f"kept as said: {said}",
        f"{kept}",
    )


def _prices_said(trial: CaseFacts, workflow: str) -> dict[str, object]:
    """The prices of the evaluator's events that the observer took, by event."""
    taken = {
        record.call_id
        for record in trial.facts.trace
        if record.kind == interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED and not record.status_code
    }
    said: dict[str, object] = {}
    for record in trial.facts.trace:
        if (
            record.kind != interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
            or record.method != EMIT
            or record.edge.source != "orchestrator"
            or record.call_id not in taken
        ):
            continue
        for event in observer_pb2.EmitRequest.FromString(record.payload).events:
            if event.workflow_id == workflow:
                price = event.price if event.HasField("price") else None
                said[event.event_id.partition("-")[0]] = price and {
                    "amount_micros": price.amount_micros,
                    "currency": price.currency,
                    "provenance": price.provenance,
                }
    return said


def _content(trial: CaseFacts) -> None:
    _carries_ids_only(trial)
    searched = {secret.name for secret in _secrets(trial)}
    trial.find.rig(
        "rig.telemetry.searched",
        trial.case.requirement_id,
        bool(searched & {"lease token", "result"}),
        "there was something to look for",
        f"{sorted(searched)}",
    )


def _waiting(trial: CaseFacts) -> None:
    _carries_ids_only(trial)
    told = waited_for(trial.facts.trace)
    trial.find.that(
        "continuity.telemetry.waiting",
        trial.case.requirement_id,
        not told,
        "answers do not wait for the observer",
        told,
    )


JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(DISTURBANCES, _grouped),
    "telemetry.content": _content,
    "telemetry.waiting": _waiting,
}
