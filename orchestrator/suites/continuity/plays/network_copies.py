"""Plays of `families.network` in which the evaluator sends what a network would bring late.

A copy is the very bytes of a request that was sent before. Nothing waits for a clock of the
network: each copy is sent when the operation stands where the case wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import grpc

from chaos.network_faults import Disturbance, message_rule
from chaos.windows import BEGIN, INVOKE, RECORD_RECEIPT
from memqual.v1 import common_pb2, continuity_pb2, destination_pb2, interposer_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.families.network_points import (
    ALL_POINTS,
    MESSAGES,
    RENEWALS,
    point_of,
    rule_id_of,
)
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.plays.network_arrivals import await_delayed
from orchestrator.suites.continuity.specs import receipt_for, spec_of
from orchestrator.suites.continuity.stage import Stage

__all__ = ["COPIES"]

_ABSENT_FINAL = common_pb2.EFFECT_PRESENCE_ABSENT_FINAL


class _Asking:
    """One life of a host that the evaluator plays for one trial, and its latest grant."""

    def __init__(self, stage: Stage, member: Member, life: str = "first") -> None:
        self.host = Incarnation(stage.context.session, f"{life}-{member.workflow_id}")
        self.spec = spec_of(member)
        self.granted = continuity_pb2.Execute()
        self.query = continuity_pb2.Query()

    def begin(self, begin_id: str | None = None) -> str:
        """Ask; returns the kind of the decision, empty without one."""
        decision = self.host.begin(self.spec, begin_id).answer
        kind = "" if decision is None else decision.WhichOneof("kind") or ""
        if decision is not None and kind == "execute":
            self.granted = decision.execute
        if decision is not None and kind == "query":
            self.query = decision.query
        return kind

    def absent(self, asked: continuity_pb2.Query) -> None:
        """Tell that the destination has fenced the attempt and found nothing."""
        self.host.record_query(self.spec, asked.attempt, asked.query_ticket, _ABSENT_FINAL)

    def complete(self) -> None:
        """Record a receipt of the latest grant."""
        if self.granted.attempt:
            receipt = receipt_for(self.spec, self.granted.attempt)
            self.host.record(self.spec, self.granted.attempt, self.granted.lease_token, receipt)


def _begin_again(stage: Stage) -> None:
    asked = [_Asking(stage, member) for member in stage.batch.members]
    for one in asked:
        one.begin("the-first")
    stage.do("expire", stage.reach_lease_end)
    for one in asked:
        if one.begin("the-first") == "query":
            one.absent(one.query)
            one.begin()
            one.begin("the-first")
        one.complete()
        one.begin("the-first")


def _query_again(stage: Stage) -> None:
    asked = [_Asking(stage, member) for member in stage.batch.members]
    for one in asked:
        one.begin()
    stage.do("expire", stage.reach_lease_end)
    told: list[tuple[_Asking, continuity_pb2.Query]] = []
    for one in asked:
        if one.begin() == "query":
            told.append((one, one.query))
            one.absent(one.query)
        one.begin()
    stage.do("expire_again", stage.reach_lease_end)
    for one, query in told:
        one.absent(query)
        one.begin()


def _other_life(stage: Stage) -> None:
    for member in stage.batch.members:
        first, other = _Asking(stage, member), _Asking(stage, member, "other")
        first.begin("the-one")
        other.begin("the-one")
        first.begin("the-one")
        first.complete()
        other.begin("the-one")


def _renewals(stage: Stage) -> None:
    fault = MESSAGES[stage.cell.case]
    rules = []
    for position, member in enumerate(stage.batch.members):
        point = point_of(fault.points, position)
        rule_id = f"{rule_id_of(stage.batch.batch_id, point)}-{position}"
        rules.append(
            message_rule(point.hold, fault.action, [member.workflow_id], rule_id, fault.delay_ms)
        )
    disturbed = Disturbance(stage.interposer, fault.action, fault.direction, tuple(rules)).inject()
    # At once, so that one renewal can overtake another.
    with ThreadPoolExecutor(len(stage.batch.members)) as pool:
        for done in [pool.submit(_renew, stage, member) for member in stage.batch.members]:
            done.result()
    if fault.action == "delayed":
        stage.do("arrive", lambda: await_delayed(stage, fault, disturbed))
    stage.keep(disturbed.receipt())


def _renew(stage: Stage, member: Member) -> None:
    asking = _Asking(stage, member)
    asking.begin()
    for _ in RENEWALS:
        asking.host.renew(asking.spec, asking.granted.attempt, asking.granted.lease_token)
    asking.complete()
    asking.begin()


def _after_completion(stage: Stage, *methods: str) -> None:
    stage.do("start", stage.rig.start)
    stage.do("settle", lambda: stage.settle("live"))
    for method in methods:
        for member in stage.batch.members:
            _send_again(stage, member, method)


def _receipt_again(stage: Stage) -> None:
    _after_completion(stage, RECORD_RECEIPT, BEGIN)


def _invoke_again(stage: Stage) -> None:
    _after_completion(stage, INVOKE)


def _invoke_fenced(stage: Stage) -> None:
    """The first Invoke never arrives; a second attempt completes; then the first one arrives."""
    (point,) = (one for one in ALL_POINTS if one.name == "in_request")
    rule_id = rule_id_of(stage.batch.batch_id, point)
    rule = message_rule(point.hold, "reset", stage.rig.workflow_ids, rule_id)
    disturbed = Disturbance(stage.interposer, "reset", "requests", (rule,)).inject()
    stage.do("start", stage.rig.start)
    stage.do("settle", lambda: stage.settle("live"))
    stage.do("expire", stage.reach_lease_end)
    stage.do("wake", lambda: stage.wake_until_settled("expired", stage.wakes_for_declared_bound()))
    for member in stage.batch.members:
        _send_again(stage, member, INVOKE)
    stage.keep(disturbed.receipt())


def _send_again(stage: Stage, member: Member, method: str) -> None:
    """Send the bytes of the workflow's first request of a method once more; nothing if none was."""
    for record in stage.rig.trace_from(stage.trace_first):
        if (
            record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
            and record.method == method
            and record.metadata["memqual-workflow"] == member.workflow_id
        ):
            _send(stage, member, record)
            return


def _send(stage: Stage, member: Member, record: interposer_pb2.TraceRecord) -> None:
    session, payload = stage.context.session, record.payload
    operation_id = record.metadata["memqual-operation"]
    memory = session.with_workflow(member.workflow_id, operation_id).continuity
    try:
        if record.method == BEGIN:
            memory.Begin(continuity_pb2.BeginRequest.FromString(payload))
        elif record.method == RECORD_RECEIPT:
            memory.RecordReceipt(continuity_pb2.RecordReceiptRequest.FromString(payload))
        else:
            asked = destination_pb2.InvokeRequest.FromString(payload)
            session.destination_for(member.workflow_id, operation_id, asked.attempt).Invoke(asked)
    except grpc.RpcError:
        # A refusal is an answer: it is in the trace and judged there.
        return


COPIES: Mapping[str, Callable[[Stage], None]] = {
    "network.late_copy.begin": _begin_again,
    "network.late_copy.receipt": _receipt_again,
    "network.late_copy.query": _query_again,
    "network.late_copy.invoke": _invoke_again,
    "network.late_copy.invoke_fenced": _invoke_fenced,
    "network.begin_id_of_another_life": _other_life,
    **{name: _renewals for name in MESSAGES if ".renew." in name},
}
