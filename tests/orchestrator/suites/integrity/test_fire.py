"""Cases under fire: the reference passes them, and what proves nothing is no pass."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.model import CheckOutcome
from orchestrator.suites.integrity.calls import Answer, Strike, Want
from orchestrator.suites.integrity.categories.fire import CATEGORIES as FIRE
from orchestrator.suites.integrity.categories.fire import burst, procedure, receipt, strikes
from orchestrator.suites.integrity.categories.fire.texts import SUBJECTS, build
from tests.orchestrator.suites.integrity.fire_ground import FireGround
from tests.orchestrator.suites.integrity.played import playground

CASES = {category.case: category for category in FIRE}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FireGround]:
    with playground(tmp_path_factory.mktemp("reference"), kind=FireGround) as ground:
        assert isinstance(ground, FireGround)
        yield ground


@pytest.mark.parametrize("case", CASES)
def test_the_reference_passes(case: str, reference: FireGround) -> None:
    for played in reference.trials(CASES[case], range(2)):
        assert played.not_run == ""
        assert {check.outcome for check in played.checks} == {CheckOutcome.HELD}, played.checks


@pytest.mark.parametrize("made", [1, 3, 6])
def test_the_reference_passes_a_burst_however_far_it_got(made: int, reference: FireGround) -> None:
    reference.made = made

    (played,) = reference.trials(burst.CATEGORY, range(1))

    assert played.violated == []
    assert played.lacking == []


class NobodyIsKilled(FireGround):
    """Every call is answered, whatever was to be done to it."""

    def _answer(self, namespace: str, want: Want) -> Answer:
        return super()._answer(namespace, want.ask if isinstance(want, Strike) else want)


@pytest.mark.parametrize("case", ["fire.write_request", "fire.forget_response"])
def test_a_call_that_was_answered_before_it_could_be_struck_proves_nothing(
    case: str, tmp_path: Path
) -> None:
    with playground(tmp_path, kind=NobodyIsKilled) as ground:
        played = ground.trial(CASES[case], 0)

    assert f"integrity.fire.safety.{CASES[case].variant}" in (*played.lacking, *played.violated)


def test_requirements_differ_from_case_to_case() -> None:
    numbers = [check.requirement_id for category in FIRE for check in category.checks[1:]]

    assert len(numbers) == len(set(numbers))


def test_every_change_meets_every_phase() -> None:
    assert len(strikes.CATEGORIES) == 18
    assert {category.letter for category in FIRE} == {"fire"}
    assert {receipt.CATEGORY.case, procedure.CATEGORY.case} == {"fire.receipt", "fire.procedure"}


@pytest.mark.parametrize("seed", [0, 1, 7, 2**31 - 1])
def test_subjects_share_no_marker_and_no_question(seed: int) -> None:
    case = build(seed)
    markers = [marker for subject in case.subjects for marker in subject.markers.values()]
    nonces = [subject.nonce for subject in case.subjects]

    assert len(case.subjects) == SUBJECTS
    assert len({*markers, *nonces, case.twin.nonce}) == len(markers) + len(nonces) + 1
    assert len({subject.query for subject in case.subjects}) == SUBJECTS
    for subject in case.subjects:
        for text in subject.texts.values():
            assert subject.nonce in text
    assert build(seed) == case


def test_written_under_fire_is_the_users_in_some_trials_and_an_assistants_in_others() -> None:
    assert {build(seed).from_user for seed in range(20)} == {True, False}


def test_a_memory_without_continuity_has_no_procedure_case() -> None:
    needs = procedure.CATEGORY.needs

    assert vendor_pb2.CAPABILITY_CONTINUITY in needs
    assert vendor_pb2.CAPABILITY_CONTINUITY not in receipt.CATEGORY.needs
    case = receipt.build(1)
    assert case.asserted is not None
    assert case.asserted.source_type == memory_pb2.SOURCE_TYPE_RECEIPT
    assert case.attack.offer.source_type == memory_pb2.SOURCE_TYPE_AGENT
