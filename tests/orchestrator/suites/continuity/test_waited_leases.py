"""Where the memory's lease clock cannot be set, short leases are waited out, on real processes.

Of the cases and windows that want a lease's end, some of each kind are played here: on a memory
whose leases run on the monotonic clock, and on the reference where no clock can be set.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence

import pytest

from orchestrator.campaign.schedule import SHORT_LEASE_SECONDS
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    NotRunSubtype,
    TargetSet,
    TrialRecord,
    Verdict,
    WindowName,
)
from orchestrator.plan import batches_for
from orchestrator.suites.continuity.cells import PlannedCell, rows_of, trials_of
from orchestrator.suites.continuity.job import ContinuityJob
from orchestrator.suites.continuity.table import cell_table
from orchestrator.vendors import VendorConfig, VendorProcess
from tests.orchestrator.suites.continuity import monotonic_memory
from tests.orchestrator.suites.continuity.ground import (
    SEED,
    Ground,
    ground,
    not_passed,
    sampled,
    violated,
)

pytestmark = pytest.mark.e2e_process

NONE = CapabilityVariant.NONE
FENCED = CapabilityVariant.QUERY_FENCED
UNFENCED = CapabilityVariant.QUERY_UNFENCED
KEYED = CapabilityVariant.IDEMPOTENT
ENDED_KEY = CapabilityVariant.IDEMPOTENT_EXPIRED
OPERATIONS = 3
SHORT = {"lease_seconds": SHORT_LEASE_SECONDS}

CASES = [
    ("receipts.late", KEYED),
    ("resolve.did_not_happen", ENDED_KEY),
    ("network.reset", FENCED),
    ("zombie.late_renewal", KEYED),
    ("identity.after_expiry", NONE),
    ("zombie.stopped_in_request", FENCED),
    ("concurrency.holder_silent", NONE),
    ("receipts.old_absence", FENCED),
    ("receipts.uncertain", UNFENCED),
    ("network.lost", UNFENCED),
    ("network.late_copy.begin", ENDED_KEY),
    ("rollback.uncertain", NONE),
    ("limits.renewal_holder", KEYED),
    ("bad_input.destination_down", KEYED),
    ("telemetry.drop", FENCED),
    ("golden.after_commit", NONE),
]
WINDOWS = [
    (WindowName.AFTER_COMMIT, TargetSet.ALL, Fate.DROP, FENCED),
    (WindowName.AFTER_LEASE, TargetSet.AGENT_MEMORY, Fate.DROP, ENDED_KEY),
    (WindowName.IN_REQUEST, TargetSet.ALL, Fate.LATE_AFTER_COMPLETION, KEYED),
    (WindowName.AFTER_LEASE, TargetSet.MEMORY, Fate.DROP, NONE),
    (WindowName.IN_REQUEST, TargetSet.DESTINATION, Fate.DROP, UNFENCED),
    (WindowName.AFTER_RESPONSE, TargetSet.AGENT, Fate.LATE_AFTER_DECISION, NONE),
]


def _monotonic(flaw: str = "") -> VendorConfig:
    module, arguments = monotonic_memory.__name__, (flaw,) if flaw else ()
    process = VendorProcess(module=module, args=arguments)
    return VendorConfig(name="monotonic", recipe="memory", process=process)


@pytest.fixture(scope="module")
def monotonic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder = tmp_path_factory.mktemp("monotonic")
    with ground(folder, vendor=_monotonic(), changes=SHORT) as on:
        yield on


@pytest.fixture(scope="module")
def unmoved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The reference on a machine that sets no clocks."""
    folder = tmp_path_factory.mktemp("unmoved")
    with ground(folder, changes={**SHORT, "clock_skew": False}) as on:
        yield on


def _cell(
    window: WindowName,
    target: TargetSet,
    fate: Fate,
    capability: CapabilityVariant,
    fault: FaultKind = FaultKind.KILL,
) -> Cell:
    return next(
        one.cell
        for one in cell_table()
        if (one.cell.arm, one.cell.expiry) == (Arm.MEMORY, ExpiryMode.SKEWED)
        and (one.cell.window, one.cell.target, one.cell.fate) == (window, target, fate)
        and (one.cell.capability, one.cell.fault) == (capability, fault)
    )


def _play(on: Ground, cell: Cell) -> Sequence[TrialRecord]:
    """A batch of a window's cell, with workflows of its own."""
    operations = 1 if cell.target is TargetSet.MEMORY else OPERATIONS
    planned = PlannedCell(cell=cell, rows=rows_of(cell), kills=1, operations_per_kill=operations)
    plans = trials_of([planned], SEED ^ secrets.randbits(32))
    [batch] = batches_for(on.context.subject, plans, join_capabilities=False)
    return ContinuityJob(batch).run(on.context)


def _receipts(on: Ground) -> list[str]:
    evidence, _, _ = on.kept.batches[-1]
    assert evidence.expiry is ExpiryMode.CONFIGURED
    return [json.loads(text)["kind"] for text in evidence.receipts_json]


@pytest.mark.parametrize(
    ("case", "capability"),
    [
        pytest.param(case, capability, marks=[pytest.mark.nightly] if at >= 5 else [])
        for at, (case, capability) in enumerate(CASES)
    ],
)
def test_a_case_that_wants_a_leases_end_waits_for_it(
    monotonic: Ground, case: str, capability: CapabilityVariant
) -> None:
    records = monotonic.play(case, capability, OPERATIONS)
    assert not_passed(records) == []
    assert {record.expiry for record in records} == {ExpiryMode.CONFIGURED}
    receipts = _receipts(monotonic)
    assert ("lease_wait" in receipts, "clock" in receipts) == (True, False)


@pytest.mark.parametrize(
    ("window", "target", "fate", "capability"),
    [
        pytest.param(*one, marks=[pytest.mark.nightly] if at >= 2 else [])
        for at, one in enumerate(WINDOWS)
    ],
)
def test_a_window_that_wants_a_leases_end_waits_for_it(
    monotonic: Ground,
    window: WindowName,
    target: TargetSet,
    fate: Fate,
    capability: CapabilityVariant,
) -> None:
    records = _play(monotonic, _cell(window, target, fate, capability))
    assert not_passed(records) == []
    receipts = _receipts(monotonic)
    assert ("kill" in receipts, "lease_wait" in receipts, "clock" in receipts) == (
        True,
        True,
        False,
    )


def test_a_machine_that_sets_no_clocks_waits_as_well(unmoved: Ground) -> None:
    records = unmoved.play("receipts.late", NONE, OPERATIONS)
    window = _cell(WindowName.IN_REQUEST, TargetSet.ALL, Fate.DROP, KEYED)
    assert not_passed([*records, *_play(unmoved, window)]) == []
    assert "lease_wait" in _receipts(unmoved)


def test_what_needs_a_clock_is_not_run(monotonic: Ground) -> None:
    behind = _cell(WindowName.AFTER_COMMIT, TargetSet.AGENT, Fate.DROP, NONE, FaultKind.CLOCK_JUMP)
    records = [
        *monotonic.play("clock.around_lease_end", NONE, 1),
        *monotonic.play("resolve.expired", NONE, 1),
        *_play(monotonic, behind),
    ]
    assert {(one.verdict, one.subtype) for one in records} == {
        (Verdict.NOT_RUN, NotRunSubtype.PLATFORM)
    }


FLAWS = ("expired_none_executes", "refuses_late", "always_wait")


@pytest.mark.parametrize("flaw", sampled(FLAWS, 1))
def test_a_memory_that_is_wrong_after_a_lease_is_caught(
    tmp_path_factory: pytest.TempPathFactory, flaw: str
) -> None:
    window = _cell(WindowName.AFTER_COMMIT, TargetSet.ALL, Fate.DROP, NONE)
    with ground(tmp_path_factory.mktemp(flaw), vendor=_monotonic(flaw), changes=SHORT) as on:
        if flaw == "refuses_late":
            records: Sequence[TrialRecord] = on.play("receipts.late", NONE, OPERATIONS)
        else:
            records = _play(on, window)
    assert {record.verdict for record in records} == {Verdict.FAIL}
    assert _CAUGHT[flaw] in violated(records)


_CAUGHT = {
    "expired_none_executes": "continuity.safety",
    "refuses_late": "continuity.receipts.late",
    "always_wait": "continuity.liveness",
}
