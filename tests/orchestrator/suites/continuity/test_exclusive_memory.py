"""A memory that keeps others waiting while its question is open, as it declares, is not wrong."""

from collections.abc import Iterator

import pytest

from orchestrator.model import CapabilityVariant
from orchestrator.vendors import VendorConfig, VendorProcess
from tests.orchestrator.suites.continuity import exclusive_memory
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed

CASES = (
    "receipts.query_foreign",
    "receipts.wrong_ticket",
    "receipts.query_attempt",
    "receipts.late",
    "zombie.late_answer",
    "zombie.late_question",
    "identity.after_expiry",
)


@pytest.fixture(scope="module")
def exclusive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    module = exclusive_memory.__name__
    vendor = VendorConfig(name="exclusive", recipe="memory", process=VendorProcess(module=module))
    with ground(tmp_path_factory.mktemp("exclusive"), vendor=vendor) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", CASES)
def test_it_passes(exclusive: Ground, case: str) -> None:
    records = exclusive.play(case, CapabilityVariant.QUERY_FENCED, 2)
    assert not_passed(records) == []
    assert case != "receipts.query_foreign" or any(
        decision.startswith("WAIT") for record in records for decision in record.decisions
    )
