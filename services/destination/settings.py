"""Checks the evaluator's settings of workflows: a contradiction is refused, never interpreted."""

from collections.abc import Iterable

import grpc

from memqual.v1 import common_pb2, destination_pb2
from services.common.errors import ServiceError
from services.common.limits import check_id
from services.destination.model import Capability, WorkflowRules

__all__ = ["SETTINGS_A_REQUEST", "check_settings"]

SETTINGS_A_REQUEST = 1_000

_CAPABILITIES = {
    common_pb2.EFFECT_CAPABILITY_NONE: Capability.NONE,
    common_pb2.EFFECT_CAPABILITY_QUERY: Capability.QUERY,
    common_pb2.EFFECT_CAPABILITY_IDEMPOTENT: Capability.IDEMPOTENT,
}


def check_settings(settings: Iterable[destination_pb2.WorkflowSettings]) -> list[WorkflowRules]:
    """The rules that a request sets.

    Raises:
        ServiceError: INVALID_ARGUMENT, malformed, contradictory, too many, or a workflow twice.
    """
    rules = [_check(entry) for entry in settings]
    if len(rules) > SETTINGS_A_REQUEST:
        raise _refuse(
            f"settings has {len(rules)} entries; at most {SETTINGS_A_REQUEST} are allowed"
        )
    if len({entry.workflow_id for entry in rules}) != len(rules):
        raise _refuse("settings names a workflow twice; send one entry a workflow")
    return rules


def _refuse(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def _check(entry: destination_pb2.WorkflowSettings) -> WorkflowRules:
    capability = _CAPABILITIES.get(entry.capability)
    if capability is None:
        raise _refuse("capability is not set or unknown; send NONE, QUERY or IDEMPOTENT")
    if entry.fenced and capability is not Capability.QUERY:
        raise _refuse("fenced needs the capability QUERY")
    if entry.visibility_delay_ms and (capability is not Capability.QUERY or entry.fenced):
        raise _refuse("visibility_delay_ms needs the capability QUERY without fenced")
    if bool(entry.retention_seconds) != (capability is Capability.IDEMPOTENT):
        raise _refuse("retention_seconds is needed by IDEMPOTENT, and 0 for everything else")
    return WorkflowRules(
        workflow_id=check_id("workflow_id", entry.workflow_id),
        capability=capability,
        fenced=entry.fenced,
        visibility_delay_ms=entry.visibility_delay_ms,
        retention_seconds=entry.retention_seconds,
        guard=entry.guard,
        one_apply_per_attempt=entry.one_apply_per_attempt,
        enforce_not_after=entry.enforce_not_after,
    )
