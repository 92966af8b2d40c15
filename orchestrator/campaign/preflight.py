"""The testbed's own assumptions, looked at before the first trial (DESIGN §3, §5).

A stack with the memory under test is started, its declaration is read, its isolation is tried from
inside its network, and its clock is moved by two seconds. What does not hold ends the run or is N/R
with subtype `platform`; nothing of it is ever a verdict on the memory.
"""

from __future__ import annotations

from chaos.client import InterposerClient
from chaos.errors import ChaosError
from chaos.receipts import CLOCK_TOLERANCE_NS, ClockReceipt
from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import StackContext, StackProgress
from orchestrator.campaign.lane import declaration
from orchestrator.campaign.sink import Sink
from orchestrator.campaign.vitals import silent_memory
from orchestrator.errors import PreflightError
from orchestrator.model import Frozen
from orchestrator.runtimes.base import Stack
from orchestrator.session import Session
from orchestrator.suites.continuity.clocks import SilentClock
from orchestrator.suites.continuity.expiry import NS, jump_clock
from orchestrator.vendors import LeaseMode, VendorConfig

__all__ = ["PreflightReport", "examine_stack"]

_PROBE_JUMP_NS = 2 * NS


class PreflightReport(Frozen):
    """What was found.

    Attributes:
        skew_proven: A jump of the memory's clock took hold in the memory itself.
        skew_detail: Why not, or what was measured.
        isolation: `held`, or why it could not be looked at (N/R platform).
        findings: Contradictions between vendor.yaml and Describe, for the report.
    """

    skew_proven: bool
    skew_detail: str
    isolation: str
    findings: tuple[str, ...]


def examine_stack(
    stack: Stack, vendor: VendorConfig | None, sink: Sink, run_id: str
) -> tuple[PreflightReport, vendor_pb2.DescribeResponse]:
    """Look at a fresh stack.

    Raises:
        PreflightError: The memory can reach what it must not.
        StackError: The memory does not answer Describe or Now; the diagnosis says whether it lives.
    """
    session = Session(stack.control_address, stack.control_token, run_id)
    try:
        describe = declaration(session, stack)
        interposer = InterposerClient(session.channel, stack.control_token)
        context = StackContext(
            run_id=run_id,
            subject="preflight",
            stack=stack,
            session=session,
            interposer=interposer,
            describe=describe,
            progress=StackProgress(),
            skew=True,
            sink=sink,
        )
        proven, detail = _skew(context, vendor)
    finally:
        session.close()
    report = PreflightReport(
        skew_proven=proven,
        skew_detail=detail,
        isolation=_isolation(stack),
        findings=_contradictions(vendor, describe),
    )
    return report, describe


def _skew(context: StackContext, vendor: VendorConfig | None) -> tuple[bool, str]:
    if vendor is not None and vendor.lease.mode in (LeaseMode.CONFIGURED, LeaseMode.REAL):
        return False, f"vendor.yaml asks for lease mode {vendor.lease.mode.value}"
    if context.describe.lease_clock == vendor_pb2.LEASE_CLOCK_MONOTONIC:
        return False, "the memory's leases run on the monotonic clock, which no fault moves"
    try:
        receipt = jump_clock(context, "memory", _PROBE_JUMP_NS)
    except SilentClock as error:
        raise silent_memory(context.stack, "Now", error.reason) from error
    except ChaosError as error:
        return False, str(error)
    assert isinstance(receipt, ClockReceipt)
    measured_ms = receipt.measured_skew_ns / 1e6
    took_hold = abs(receipt.measured_skew_ns - _PROBE_JUMP_NS) <= CLOCK_TOLERANCE_NS
    return took_hold, f"asked for {_PROBE_JUMP_NS / 1e6:.0f} ms, measured {measured_ms:.3f} ms"


def _isolation(stack: Stack) -> str:
    report = stack.describe_isolation()
    if not report.supported:
        return f"N/R platform: {report.reason}"
    broken = [check for check in report.checks if not check.held]
    if broken:
        first = broken[0]
        raise PreflightError(
            f"From the memory's network, {first.name} is {first.observed} and must be "
            f"{first.expected} ({first.detail}).",
            next_step="Look at compose/compose.yaml's networks and the engine's own settings.",
        )
    return f"held: {len(report.checks)} checks from the memory's network"


def _contradictions(
    vendor: VendorConfig | None, describe: vendor_pb2.DescribeResponse
) -> tuple[str, ...]:
    if vendor is None or vendor.capabilities is None:
        return ()
    declared = {
        _name(one.capability)
        for one in describe.capabilities
        if one.status == vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    }
    claimed = set(vendor.capabilities)
    return tuple(
        [f"vendor.yaml claims {name}, Describe does not" for name in sorted(claimed - declared)]
        + [f"Describe claims {name}, vendor.yaml does not" for name in sorted(declared - claimed)]
    )


def _name(capability: int) -> str:
    """As vendor.yaml writes it; a number of a later contract has no name here."""
    value = vendor_pb2.Capability.DESCRIPTOR.values_by_number.get(capability)
    return (
        f"capability {capability}"
        if value is None
        else value.name.removeprefix("CAPABILITY_").lower()
    )
