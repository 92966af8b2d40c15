"""Faults of the memory's volume on real processes: the reference passes, each flaw has its case."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaos.receipt_base import FaultReceipt
from chaos.storage_receipts import StormReceipt, TornWriteReceipt
from orchestrator.model import CapabilityVariant, TrialRecord, Verdict
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.families import CASES as ALL_CASES
from orchestrator.suites.continuity.families.storage import CASES
from orchestrator.vendors import VendorConfig, VendorProcess
from services.controls.storage_flaws import FLAWS
from tests.orchestrator.suites.continuity.ground import (
    Ground,
    ground,
    not_passed,
    sampled,
    violated,
)

pytestmark = [pytest.mark.e2e_process, pytest.mark.timeout(300)]

NAMES = tuple(case.name for case in CASES)
CHECKS = {
    "unsafe_decision": "continuity.safety",
    "needless_decision": "continuity.liveness",
}
LAYERED = {"failing_storage": True}
POWER = tuple(f"storage.power_loss_{change}" for change in ("renewal", "answer", "word"))

# Each flaw: the case that must show it, and the others that may.
SHOWN = {
    "commits_without_fsync": ("storage.power_loss", POWER),
    "renews_before_it_syncs": ("storage.power_loss_renewal", ()),
    "answers_before_it_syncs": ("storage.power_loss_answer", ()),
    "resolves_before_it_syncs": ("storage.power_loss_word", ()),
    "commits_by_a_removal": ("storage.power_loss", POWER),
    # A kill right after an acknowledgement shows it in every case that has one.
    "acknowledges_before_commit": (
        "storage.power_loss",
        (*POWER, "storage.recovery_storm", "storage.full_volume", "storage.torn_write"),
    ),
    "ignores_full_volume": ("storage.full_volume", ()),
    # A commit that found no room leaves a torn record, too.
    "starts_empty_when_torn": ("storage.torn_write", ("storage.full_volume",)),
    "marks_before_it_is_made": ("storage.first_start_storm", ()),
    "gives_up_on_its_volume": ("storage.recovery_storm", ()),
    "detects_no_rollback": ("storage.rolled_back", ()),
}


def on_layer(on: Ground) -> Ground:
    """The ground, unless this machine has no such volume."""
    if "fuse" in on.context.unavailable:
        pytest.skip(on.context.unavailable["fuse"])
    return on


def capability_of(case: str) -> CapabilityVariant:
    """The first of the case's capabilities."""
    return ALL_CASES[case].capabilities[0]


@dataclass(frozen=True)
class Played:
    """One case that was played: its trials and its receipts."""

    records: tuple[TrialRecord, ...]
    receipts: tuple[FaultReceipt, ...]


@pytest.fixture(scope="module")
def layered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("storage"), changes=LAYERED) as on:
        yield on_layer(on)


@pytest.fixture(scope="module")
def played(layered: Ground) -> Mapping[str, Played]:
    """Every case on the reference, once: a batch has one name on a stack."""
    found = {}
    for case in NAMES:
        records = layered.play(case, capability_of(case), operations=3)
        evidence, _, _ = layered.kept.batches[-1]
        found[case] = Played(tuple(records), BatchFacts(evidence, (), ()).receipts)
    return found


@pytest.mark.parametrize("case", NAMES)
def test_the_reference_passes(played: Mapping[str, Played], case: str) -> None:
    assert not_passed(played[case].records) == []
    assert len(played[case].records) == 3


def test_what_a_rolled_back_memory_grants_again_is_a_finding(
    played: Mapping[str, Played],
) -> None:
    records = played["storage.rolled_back"].records
    assert [record.findings for record in records] == [
        ("volume_rollback: Begin answered EXECUTE, unsafe",)
    ] * 3
    assert [record.unsafe_decisions for record in records] == [0] * 3


def test_a_storm_strikes_all_over_the_start(played: Mapping[str, Played]) -> None:
    (storm,) = played["storage.first_start_storm"].receipts
    assert isinstance(storm, StormReceipt)
    struck = [kill.operation for kill in storm.kills if kill.operation]
    assert struck[:3] == [1, 2, 3]
    assert max(struck) > storm.undisturbed_operations / 2


def test_half_of_a_write_is_there(played: Mapping[str, Played]) -> None:
    torn = played["storage.torn_write"].receipts
    assert len(torn) == 3
    for one in torn:
        assert isinstance(one, TornWriteReceipt)
        assert one.kept_bytes == one.asked_bytes // 2


def test_an_answer_outlives_power_where_an_absence_is_not_fenced(layered: Ground) -> None:
    case, unfenced = "storage.power_loss_answer", CapabilityVariant.QUERY_UNFENCED
    assert not_passed(layered.play(case, unfenced, operations=2)) == []


def test_a_refused_volume_is_a_finding_of_whoever_lost_by_it(tmp_path: Path) -> None:
    vendor = VendorConfig(
        name="careful",
        process=VendorProcess(module="tests.e2e.vendors.careful", args=("--how", "refuses_torn")),
    )
    with ground(tmp_path, vendor=vendor, changes=LAYERED) as on:
        records = on_layer(on).play("storage.torn_write", CapabilityVariant.NONE, operations=2)
    assert not_passed(records) == []
    told = {finding for record in records for finding in record.findings}
    assert told == {
        "refused_volume: the memory refused its volume (exit code 4), "
        "and all that it had acknowledged is lost with it"
    }


def test_without_such_a_volume_a_case_is_not_run(tmp_path: Path) -> None:
    with ground(tmp_path) as on:
        records = on.play("storage.power_loss", CapabilityVariant.NONE, operations=1)
    assert {(record.verdict, record.subtype) for record in records} == {
        (Verdict.NOT_RUN, "platform")
    }
    assert "plain volume" in records[0].cause


@pytest.mark.parametrize(
    ("how", "cases"),
    [
        ("ends_without_room", ("storage.full_volume",)),
        ("refuses_torn", ("storage.torn_write",)),
        pytest.param("journal_in_place", NAMES, marks=pytest.mark.nightly),
    ],
)
def test_a_good_memory_of_another_habit_passes(
    tmp_path: Path, how: str, cases: tuple[str, ...]
) -> None:
    vendor = VendorConfig(
        name="careful",
        process=VendorProcess(module="tests.e2e.vendors.careful", args=("--how", how)),
    )
    with ground(tmp_path, vendor=vendor, changes=LAYERED) as on:
        for case in cases:
            records = on_layer(on).play(case, capability_of(case), operations=3)
            assert not_passed(records) == []


def test_every_flaw_is_shown() -> None:
    assert set(SHOWN) == set(FLAWS)


@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_a_flaw_fails_in_its_case_on_its_check(tmp_path: Path, flaw: str) -> None:
    case, _ = SHOWN[flaw]
    wanted = CHECKS.get(FLAWS[flaw].primary_check, FLAWS[flaw].primary_check)
    with ground(tmp_path, flaw, changes=LAYERED) as on:
        records = on_layer(on).play(case, capability_of(case), operations=4)
    found = {check for check in violated(records) if not check.startswith("rig.")}
    assert wanted in found, not_passed(records)
    # A lost receipt shows as a needless WAIT, and an operation that is gone refuses its receipt.
    more = {CHECKS.get(one, one) for one in FLAWS[flaw].consequences}
    assert found <= {wanted, "continuity.liveness", *more}


@pytest.mark.nightly
@pytest.mark.parametrize("flaw", sampled(SHOWN))
def test_a_flaw_fails_nowhere_else(tmp_path: Path, flaw: str) -> None:
    primary, others = SHOWN[flaw]
    with ground(tmp_path, flaw, changes=LAYERED) as on:
        for case in NAMES:
            if case == primary or case in others:
                continue
            records = on_layer(on).play(case, capability_of(case), operations=3)
            assert violated(records) == set(), case
