"""What the narrative part's modules hand to each other (closed enums of ATANT CP1 to CP10)."""

import enum
from dataclasses import dataclass

__all__ = [
    "WHOLES",
    "Emotion",
    "EmotionName",
    "QueryClass",
    "Tag",
    "TagType",
    "TemporalReference",
    "TemporalStatus",
    "Turn",
    "TurnClass",
    "Warmth",
]


class TurnClass(enum.StrEnum):
    """What a turn is for (CP1)."""

    STATEMENT = "statement"
    UPDATE = "update"
    QUESTION = "question"
    GENERAL_KNOWLEDGE = "general_knowledge"
    NOISE = "noise"


class QueryClass(enum.StrEnum):
    """What a question asks for (CP5)."""

    FACTUAL = "factual"
    TEMPORAL = "temporal"
    EMOTIONAL = "emotional"
    SITUATION = "situation"
    CHANGE = "change"
    NEGATION = "negation"
    GENERAL_KNOWLEDGE = "general_knowledge"


WHOLES = frozenset((QueryClass.SITUATION, QueryClass.CHANGE))
"""Classes that are answered by several facts at length."""


class TemporalStatus(enum.StrEnum):
    """Where a time lies, seen from its turn (CP9)."""

    PAST = "past"
    ACTIVE = "active"
    UPCOMING = "upcoming"


class TagType(enum.StrEnum):
    """What a phrase names (CP4)."""

    PERSON = "PERSON"
    PLACE = "PLACE"
    ORGANIZATION = "ORGANIZATION"
    TIME = "TIME"
    MONEY = "MONEY"
    QUANTITY = "QUANTITY"
    ROLE = "ROLE"
    EMOTION = "EMOTION"
    OBJECT = "OBJECT"
    EVENT = "EVENT"
    ACTIVITY = "ACTIVITY"


class EmotionName(enum.StrEnum):
    """What a turn feels like (CP10)."""

    NERVOUS = "nervous"
    AFRAID = "afraid"
    SAD = "sad"
    GRIEVING = "grieving"
    ANGRY = "angry"
    FRUSTRATED = "frustrated"
    OVERWHELMED = "overwhelmed"
    LONELY = "lonely"
    GUILTY = "guilty"
    EMBARRASSED = "embarrassed"
    HAPPY = "happy"
    EXCITED = "excited"
    PROUD = "proud"
    GRATEFUL = "grateful"
    RELIEVED = "relieved"
    HOPEFUL = "hopeful"
    CALM = "calm"
    NEUTRAL = "neutral"


class Warmth(enum.StrEnum):
    """Which way an answer's warmth should move (CP10)."""

    INCREASE = "increase"
    DECREASE = "decrease"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class TemporalReference:
    """A time that a turn names.

    Attributes:
        text: the expression, verbatim.
        start: its first character in the turn.
        end: one past its last character.
        resolves_to: YYYY-MM-DD or YYYY-MM-DDTHH:MM.
        status: where it lies, seen from the turn.
    """

    text: str
    start: int
    end: int
    resolves_to: str
    status: TemporalStatus


@dataclass(frozen=True, slots=True)
class Tag:
    """A phrase of a turn, verbatim, and what it names."""

    text: str
    type: TagType


@dataclass(frozen=True, slots=True)
class Emotion:
    """A turn's feeling, and which way it moves the warmth of an answer."""

    name: EmotionName
    warmth: Warmth


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person said.

    Attributes:
        namespace: partition.
        speaker: full name.
        time: ISO 8601 local date-time, the narrative's own clock.
        text: at most 64 KiB.
    """

    namespace: str
    speaker: str
    time: str
    text: str
