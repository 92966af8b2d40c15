"""What a call or a query gets, by the workflow's rules (DESIGN §4, §6).

The order of checks for a tool with effects: fence, deadline, key, attempt, the tool's own rules. A
deadline comes before a key's replay, since a caller that is too late must not be told of success
that it may no longer use; a replay comes before the attempt check, since it applies nothing.
"""

import sqlite3
from dataclasses import dataclass

from services.common.canonical import canonical_json, digest_hex
from services.common.clock import NANOSECONDS_PER_MILLISECOND, NANOSECONDS_PER_SECOND
from services.destination import ledger
from services.destination.model import (
    Applied,
    Capability,
    Invocation,
    Presence,
    QueryAnswer,
    QueryQuestion,
    Read,
    Refusal,
    Refused,
    ToolFailed,
    WorkflowRules,
)
from services.destination.tools.base import Action, Tool, ToolRefusal

__all__ = ["Outcome", "PreparedCall", "decide_call", "decide_query"]

Outcome = Applied | Read | ToolFailed | Refused


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call whose slow work is done.

    Attributes:
        call: the call.
        tool: its tool; None when there is no such tool.
        action: what the preparation gave, or the tool's refusal; None without a tool.
    """

    call: Invocation
    tool: Tool | None
    action: Action | ToolRefusal | None


def decide_call(
    connection: sqlite3.Connection, prepared: PreparedCall, now_unix_ns: int
) -> Outcome:
    """Decides a call and writes its effect, inside the caller's transaction."""
    call = prepared.call
    if prepared.tool is None or prepared.action is None:
        return Refused(Refusal.NO_SUCH_TOOL)
    rules = ledger.rules_of(connection, call.workflow_id)
    if rules is None:
        return Refused(Refusal.UNCONFIGURED)
    ledger.mark_called(connection, call.workflow_id)
    if prepared.tool.read_only:
        result = _run(connection, prepared.action, rules)
        return result if isinstance(result, ToolFailed) else Read(result_json=result)
    early = _before_the_tool(connection, call, rules, now_unix_ns)
    if early is not None:
        return early
    result = _run(connection, prepared.action, rules)
    if isinstance(result, ToolFailed):
        return result
    effect = Applied(effect_id=_effect_id(connection, call), result_json=result, replayed=False)
    ledger.add_effect(connection, call, effect, now_unix_ns)
    if _uses_key(call, rules):
        ledger.keep_key(connection, call, effect, now_unix_ns)
    return effect


def decide_query(
    connection: sqlite3.Connection, question: QueryQuestion, now_unix_ns: int
) -> QueryAnswer | Refused:
    """Answers a query and raises the fence, inside the caller's transaction."""
    rules = ledger.rules_of(connection, question.workflow_id)
    if rules is None:
        return Refused(Refusal.UNCONFIGURED)
    ledger.mark_called(connection, question.workflow_id)
    if rules.capability is not Capability.QUERY:
        return Refused(Refusal.NOT_QUERYABLE)
    if rules.fenced:
        effect = ledger.first_effect(connection, question, None)
    else:
        delay_ns = rules.visibility_delay_ms * NANOSECONDS_PER_MILLISECOND
        effect = ledger.first_effect(connection, question, now_unix_ns - delay_ns)
    if effect is not None:
        return QueryAnswer(Presence.PRESENT, effect)
    if not rules.fenced:
        return QueryAnswer(Presence.ABSENT_UNCERTAIN, None)
    ledger.raise_fence(connection, question)
    return QueryAnswer(Presence.ABSENT_FINAL, None)


def _before_the_tool(
    connection: sqlite3.Connection, call: Invocation, rules: WorkflowRules, now_unix_ns: int
) -> Outcome | None:
    """What is decided without asking the tool, or None."""
    fence = ledger.fence_of(connection, call)
    if fence is not None and call.attempt <= fence:
        return Refused(Refusal.FENCED)
    if rules.enforce_not_after and 0 < call.not_after_unix_ns < now_unix_ns:
        return Refused(Refusal.TOO_LATE)
    if _uses_key(call, rules):
        kept = ledger.key_of(connection, call)
        retention_ns = rules.retention_seconds * NANOSECONDS_PER_SECOND
        if kept is not None and now_unix_ns < kept.first_commit_unix_ns + retention_ns:
            if (kept.tool, kept.arguments_digest) == (call.tool, call.arguments_digest):
                return kept.effect
            return ToolFailed(
                "key_reused",
                "this key was used for another tool or other arguments; take a new one",
            )
    if rules.one_apply_per_attempt and ledger.attempt_applied(connection, call):
        return Refused(Refusal.ATTEMPT_APPLIED)
    return None


def _uses_key(call: Invocation, rules: WorkflowRules) -> bool:
    return rules.capability is Capability.IDEMPOTENT and bool(call.idempotency_key)


def _run(
    connection: sqlite3.Connection, action: Action | ToolRefusal, rules: WorkflowRules
) -> str | ToolFailed:
    """The tool's canonical result, or its refusal."""
    if isinstance(action, ToolRefusal):
        return ToolFailed(action.code, action.message)
    try:
        return canonical_json(action.apply(connection, guard=rules.guard)).decode("utf-8")
    except ToolRefusal as refusal:
        return ToolFailed(refusal.code, refusal.message)


def _effect_id(connection: sqlite3.Connection, call: Invocation) -> str:
    """Unique, and the same in two runs in which the same calls are applied in the same order."""
    identity = digest_hex(
        {
            "workflow_id": call.workflow_id,
            "operation_id": call.operation_id,
            "attempt": call.attempt,
            "ordinal": ledger.count_effects(connection, call),
        }
    )
    return f"effect-{identity[:32]}"
