"""B, E, G and N: good memories of several designs pass; each flaw fails exactly its own check."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import memory_pb2
from orchestrator.model import CheckOutcome, NotRunSubtype, Verdict
from orchestrator.suites.integrity.cases import Offer, TrialCase
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.categories.dormant_trigger import DormantCase
from orchestrator.suites.integrity.categories.experience_grafting import ExperienceCase
from orchestrator.suites.integrity.categories.transitive_laundering import GrandchildCase
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import score_job
from orchestrator.suites.integrity.variation import TRIAL_SEED_MAX
from tests.orchestrator.suites.integrity import experience_memories as small
from tests.orchestrator.suites.integrity import experience_wrongs as wrong
from tests.orchestrator.suites.integrity import memories
from tests.orchestrator.suites.integrity.contexts import (
    check_of,
    found,
    jobs_of,
    rig_for,
    run_all,
    run_one,
)
from tests.orchestrator.suites.integrity.experience_memories import CircledMemory
from tests.orchestrator.suites.integrity.memories import SmallMemory
from tests.orchestrator.suites.integrity.played import Playground, playground

CASES = tuple(case for case in CATEGORIES if case[0] in "BEGN")
LATER = ("N.parent_quarantined", "N.parent_forgotten")
TOLD_BY_RECORD = ("G.agent", "G.workspace")
DERIVING = ("N.grandchild", "N.mixed", "N.content_flow", *LATER)

# (flaw, case) → what is violated; every other case of that flaw passes, or is N/R where told.
FLAWS: dict[type[SmallMemory], dict[str, str]] = {
    CircledMemory: {},
    small.RanksEverything: {},
    small.ShutsOutStrangers: {},
    small.OneIdForOneText: {},
    small.WithoutEvidence: {},
    small.ReviewsEveryDerivation: {},
    small.WithoutInspect: {},
    small.KnowsNoAgents: {},
    small.RefusesAgents: {},
    wrong.WithoutQuarantine: {},
    wrong.KeepsTenTexts: {"B": "utility"},
    wrong.AnswersWithEverything: {"B": "utility.ordinary_question"},
    wrong.LosesEpisodes: {"E": "utility.evidence"},
    wrong.HidesWhatIsShared: {"G.purpose": "utility.purpose"},
    wrong.ChangesTakeAll: {case: f"utility.{case[2:]}" for case in LATER},
    wrong.RefusesDerivations: {case: f"utility.{case[2:]}" for case in DERIVING},
    wrong.WithoutDerive: dict.fromkeys(DERIVING, "contract"),
}
NOT_RUN: dict[type[SmallMemory], tuple[str, ...]] = {
    small.WithoutInspect: TOLD_BY_RECORD,
    small.KnowsNoAgents: TOLD_BY_RECORD,
    small.RefusesAgents: TOLD_BY_RECORD,
    wrong.WithoutQuarantine: LATER,
}


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    return Reviewer.generate()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    with playground(tmp_path_factory.mktemp("reference")) as ground:
        yield ground


@pytest.mark.parametrize("case", CASES)
def test_the_reference_passes(case: str, reference: Playground) -> None:
    for played in reference.trials(CATEGORIES[case], range(7)):
        assert (played.not_run, played.violated, played.lacking) == ("", [], [])
        assert len(played.ids(CheckOutcome.HELD)) == len(CATEGORIES[case].checks)


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.__name__)
def test_exactly_its_own_check_fails(flaw: type[SmallMemory], reviewer: Reviewer) -> None:
    for case, records in run_all(flaw(), CASES, reviewer, trials=2).items():
        detail = FLAWS[flaw].get(case)
        expected = [] if detail is None else [f"integrity.{case[0]}.{detail}"]
        for record in records:
            if case in NOT_RUN.get(flaw, ()):
                assert record.verdict is Verdict.NOT_RUN, (case, record.cause)
                continue
            assert found(record, CheckOutcome.VIOLATED) == expected, (case, record.cause)
            assert record.verdict is (Verdict.FAIL if expected else Verdict.PASS), record.cause


@pytest.mark.parametrize(
    ("flaw", "cause"),
    [
        (small.KnowsNoAgents, "the memory's record shows no agent"),
        (small.RefusesAgents, "a text for one agent was refused with UNIMPLEMENTED"),
        (small.WithoutInspect, "nothing tells which agent a record belongs to"),
    ],
)
def test_a_memory_without_agents_is_not_blamed_for_them(
    flaw: type[SmallMemory], cause: str, reviewer: Reviewer
) -> None:
    for record in run_one(flaw(), "G.agent", reviewer, trials=2):
        assert record.subtype is NotRunSubtype.NOT_EXPRESSIBLE
        assert record.cause == cause


def test_a_refused_change_and_a_missing_one_are_not_run(reviewer: Reviewer) -> None:
    memory = wrong.WithoutQuarantine()

    (quarantined,) = run_one(memory, LATER[0], reviewer, trials=1)
    (forgotten,) = run_one(memory, LATER[1], reviewer, trials=1)

    assert quarantined.subtype is NotRunSubtype.CAPABILITY_ABSENT
    assert "Quarantine is not served" in quarantined.cause
    assert forgotten.subtype is NotRunSubtype.NOT_EXPRESSIBLE
    assert "PERMISSION_DENIED" in forgotten.cause


def test_names_that_look_alike_are_two_names(reviewer: Reviewer) -> None:
    records = run_one(wrong.FoldsCase(), "G.principal", reviewer, trials=20)

    failed = [record for record in records if record.verdict is Verdict.FAIL]
    # One neighbour in four has quite another name, and is kept apart.
    assert 0 < len(failed) < len(records)
    for record in failed:
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.G.safety.principal"]
        assert "recall, recall of evidence" in record.cause


@pytest.mark.parametrize("case", ["G.principal", "G.namespace"])
def test_ids_may_be_those_of_a_principal(case: str, reviewer: Reviewer) -> None:
    for record in run_one(small.CountsByPrincipal(), case, reviewer, trials=2):
        assert record.verdict is Verdict.PASS, record.cause


def test_a_text_is_known_where_an_id_is_not_enough(reviewer: Reviewer) -> None:
    for record in run_one(wrong.ShowsEveryPrincipal(), "G.principal", reviewer, trials=2):
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.G.safety.principal"]
        assert "it is seen: recall, recall of evidence, Inspect by id" in record.cause


def test_what_is_not_kept_is_no_evidence(reviewer: Reviewer) -> None:
    for flaw, told in (
        (small.ShutsOutStrangers, "nothing is kept of it"),
        (small.WithoutEvidence, "no evidence surface"),
    ):
        for record in run_one(flaw(), "E", reviewer, trials=1):
            check = check_of(record, "integrity.E.utility.evidence")
            assert (check.outcome, check.required) == (CheckOutcome.NOT_EVALUATED, False)
            assert told in check.actual


@pytest.mark.parametrize("case", CASES)
def test_an_empty_store_is_of_no_use(case: str, reviewer: Reviewer) -> None:
    class Empty(memories.EmptyStore, CircledMemory):
        """Keeps nothing."""

        def _tell(self, admission: memory_pb2.Admission) -> None:
            pass

    for record in run_one(Empty(), case, reviewer, trials=1):
        if case in TOLD_BY_RECORD:
            assert found(record, CheckOutcome.VIOLATED) == ["integrity.G.contract"]
        else:
            assert record.verdict in (Verdict.FAIL, Verdict.ERROR), record.cause
            assert not [c for c in found(record, CheckOutcome.VIOLATED) if ".safety" in c]


def test_what_was_kept_gives_the_same_verdicts(reviewer: Reviewer) -> None:
    memory = wrong.AnswersWithEverything(key=reviewer.public_key)
    with rig_for(memory) as rig:
        jobs = [job for case in CASES for job in jobs_of(case, 2, reviewer)]
        records = [record for job in jobs for record in job.run(rig.context)]

    rescored = [record for lines in rig.kept.files.values() for record in score_job(lines)]
    assert rescored == records


SEEDS = st.integers(min_value=0, max_value=TRIAL_SEED_MAX)


@given(SEEDS)
def test_a_dormant_text_meets_no_ordinary_question(seed: int) -> None:
    case = CATEGORIES["B"].build(seed)
    assert isinstance(case, DormantCase)

    ordinary = memories.words(case.daily_query) - {"open"}
    texts = (case.attack.offer.content, case.twin.offer.content)
    assert all(not ordinary & memories.words(text) for text in texts)
    assert sum(case.daily_marker in offer.content for offer in case.daily) == 4
    assert len({offer.content for offer in case.daily}) == 12
    for asked in (case.attack, case.twin):
        met = memories.words(asked.query)
        assert len(met & memories.words(asked.offer.content)) >= 0.5 * len(met)
        assert asked.nonce in asked.offer.content.lower()
    assert case.attack.nonce in case.steps.content.lower()


@given(SEEDS)
def test_a_grandchild_has_its_ancestors_words_in_another_order(seed: int) -> None:
    case = CATEGORIES["N.grandchild"].build(seed)
    assert isinstance(case, GrandchildCase)

    for chain in (case.tainted, case.clean):
        said = memories.words(chain.origin.content) | {"summary", "has", "where", "is"}
        for text in chain.derived:
            assert memories.words(text) <= said
            assert chain.nonce in text
        grandchild = _words_in_order(chain.derived[-1])
        for ancestor in (chain.origin.content, *chain.derived[:-1]):
            assert not set(_runs(grandchild)) & set(_runs(_words_in_order(ancestor)))


@given(SEEDS)
def test_a_lesson_adds_no_word_to_its_story(seed: int) -> None:
    case = CATEGORIES["E"].build(seed)
    assert isinstance(case, ExperienceCase)

    small_words = {"every", "when", "it", "was", "that"}
    story = memories.words(case.attack.offer.content) | small_words
    for lesson in case.lessons:
        assert memories.words(lesson.content) <= story
        assert case.attack.nonce in lesson.content
    assert all(case.attack.offer.content in offer.content for offer in case.retold)


@given(SEEDS, st.sampled_from(CASES))
def test_every_text_is_within_the_contract_and_has_its_word(seed: int, name: str) -> None:
    case = CATEGORIES[name].build(seed)

    assert case == CATEGORIES[name].build(seed)
    for offer in (case.attack.offer, case.twin.offer, *_others(case)):
        assert 0 < len(offer.content.encode()) <= 65_536
        assert 0 < len(offer.source_id.encode()) <= 128
    for query in (case.attack.query, case.twin.query):
        assert len(query.encode()) <= 4_096
    assert case.attack.nonce in case.attack.offer.content.lower()
    assert case.twin.nonce in case.twin.offer.content.lower()


def _others(case: TrialCase) -> list[Offer]:
    return [value for value in vars(case).values() if isinstance(value, Offer)]


def _words_in_order(text: str) -> list[str]:
    return [word.strip(".,;:").lower() for word in text.split()]


def _runs(found: list[str], length: int = 5) -> list[tuple[str, ...]]:
    return [tuple(found[start : start + length]) for start in range(len(found) - length + 1)]
