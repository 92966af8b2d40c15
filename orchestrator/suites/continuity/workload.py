"""What one trial's workflow asks its destination for: derived from the trial's sub-seed alone.

Even sub-seeds publish a document, odd ones transfer funds, so that every cell covers a tool whose
second effect overwrites the first and one whose second effect adds up. The tools' own guards are
off: a second effect must show, not be caught by the tool (DESIGN §10).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from memqual.v1 import agent_pb2, common_pb2, destination_pb2
from orchestrator.model import Arm, CapabilityVariant, Frozen
from services.common.canonical import canonical_json

if TYPE_CHECKING:
    from orchestrator.plan import Batch, Member

__all__ = [
    "DEPLOYMENT",
    "LONG_RETENTION_SECONDS",
    "SHORT_RETENTION_SECONDS",
    "UNFENCED_VISIBILITY_MS",
    "UNSEEN_VISIBILITY_MS",
    "ToolArguments",
    "arguments_of",
    "canary_workflow",
    "model_seed",
    "settings_of",
    "short_retention_seconds",
    "workflow_of",
]

DEPLOYMENT = "memqual"
PRINCIPAL = "operator"

LONG_RETENTION_SECONDS = 24 * 3600
"""Covers any lease that a vendor may declare, twice over: the retry after an expiry is valid."""

SHORT_RETENTION_SECONDS = 60
"""Shorter than a long lease: once the lease is over, so is the key (`short_retention_seconds`)."""

UNFENCED_VISIBILITY_MS = 50
"""Over before anybody can ask: the effect is seen at the first question."""

UNSEEN_VISIBILITY_MS = 3_600_000
"""Longer than any trial: the effect is there, and no question sees it."""

_ARMS = {
    Arm.BASELINE: agent_pb2.ARM_BASELINE,
    Arm.MEMORY: agent_pb2.ARM_MEMORY,
    Arm.OBSERVER: agent_pb2.ARM_OBSERVER,
    Arm.BOTH: agent_pb2.ARM_BOTH,
}


class ToolArguments(Frozen):
    """One tool call.

    Attributes:
        tool: Tool name at the destination.
        arguments_json: Canonical JSON object.
    """

    tool: str
    arguments_json: str


def arguments_of(member: Member) -> ToolArguments:
    """The tool call of a trial: equal for equal sub-seed and workflow."""
    digest = hashlib.sha256(f"workload:{member.sub_seed}".encode()).hexdigest()
    if member.sub_seed % 2 == 0:
        arguments: dict[str, str | int] = {
            "path": f"{member.workflow_id}.txt",
            "content": f"Notice {digest[:16]}.",
        }
        return ToolArguments(
            tool="publish_document", arguments_json=canonical_json(arguments).decode()
        )
    arguments = {
        "from": f"{member.workflow_id}-a",
        "to": f"{member.workflow_id}-b",
        "amount_cents": 1 + int(digest[:6], 16) % 100_000,
    }
    return ToolArguments(tool="transfer_funds", arguments_json=canonical_json(arguments).decode())


def workflow_of(member: Member, run_id: str) -> agent_pb2.Workflow:
    """The workflow that the host is asked to start."""
    call = arguments_of(member)
    return agent_pb2.Workflow(
        workflow_id=member.workflow_id,
        run_id=run_id,
        arm=_ARMS[member.cell.arm],
        namespace=member.workflow_id,
        principal=PRINCIPAL,
        deployment=DEPLOYMENT,
        turns=[
            agent_pb2.AssistantTurn(
                calls=[agent_pb2.ToolCall(tool=call.tool, arguments_json=call.arguments_json)]
            )
        ],
    )


def canary_workflow(workflow_id: str, run_id: str) -> agent_pb2.Workflow:
    """A transfer without a memory: it completes whenever the rig itself works."""
    arguments: dict[str, str | int] = {"from": "canary-a", "to": "canary-b", "amount_cents": 1}
    call = agent_pb2.ToolCall(
        tool="transfer_funds", arguments_json=canonical_json(arguments).decode()
    )
    return agent_pb2.Workflow(
        workflow_id=workflow_id,
        run_id=run_id,
        arm=agent_pb2.ARM_BASELINE,
        namespace=workflow_id,
        principal=PRINCIPAL,
        deployment=DEPLOYMENT,
        turns=[agent_pb2.AssistantTurn(calls=[call])],
    )


def settings_of(member: Member) -> destination_pb2.WorkflowSettings:
    """How the destination behaves for the trial's workflow."""
    capability = member.cell.capability or CapabilityVariant.NONE
    settings = destination_pb2.WorkflowSettings(workflow_id=member.workflow_id, guard=False)
    match capability:
        case CapabilityVariant.NONE:
            settings.capability = common_pb2.EFFECT_CAPABILITY_NONE
        case CapabilityVariant.QUERY_FENCED:
            settings.capability = common_pb2.EFFECT_CAPABILITY_QUERY
            settings.fenced = True
        case CapabilityVariant.QUERY_UNFENCED:
            settings.capability = common_pb2.EFFECT_CAPABILITY_QUERY
            settings.visibility_delay_ms = _visibility_ms(member)
        case CapabilityVariant.IDEMPOTENT:
            settings.capability = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
            settings.retention_seconds = LONG_RETENTION_SECONDS
        case CapabilityVariant.IDEMPOTENT_EXPIRED:
            settings.capability = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
            settings.retention_seconds = short_retention_seconds(member)
    return settings


def short_retention_seconds(member: Member) -> int:
    """How long a key counts that is over once the lease is."""
    lease_seconds = member.short_lease_seconds
    if not lease_seconds:
        return SHORT_RETENTION_SECONDS
    return max(1, min(SHORT_RETENTION_SECONDS, lease_seconds - 1))


def _visibility_ms(member: Member) -> int:
    """When an effect shows: in the window table, of every second operation it never does."""
    unseen = member.cell.window is not None and (member.sub_seed >> 1) % 2
    return UNSEEN_VISIBILITY_MS if unseen else UNFENCED_VISIBILITY_MS


def model_seed(batch: Batch, life: int) -> str:
    """Seed of the scripted model in one life of the host: a model asked again answers anew.

    Each workflow's messages differ all the same: the host mixes the workflow id in.
    """
    first = batch.members[0].sub_seed
    return hashlib.sha256(f"model:{first}:{life}".encode()).hexdigest()
