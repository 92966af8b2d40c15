"""What a memory declares, as far as the oracle depends on it."""

from memqual.v1 import vendor_pb2
from orchestrator.oracle.declared import DEFAULT_UNCERTAIN_BOUND, NANOSECONDS, DeclaredMemory


def declaration(
    capability: vendor_pb2.Capability.ValueType,
    status: vendor_pb2.CapabilityStatus.ValueType = vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
) -> vendor_pb2.CapabilityDeclaration:
    return vendor_pb2.CapabilityDeclaration(capability=capability, status=status)


def test_a_full_declaration() -> None:
    response = vendor_pb2.DescribeResponse(
        limits=vendor_pb2.Limits(
            lease_seconds=30,
            max_renewals=10,
            max_attempts_per_operation=100,
            max_revisions_per_operation=2_000,
            max_uncertain_queries=3,
            key_margin_seconds=5,
            question_lease_seconds=7,
        ),
        lease_clock=vendor_pb2.LEASE_CLOCK_MONOTONIC,
        capabilities=[
            declaration(vendor_pb2.CAPABILITY_CONTINUITY),
            declaration(vendor_pb2.CAPABILITY_BEGIN_REPLAY),
            declaration(vendor_pb2.CAPABILITY_DECISION_PEEK),
            declaration(vendor_pb2.CAPABILITY_FINAL_ABSENCE, vendor_pb2.CAPABILITY_STATUS_ABSENT),
        ],
    )
    assert DeclaredMemory.from_describe(response) == DeclaredMemory(
        continuity=True,
        lease_ns=30 * NANOSECONDS,
        wall_clock=False,
        begin_replay=True,
        final_absence=False,
        decision_peek=True,
        max_uncertain=3,
        key_margin_ns=5 * NANOSECONDS,
        question_ns=7 * NANOSECONDS,
        max_attempts=100,
        max_revisions=2_000,
        max_renewals=10,
    )


def test_what_is_missing_is_not_declared() -> None:
    assert DeclaredMemory.from_describe(vendor_pb2.DescribeResponse()) == DeclaredMemory(
        continuity=False,
        lease_ns=0,
        wall_clock=True,
        begin_replay=False,
        final_absence=False,
        decision_peek=False,
        max_uncertain=DEFAULT_UNCERTAIN_BOUND,
    )
