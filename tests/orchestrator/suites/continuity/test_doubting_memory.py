"""A memory that asks as often as it declares, and takes no operator's word, is not wrong."""

from collections.abc import Iterator

import pytest

from orchestrator.model import CapabilityVariant, NotRunSubtype, Verdict
from orchestrator.suites.continuity.families import CASES, Need
from orchestrator.vendors import VendorConfig, VendorProcess
from tests.orchestrator.suites.continuity import doubting_memory
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, sampled

# Volumes are plain on this ground: what needs another one is not run for that reason.
WORDS = [
    one.name
    for one in CASES.values()
    if Need.OPERATOR_WORD in one.needs
    # What needs a capability that it does not declare is not run for that reason.
    and all(need is Need.OPERATOR_WORD or need.of_platform for need in one.needs)
    and one.name not in ("resolve.expired", "resolve.happened")
    and not one.name.startswith("storage.")
]
WORDS.insert(0, "resolve.happened")

pytestmark = pytest.mark.e2e_process


@pytest.fixture(scope="module")
def doubting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    module = doubting_memory.__name__
    vendor = VendorConfig(name="doubting", recipe="memory", process=VendorProcess(module=module))
    with ground(tmp_path_factory.mktemp("doubting"), vendor=vendor) as on:
        yield on


def test_it_is_woken_until_it_asked_as_often_as_it_declares(doubting: Ground) -> None:
    records = doubting.play("golden.after_lease", CapabilityVariant.QUERY_FENCED, 2)
    assert not_passed(records) == []
    assert all(record.decisions[-1].startswith("CONFIRM") for record in records)


@pytest.mark.parametrize("case", sampled(WORDS, 5))
def test_a_case_about_a_word_that_it_does_not_take_is_not_run(doubting: Ground, case: str) -> None:
    records = doubting.play(case, None, 2)
    told = {(record.verdict, record.subtype) for record in records}
    assert told == {(Verdict.NOT_RUN, NotRunSubtype.CAPABILITY_ABSENT)}, not_passed(records)
    assert {"RequestResolve is not served" in record.cause for record in records} == {True}


def test_a_zombie_wakes_up_before_its_own_call_has_run_out(doubting: Ground) -> None:
    """Ten questions a wake-up: of the seventy, most are asked when the zombie is done."""
    case = "zombie.stopped_after_lease"
    records = doubting.play(case, CapabilityVariant.QUERY_FENCED, 2)
    assert not_passed(records) == []
    _, trace, _ = doubting.kept.batches[-1]
    [awake] = (at for at, line in enumerate(trace) if '\\"step\\":\\"awake\\"' in line)
    answered = sum("RecordQuery" in line and "REQUEST_RECEIVED" in line for line in trace[:awake])
    assert 2 <= answered <= 2 * 2 * 10
