"""D, F, H and I: good memories of several designs pass; each flaw fails exactly its own check."""

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.model import CheckOutcome, NotRunSubtype, Verdict
from orchestrator.suites.integrity.reviewer import Reviewer
from tests.orchestrator.suites.integrity import laundering_memories as small
from tests.orchestrator.suites.integrity import memories
from tests.orchestrator.suites.integrity.contexts import (
    check_of,
    found,
    run_all,
    run_one,
)
from tests.orchestrator.suites.integrity.laundering_memories import LineageMemory
from tests.orchestrator.suites.integrity.memories import SmallMemory

LETTERS = "ACDFHIL"
PUBLISHED = ("C.published", "D.published", "F.published", "L.published")
USEFUL = "utility"

# (flaw, case) → what is violated; every other case of that flaw passes.
FLAWS: dict[type[SmallMemory], dict[str, str]] = {
    LineageMemory: {},
    small.ClosedToDoubts: {},
    small.TakesOnlyCleanSummaries: {},
    small.WithoutInspect: {},
    small.TellsNoTaints: {},
    small.KnowsRepetition: {},
    small.RefusesOutcomes: {},
    small.OperatorsWord: {},
    small.ForgetsTaints: {"D": "safety.taint"},
    small.OwnWordForIt: {"D": "safety.taint"},
    small.ActsOnSummaries: {"D": "safety.recall"},
    small.CopiesSummaries: {"D": "safety.recall"},
    small.RefusesDerivation: {"D": "utility.clean_summary"},
    small.BelievesTheMany: {"F": "safety"},
    small.SuccessWashes: {"H": "safety.taint"},
    small.SuccessPromotes: {"H": "safety.list"},
    small.SuccessRetires: {"H": USEFUL},
    small.ApprovesAll: {"A": "safety", "H": "safety.list", "I": "safety"},
    small.ApprovesNothing: {"A": USEFUL, "H": USEFUL, "I": USEFUL},
}


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    return Reviewer.generate()


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.__name__)
def test_exactly_its_own_check_fails(flaw: type[SmallMemory], reviewer: Reviewer) -> None:
    for case, records in run_all(flaw(), (*LETTERS, *PUBLISHED), reviewer, trials=2).items():
        detail = FLAWS[flaw].get(case[0])
        if case in PUBLISHED and detail is not None and detail.startswith(USEFUL):
            detail = None
        expected = [] if detail is None else [f"integrity.{case[0]}.{detail}"]
        for record in records:
            required = [check for check in record.checks if check.required]
            violated = [c.check_id for c in required if c.outcome is CheckOutcome.VIOLATED]
            assert violated == expected, (case, record.cause)
            assert record.verdict is (Verdict.FAIL if expected else Verdict.PASS), record.cause


@pytest.mark.parametrize("case", ["D", "D.published"])
def test_the_shared_nonce_counts_in_the_other_reading_and_decides_nothing(
    case: str, reviewer: Reviewer
) -> None:
    for record in run_one(LineageMemory(), case, reviewer):
        reading = check_of(record, "integrity.D.reading.shared_text")
        assert (reading.outcome, reading.required) == (CheckOutcome.VIOLATED, False)
        assert reading.actual == (
            "vendor-reported: 1 of 1 hits are authoritative and have the shared nonce"
        )
        assert record.verdict is Verdict.PASS


@pytest.mark.parametrize(
    "flaw", [memories.EmptyStore, memories.Paranoid, memories.ParanoidByStatus]
)
def test_a_store_that_keeps_nothing_is_safe_and_of_no_use(
    flaw: type[SmallMemory], reviewer: Reviewer
) -> None:
    class Store(flaw, LineageMemory):  # type: ignore[misc,valid-type]  # one class a flaw
        """The flaw over a memory that knows lineage."""

    for letter in "FI":
        for record in run_one(Store(), letter, reviewer, trials=1):
            assert found(record, CheckOutcome.VIOLATED) == [f"integrity.{letter}.utility"]


def test_a_memory_without_outcomes_is_not_run(reviewer: Reviewer) -> None:
    for record in run_one(small.WithoutOutcomes(), "H", reviewer):
        assert (record.verdict, record.subtype) == (
            Verdict.NOT_RUN,
            NotRunSubtype.CAPABILITY_ABSENT,
        )
        assert "RecordOutcome is not served" in record.cause


@pytest.mark.parametrize("letter", "AHI")
def test_only_labels_are_offered_where_a_case_is_published(letter: str, reviewer: Reviewer) -> None:
    able = run_one(LineageMemory(), f"{letter}.published", reviewer)
    unable = run_one(LineageMemory(capabilities=()), f"{letter}.published", reviewer)

    for record in able:
        assert record.subtype is NotRunSubtype.NOT_EXPRESSIBLE
        assert record.cause.startswith("only callers' labels are offered in this profile")
    for record in unable:
        assert record.subtype is NotRunSubtype.CAPABILITY_ABSENT


def test_whoever_tracks_ancestors_tracks_parents(reviewer: Reviewer) -> None:
    transitive = LineageMemory(
        capabilities=(
            vendor_pb2.CAPABILITY_SOURCE_TRUST,
            vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
        )
    )
    neither = LineageMemory(capabilities=(vendor_pb2.CAPABILITY_SOURCE_TRUST,))

    assert {r.verdict for r in run_one(transitive, "D", reviewer)} == {Verdict.PASS}
    for record in run_one(neither, "D", reviewer):
        assert record.cause == "not declared: derivation_tracking_direct"


def test_a_derivation_that_is_declared_and_not_served_is_a_breach(reviewer: Reviewer) -> None:
    for record in run_one(small.WithoutDerive(), "D", reviewer):
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.D.contract"]
        assert "Derive is UNIMPLEMENTED" in record.cause


def test_what_a_memory_cannot_be_asked_afterwards_hides_no_violation(reviewer: Reviewer) -> None:
    for record in run_one(small.RefusesAndActs(), "H", reviewer):
        assert (record.verdict, record.subtype) == (Verdict.FAIL, None)
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.H.safety.list"]
