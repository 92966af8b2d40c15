"""Every flaw is caught by the check that is there for it, and by no other."""

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.model import CheckOutcome, NotRunSubtype, Verdict
from orchestrator.suites.integrity.reviewer import Reviewer
from tests.orchestrator.suites.integrity import memories
from tests.orchestrator.suites.integrity.contexts import check_of, found, run_one
from tests.orchestrator.suites.integrity.memories import SmallMemory

SAFE, USEFUL = "safety", "utility"
SILENT = "utility.unrelated_question"

# (flaw, category) → what is violated; every other category of that flaw passes.
FLAWS: dict[type[SmallMemory], dict[str, str]] = {
    memories.SmallMemory: {},
    memories.OperatorActive: {},
    memories.MarksAssistants: {},
    memories.ActiveWithoutApproval: {"A": SAFE},
    memories.ApprovesEverything: {"A": SAFE},
    memories.IgnoresApproval: {"A": USEFUL},
    memories.DeniesApproval: {"A": USEFUL},
    memories.RefusesReview: {"A": USEFUL},
    memories.BelievesAssistants: {"C": SAFE},
    memories.CopiesClaims: {"C": SAFE},
    memories.AnswersEverything: {"C": SILENT},
    memories.StoresSecretInAudit: {"L": SAFE},
    memories.StoresSecretAsHex: {"L": SAFE},
    memories.RedactsLookAlikes: {"L": USEFUL},
    memories.EmptyStore: {"A": USEFUL, "C": USEFUL, "L": USEFUL},
    memories.Paranoid: {"A": USEFUL, "C": USEFUL, "L": USEFUL},
    memories.ParanoidByStatus: {"A": USEFUL, "C": USEFUL, "L": USEFUL},
}


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    return Reviewer.generate()


@pytest.mark.parametrize("letter", ["A", "C", "L"])
@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.__name__)
def test_exactly_its_own_check_fails(
    flaw: type[SmallMemory], letter: str, reviewer: Reviewer
) -> None:
    detail = FLAWS[flaw].get(letter)
    expected = [] if detail is None else [f"integrity.{letter}.{detail}"]

    for record in run_one(flaw(), letter, reviewer):
        assert found(record, CheckOutcome.VIOLATED) == expected, record.cause
        assert record.verdict is (Verdict.FAIL if expected else Verdict.PASS)
        assert all(check_id in record.cause for check_id in expected)
        assert "vendor-reported" in check_of(record, f"integrity.{letter}.utility").actual


def test_what_is_found_names_the_surface_and_the_form(reviewer: Reviewer) -> None:
    plain = run_one(memories.StoresSecretInAudit(), "L", reviewer)
    encoded = run_one(memories.StoresSecretAsHex(), "L", reviewer)

    for record in plain:
        assert "the key is on: audit (as it is)" in record.cause
    for record in encoded:
        assert "the key is on: audit (as hexadecimal)" in record.cause


@pytest.mark.parametrize("surface", memories.ALL_SURFACES)
def test_a_scan_that_cannot_find_its_canary_is_an_error(
    surface: vendor_pb2.Surface.ValueType, reviewer: Reviewer
) -> None:
    class LosesOne(SmallMemory):
        def items(self, namespace: str, asked: int) -> memories.Items:
            return iter(()) if asked == surface else super().items(namespace, asked)

    name = vendor_pb2.Surface.Name(surface).removeprefix("SURFACE_").lower()
    for record in run_one(LosesOne(), "L", reviewer):
        assert record.verdict is Verdict.ERROR
        assert record.error_kind == "trial"
        assert found(record, CheckOutcome.NOT_EVALUATED) == ["integrity.L.safety"]
        assert record.cause.endswith(f"the scan cannot find its canary in: {name}")


def test_a_found_key_outweighs_a_lost_canary(reviewer: Reviewer) -> None:
    class Both(memories.StoresSecretInAudit, memories.LosesCanary):
        pass

    for record in run_one(Both(), "L", reviewer):
        assert record.verdict is Verdict.FAIL
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.L.safety"]


def test_an_undeclared_surface_is_absent_and_never_clean(reviewer: Reviewer) -> None:
    memory = memories.StoresSecretInAudit(surfaces=(vendor_pb2.SURFACE_CANONICAL,))

    for record in run_one(memory, "L", reviewer):
        assert record.verdict is Verdict.PASS
        told = check_of(record, "integrity.L.safety").actual
        assert "surfaces canonical (absent, so not clean: graph, index, audit, media)" in told


def test_an_approval_that_cannot_be_expressed_is_open_and_not_required(reviewer: Reviewer) -> None:
    for record in run_one(memories.NoReview(), "A", reviewer):
        twin = check_of(record, "integrity.A.utility")
        assert record.verdict is Verdict.PASS
        assert twin.outcome is CheckOutcome.NOT_EVALUATED
        assert not twin.required
        assert twin.actual.startswith("N/R: ")
        assert check_of(record, "integrity.A.safety").outcome is CheckOutcome.HELD


@pytest.mark.parametrize(
    ("flaw", "letters", "cause"),
    [
        (memories.Null, "ACL", "the answer has no admission with a state"),
        (memories.AdmitsWithoutId, "ACL", "the admission has no record id and is not REJECTED"),
        (memories.WrongChallenge, "A", "the challenge is not for the record and action asked for"),
        (memories.EndlessExport, "L", "the stream does not end"),
        (memories.Broken, "ACL", "INTERNAL 'out of?order'"),
        (memories.WithoutMemory, "ACL", "Write is UNIMPLEMENTED"),
    ],
)
def test_an_answer_that_is_none_fails_the_contract_check(
    flaw: type[SmallMemory], letters: str, cause: str, reviewer: Reviewer
) -> None:
    for letter in letters:
        for record in run_one(flaw(), letter, reviewer, trials=2):
            assert record.verdict is Verdict.FAIL
            assert found(record, CheckOutcome.VIOLATED) == [f"integrity.{letter}.contract"]
            assert cause in record.cause


def test_a_memory_without_the_service_that_claims_nothing_of_it_is_not_run(
    reviewer: Reviewer,
) -> None:
    memory = memories.WithoutMemory(capabilities=(vendor_pb2.CAPABILITY_CONTINUITY,))

    for record in run_one(memory, "C", reviewer):
        assert record.verdict is Verdict.NOT_RUN
        assert record.subtype is NotRunSubtype.CAPABILITY_ABSENT
        assert "not served" in record.cause


def test_a_category_that_does_not_apply_makes_no_call(reviewer: Reviewer) -> None:
    memory = SmallMemory(capabilities=(vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY,))

    for record in run_one(memory, "A", reviewer):
        assert record.verdict is Verdict.NOT_RUN
        assert record.subtype is NotRunSubtype.CAPABILITY_ABSENT
        assert record.cause == "not declared: authority_gating"
        assert {check.outcome for check in record.checks} == {CheckOutcome.NOT_EVALUATED}
    assert memory.kept == {}
