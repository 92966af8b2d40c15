"""Three stories of two domains, for tests of the suite alone; nobody's corpus."""

from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.stories import Batch, Question, Story
from orchestrator.suites.narrative.vocabulary import (
    Category,
    Pattern,
    QuestionType,
    TagType,
    TurnType,
)

LOOM = Story(
    story_id="r1-01",
    story_name="The loom",
    category=Category.LEARNING,
    narrator="Wendeline Achterberg",
    patterns=(Pattern.MULTI_FACT, Pattern.TEMPORAL_UPDATE),
    batches=(
        Batch(
            batch=1,
            time="2026-02-02T10:00",
            expected_type=TurnType.STATEMENT,
            user_input="I rented a loom from Pascoe. The loom stands in the attic.",
            expected_stores=("Pascoe", "attic"),
            expected_tags={"Pascoe": TagType.PERSON},
        ),
        Batch(
            batch=2,
            time="2026-02-09T19:30",
            expected_type=TurnType.STATEMENT,
            user_input="My niece Isaura dyes the wool.",
            expected_stores=("Isaura",),
        ),
        Batch(
            batch=3,
            time="2026-02-20T08:05",
            expected_type=TurnType.UPDATE,
            user_input="The loom stands in the boathouse now.",
            expected_stores=("boathouse",),
        ),
    ),
    questions=(
        Question(
            question_id="q1",
            question="Who dyes my wool?",
            question_open="Who dyes Wendeline Achterberg's wool?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("Isaura",),
            must_not_contain=("Pascoe",),
        ),
        Question(
            question_id="q2",
            question="Where stands the loom now?",
            question_open="Where stands Wendeline Achterberg's loom now?",
            expected_type=QuestionType.CHANGE,
            expected_contains=("boathouse",),
            must_not_contain=("attic",),
        ),
        Question(
            question_id="q3",
            question="How hot is lava?",
            question_open="How hot is lava?",
            expected_type=QuestionType.GENERAL_KNOWLEDGE,
            expected_contains=(),
        ),
    ),
)

FERRY = Story(
    story_id="r2-01",
    story_name="The ferry",
    category=Category.CAREER,
    narrator="Iolo Macnaughton",
    patterns=(Pattern.SHARED_SUBJECT,),
    batches=(
        Batch(
            batch=1,
            time="2026-03-01T06:10",
            expected_type=TurnType.STATEMENT,
            user_input="I steer the ferry to Kelda. My mate Osric sells tickets.",
            expected_stores=("Kelda", "Osric"),
        ),
        Batch(
            batch=2,
            time="2026-03-04T21:45",
            expected_type=TurnType.STATEMENT,
            user_input="Osric got a dog called Bosun.",
            expected_stores=("Bosun",),
        ),
    ),
    questions=(
        Question(
            question_id="q1",
            question="Who sells tickets?",
            question_open="Who sells tickets on Iolo Macnaughton's ferry?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("Osric",),
        ),
        Question(
            question_id="q2",
            question="What is the dog of Osric called?",
            question_open="What is the dog of Iolo Macnaughton's mate Osric called?",
            expected_type=QuestionType.SITUATION,
            expected_contains=("Bosun",),
            min_facts=2,
        ),
    ),
)

DESK = Story(
    story_id="desk-01",
    story_name="The printer",
    category=Category.SERVICE_DESK,
    narrator="Thandeka Vossberg",
    patterns=(Pattern.MULTI_FACT,),
    batches=(
        Batch(
            batch=1,
            time="2026-04-01T09:00",
            expected_type=TurnType.STATEMENT,
            user_input="Printer K-17 on floor four jams.",
            expected_stores=("K-17",),
        ),
    ),
    questions=(
        Question(
            question_id="q1",
            question="Which printer jams?",
            question_open="Which printer jams for Thandeka Vossberg?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("K-17",),
        ),
    ),
)

TINY = Corpus((LOOM, FERRY, DESK), own=True)
