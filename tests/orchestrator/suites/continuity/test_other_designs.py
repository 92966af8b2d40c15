"""A memory that is more careful than the reference, and just as right, fails nowhere."""

from collections.abc import Iterator

import pytest

from orchestrator.model import NotRunSubtype, Verdict
from orchestrator.suites.continuity.families import CASES
from orchestrator.vendors import VendorConfig, VendorProcess
from tests.orchestrator.suites.continuity import careful_memory
from tests.orchestrator.suites.continuity.ground import Ground, ground, sampled

FAMILIES = ("identity", "receipts", "resolve", "rollback")
PLAYED = [one.name for one in CASES.values() if one.family in FAMILIES and not one.own_stack]
PLAYED += ["limits.renewals", "limits.renewal_holder", "limits.operations"]


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    module = careful_memory.__name__
    vendor = VendorConfig(name="careful", recipe="memory", process=VendorProcess(module=module))
    with ground(tmp_path_factory.mktemp("careful"), vendor=vendor) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", sampled(PLAYED, 16))
def test_it_passes_or_the_case_asks_for_what_it_does_not_declare(
    careful: Ground, case: str
) -> None:
    told = {
        (record.verdict, record.subtype, record.cause)
        for record in careful.play(case, None, 1)
        if record.verdict is not Verdict.PASS
        and record.subtype is not NotRunSubtype.CAPABILITY_ABSENT
    }
    assert told == set()
