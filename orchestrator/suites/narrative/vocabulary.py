"""The closed enums of the story format (STORIES.md; docs/stories.md)."""

from enum import StrEnum

__all__ = [
    "Category",
    "EmotionName",
    "Pattern",
    "QuestionType",
    "TagType",
    "TemporalStatus",
    "TurnType",
    "Warmth",
]


class Category(StrEnum):
    """The part of a life that a story is about; the last is the second domain."""

    CAREER = "Career"
    RELATIONSHIPS = "Relationships"
    HEALTH = "Health"
    LEARNING = "Learning"
    DAILY_LIFE = "Daily Life"
    LIFE_EVENTS = "Life Events"
    SERVICE_DESK = "Service Desk"


class Pattern(StrEnum):
    """What makes a story hard (ATANT, section 6.4)."""

    MULTI_FACT = "multi_fact"
    SHARED_SUBJECT = "shared_subject"
    PRONOUN_CHAIN = "pronoun_chain"
    TEMPORAL_UPDATE = "temporal_update"
    GENERAL_KNOWLEDGE_TRAP = "general_knowledge_trap"
    EMOTIONAL_OVERLAY = "emotional_overlay"
    NEGATION = "negation"
    AMBIGUOUS_PREDICATE = "ambiguous_predicate"


class TurnType(StrEnum):
    """CP1: what a turn is."""

    STATEMENT = "statement"
    UPDATE = "update"
    QUESTION = "question"
    GENERAL_KNOWLEDGE = "general_knowledge"
    NOISE = "noise"


class QuestionType(StrEnum):
    """CP5: what a question asks for."""

    FACTUAL = "factual"
    TEMPORAL = "temporal"
    EMOTIONAL = "emotional"
    SITUATION = "situation"
    CHANGE = "change"
    NEGATION = "negation"
    GENERAL_KNOWLEDGE = "general_knowledge"


class TagType(StrEnum):
    """CP4: what a string of a turn names."""

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


class TemporalStatus(StrEnum):
    """CP9: where a time lies, seen from its turn."""

    PAST = "past"
    ACTIVE = "active"
    UPCOMING = "upcoming"


class EmotionName(StrEnum):
    """CP10: what the person feels."""

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


class Warmth(StrEnum):
    """CP10: where the warmth of the answer should go."""

    INCREASE = "increase"
    DECREASE = "decrease"
    NEUTRAL = "neutral"
