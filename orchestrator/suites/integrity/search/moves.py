"""Moves of a search as data, and the case that is kept of a find: all that a replay needs.

A move is one call. What a call makes (a record, a challenge) has a name of the sequence's own, by
which later moves refer to it, since ids are the memory's and differ from one playing to the next.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from memqual.v1 import memory_pb2
from orchestrator.model import Frozen

__all__ = [
    "SOURCES",
    "Ask",
    "Binding",
    "Case",
    "Circle",
    "Decide",
    "Derive",
    "Kind",
    "Manner",
    "Move",
    "Recall",
    "RecordOutcome",
    "Restart",
    "Retire",
    "Said",
    "SourceType",
    "Statement",
    "Supersede",
    "Violation",
    "ViolationKind",
    "Write",
    "made_by",
    "named_by",
]


class Kind(StrEnum):
    """`memory_pb2.RECORD_KIND_*`."""

    FACT = "fact"
    PROCEDURE = "procedure"
    EPISODE = "episode"

    @property
    def wire(self) -> memory_pb2.RecordKind.ValueType:
        """The contract's number."""
        return memory_pb2.RecordKind.Value(f"RECORD_KIND_{self.name}")


class SourceType(StrEnum):
    """`memory_pb2.SOURCE_TYPE_*`."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"
    DOCUMENT = "document"
    RECEIPT = "receipt"


class Binding(StrEnum):
    """`memory_pb2.SOURCE_BINDING_*`."""

    CALLER_ASSERTED = "caller_asserted"
    HOST_AUTHENTICATED = "host_authenticated"
    VERIFIED = "verified"


SOURCES = tuple((source, binding) for source in SourceType for binding in Binding)
"""Every source type with every binding."""


class Manner(StrEnum):
    """How a review is answered. Only SIGNED can be right."""

    SIGNED = "signed"
    """The run's reviewer signed exactly this challenge and decision."""
    UNSIGNED = "unsigned"
    """The reviewer's key id and no signature."""
    LABEL = "label"
    """A word of authority in place of a key, and bytes in place of a signature."""
    FORGED = "forged"
    """Another key's signature under the reviewer's key id."""
    STRANGER = "stranger"
    """Another key's signature under its own id, which was never mounted."""
    BYSTANDER = "bystander"
    """A mounted key that speaks for somebody else."""
    OTHER_CHALLENGE = "other_challenge"
    """The reviewer's signature over another challenge."""
    OTHER_RECORD = "other_record"
    """The reviewer's signature over this challenge with another record in it."""
    OTHER_ACTION = "other_action"
    """As above, with another action."""
    OTHER_PRINCIPAL = "other_principal"
    """As above, with another principal."""
    OTHER_DECISION = "other_decision"
    """The reviewer's signature over the opposite decision."""


class Circle(Frozen):
    """A scope without its namespace, which is each playing's own."""

    principal: str
    agent: str = ""
    workspace: str = ""
    purpose: str = ""

    def scope(self, namespace: str) -> memory_pb2.Scope:
        """It as the contract's message."""
        return memory_pb2.Scope(
            namespace=namespace,
            principal=self.principal,
            agent=self.agent,
            workspace=self.workspace,
            purpose=self.purpose,
        )


class Said(Frozen):
    """An observation without its scope; `labels` are the caller's."""

    kind: Kind
    text: str
    source: SourceType
    binding: Binding
    source_id: str
    labels: tuple[str, ...] = ()

    def observation(self, scope: memory_pb2.Scope) -> memory_pb2.Observation:
        """It as the contract's message."""
        return memory_pb2.Observation(
            scope=scope,
            kind=self.kind.wire,
            content=self.text,
            source=memory_pb2.Source(
                type=memory_pb2.SourceType.Value(f"SOURCE_TYPE_{self.source.name}"),
                binding=memory_pb2.SourceBinding.Value(f"SOURCE_BINDING_{self.binding.name}"),
                source_id=self.source_id,
            ),
            labels=self.labels,
        )


class Write(Frozen):
    """Write; `makes` names the record."""

    op: Literal["write"] = "write"
    makes: str
    circle: Circle
    said: Said


class Derive(Frozen):
    """Derive from the named parents; `makes` names the record."""

    op: Literal["derive"] = "derive"
    makes: str
    circle: Circle
    kind: Kind
    parents: tuple[str, ...]
    text: str
    method: str


class Recall(Frozen):
    """Recall, for what asking may do to a memory."""

    op: Literal["recall"] = "recall"
    circle: Circle
    query: str
    evidence: bool = False


class RecordOutcome(Frozen):
    """RecordOutcome on the named record."""

    op: Literal["record_outcome"] = "record_outcome"
    circle: Circle
    of: str
    outcome: Literal["helpful", "harmful", "neutral"]
    utility: float


class Supersede(Frozen):
    """Supersede the named record; `makes` names its successor."""

    op: Literal["supersede"] = "supersede"
    makes: str
    circle: Circle
    of: str
    said: Said


class Retire(Frozen):
    """Quarantine, Archive or Forget the named record."""

    op: Literal["quarantine", "archive", "forget"]
    circle: Circle
    of: str


class Ask(Frozen):
    """RequestReview of the named records; `makes` names the challenge."""

    op: Literal["request_review"] = "request_review"
    makes: str
    circle: Circle
    records: tuple[str, ...]
    action: Literal["promote", "release"]


class Decide(Frozen):
    """DecideReview of the named challenge; `other` names the one that was signed instead."""

    op: Literal["decide_review"] = "decide_review"
    circle: Circle
    challenge: str
    approve: bool
    manner: Manner
    other: str = ""


class Restart(Frozen):
    """The memory is killed and started again on its volume."""

    op: Literal["restart"] = "restart"


Move: TypeAlias = Annotated[
    Write | Derive | Recall | RecordOutcome | Supersede | Retire | Ask | Decide | Restart,
    Field(discriminator="op"),
]


class Statement(Frozen):
    """One thing that is said in a sequence.

    Attributes:
        nonce: Word that stands in its text and in what repeats it, and nowhere else.
        text: Its first wording.
        question: What it answers; holds the nonce.
        topic: What it and its like answer; holds no nonce.
    """

    nonce: str
    text: str
    question: str
    topic: str


class ViolationKind(StrEnum):
    """What no memory may do, whatever it was told (DESIGN §4; issue 3, part 3)."""

    AUTHORITY = "authority"
    """Content that nobody with authority stands behind is authoritative."""
    FORGOTTEN = "forgotten"
    """Forgotten content is readable again."""
    RETIRED = "retired"
    """A quarantined, archived or superseded record is authoritative again."""
    BLEED = "bleed"
    """Content of one principal, agent, workspace or purpose answers another."""
    TAINT = "taint"
    """A taint was lost on the way to a child, or by an outcome."""
    CHILD = "child"
    """A record that was made out of a doubtful one is authoritative."""
    REVIEW = "review"
    """A decision was taken that nobody had the right to make."""
    DISAGREEMENT = "disagreement"
    """Two answers of the memory contradict each other about one record's authority."""


class Violation(Frozen):
    """One find.

    Attributes:
        kind: Which rule was broken.
        words: What was seen, in a sentence.
        move: Position of the move after which it was seen, from 0.
    """

    kind: ViolationKind
    words: str
    move: int


class Case(Frozen):
    """The shortest sequence that was found to break a rule, to be played again.

    Attributes:
        format: Raised when moves change their meaning; others are not played.
        seed: Root seed of the search.
        sequence: Which sequence of the search it came from, from 1.
        memory: Name and version, by the memory's own account.
        revision: Of the testbed that found it.
        statements: What is said in it.
        moves: The moves in order.
        answers: What each move came to, in a word; same length.
        violation: What was found.
    """

    format: Literal["memqual-search-case/1"] = "memqual-search-case/1"
    seed: int
    sequence: int
    memory: str
    revision: str
    statements: tuple[Statement, ...]
    moves: tuple[Move, ...]
    answers: tuple[str, ...]
    violation: Violation


def made_by(move: Move) -> str:
    """Name of what a move makes; empty when it makes nothing."""
    return move.makes if isinstance(move, Write | Derive | Supersede | Ask) else ""


def named_by(move: Move) -> frozenset[str]:
    """Names of what a move refers to."""
    match move:
        case Derive():
            return frozenset(move.parents)
        case RecordOutcome() | Supersede() | Retire():
            return frozenset((move.of,))
        case Ask():
            return frozenset(move.records)
        case Decide():
            return frozenset(name for name in (move.challenge, move.other) if name)
        case _:
            return frozenset()
