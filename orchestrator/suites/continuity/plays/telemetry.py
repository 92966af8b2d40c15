"""Plays of `families.telemetry`."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import grpc

from chaos.faults import ActiveFault
from chaos.receipts import TelemetryReceipt
from chaos.telemetry_faults import EMIT, ObserverDown, TelemetryFault
from chaos.tracing import TraceKind
from memqual.v1 import agent_pb2, common_pb2, observer_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.families.network_points import MESSAGES
from orchestrator.suites.continuity.families.telemetry import (
    COUNTED_MARK,
    DISTURBANCES,
    KEPT_MARK,
    PHASE_MARK,
    RESET_CASE,
    Disturbance,
)
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.plays.network import disturb, prove, recover
from orchestrator.suites.continuity.probe import probe_completed
from orchestrator.suites.continuity.specs import receipt_for, spec_of
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import JsonValue

__all__ = ["PLAYS"]

_FLUSH_SECONDS = 3.0
_QUIET_SECONDS = 0.5
_LOOK_SECONDS = 0.1
_ASKED_AT_ONCE = 6
_WRONG_MICROS = 999_999_999_999


def _grouped(stage: Stage) -> None:
    """The group's operations, under one trouble with telemetry."""
    disturbance = DISTURBANCES[stage.cell.case]
    _mark_counted(stage, "before")
    fault = stage.do("trouble", lambda: _trouble(stage, disturbance))
    try:
        met = disturb(stage, MESSAGES[RESET_CASE])
        stage.do("start", stage.rig.start)
        if disturbance.prices:
            stage.do("prices", lambda: _emit_prices(stage))
        stage.do("settle", lambda: stage.settle("live"))
        met.lift()
        recover(stage)
        prove(stage, met)
        # Another life asks once more: what is complete is reused, what is not, is not retried.
        stage.do("probe", lambda: probe_completed(stage.rig, stage.trace_first))
        _mark_counted(stage, "after")
    finally:
        if fault is not None:
            stage.keep(fault.lift())
    if disturbance.prices:
        stage.do("kept", lambda: _mark_kept(stage))


def _trouble(stage: Stage, disturbance: Disturbance) -> ActiveFault | None:
    observer = stage.context.stack.service("observer")
    if disturbance.trouble == "":
        return None
    if disturbance.trouble == "observer_down":
        return ObserverDown(stage.interposer).inject(observer)
    rule_id = f"telemetry-{stage.batch.batch_id}"
    fault = TelemetryFault(stage.interposer, disturbance.trouble, rule_id, disturbance.delay_ms)
    return fault.inject(observer)


def _mark_counted(stage: Stage, when: str) -> None:
    """How many events the host could not send so far."""
    request = agent_pb2.StatusRequest(workflow_ids=stage.rig.workflow_ids)
    answer = stage.context.session.active.agent.Status(request)
    stage.interposer.mark(
        {
            "kind": COUNTED_MARK,
            "when": when,
            "host": stage.context.session.active.service,
            "dropped": answer.telemetry_dropped,
        }
    )


def _emit_prices(stage: Stage) -> None:
    """Usage and prices of every operation, as an emitter might report them."""
    for member in stage.batch.members:
        for event in _priced(stage, member):
            try:
                stage.context.session.observer.Emit(observer_pb2.EmitRequest(events=[event]))
            except grpc.RpcError:
                # A refusal is an answer: it is in the trace and judged there.
                continue


def _priced(stage: Stage, member: Member) -> tuple[observer_pb2.TelemetryEvent, ...]:
    def event(name: str) -> observer_pb2.TelemetryEvent:
        return observer_pb2.TelemetryEvent(
            event_id=f"{name}-{member.workflow_id}",
            run_id=stage.context.run_id,
            workflow_id=member.workflow_id,
            kind=observer_pb2.EVENT_KIND_MODEL_CALLED,
        )

    unknown, wrong, malformed = event("unknown"), event("wrong"), event("malformed")
    unknown.usage.input_tokens = 1
    wrong.usage.output_tokens = _WRONG_MICROS
    wrong.price.amount_micros = _WRONG_MICROS
    wrong.price.currency = "XTS"
    wrong.price.provenance = "table"
    malformed.price.amount_micros = 1
    return unknown, wrong, malformed


def _mark_kept(stage: Stage) -> None:
    """What the observer keeps of the evaluator's events, workflow by workflow."""
    kept: dict[str, list[JsonValue]] = {one: [] for one in stage.rig.workflow_ids}
    request = observer_pb2.ReadEventsRequest(from_sequence=1)
    for answer in stage.context.session.observer_audit.ReadEvents(request, timeout=60):
        payload = json.loads(answer.record.payload_json)
        workflow = payload.get("workflow_id", "")
        name, _, of_workflow = payload.get("event_id", "").partition("-")
        if workflow in kept and of_workflow == workflow:
            kept[workflow].append({"name": name, "price": payload.get("price")})
    for workflow, events in kept.items():
        stage.interposer.mark({"kind": KEPT_MARK, "workflow": workflow, "events": events})


def _content(stage: Stage) -> None:
    """Results that no telemetry may carry, by both ways in which a memory is told them."""
    for member in stage.batch.members:
        host, spec = _host(stage, member), spec_of(member)
        decision = host.begin(spec).answer
        if decision is not None and decision.execute.attempt:
            receipt = receipt_for(spec, decision.execute.attempt, _canary(member, "receipt"))
            host.record(spec, decision.execute.attempt, decision.execute.lease_token, receipt)
        host.begin(spec)
        host.begin(spec_of(member, "asked"))
    stage.do("expire", stage.reach_lease_end)
    for member in stage.batch.members:
        host, spec = _host(stage, member), spec_of(member, "asked")
        decision = host.begin(spec).answer
        if decision is not None and decision.query.attempt:
            query = decision.query
            receipt = receipt_for(spec, query.attempt, _canary(member, "query"))
            present = common_pb2.EFFECT_PRESENCE_PRESENT
            host.record_query(spec, query.attempt, query.query_ticket, present, receipt)
            host.begin(spec)
    stage.do("flush", lambda: _await_flush(stage))


def _host(stage: Stage, member: Member) -> Incarnation:
    return Incarnation(stage.context.session, f"host-{member.workflow_id}")


def _canary(member: Member, where: str) -> str:
    text = f"canary:{member.sub_seed}:{member.workflow_id}:{where}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _await_flush(stage: Stage) -> None:
    """Give emitters the time to send what they have, bounded."""
    deadline = time.monotonic() + _FLUSH_SECONDS
    seen, quiet_since = -1, time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - quiet_since < _QUIET_SECONDS:
        emitted = sum(
            record.kind is TraceKind.REQUEST_RECEIVED and record.method == EMIT
            for record in stage.interposer.trace(stage.trace_first)
        )
        if emitted != seen:
            seen, quiet_since = emitted, time.monotonic()
        time.sleep(_LOOK_SECONDS)


def _waiting(stage: Stage) -> None:
    """The same questions before, while and after the observer keeps its answers."""
    observer = stage.context.stack.service("observer")
    _ask_all(stage, "before")
    rule_id = f"telemetry-{stage.batch.batch_id}"
    fault = TelemetryFault(stage.interposer, "slow", rule_id).inject(observer)
    try:
        _ask_all(stage, "slow")
    finally:
        receipt = fault.lift()
    # A memory that sends no telemetry waits for nobody; nothing is to be proven then.
    if isinstance(receipt, TelemetryReceipt) and receipt.events_affected:
        stage.keep(receipt)
    stage.do("flush", lambda: _await_flush(stage))
    _ask_all(stage, "after")


def _ask_all(stage: Stage, phase: str) -> None:
    stage.step = phase
    stage.interposer.mark({"kind": PHASE_MARK, "phase": phase})

    def ask(member: Member) -> None:
        host, spec = _host(stage, member), spec_of(member, phase)
        decision = host.begin(spec).answer
        if decision is not None and decision.execute.attempt:
            execute = decision.execute
            receipt = receipt_for(spec, execute.attempt)
            host.record(spec, execute.attempt, execute.lease_token, receipt)

    with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
        list(pool.map(ask, stage.batch.members))


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    **dict.fromkeys(DISTURBANCES, _grouped),
    "telemetry.content": _content,
    "telemetry.waiting": _waiting,
}
