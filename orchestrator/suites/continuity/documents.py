"""Workflows that publish one document each, whose bytes stand nowhere else (DESIGN §10)."""

from __future__ import annotations

import hashlib

from memqual.v1 import agent_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.workload import ToolArguments, workflow_of
from services.common.canonical import canonical_json

__all__ = ["content_of", "document_of", "document_workflow"]


def content_of(member: Member) -> str:
    """The document's text, which no other trial has."""
    text = f"document:{member.sub_seed}:{member.workflow_id}"
    return f"Acceptance {hashlib.sha256(text.encode()).hexdigest()}.\n"


def document_of(member: Member) -> ToolArguments:
    """The one call of a trial's workflow."""
    arguments = {"path": f"{member.workflow_id}.txt", "content": content_of(member)}
    return ToolArguments(
        tool="publish_document", arguments_json=canonical_json({**arguments}).decode()
    )


def document_workflow(member: Member, run_id: str) -> agent_pb2.Workflow:
    """The workflow that makes this call and no other."""
    call = document_of(member)
    workflow = workflow_of(member, run_id)
    del workflow.turns[:]
    workflow.turns.add().calls.add(tool=call.tool, arguments_json=call.arguments_json)
    return workflow
