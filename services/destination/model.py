"""What the destination's parts hand to each other (DESIGN §4: Destination)."""

import enum
from dataclasses import dataclass

from services.common.canonical import JsonObject

__all__ = [
    "Applied",
    "Capability",
    "Invocation",
    "InvokeAnswer",
    "Presence",
    "QueryAnswer",
    "QueryQuestion",
    "Read",
    "Refusal",
    "Refused",
    "ToolFailed",
    "WorkflowRules",
]


class Capability(enum.Enum):
    """What a caller may do after an uncertain dispatch (EffectCapability)."""

    NONE = "none"
    QUERY = "query"
    IDEMPOTENT = "idempotent"


class Presence(enum.Enum):
    """What QueryEffect answers (EffectPresence)."""

    PRESENT = "present"
    ABSENT_FINAL = "absent_final"
    ABSENT_UNCERTAIN = "absent_uncertain"


class Refusal(enum.Enum):
    """Why the destination itself refuses; the value is the journal's reason."""

    NO_SUCH_TOOL = "no_such_tool"
    UNCONFIGURED = "unconfigured"
    FENCED = "fenced"
    TOO_LATE = "too_late"
    ATTEMPT_APPLIED = "attempt_applied"
    NOT_QUERYABLE = "not_queryable"


@dataclass(frozen=True, slots=True)
class WorkflowRules:
    """How the destination behaves for one workflow (WorkflowSettings in destination.proto).

    Attributes:
        workflow_id: the workflow.
        capability: what it offers after an uncertain dispatch.
        fenced: QueryEffect may answer ABSENT_FINAL; only with QUERY.
        visibility_delay_ms: an effect is visible to an unfenced query this long after its commit.
        retention_seconds: how long a key is kept from its first commit; only with IDEMPOTENT.
        guard: the tools' own business preconditions hold.
        one_apply_per_attempt: a second call of an (operation, attempt) that was applied is refused.
        enforce_not_after: a call after its not_after is refused.
    """

    workflow_id: str
    capability: Capability
    fenced: bool
    visibility_delay_ms: int
    retention_seconds: int
    guard: bool
    one_apply_per_attempt: bool
    enforce_not_after: bool


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a tool, checked for form.

    Attributes:
        workflow_id: the workflow.
        operation_id: the operation.
        attempt: attempt of the memory, 0 without one.
        tool: the tool's name, known or not.
        arguments: what the tool is called with.
        arguments_digest: digest of the arguments' canonical JSON.
        not_after_unix_ns: the destination's wall clock after which it must not apply; 0 for none.
        idempotency_key: empty for none.
    """

    workflow_id: str
    operation_id: str
    attempt: int
    tool: str
    arguments: JsonObject
    arguments_digest: str
    not_after_unix_ns: int
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class Applied:
    """An effect: of this call, or with `replayed` of the first call with the same key.

    Attributes:
        effect_id: the effect.
        result_json: canonical JSON object that the tool answered.
        replayed: True when nothing was applied now.
    """

    effect_id: str
    result_json: str
    replayed: bool


@dataclass(frozen=True, slots=True)
class Read:
    """The answer of a tool that only reads: canonical JSON object."""

    result_json: str


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """The tool's own refusal: nothing was applied.

    Attributes:
        code: stable, lower case.
        message: for a person, at most 1,024 bytes.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The destination's refusal, which is a status: nothing was applied."""

    reason: Refusal


@dataclass(frozen=True, slots=True)
class InvokeAnswer:
    """What became of a call, and the sequence of its `received` record."""

    call_sequence: int
    outcome: Applied | Read | ToolFailed | Refused


@dataclass(frozen=True, slots=True)
class QueryQuestion:
    """A QueryEffect: is this operation's effect there, and fence up to which attempt?"""

    workflow_id: str
    operation_id: str
    fence_attempt: int


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The presence; `effect` is there exactly when it is PRESENT."""

    presence: Presence
    effect: Applied | None
