"""What the memory declares, *absent* kept apart from *not expressible* (DESIGN §4)."""

from __future__ import annotations

from dataclasses import dataclass

from memqual.v1 import vendor_pb2
from orchestrator.errors import EvidenceError
from orchestrator.evidence.records import message_from_json

__all__ = ["CapabilityLook", "DeclaredView", "declared_of", "is_assisted"]

_STATUSES = {
    vendor_pb2.CAPABILITY_STATUS_SUPPORTED: ("supported", "pass", "✓"),
    vendor_pb2.CAPABILITY_STATUS_ABSENT: ("absent", "gap", "∅"),
    vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE: ("not expressible", "unscored", "◇"),
}
_UNDECLARED = ("absent (not declared)", "gap", "∅")
_ENFORCEMENTS = {
    vendor_pb2.ENFORCEMENT_NATIVE: "the memory itself",
    vendor_pb2.ENFORCEMENT_ADAPTER: "its adapter, out of native facts",
}


@dataclass(frozen=True)
class CapabilityLook:
    """One capability of the contract and how the memory stands to it."""

    name: str
    status: str
    tone: str
    symbol: str
    enforcement: str
    limitation: str


@dataclass(frozen=True)
class DeclaredView:
    """A Describe answer.

    Attributes:
        problem: Why it could not be read; empty when it could.
        facts: Name and value.
        capabilities: Every capability of the contract, in its order.
    """

    problem: str
    facts: tuple[tuple[str, str], ...]
    capabilities: tuple[CapabilityLook, ...]


def declared_of(describe_json: str) -> DeclaredView:
    """Arrange a declaration; one that cannot be read is said to be so."""
    try:
        describe = message_from_json(describe_json, vendor_pb2.DescribeResponse, "describe_json")
    except EvidenceError as error:
        return DeclaredView(error.diagnosis, (), ())
    declared = {one.capability: one for one in describe.capabilities}
    looks = tuple(
        _look(capability, declared.get(capability))
        for capability in vendor_pb2.Capability.values()
        if capability != vendor_pb2.CAPABILITY_UNSPECIFIED
    )
    return DeclaredView("", _facts(describe), looks)


def is_assisted(describe_json: str) -> bool:
    """Whether a memory declares that a language model takes part in its answers."""
    try:
        describe = message_from_json(describe_json, vendor_pb2.DescribeResponse, "describe_json")
    except EvidenceError:
        return False
    return describe.llm_in_loop


def _look(
    capability: vendor_pb2.Capability.ValueType, one: vendor_pb2.CapabilityDeclaration | None
) -> CapabilityLook:
    status, tone, symbol = _UNDECLARED if one is None else _STATUSES.get(one.status, _UNDECLARED)
    supported = one is not None and one.status == vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    enforcement = _ENFORCEMENTS.get(one.enforcement, "not said") if one is not None else ""
    return CapabilityLook(
        name=vendor_pb2.Capability.Name(capability).removeprefix("CAPABILITY_").lower(),
        status=status,
        tone=tone,
        symbol=symbol,
        enforcement=enforcement if supported else "",
        limitation="" if one is None else one.limitation,
    )


def _facts(describe: vendor_pb2.DescribeResponse) -> tuple[tuple[str, str], ...]:
    limits = describe.limits
    named = [
        (field.name.replace("_", " "), str(value) if value else "not declared")
        for field in limits.DESCRIPTOR.fields
        for value in (getattr(limits, field.name),)
    ]
    surfaces = [
        vendor_pb2.Surface.Name(surface).removeprefix("SURFACE_").lower()
        for surface in describe.scored_surfaces
        if surface in vendor_pb2.Surface.values()
    ]
    clocks = {
        vendor_pb2.LEASE_CLOCK_WALL: "wall",
        vendor_pb2.LEASE_CLOCK_MONOTONIC: "monotonic",
    }
    return (
        ("lease clock", clocks.get(describe.lease_clock, "not declared")),
        *named,
        ("language model in the loop", "yes" if describe.llm_in_loop else "no"),
        ("deterministic", "yes" if describe.deterministic else "no"),
        ("scored surfaces", ", ".join(surfaces) or "none"),
        ("taints, least restrictive first", ", ".join(describe.taint_order[:32]) or "none"),
        ("model disclosure", describe.model_disclosure or "none"),
    )
