"""The nouns of a run: cells, trials, checks, verdicts (DESIGN §7).

Everything that crosses a module border of the orchestrator is one of these frozen models. They
hold no behaviour beyond naming themselves, so that a bundle written today can be read by any later
version.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Arm",
    "CapabilityVariant",
    "Cell",
    "Check",
    "CheckOutcome",
    "ExpiryMode",
    "Fate",
    "FaultKind",
    "Figure",
    "NotRunSubtype",
    "Profile",
    "RunVerdict",
    "Suite",
    "TargetSet",
    "TrialRecord",
    "Verdict",
    "WindowName",
]


class Frozen(BaseModel):
    """Base of every model here: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Suite(StrEnum):
    """Which axis a cell belongs to."""

    CONTINUITY = "continuity"
    INTEGRITY = "integrity"
    NARRATIVE = "narrative"


class Arm(StrEnum):
    """Which parts stand beside the agent host."""

    BASELINE = "baseline"
    MEMORY = "memory"
    OBSERVER = "observer"
    BOTH = "both"

    @property
    def has_memory(self) -> bool:
        """Whether the memory decides in this arm; the other arms are comparators and UNSCORED."""
        return self in (Arm.MEMORY, Arm.BOTH)

    @property
    def has_observer(self) -> bool:
        """Whether telemetry is sent in this arm."""
        return self in (Arm.OBSERVER, Arm.BOTH)


class WindowName(StrEnum):
    """The nine windows of DESIGN §5, in the order in which one operation passes them."""

    BEFORE_INTENT_CHECKPOINT = "before_intent_checkpoint"
    BEFORE_INTENT = "before_intent"
    AFTER_LEASE = "after_lease"
    IN_REQUEST = "in_request"
    AFTER_COMMIT = "after_commit"
    AFTER_RESPONSE = "after_response"
    AFTER_RECEIPT = "after_receipt"
    BEFORE_CHECKPOINT = "before_checkpoint"
    AFTER_CHECKPOINT = "after_checkpoint"


class CapabilityVariant(StrEnum):
    """What the destination lets the host do after an uncertain dispatch, as a cell's coordinate."""

    NONE = "none"
    QUERY_FENCED = "query_fenced"
    QUERY_UNFENCED = "query_unfenced"
    IDEMPOTENT = "idempotent"
    IDEMPOTENT_EXPIRED = "idempotent_expired"


class TargetSet(StrEnum):
    """Which services are killed together."""

    NONE = "none"
    AGENT = "agent"
    MEMORY = "memory"
    AGENT_MEMORY = "agent+memory"
    DESTINATION = "destination"
    OBSERVER = "observer"
    ALL = "all"

    @property
    def services(self) -> tuple[str, ...]:
        """Service names of the topology that die, in no order."""
        return {
            TargetSet.NONE: (),
            TargetSet.AGENT_MEMORY: ("agent", "memory"),
            TargetSet.ALL: ("agent", "memory", "destination", "observer"),
        }.get(self, (self.value,))

    @property
    def kills_agent(self) -> bool:
        """Whether the host dies, so that another incarnation resumes."""
        return "agent" in self.services


class Fate(StrEnum):
    """What becomes of the message that was held at the window when its owner died."""

    NONE = "none"
    DROP = "drop"
    DELIVER = "deliver"
    LATE_BEFORE_RESUME = "late_before_resume"
    LATE_AFTER_DECISION = "late_after_decision"
    LATE_AFTER_COMPLETION = "late_after_completion"
    LATE_AFTER_KEY_END = "late_after_key_end"


class FaultKind(StrEnum):
    """The fault that stands beside the kill."""

    NONE = "none"
    KILL = "kill"
    CLOCK_JUMP = "clock_jump"
    TELEMETRY_DROP = "telemetry_drop"
    OBSERVER_DOWN = "observer_down"


class ExpiryMode(StrEnum):
    """How the end of the lease is reached (DESIGN §5)."""

    NONE = "none"
    SKEWED = "skewed"
    CONFIGURED = "configured"
    REAL = "real"


class Profile(StrEnum):
    """Which cells a run schedules."""

    QUICK = "quick"
    SURVEY = "survey"
    STANDARD = "standard"
    FULL = "full"
    MIB = "mib"
    PAPER = "paper"
    ATANT = "atant"
    SELFTEST = "selftest"


class Verdict(StrEnum):
    """What a trial ended with."""

    PASS = "PASS"
    FAIL = "FAIL"
    ERROR = "ERROR"
    NOT_RUN = "N/R"
    UNSCORED = "UNSCORED"


class NotRunSubtype(StrEnum):
    """Why a trial is N/R."""

    CAPABILITY_ABSENT = "capability_absent"
    NOT_EXPRESSIBLE = "not_expressible"
    PLATFORM = "platform"


class RunVerdict(StrEnum):
    """What a run ended with, and its exit code (DESIGN §7)."""

    QUALIFIED = "QUALIFIED"
    QUALIFIED_WITH_GAPS = "QUALIFIED_WITH_GAPS"
    NOT_QUALIFIED = "NOT_QUALIFIED"
    INVALID = "INVALID"
    INCOMPLETE = "INCOMPLETE"

    @property
    def exit_code(self) -> int:
        """The process exit code that CI sees; 2 is wrong usage and no verdict."""
        return {
            RunVerdict.QUALIFIED: 0,
            RunVerdict.QUALIFIED_WITH_GAPS: 0,
            RunVerdict.NOT_QUALIFIED: 1,
            RunVerdict.INVALID: 3,
            RunVerdict.INCOMPLETE: 4,
        }[self]


class Cell(Frozen):
    """One point of the matrix; what differs between two is never summed in silence (DESIGN §7).

    Continuity cells use every coordinate; integrity cells use `suite`, `arm` and `case` (the
    category's letter).
    """

    suite: Suite
    arm: Arm
    window: WindowName | None = None
    capability: CapabilityVariant | None = None
    target: TargetSet = TargetSet.NONE
    fate: Fate = Fate.NONE
    fault: FaultKind = FaultKind.NONE
    expiry: ExpiryMode = ExpiryMode.NONE
    case: str = ""

    @property
    def cell_id(self) -> str:
        """Stable name, the same in the cell table, the evidence, the report and junit.xml."""
        parts = [self.suite.value, self.arm.value]
        if self.window is not None:
            parts.append(self.window.value)
        if self.capability is not None:
            parts.append(self.capability.value)
        if self.target is not TargetSet.NONE:
            parts.append(f"kill={self.target.value}")
        if self.fate is not Fate.NONE:
            parts.append(self.fate.value)
        if self.fault not in (FaultKind.NONE, FaultKind.KILL):
            parts.append(self.fault.value)
        if self.expiry is not ExpiryMode.NONE:
            parts.append(self.expiry.value)
        if self.case:
            parts.append(self.case)
        return "/".join(parts)


class CheckOutcome(StrEnum):
    """What one assertion came to."""

    HELD = "held"
    VIOLATED = "violated"
    NOT_EVALUATED = "not_evaluated"


class Check(Frozen):
    """One named assertion of one trial, with the requirement that it stands for."""

    check_id: str
    requirement_id: str
    paper_property: str
    outcome: CheckOutcome
    expected: str = ""
    actual: str = ""
    required: bool = True


class Figure(Frozen):
    """One thing that a trial of a study shows beside its checks: a count, a digest, a note."""

    name: str
    value: str


class TrialRecord(Frozen):
    """One line of trials.jsonl, recomputable from the raw evidence: all that the report needs."""

    trial_id: str
    cell: Cell
    subject: str = Field(description="vendor, or control:<name>")
    batch_id: str
    sub_seed: int
    workflow_id: str = ""
    operation_id: str = ""
    verdict: Verdict
    expiry: ExpiryMode = Field(
        default=ExpiryMode.NONE, description="how the lease's end was really reached"
    )
    subtype: NotRunSubtype | None = None
    error_kind: str = Field(default="", description="empty, 'trial' or 'infrastructure'")
    cause: str = ""
    checks: tuple[Check, ...] = ()
    decisions: tuple[str, ...] = Field(
        default=(), description="kind:reason:attempt, consecutive WAITs collapsed (P5's history)"
    )
    dispatches: int = 0
    effects: int = 0
    extra_effects: int = Field(default=0, description="effects beyond those that are rightly there")
    tool_errors: int = 0
    unsafe_decisions: int = 0
    needless_decisions: int = 0
    boundary: bool = False
    hazard: str = Field(
        default="", description="account that an unpreventable extra effect goes to"
    )
    findings: tuple[str, ...] = Field(
        default=(), description="what is worth knowing and no verdict: undeclared but working"
    )
    figures: tuple[Figure, ...] = Field(
        default=(), description="what a study's tables tell of the trial, in order"
    )
    fault_receipt_id: str = ""
    resolution_ms: float | None = None
