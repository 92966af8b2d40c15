"""Stories for controls: plain enough for any reference, with what each flaw would show in."""

from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.stories import Batch, Question, Story
from orchestrator.suites.narrative.vocabulary import Category, Pattern, QuestionType, TurnType

__all__ = ["CONTROLS_CORPUS"]

_BAKER = Story(
    story_id="r1-81",
    story_name="The bakery",
    category=Category.CAREER,
    narrator="Philippa Oyelaran",
    patterns=(Pattern.MULTI_FACT, Pattern.TEMPORAL_UPDATE),
    batches=(
        Batch(
            batch=1,
            time="2026-02-02T07:40",
            expected_type=TurnType.STATEMENT,
            user_input=(
                "I work as a baker in Dunmore. My boss is called Ambrose. The shop opens at six. "
                "I drive a green van. The van belongs to my uncle Festus. Bread costs four euros. "
                "I live in Kilbrannan."
            ),
        ),
        Batch(
            batch=2,
            time="2026-02-05T20:15",
            expected_type=TurnType.STATEMENT,
            user_input=(
                "My sister Marguerite plays the cello. She practises every evening. Her teacher is "
                "from Lisbon. The exam is next Tuesday. I have an old tabby named Biscuit."
            ),
        ),
        Batch(
            batch=3,
            time="2026-02-19T21:05",
            expected_type=TurnType.UPDATE,
            user_input=(
                "I moved last week, I live in Ardglass now. My new neighbour Leopold grows leeks. "
                "The kitchen is painted yellow."
            ),
        ),
    ),
    questions=(
        Question(
            question_id="q1",
            question="Where do I live now?",
            question_open="Where does Philippa Oyelaran live now?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("Ardglass",),
            must_not_contain=("Kilbrannan",),
        ),
        Question(
            question_id="q2",
            question="What is my boss called?",
            question_open="What is Philippa Oyelaran's boss called?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("Ambrose",),
            must_not_contain=("Leopold",),
        ),
        Question(
            question_id="q3",
            question="When is my sister's exam?",
            question_open="When is the exam of Philippa Oyelaran's sister?",
            expected_type=QuestionType.TEMPORAL,
            expected_contains=("2026-02-10",),
        ),
        Question(
            question_id="q4",
            question="Which instrument does my sister Marguerite play?",
            question_open="Which instrument does Philippa Oyelaran's sister Marguerite play?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("cello",),
        ),
    ),
)

_SAILOR = Story(
    story_id="r2-81",
    story_name="The dinghy",
    category=Category.DAILY_LIFE,
    narrator="Casimir Holtby",
    patterns=(Pattern.MULTI_FACT, Pattern.TEMPORAL_UPDATE),
    batches=(
        Batch(
            batch=1,
            time="2026-03-03T18:20",
            expected_type=TurnType.STATEMENT,
            user_input=(
                "I keep a dinghy at Porthgwarra. My friend Zuleika repairs the sails. The mast is "
                "made of ash. We race on Sundays. The club charges ninety euros. My coach is "
                "Bertrand."
            ),
        ),
        Batch(
            batch=2,
            time="2026-03-06T08:50",
            expected_type=TurnType.STATEMENT,
            user_input=(
                "My brother Ignatius sold his motorbike. He works at the lighthouse. The regatta "
                "is next Saturday. I feel nervous about it."
            ),
        ),
        Batch(
            batch=3,
            time="2026-03-24T22:30",
            expected_type=TurnType.UPDATE,
            user_input=(
                "We got somebody else: my coach is Henrietta now. I bought a red life jacket. "
                "The harbour master lost his keys."
            ),
        ),
    ),
    questions=(
        Question(
            question_id="q1",
            question="Who is my coach now?",
            question_open="Who is Casimir Holtby's coach now?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("Henrietta",),
            must_not_contain=("Bertrand",),
        ),
        Question(
            question_id="q2",
            question="Who repairs the sails of my dinghy?",
            question_open="Who repairs the sails of Casimir Holtby's dinghy?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("Zuleika",),
            must_not_contain=("Ignatius",),
        ),
        Question(
            question_id="q3",
            question="When is the regatta?",
            question_open="When is Casimir Holtby's regatta?",
            expected_type=QuestionType.TEMPORAL,
            expected_contains=("2026-03-14",),
        ),
        Question(
            question_id="q4",
            question="Where do I keep my dinghy?",
            question_open="Where does Casimir Holtby keep the dinghy?",
            expected_type=QuestionType.FACTUAL,
            expected_contains=("Porthgwarra",),
        ),
    ),
)

CONTROLS_CORPUS = Corpus((_BAKER, _SAILOR), own=True)
