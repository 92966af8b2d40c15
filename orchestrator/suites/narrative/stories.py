"""A story: what a person told over some days, what is asked afterwards, and what is expected.

The model is the superset of STORIES.md. A story of ATANT's published form loads, too; what it
lacks is None or empty and named by `Story.not_scored`. What a story must have to be whole, and
which form wants which field, is `REQUIRED`; whether its parts agree is the lint's business.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.suites.narrative.checkpoints import Checkpoint
from orchestrator.suites.narrative.vocabulary import (
    Category,
    EmotionName,
    Pattern,
    QuestionType,
    TagType,
    TemporalStatus,
    TurnType,
    Warmth,
)

__all__ = [
    "ID_BYTES_MAX",
    "QUESTION_BYTES_MAX",
    "REQUIRED",
    "TURN_BYTES_MAX",
    "Adaptation",
    "Batch",
    "Form",
    "Level",
    "Question",
    "Story",
    "StoryFile",
    "Temporal",
]

# Limits of the contract (narrative.proto), in bytes of UTF-8.
ID_BYTES_MAX = 128
TURN_BYTES_MAX = 65_536
QUESTION_BYTES_MAX = 4_096

_ROUND = re.compile(r"(r\d)-")
_PUBLISHED_ROUND_SIZE = 50
_PUBLISHED_ROUNDS = 5

NotBlank = Annotated[str, Field(pattern=r"\S")]


class Form(StrEnum):
    """Which format a story is written in."""

    SUPERSET = "superset"
    PUBLISHED = "published"


class Level(StrEnum):
    """Part of a file that a field belongs to."""

    STORY = "story"
    BATCH = "batch"
    QUESTION = "question"


_PUBLISHED_STORY = ("story_id", "story_name", "category", "batches", "questions")
# Fields that a story of each form must have. The published JSON form has no description, no
# duration and no count of turns, so the published form is held to what both of its forms have.
REQUIRED: dict[Form, dict[Level, tuple[str, ...]]] = {
    Form.PUBLISHED: {
        Level.STORY: _PUBLISHED_STORY,
        Level.BATCH: ("batch", "time", "user_input"),
        Level.QUESTION: ("question_id", "question", "expected_contains"),
    },
    Form.SUPERSET: {
        Level.STORY: (
            *_PUBLISHED_STORY,
            "description",
            "duration_simulated",
            "total_batches",
            "narrator",
            "patterns",
        ),
        Level.BATCH: ("batch", "time", "user_input", "expected_type"),
        Level.QUESTION: (
            "question_id",
            "question",
            "question_open",
            "expected_type",
            "expected_contains",
        ),
    },
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Temporal(_Part):
    """CP9: a time that a turn names.

    Attributes:
        text: Its words, verbatim in the turn.
        resolves_to: YYYY-MM-DD or YYYY-MM-DDTHH:MM, from the turn's own time.
        status: Where it lies, seen from the turn.
    """

    text: NotBlank
    resolves_to: str
    status: TemporalStatus


class Adaptation(_Part):
    """CP10: the feeling of a turn.

    Attributes:
        emotion_detected: What the person feels.
        warmth_direction: Where the warmth of the answer should go.
    """

    emotion_detected: EmotionName
    warmth_direction: Warmth


class Batch(_Part):
    """One turn. What is None or empty is not scored.

    Attributes:
        batch: Number of the turn, from 1.
        time: ISO local date-time of the turn, the narrative's own clock.
        user_input: What the person said.
        expected_type: CP1.
        expected_stores: CP2: strings of the turn that storage must hold.
        expected_tags: CP4: string of the turn → what it names.
        expected_temporal: CP9.
        expected_adaptation: CP10.
    """

    batch: int = Field(ge=1, strict=True)
    time: str
    user_input: NotBlank
    expected_type: TurnType | None = None
    expected_stores: tuple[NotBlank, ...] = ()
    expected_tags: dict[str, TagType] = {}
    expected_temporal: tuple[Temporal, ...] = ()
    expected_adaptation: Adaptation | None = None


class Question(_Part):
    """One question, asked after the last turn.

    Attributes:
        question_id: Unique in its story.
        question: In the first person, for the case that the speaker is given.
        question_open: In the third person with the narrator's full name, for the case that none
            is; None: cannot be asked without a speaker.
        expected_type: CP5.
        expected_contains: CP8: strings that the answer must hold; none for general knowledge,
            which is to be declined.
        must_not_contain: CP8 strict: strings that it must not hold.
        min_facts: CP7: how many distinct facts the candidates must join.
    """

    question_id: NotBlank
    question: NotBlank
    question_open: NotBlank | None = None
    expected_type: QuestionType | None = None
    expected_contains: tuple[NotBlank, ...]
    must_not_contain: tuple[NotBlank, ...] = ()
    min_facts: int | None = Field(default=None, ge=1, le=100, strict=True)

    @property
    def scored(self) -> bool:
        """Whether an answer can be wrong: something is expected of it, or it is to be declined."""
        return bool(self.expected_contains) or (
            self.expected_type is QuestionType.GENERAL_KNOWLEDGE
        )


class StoryFile(_Part):
    """The fields of a story as files have them; see `Story`."""

    story_id: NotBlank
    story_name: NotBlank
    category: Category
    description: str = ""
    duration_simulated: str = ""
    total_batches: int | None = Field(default=None, strict=True)
    narrator: NotBlank | None = None
    patterns: tuple[Pattern, ...] = ()
    engines_tested: tuple[str, ...] = ()
    batches: tuple[Batch, ...] = Field(min_length=1)
    questions: tuple[Question, ...]


class Story(StoryFile):
    """One story.

    Attributes:
        story_id: Unique in the corpus; `r1-07` is a story of round r1.
        story_name: Title.
        category: Part of a life.
        description: What it tests.
        duration_simulated: How long it lasts, in words.
        total_batches: How many turns it has.
        narrator: Full name of the speaker, unique in the corpus; see `speaker`.
        patterns: What makes it hard.
        engines_tested: As published; not scored.
        batches: Its turns, in order of time.
        questions: Its questions; a derived distractor has none.
        form: The format that it was written in; not a field of files.
    """

    form: Form = Form.SUPERSET

    @property
    def speaker(self) -> str:
        """Who speaks: the narrator, or for a published story a name made of its id."""
        return self.narrator or f"Narrator {self.story_id}"

    @property
    def round(self) -> str | None:
        """`r1` … `r5` from the id, published numbers by the standard's ranges; None: of none."""
        found = _ROUND.match(self.story_id)
        if found:
            return found[1]
        if self.form is Form.PUBLISHED and self.story_id.isascii() and self.story_id.isdigit():
            place = (int(self.story_id) - 1) // _PUBLISHED_ROUND_SIZE
            return f"r{place + 1}" if 0 <= place < _PUBLISHED_ROUNDS else None
        return None

    @property
    def decided_by(self) -> Checkpoint:
        """The reading of CP8 that says whether an answer is right."""
        return Checkpoint.STRICT if self.form is Form.SUPERSET else Checkpoint.PUBLISHED

    @property
    def not_scored(self) -> tuple[Checkpoint, ...]:
        """Checkpoints for which this story expects nothing, so that it cannot count there."""
        turns, questions = self.batches, self.questions
        told: dict[Checkpoint, bool] = {
            Checkpoint.CLASSIFICATION: any(turn.expected_type for turn in turns),
            Checkpoint.STORAGE: any(turn.expected_stores for turn in turns),
            Checkpoint.TAGGING: any(turn.expected_tags for turn in turns),
            Checkpoint.QUERY: any(each.expected_type for each in questions),
            Checkpoint.CONVERGENCE: any(each.min_facts for each in questions),
            Checkpoint.STRICT: self.decided_by is Checkpoint.STRICT,
            Checkpoint.TEMPORAL: any(turn.expected_temporal for turn in turns),
            Checkpoint.ADAPTATION: any(turn.expected_adaptation for turn in turns),
        }
        return tuple(checkpoint for checkpoint, there in told.items() if not there)
