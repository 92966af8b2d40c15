"""Limits as they are declared, on real processes; each flaw fails its own check."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.model import CapabilityVariant, NotRunSubtype, Verdict
from orchestrator.scoring.families.limits import JUDGES
from orchestrator.suites.continuity.families.limits import CASES, revisions_to_grant
from orchestrator.vendors import VendorConfig, VendorProcess
from services.controls.limit_flaws import FLAWS
from tests.orchestrator.suites.continuity import doubting_memory, frugal_memory
from tests.orchestrator.suites.continuity.flaw_play import assert_caught
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, sampled

NONE = CapabilityVariant.NONE
KEYED = CapabilityVariant.IDEMPOTENT
FENCED = CapabilityVariant.QUERY_FENCED
UNFENCED = CapabilityVariant.QUERY_UNFENCED

# Each flaw: the cases that must show it by its own check, and one that must not show it at all.
SHOWN = {
    "one_renewal_more": ((("limits.renewals", NONE),), ("limits.renewal_holder", NONE)),
    "one_renewal_less": ((("limits.renewals", KEYED),), ("limits.renewal_holder", NONE)),
    "anybody_renews": ((("limits.renewal_holder", NONE),), ("limits.renewals", NONE)),
    "one_attempt_more": ((("limits.attempts", KEYED),), ("", None)),
    "one_operation_more": ((("limits.operations", NONE),), ("limits.renewals", NONE)),
    "one_revision_more": ((("limits.revisions", KEYED),), ("", None)),
    "full_is_full": ((("limits.revisions", KEYED),), ("", None)),
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("limits")) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", [one.name for one in CASES if not one.own_stack])
def test_the_reference_passes(reference: Ground, case: str) -> None:
    assert not_passed(reference.play(case, None, 2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", [one.name for one in CASES if one.own_stack])
def test_the_reference_passes_where_the_stack_is_of_no_further_use(
    tmp_path: Path, case: str
) -> None:
    with ground(tmp_path) as on:
        assert not_passed(on.play(case, None, 2)) == []


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_each_flaw_fails_its_own_check_and_no_other(tmp_path: Path, flaw: str) -> None:
    shown, hidden = SHOWN[flaw]
    assert_caught(tmp_path, flaw, FLAWS[flaw], shown, hidden)


def vendor(name: str, module: str) -> VendorConfig:
    return VendorConfig(name=name, recipe="memory", process=VendorProcess(module=module))


@pytest.mark.e2e_process
def test_a_memory_that_counts_grants_only_passes(tmp_path: Path) -> None:
    with ground(tmp_path, vendor=vendor("frugal", frugal_memory.__name__)) as on:
        assert not_passed(on.play("limits.revisions", None, 2)) == []


@pytest.mark.e2e_process
def test_of_a_memory_that_never_meets_the_limit_nothing_is_said(tmp_path: Path) -> None:
    with ground(tmp_path, vendor=vendor("doubting", doubting_memory.__name__)) as on:
        (record,) = on.play("limits.revisions", None, 1)
    assert (record.verdict, record.subtype) == (Verdict.NOT_RUN, NotRunSubtype.NOT_EXPRESSIBLE)
    assert "2000 revisions was not met" in record.cause


@pytest.mark.parametrize(
    ("attempts", "revisions", "found"),
    [
        (100, 2_000, None),
        (100, 99, 99),
        (100, 100, None),
        (0, 100, 100),
        (0, 2_000, None),
        (5_000, 121, None),
        (5_000, 120, 120),
        (0, 0, None),
    ],
)
def test_a_limit_on_revisions_is_met_by_grants_where_no_other_is_met_before(
    attempts: int, revisions: int, found: int | None
) -> None:
    limits = vendor_pb2.Limits(
        lease_seconds=3,
        max_attempts_per_operation=attempts,
        max_revisions_per_operation=revisions,
    )
    assert revisions_to_grant(limits) == found


def test_every_flaw_has_its_cases_and_every_case_its_judge() -> None:
    assert set(SHOWN) == set(FLAWS)
    assert {one.name for one in CASES} == set(JUDGES)
