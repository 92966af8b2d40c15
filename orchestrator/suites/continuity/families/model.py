"""What a family's case is: a fault, or a history, that no single window shows (DESIGN §5, §6).

A case is data. How it is played on a stack stands in `suites.continuity.plays`, what it must come
to in `scoring.families`; both find it by its name.
"""

from __future__ import annotations

from enum import StrEnum

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Frozen,
    Suite,
    TargetSet,
)
from orchestrator.stacks import StackVariant

__all__ = ["Account", "End", "EvidenceClass", "FamilyCase", "Need", "Weight"]


class Need(StrEnum):
    """What a case cannot do without; where it is missing, its cells are N/R (DESIGN §7).

    The first are the machine's or the run's (subtype `platform`), the others the memory declares
    (subtype `capability_absent`).
    """

    MEMORY_CLOCK = "memory_clock"
    OTHER_CLOCKS = "other_clocks"
    FUSE = "fuse"
    TAU2_STORE = "tau2_store"
    RETAIL_TASKS = "retail_tasks"
    MODEL_ENDPOINT = "model_endpoint"
    BEGIN_REPLAY = "begin_replay"
    DECISION_PEEK = "decision_peek"
    FINAL_ABSENCE = "final_absence"
    INTENT_MATCHING = "intent_matching"
    ROLLBACK_DETECTION = "rollback_detection"
    AUTHORITY_GATING = "authority_gating"
    OPERATOR_WORD = "operator_word"
    """RequestResolve and Resolve, for which no capability stands: the trace says whether they are
    served (scoring.unserved)."""

    @property
    def of_platform(self) -> bool:
        """Whether the machine has it or not, rather than the memory."""
        return self in (
            Need.MEMORY_CLOCK,
            Need.OTHER_CLOCKS,
            Need.FUSE,
            Need.TAU2_STORE,
            Need.RETAIL_TASKS,
            Need.MODEL_ENDPOINT,
        )


class Account(StrEnum):
    """Whom an extra effect is charged to that no correct memory can prevent (DESIGN §6)."""

    NOBODY = ""
    NETWORK = "network"
    CLOCK = "clock"
    OPERATOR = "operator"
    HOST = "host"
    DESTINATION = "destination"
    VOLUME = "volume"


class End(StrEnum):
    """Where a trial's workflow must stand at the end."""

    RESOLVED = "resolved"
    """Complete, or honestly left for confirmation."""
    OPEN = "open"
    """The case's own judge says."""
    NO_HOST = "no_host"
    """No host took part: the evaluator asked the memory itself."""


class Weight(StrEnum):
    """From which profile on a case is scheduled; each profile holds those before it."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"
    PAPER = "paper"
    """Of the published studies: scheduled by the profile of that name, and by full."""


class EvidenceClass(StrEnum):
    """What kind of evidence a case's trials are; classes are never summed together (DESIGN §7)."""

    EXTERNAL_HARNESS = "external harness"
    INSTALLED_PRODUCT = "installed product"
    RECORDED_RESPONSE = "recorded response"
    FRESH_MODEL = "fresh model"


class FamilyCase(Frozen):
    """One case of a family.

    Attributes:
        name: `<family>.<case>`, lower case, stable: `Cell.case`.
        title: What happens, in one sentence for the report.
        requirement_id: Row of the register that its own checks name.
        capabilities: One cell each.
        arms: One cell each.
        target: Services that die in it, NONE when none does.
        expiry: SKEWED where the end of a lease is part of it, else NONE.
        needs: What it cannot do without.
        receipts: `kind` or `kind:service` of each fault receipt that must be there.
        account: Whom an extra effect is charged to that no grant outside the oracle explains.
        effects_max: Effects of one workflow that are rightly there.
        effects_per_operation: Effects of one operation that are rightly there, where workflows have
            several operations; `effects_max` then bounds nothing.
        end: Where its workflows must stand.
        weight: From which profile on it is scheduled.
        operations: Trials of one batch.
        lease_seconds: Lease that its stack is asked for; None for the usual one.
        own_stack: Its batch leaves the stack unfit for others.
        stack: Kind of stack that it is played on.
        evidence_class: What kind of evidence its trials are.
        batches: Batches of each of its cells: how often it is repeated.
        parity_group: Cases of one group differ in telemetry alone: they get the same operations,
            and their histories must be equal (DESIGN §6, P5); empty for a case of its own.
        own_workload: Its workflows ask for other calls than `workload.arguments_of`; its judge
            says which.
    """

    name: str
    title: str
    requirement_id: str
    capabilities: tuple[CapabilityVariant, ...] = tuple(CapabilityVariant)
    arms: tuple[Arm, ...] = (Arm.MEMORY,)
    target: TargetSet = TargetSet.NONE
    expiry: ExpiryMode = ExpiryMode.NONE
    needs: frozenset[Need] = frozenset()
    receipts: tuple[str, ...] = ()
    account: Account = Account.NOBODY
    effects_max: int = 1
    effects_per_operation: int | None = None
    end: End = End.RESOLVED
    weight: Weight = Weight.STANDARD
    operations: int = 20
    lease_seconds: int | None = None
    own_stack: bool = False
    stack: StackVariant = StackVariant.USUAL
    evidence_class: EvidenceClass = EvidenceClass.EXTERNAL_HARNESS
    batches: int = 1
    parity_group: str = ""
    own_workload: bool = False

    @property
    def family(self) -> str:
        """The part of the name before the first dot."""
        return self.name.partition(".")[0]

    def base_of(self, cell: Cell) -> Cell:
        """What all cells share that differ from one of its cells in telemetry alone."""
        if not self.parity_group:
            return cell.model_copy(update={"arm": Arm.MEMORY})
        return cell.model_copy(update={"arm": Arm.MEMORY, "case": self.parity_group})

    def cells(self) -> tuple[Cell, ...]:
        """Its cells, in order."""
        return tuple(
            Cell(
                suite=Suite.CONTINUITY,
                arm=arm,
                capability=capability,
                target=self.target,
                expiry=self.expiry,
                case=self.name,
            )
            for arm in self.arms
            for capability in self.capabilities
        )
