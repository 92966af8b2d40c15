"""What schedules are made of: odd requests, faults of messages and edges, limits that are met."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from chaos.receipts import ClockReading, DriftReceipt
from memqual.v1 import continuity_pb2, vendor_pb2
from orchestrator.model import Arm, CapabilityVariant, Cell, Suite
from orchestrator.oracle.forms import receipt_is_well_formed, spec_is_well_formed
from orchestrator.plan import Member
from orchestrator.suites.continuity.explore.acts import VARIANTS, WEIGHTS
from orchestrator.suites.continuity.explore.faults import CUTS, MESSAGE_FAULTS
from orchestrator.suites.continuity.explore.odd import (
    RECEIPT_CHANGES,
    SPEC_CHANGES,
    changed_receipt,
    changed_spec,
    receipt_of,
)
from orchestrator.suites.continuity.explore.steps import Act
from orchestrator.suites.continuity.explore.wearing import wear_out
from orchestrator.suites.continuity.families.explore import SEEDED
from orchestrator.suites.continuity.incarnation import Incarnation, Reply
from orchestrator.suites.continuity.specs import spec_of

NS = 1_000_000_000
MEMBER = Member(
    trial_id="t",
    cell=Cell(
        suite=Suite.CONTINUITY,
        arm=Arm.MEMORY,
        capability=CapabilityVariant.IDEMPOTENT,
        case=SEEDED,
    ),
    sub_seed=7,
    workflow_id="w",
)


@pytest.mark.parametrize("change", SPEC_CHANGES)
def test_a_specification_differs_in_what_is_named(change: str) -> None:
    spec = spec_of(MEMBER)
    other = changed_spec(spec, change)
    assert other != spec
    malformed = change.startswith("long:") or change == "operation_id"
    assert spec_is_well_formed(other) is not malformed
    if not change.startswith("long:"):
        differing = {name.name for name, _ in other.ListFields()} ^ {
            name.name for name, _ in spec.ListFields()
        }
        changed = {
            one.name
            for one in spec.DESCRIPTOR.fields
            if one.name in differing or getattr(other, one.name) != getattr(spec, one.name)
        }
        assert change in changed
        assert changed == {change} or change == "capability"


def test_every_bound_field_can_be_another() -> None:
    fields = {one.name for one in continuity_pb2.OperationSpec.DESCRIPTOR.fields}
    assert fields - {"identity"} == {one for one in SPEC_CHANGES if ":" not in one}


def test_no_change_is_none() -> None:
    assert changed_spec(spec_of(MEMBER), "") == spec_of(MEMBER)


@pytest.mark.parametrize("change", [*RECEIPT_CHANGES, "tool_error"])
def test_a_receipt_is_unlike_the_attempts_own(change: str) -> None:
    spec = spec_of(MEMBER)
    own = receipt_of(spec, 1, "a")
    assert receipt_is_well_formed(own)
    other = changed_receipt(spec, own, change)
    assert other != own
    malformed = change in ("digest", "long:effect", "long:result")
    assert receipt_is_well_formed(other) is not malformed


def test_no_two_agents_report_the_same() -> None:
    spec = spec_of(MEMBER)
    assert receipt_of(spec, 1, "a").result_json != receipt_of(spec, 1, "b").result_json
    assert receipt_of(spec, 1, "a") == receipt_of(spec, 1, "a")


def test_every_method_that_is_judged_can_be_met_both_ways() -> None:
    met = {tuple(fault.split("/")[:2]) for fault in MESSAGE_FAULTS}
    memorys = ("Begin", "Peek", "Renew", "RecordReceipt", "RecordQuery")
    methods = (*memorys, "RequestResolve", "Resolve", "DescribeTool", "Invoke", "QueryEffect")
    assert met == {(method, way) for method in methods for way in ("request", "response")}
    assert "Renew/request/duplicate" in MESSAGE_FAULTS
    assert not any(fault.endswith("response/duplicate") for fault in MESSAGE_FAULTS)


def test_every_edge_can_be_cut_each_way_and_no_host_waits_for_silence() -> None:
    assert {cut.split("/")[0] for cut in CUTS} == {"memory", "destination", "observer", "agent"}
    assert {cut.split("/")[1] for cut in CUTS} == {"requests", "responses", "both"}
    assert not any(cut.startswith("agent/") and cut.endswith("/drop") for cut in CUTS)


def test_every_act_has_a_weight() -> None:
    assert set(WEIGHTS) == set(Act)
    assert set(VARIANTS) <= set(Act)


@dataclass
class Granting:
    """Gives everything that is asked for, and counts it."""

    limits: vendor_pb2.Limits
    renewals: int = 0
    words: int = 0
    challenges: int = 0
    recorded: int = 0
    asked: list[str] = field(default_factory=list)

    def host(self, name: str) -> Incarnation:
        return _Host(self, name)

    def operation(self, number: int) -> continuity_pb2.OperationSpec:
        return spec_of(MEMBER, str(number))

    def ask(self, host: Incarnation) -> continuity_pb2.Decision | None:
        return host.begin(self.operation(0)).answer

    def renew(self) -> bool:
        self.renewals += 1
        return True

    def say(self, word: str) -> None:
        self.words += 1


class _Host(Incarnation):
    def __init__(self, lane: Granting, name: str) -> None:
        self.lane = lane
        self.name = name

    def begin(self, spec, begin_id=None, settled=None):  # type: ignore[no-untyped-def]
        self.lane.asked.append(spec.operation_id)
        told = continuity_pb2.Execute(attempt=len(self.lane.asked), lease_token="t")
        return Reply(continuity_pb2.Decision(execute=told, reason_code="granted"))

    def request_resolve(self, spec):  # type: ignore[no-untyped-def]
        self.lane.challenges += 1
        return Reply(continuity_pb2.RequestResolveResponse())

    def record(self, spec, attempt, lease_token, receipt):  # type: ignore[no-untyped-def]
        self.lane.recorded += 1
        return Reply(continuity_pb2.RecordReceiptResponse())


LIMITS = vendor_pb2.Limits(
    lease_seconds=120,
    max_renewals=4,
    max_attempts_per_operation=5,
    max_operations_per_workflow=6,
    max_revisions_per_operation=7,
)


def test_each_limit_is_met_once_more_than_it_is_declared() -> None:
    lane = Granting(LIMITS)
    wear_out(lane, "renewals")
    assert lane.renewals == 5
    lane = Granting(LIMITS)
    wear_out(lane, "attempts")
    assert (len(lane.asked), lane.words) == (6, 6)
    lane = Granting(LIMITS)
    wear_out(lane, "operations")
    assert len(lane.asked) == len(set(lane.asked)) == 7
    lane = Granting(LIMITS)
    wear_out(lane, "revisions")
    assert (lane.challenges, lane.recorded, len(lane.asked)) == (7, 1, 2)


def test_a_limit_that_is_not_declared_is_left_alone() -> None:
    for limit in ("attempts", "operations", "revisions"):
        lane = Granting(vendor_pb2.Limits(lease_seconds=120))
        wear_out(lane, limit)
        assert not lane.asked


@pytest.mark.parametrize(("wall_seconds", "drifted"), [(10, True), (1, False), (2, False)])
def test_a_drift_is_one_that_two_answers_prove(wall_seconds: int, drifted: bool) -> None:
    receipt = DriftReceipt(
        service="memory",
        asked_rate=10.0,
        before=ClockReading(wall_unix_ns=0, monotonic_ns=0),
        after=ClockReading(wall_unix_ns=wall_seconds * NS, monotonic_ns=NS),
    )
    assert receipt.drifted is drifted
