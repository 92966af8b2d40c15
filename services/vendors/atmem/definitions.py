"""An operation of the contract as the definition of an atmem workflow, and back (pure).

atmem binds tool, arguments, capability, timeout and retention of a governed call. The contract
gives digests of the arguments, not the arguments: every field of the specification that atmem has
no place for is bound as an argument, so that atmem itself refuses a specification that changed.
"""

from collections.abc import Mapping
from typing import Final

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import JsonObject, JsonValue
from services.vendors.atmem.model import (
    LEASE_SECONDS,
    SHORT_KEY_TIMEOUT_SECONDS,
    TIMEOUT_SECONDS,
)

__all__ = ["CALL_NAME", "capability_of", "definition_of", "known_capability", "spec_of"]

CALL_NAME: Final = "call"
"""Name of the one operation in each workflow, as atmem's own host integration has it."""

_CAPABILITIES: Final = {
    common_pb2.EFFECT_CAPABILITY_NONE: "none",
    common_pb2.EFFECT_CAPABILITY_QUERY: "query",
    common_pb2.EFFECT_CAPABILITY_IDEMPOTENT: "idempotent",
}
_CAPABILITY_VALUES: Final = {name: value for value, name in _CAPABILITIES.items()}
_BOUND_TEXTS: Final = (
    "operation_id",
    "namespace",
    "workflow_id",
    "principal",
    "destination",
    "intent_digest",
    "arguments_digest",
    "idempotency_key",
)
_IDENTITY: Final = (
    "deployment",
    "thread_id",
    "checkpoint_namespace",
    "message_id",
    "tool_call_id",
)


def known_capability(capability: common_pb2.EffectCapability.ValueType) -> bool:
    """Whether a specification says what its destination allows."""
    return capability in _CAPABILITIES


def definition_of(spec: continuity_pb2.OperationSpec) -> JsonObject:
    """The definition of the governed call.

    Raises:
        KeyError: the capability is none of the contract's.
    """
    arguments: dict[str, JsonValue] = {name: getattr(spec, name) for name in _BOUND_TEXTS}
    arguments["identity"] = {name: getattr(spec.identity, name) for name in _IDENTITY}
    return {
        "name": CALL_NAME,
        "tool": spec.tool,
        "arguments": arguments,
        "capability": _CAPABILITIES[spec.capability],
        "timeout_seconds": _timeout_seconds(spec),
        "retention_seconds": spec.retention_seconds,
    }


def _timeout_seconds(spec: continuity_pb2.OperationSpec) -> int:
    keyed = spec.capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
    short = keyed and spec.retention_seconds <= LEASE_SECONDS
    return SHORT_KEY_TIMEOUT_SECONDS if short else TIMEOUT_SECONDS


def spec_of(definition: JsonObject) -> continuity_pb2.OperationSpec:
    """The specification that a definition was made of.

    Raises:
        ValueError: the definition is not one of this adapter's.
    """
    arguments = definition.get("arguments")
    identity = arguments.get("identity") if isinstance(arguments, Mapping) else None
    if not isinstance(arguments, Mapping) or not isinstance(identity, Mapping):
        raise ValueError("the workflow's arguments are not those of an operation")
    retention = definition.get("retention_seconds")
    return continuity_pb2.OperationSpec(
        identity=continuity_pb2.OperationIdentity(
            **{name: str(identity.get(name, "")) for name in _IDENTITY}
        ),
        tool=str(definition.get("tool", "")),
        capability=_CAPABILITY_VALUES[capability_of(definition)],
        retention_seconds=int(retention) if isinstance(retention, int | float) else 0,
        **{name: str(arguments.get(name, "")) for name in _BOUND_TEXTS},
    )


def capability_of(definition: JsonObject) -> str:
    """The word of atmem for what the destination allows.

    Raises:
        ValueError: it has another.
    """
    capability = definition.get("capability")
    if capability not in _CAPABILITY_VALUES:
        raise ValueError(f"unknown capability {capability!r}")
    return str(capability)
