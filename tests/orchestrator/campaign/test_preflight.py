"""The testbed's own assumptions: what does not hold ends the run or is N/R, and is no verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from chaos.errors import FaultNotPossible
from chaos.receipts import ClockReading, ClockReceipt
from memqual.v1 import vendor_pb2
from orchestrator.campaign import preflight
from orchestrator.campaign.preflight import PreflightReport, examine_stack
from orchestrator.campaign.sink import Sink
from orchestrator.errors import MemqualError, PreflightError, StackError
from orchestrator.runtimes.base import IsolationCheck, IsolationReport, StackSpec
from orchestrator.suites.continuity.clocks import SilentClock
from orchestrator.vendors import LeaseMode, VendorConfig, VendorLease
from tests.orchestrator.campaign.fakes import FakeStack

NS = 10**9
HELD = IsolationCheck("interposer.sut:7104", "reachable", "reachable", "answered")
HOLE = IsolationCheck("the name destination", "unreachable", "reachable", "172.18.0.4")


class Stack(FakeStack):
    """A stack with an isolation of its own."""

    isolation = IsolationReport(supported=True, checks=(HELD,))

    def describe_isolation(self) -> IsolationReport:
        return self.isolation


def _vendor(mode: LeaseMode = LeaseMode.AUTO, *capabilities: str) -> VendorConfig:
    return VendorConfig(
        name="v",
        image="v:1",
        lease=VendorLease(mode=mode),
        capabilities=capabilities or None,
    )


def _receipt(measured_ns: int) -> ClockReceipt:
    before = ClockReading(wall_unix_ns=100 * NS, monotonic_ns=50 * NS)
    after = ClockReading(wall_unix_ns=101 * NS + measured_ns, monotonic_ns=51 * NS)
    return ClockReceipt(service="memory", asked_skew_ns=2 * NS, before=before, after=after)


@pytest.fixture
def examine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Looks at a stack whose memory declares and whose clock does what a test says."""

    def look(
        vendor: VendorConfig | None = None,
        describe: vendor_pb2.DescribeResponse | None = None,
        jump: ClockReceipt | Exception | None = None,
        isolation: IsolationReport | None = None,
    ) -> PreflightReport:
        jumped = jump or _receipt(2 * NS)

        def jump_clock(*args: object) -> ClockReceipt:
            if isinstance(jumped, Exception):
                raise jumped
            return jumped

        monkeypatch.setattr(preflight, "jump_clock", jump_clock)
        monkeypatch.setattr(
            preflight,
            "declaration",
            lambda session, stack: describe or vendor_pb2.DescribeResponse(name="m"),
        )
        stack = Stack(StackSpec(run_id="run", stack_id="a0", folder=Path()), [], None)
        stack.isolation = isolation or Stack.isolation
        report, read = examine_stack(stack, vendor, cast(Sink, None), "run")
        assert read == (describe or vendor_pb2.DescribeResponse(name="m"))
        return report

    return look


def test_a_clock_that_moved_as_asked_can_be_set(examine: Any) -> None:
    report = examine()
    assert (report.skew_proven, report.skew_detail) == (
        True,
        "asked for 2000 ms, measured 2000.000 ms",
    )
    assert report.isolation == "held: 1 checks from the memory's network"


@pytest.mark.parametrize(
    ("measured_ns", "words"),
    [(0, "measured 0.000 ms"), (NS, "measured 1000.000 ms"), (4 * NS, "measured 4000.000 ms")],
)
def test_a_clock_that_moved_otherwise_cannot(examine: Any, measured_ns: int, words: str) -> None:
    report = examine(jump=_receipt(measured_ns))
    assert report.skew_proven is False
    assert words in report.skew_detail


def test_where_no_clock_can_be_set_skew_is_not_proven(examine: Any) -> None:
    report = examine(jump=FaultNotPossible("clock_jump", "no clock folder"))
    assert (report.skew_proven, report.skew_detail) == (False, "clock_jump: no clock folder")


@pytest.mark.parametrize("mode", [LeaseMode.CONFIGURED, LeaseMode.REAL])
def test_a_vendor_that_wants_no_skew_gets_none(examine: Any, mode: LeaseMode) -> None:
    report = examine(_vendor(mode), jump=AssertionError("its clock was moved"))
    assert (report.skew_proven, mode.value in report.skew_detail) == (False, True)


def test_a_monotonic_lease_cannot_be_skewed(examine: Any) -> None:
    describe = vendor_pb2.DescribeResponse(lease_clock=vendor_pb2.LEASE_CLOCK_MONOTONIC)
    report = examine(describe=describe, jump=AssertionError("its clock was moved"))
    assert (report.skew_proven, "monotonic" in report.skew_detail) == (False, True)


def test_a_memory_that_does_not_tell_the_time_ends_the_run(examine: Any) -> None:
    with pytest.raises(StackError, match=r"does not answer VendorService\.Now: INTERNAL: odd\."):
        examine(jump=SilentClock("INTERNAL: odd"))


def test_a_hole_in_the_isolation_ends_the_run(examine: Any) -> None:
    with pytest.raises(PreflightError) as caught:
        examine(isolation=IsolationReport(supported=True, checks=(HELD, HOLE)))
    assert caught.value.diagnosis == (
        "From the memory's network, the name destination is reachable and must be unreachable "
        "(172.18.0.4)."
    )
    assert isinstance(caught.value, MemqualError)
    assert caught.value.exit_code == 4


def test_where_nothing_isolates_that_is_told(examine: Any) -> None:
    report = examine(isolation=IsolationReport(supported=False, reason="local processes"))
    assert report.isolation == "N/R platform: local processes"


def _declares(*capabilities: int, status: int | None = None) -> vendor_pb2.DescribeResponse:
    supported = vendor_pb2.CAPABILITY_STATUS_SUPPORTED if status is None else status
    return vendor_pb2.DescribeResponse(
        capabilities=[
            vendor_pb2.CapabilityDeclaration(
                capability=cast("vendor_pb2.Capability.ValueType", one),
                status=cast("vendor_pb2.CapabilityStatus.ValueType", supported),
            )
            for one in capabilities
        ]
    )


def test_claims_of_file_and_memory_are_held_against_each_other(examine: Any) -> None:
    describe = _declares(vendor_pb2.CAPABILITY_CONTINUITY, 99)
    report = examine(_vendor(LeaseMode.AUTO, "continuity", "final_absence"), describe)
    assert report.findings == (
        "vendor.yaml claims final_absence, Describe does not",
        "Describe claims capability 99, vendor.yaml does not",
    )


def test_what_is_declared_absent_is_no_claim(examine: Any) -> None:
    describe = _declares(
        vendor_pb2.CAPABILITY_CONTINUITY, status=vendor_pb2.CAPABILITY_STATUS_ABSENT
    )
    assert examine(_vendor(LeaseMode.AUTO, "begin_replay"), describe).findings == (
        "vendor.yaml claims begin_replay, Describe does not",
    )


def test_a_file_without_claims_contradicts_nothing(examine: Any) -> None:
    describe = _declares(vendor_pb2.CAPABILITY_CONTINUITY)
    assert examine(_vendor(), describe).findings == ()
    assert examine(None, describe).findings == ()
