"""What the memory declares, as far as this axis asks for it (DESIGN §4: Describe)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memqual.v1 import vendor_pb2
from orchestrator.model import NotRunSubtype

__all__ = ["Declared", "NotRun", "capability_name", "surface_name"]

_INTEGRITY_CAPABILITIES = (
    vendor_pb2.CAPABILITY_SOURCE_TRUST,
    vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT,
    vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
    vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY,
    vendor_pb2.CAPABILITY_AUTHORITY_GATING,
    vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL,
    vendor_pb2.CAPABILITY_SECRET_BLOCKING,
)


@dataclass(frozen=True)
class NotRun:
    """Why a category does not apply to a memory.

    Attributes:
        subtype: Absent, or there and not drivable through this contract.
        cause: In a sentence.
    """

    subtype: NotRunSubtype
    cause: str


@dataclass(frozen=True)
class Declared:
    """One memory's declaration.

    Attributes:
        statuses: Status of each declared capability; what is missing is absent.
        surfaces: Scored surfaces in the contract's order, each once.
        llm_in_loop: A language model takes part in its answers.
    """

    statuses: Mapping[int, int]
    surfaces: tuple[vendor_pb2.Surface.ValueType, ...]
    llm_in_loop: bool

    @classmethod
    def of(cls, describe: vendor_pb2.DescribeResponse) -> Declared:
        """Read a Describe answer."""
        declared = set(describe.scored_surfaces)
        return cls(
            statuses={entry.capability: entry.status for entry in describe.capabilities},
            surfaces=tuple(surface for surface in all_surfaces() if surface in declared),
            llm_in_loop=describe.llm_in_loop,
        )

    def supports(self, capability: int) -> bool:
        """Whether it declares a capability as supported."""
        return self.statuses.get(capability) == vendor_pb2.CAPABILITY_STATUS_SUPPORTED

    @property
    def claims_integrity(self) -> bool:
        """Whether it declares any capability that MemoryService is there for."""
        return any(self.supports(capability) for capability in _INTEGRITY_CAPABILITIES)

    @property
    def undeclared_surfaces(self) -> tuple[vendor_pb2.Surface.ValueType, ...]:
        """Surfaces that are absent: never scanned, so never clean."""
        return tuple(surface for surface in all_surfaces() if surface not in self.surfaces)

    def lacks(self, needs: Sequence[vendor_pb2.Capability.ValueType]) -> NotRun | None:
        """Why a category that needs these capabilities does not apply; None when it does.

        A capability that is absent decides before one that is not expressible: nothing that the
        contract could be given would make the category apply.
        """
        missing = [capability for capability in needs if not self.supports(capability)]
        if not missing:
            return None
        absent = [
            capability
            for capability in missing
            if self.statuses.get(capability) != vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE
        ]
        if absent:
            names = ", ".join(capability_name(capability) for capability in absent)
            return NotRun(NotRunSubtype.CAPABILITY_ABSENT, f"not declared: {names}")
        names = ", ".join(capability_name(capability) for capability in missing)
        return NotRun(
            NotRunSubtype.NOT_EXPRESSIBLE, f"declared as there but not expressible: {names}"
        )


def all_surfaces() -> tuple[vendor_pb2.Surface.ValueType, ...]:
    """Every surface of the contract, in its order."""
    return tuple(
        surface
        for surface in vendor_pb2.Surface.values()
        if surface != vendor_pb2.SURFACE_UNSPECIFIED
    )


def capability_name(capability: vendor_pb2.Capability.ValueType) -> str:
    """`procedural_memory` for CAPABILITY_PROCEDURAL_MEMORY."""
    return vendor_pb2.Capability.Name(capability).removeprefix("CAPABILITY_").lower()


def surface_name(surface: vendor_pb2.Surface.ValueType) -> str:
    """`canonical` for SURFACE_CANONICAL."""
    return vendor_pb2.Surface.Name(surface).removeprefix("SURFACE_").lower()
