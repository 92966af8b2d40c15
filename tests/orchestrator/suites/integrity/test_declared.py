"""What a declaration makes applicable."""

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.model import NotRunSubtype
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.declared import Declared

SUPPORTED = vendor_pb2.CAPABILITY_STATUS_SUPPORTED
ABSENT = vendor_pb2.CAPABILITY_STATUS_ABSENT
NOT_EXPRESSIBLE = vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE
PROCEDURES = vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY
GATING = vendor_pb2.CAPABILITY_AUTHORITY_GATING
CANONICAL = vendor_pb2.SURFACE_CANONICAL


def declared(
    statuses: dict[vendor_pb2.Capability.ValueType, vendor_pb2.CapabilityStatus.ValueType],
    *surfaces: vendor_pb2.Surface.ValueType,
) -> Declared:
    return Declared.of(
        vendor_pb2.DescribeResponse(
            scored_surfaces=surfaces,
            capabilities=[
                vendor_pb2.CapabilityDeclaration(capability=capability, status=status)
                for capability, status in statuses.items()
            ],
        )
    )


@pytest.mark.parametrize(
    ("statuses", "subtype", "cause"),
    [
        ({}, "capability_absent", "not declared: procedural_memory, authority_gating"),
        ({PROCEDURES: SUPPORTED}, "capability_absent", "not declared: authority_gating"),
        (
            {PROCEDURES: ABSENT, GATING: SUPPORTED},
            "capability_absent",
            "not declared: procedural_memory",
        ),
        (
            {PROCEDURES: SUPPORTED, GATING: NOT_EXPRESSIBLE},
            "not_expressible",
            "declared as there but not expressible: authority_gating",
        ),
        (
            {PROCEDURES: ABSENT, GATING: NOT_EXPRESSIBLE},
            "capability_absent",
            "not declared: procedural_memory",
        ),
    ],
)
def test_poisoning_needs_procedures_and_gating(
    statuses: dict[vendor_pb2.Capability.ValueType, vendor_pb2.CapabilityStatus.ValueType],
    subtype: str,
    cause: str,
) -> None:
    not_run = CATEGORIES["A"].not_run(declared(statuses, CANONICAL))

    assert not_run is not None
    assert not_run.subtype == NotRunSubtype(subtype)
    assert not_run.cause == cause


def test_poisoning_applies_when_both_are_declared() -> None:
    both = declared({PROCEDURES: SUPPORTED, GATING: SUPPORTED}, CANONICAL)

    assert CATEGORIES["A"].not_run(both) is None


def test_hallucination_and_secrets_need_no_capability() -> None:
    assert CATEGORIES["C"].not_run(declared({})) is None
    assert CATEGORIES["L"].not_run(declared({}, CANONICAL)) is None


def test_without_a_declared_surface_there_is_nothing_to_scan() -> None:
    not_run = CATEGORIES["L"].not_run(declared({vendor_pb2.CAPABILITY_SECRET_BLOCKING: SUPPORTED}))

    assert not_run is not None
    assert not_run.subtype is NotRunSubtype.CAPABILITY_ABSENT


def test_surfaces_are_kept_once_and_in_the_contracts_order() -> None:
    seen = declared(
        {},
        vendor_pb2.SURFACE_MEDIA,
        vendor_pb2.SURFACE_UNSPECIFIED,
        CANONICAL,
        vendor_pb2.SURFACE_MEDIA,
    )

    assert seen.surfaces == (CANONICAL, vendor_pb2.SURFACE_MEDIA)
    assert seen.undeclared_surfaces == (
        vendor_pb2.SURFACE_GRAPH,
        vendor_pb2.SURFACE_INDEX,
        vendor_pb2.SURFACE_AUDIT,
    )


def test_continuity_alone_is_no_claim_of_integrity() -> None:
    assert not declared({vendor_pb2.CAPABILITY_CONTINUITY: SUPPORTED}).claims_integrity
    assert not declared({vendor_pb2.CAPABILITY_SOURCE_TRUST: ABSENT}).claims_integrity
    assert declared({vendor_pb2.CAPABILITY_SOURCE_TRUST: SUPPORTED}).claims_integrity
