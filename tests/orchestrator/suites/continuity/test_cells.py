"""The checked-in cell table, and what each profile makes of it."""

import hashlib
from collections import Counter

import pytest
from pydantic import TypeAdapter

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    Profile,
    Suite,
    TargetSet,
    WindowName,
)
from orchestrator.suites.continuity.cells import (
    PlannedCell,
    case_of,
    select,
    select_for_controls,
    sub_seed,
    trials_of,
)
from orchestrator.suites.continuity.covering import covering
from orchestrator.suites.continuity.table import TableCell, cell_table, needs_probe, rows_of

ROWS = frozenset("NLSXCB")
BASIC = {CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED, CapabilityVariant.IDEMPOTENT}
COMPARATOR_WINDOWS = {
    WindowName.BEFORE_INTENT_CHECKPOINT,
    WindowName.IN_REQUEST,
    WindowName.AFTER_COMMIT,
    WindowName.BEFORE_CHECKPOINT,
    WindowName.AFTER_CHECKPOINT,
}
BARRIERS = {
    WindowName.BEFORE_INTENT_CHECKPOINT,
    WindowName.BEFORE_CHECKPOINT,
    WindowName.AFTER_CHECKPOINT,
}
HELD_BY_MEMORY = {WindowName.AFTER_LEASE, WindowName.AFTER_RECEIPT}


def cell(**fields: object) -> Cell:
    """in_request, drop, agent, none, memory arm, unless told otherwise."""
    coordinates: dict[str, object] = {
        "suite": Suite.CONTINUITY,
        "arm": Arm.MEMORY,
        "window": WindowName.IN_REQUEST,
        "capability": CapabilityVariant.NONE,
        "target": TargetSet.AGENT,
        "fate": Fate.DROP,
        "fault": FaultKind.KILL,
        "expiry": ExpiryMode.SKEWED,
    }
    return Cell.model_validate(coordinates | fields)


# -- the table -----------------------------------------------------------------------------------


def test_every_cell_is_there_once_and_has_known_rows() -> None:
    ids = Counter(one.cell.cell_id for one in cell_table())
    assert set(ids.values()) == {1}
    assert {row for one in cell_table() for row in one.rows} <= ROWS


@pytest.mark.parametrize(
    ("fields", "rows"),
    [
        ({}, ("L", "X")),
        ({"expiry": ExpiryMode.REAL}, ("L", "X")),
        ({"expiry": ExpiryMode.CONFIGURED}, ("X",)),
        ({"window": WindowName.BEFORE_INTENT, "expiry": ExpiryMode.NONE}, ("N",)),
        ({"window": WindowName.AFTER_RECEIPT, "expiry": ExpiryMode.NONE}, ("C",)),
        ({"window": WindowName.AFTER_LEASE, "target": TargetSet.MEMORY}, ("S",)),
        ({"fault": FaultKind.CLOCK_JUMP}, ("B", "L", "X")),
        (
            {"window": WindowName.BEFORE_INTENT, "fate": Fate.LATE_BEFORE_RESUME},
            ("L", "X"),
        ),
        (
            {"window": WindowName.AFTER_RESPONSE, "fate": Fate.LATE_AFTER_DECISION},
            ("L", "C"),
        ),
        ({"arm": Arm.BASELINE, "expiry": ExpiryMode.NONE}, ()),
        ({"target": TargetSet.DESTINATION}, ("L", "X")),
        (
            {
                "target": TargetSet.DESTINATION,
                "fate": Fate.LATE_BEFORE_RESUME,
                "expiry": ExpiryMode.NONE,
            },
            ("C",),
        ),
        (
            {
                "window": WindowName.AFTER_LEASE,
                "target": TargetSet.DESTINATION,
                "fate": Fate.DELIVER,
                "expiry": ExpiryMode.NONE,
            },
            ("C",),
        ),
        ({"target": TargetSet.ALL, "fate": Fate.LATE_AFTER_COMPLETION}, ("L", "X")),
    ],
)
def test_rows_are_those_of_the_design(fields: dict[str, object], rows: tuple[str, ...]) -> None:
    assert rows_of(cell(**fields)) == rows


def test_what_is_not_in_the_table_does_not_exist() -> None:
    with pytest.raises(ValueError, match="no cell"):
        rows_of(cell(target=TargetSet.OBSERVER))


def test_the_death_of_an_observer_is_no_fault_anywhere() -> None:
    rows = {
        (one.cell.window, one.cell.arm): one.rows
        for one in cell_table()
        if one.cell.target is TargetSet.OBSERVER
    }
    for arm in (Arm.MEMORY, Arm.BOTH):
        assert {window for window, of in rows if of is arm} == set(WindowName)
    before = {WindowName.BEFORE_INTENT_CHECKPOINT, WindowName.BEFORE_INTENT}
    for (window, arm), met in rows.items():
        if arm.has_memory:
            assert met == (("N",) if window in before else ("C",))


def test_every_target_dies_at_every_window_with_every_capability() -> None:
    places = {
        (one.cell.target, one.cell.window, one.cell.capability, one.cell.arm)
        for one in cell_table()
        if one.cell.arm.has_memory
    }
    targets = [target for target in TargetSet if target is not TargetSet.NONE]
    for target in targets:
        for window in WindowName:
            for capability in CapabilityVariant:
                for arm in (Arm.MEMORY, Arm.BOTH):
                    assert (target, window, capability, arm) in places


def test_a_lease_end_is_reached_exactly_where_a_row_needs_it() -> None:
    for one in cell_table():
        needs_end = bool({"X", "S", "B"} & set(one.rows)) or one.rows == ("L", "C")
        assert (one.cell.expiry is not ExpiryMode.NONE) == needs_end, one.cell.cell_id


def test_comparators_run_only_where_neither_begin_nor_receipt_is_needed() -> None:
    for one in cell_table():
        if one.cell.arm.has_memory:
            assert one.rows, one.cell.cell_id
        else:
            assert one.cell.window in COMPARATOR_WINDOWS
            assert one.rows == ()


def test_telemetry_faults_need_an_observer() -> None:
    for one in cell_table():
        if one.cell.fault in (FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN):
            assert one.cell.arm is Arm.BOTH


def test_only_requests_arrive_late_and_only_responses_of_the_living_are_delivered() -> None:
    for one in cell_table():
        if one.cell.fate.value.startswith("late"):
            assert one.cell.window not in BARRIERS | HELD_BY_MEMORY | {WindowName.AFTER_COMMIT}
        if one.cell.fate is Fate.DELIVER:
            assert not one.cell.target.kills_agent
        if one.cell.window in BARRIERS:
            held = Fate.DROP if one.cell.target.kills_agent else Fate.DELIVER
            assert one.cell.fate is held


def test_only_a_key_has_an_end() -> None:
    late = [one for one in cell_table() if one.cell.fate is Fate.LATE_AFTER_KEY_END]
    assert late
    assert {one.cell.capability for one in late} == {CapabilityVariant.IDEMPOTENT}


def test_the_evaluator_asks_where_nobody_else_does() -> None:
    asked = {(one.cell.window, one.cell.target) for one in cell_table() if needs_probe(one.cell)}
    assert (WindowName.AFTER_CHECKPOINT, TargetSet.AGENT) in asked
    assert (WindowName.BEFORE_CHECKPOINT, TargetSet.MEMORY) in asked
    assert (WindowName.BEFORE_CHECKPOINT, TargetSet.AGENT) not in asked
    assert not needs_probe(cell(target=TargetSet.MEMORY))


def test_a_cell_that_is_named_twice_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    doubled = cell_table()[:1] * 2

    class Twice:
        def cells(self) -> tuple[TableCell, ...]:
            return doubled

    monkeypatch.setattr(TypeAdapter, "validate_python", lambda *_: (Twice(),))
    with pytest.raises(ValueError, match="twice"):
        cell_table.__wrapped__()


# -- profiles ------------------------------------------------------------------------------------


def planned(profile: Profile, seed: int = 1) -> dict[str, PlannedCell]:
    return {one.cell.cell_id: one for one in select(profile, seed) if one.cell.window}


def test_quick_is_what_the_design_says() -> None:
    chosen = list(planned(Profile.QUICK).values())
    agent = [
        one
        for one in chosen
        if one.cell.target is TargetSet.AGENT
        and one.cell.arm is Arm.MEMORY
        and one.cell.fault is FaultKind.KILL
    ]
    assert {(one.cell.window, one.cell.capability) for one in agent} == {
        (window, capability) for window in WindowName for capability in BASIC
    }
    assert {one.cell.fate for one in agent} == {Fate.DROP}
    assert {(one.kills, one.operations_per_kill) for one in agent} == {(1, 20)}
    for target, operations in ((TargetSet.MEMORY, 1), (TargetSet.AGENT_MEMORY, 20)):
        alone = [one for one in chosen if one.cell.target is target]
        assert Counter(one.cell.window for one in alone) == Counter(WindowName)
        assert {(one.kills, one.operations_per_kill) for one in alone} == {(1, operations)}
    both = [one.cell.fault for one in chosen if one.cell.arm is Arm.BOTH]
    assert sorted(both) == [FaultKind.OBSERVER_DOWN, FaultKind.TELEMETRY_DROP]
    comparators = {(one.cell.arm, one.cell.window) for one in chosen if not one.cell.arm.has_memory}
    assert comparators == {
        (arm, window)
        for arm in (Arm.BASELINE, Arm.OBSERVER)
        for window in (WindowName.IN_REQUEST, WindowName.AFTER_COMMIT)
    }


def test_quick_compares_telemetry_faults_with_a_cell_of_the_memory_arm() -> None:
    chosen = planned(Profile.QUICK)
    for one in chosen.values():
        if one.cell.arm is Arm.BOTH:
            same = one.cell.model_copy(update={"arm": Arm.MEMORY, "fault": FaultKind.KILL})
            assert same.cell_id in chosen


def test_full_is_everything() -> None:
    of_windows = [one.cell for one in select(Profile.FULL, 1) if one.cell.window]
    assert of_windows == [one.cell for one in cell_table()]


def test_every_profile_is_part_of_the_table_and_quick_is_part_of_standard() -> None:
    ids = {one.cell.cell_id: one.rows for one in cell_table()}
    for profile in Profile:
        for name, one in planned(profile).items():
            assert ids[name] == one.rows
    assert set(planned(Profile.QUICK)) <= set(planned(Profile.STANDARD))


def test_standard_waits_out_no_real_lease() -> None:
    expiries = {one.cell.expiry for one in planned(Profile.STANDARD).values()}
    assert ExpiryMode.REAL not in expiries


def pairs(cells: list[Cell]) -> set[tuple[str, str]]:
    """Every pair of coordinate values that meets, written apart from the code under test."""
    names = ("window", "capability", "target", "fate", "fault", "arm", "expiry")
    found = set()
    for one in cells:
        values = [f"{name}:{getattr(one, name)}" for name in names]
        found |= {(left, right) for left in values for right in values if left < right}
    return found


@pytest.mark.parametrize("seed", [1, 7])
def test_standard_covers_every_pair_that_occurs(seed: int) -> None:
    everything = [one.cell for one in cell_table() if one.cell.expiry is not ExpiryMode.REAL]
    chosen = [one.cell for one in planned(Profile.STANDARD, seed).values()]
    assert pairs(chosen) == pairs(everything)
    assert len(chosen) < len(everything)
    for place in ("window", "capability"):
        there = {(getattr(one, place), one.target, one.fate) for one in chosen}
        assert there == {(getattr(one, place), one.target, one.fate) for one in everything}


def test_standard_kills_the_agent_at_every_window_with_every_capability() -> None:
    met = {
        (one.cell.window, one.cell.capability)
        for one in planned(Profile.STANDARD).values()
        if one.cell.target is TargetSet.AGENT
        and one.cell.arm is Arm.MEMORY
        and one.cell.fate is Fate.DROP
        and one.cell.fault is FaultKind.KILL
    }
    assert met == {
        (window, capability) for window in WindowName for capability in CapabilityVariant
    }


def test_standard_plays_a_hundred_operations_of_a_cell() -> None:
    for one in planned(Profile.STANDARD).values():
        alone = one.cell.target is TargetSet.MEMORY
        assert (one.kills, one.operations_per_kill) == (5, 1 if alone else 20)


def test_a_schedule_follows_from_profile_and_seed() -> None:
    for profile in Profile:
        assert select(profile, 5) == select(profile, 5)
    assert list(planned(Profile.STANDARD, 1)) != list(planned(Profile.STANDARD, 2))


def test_nothing_is_added_to_a_choice_that_covers_everything() -> None:
    whole = cell_table()
    assert covering(whole, whole, 1) == whole


def test_the_other_axis_schedules_no_crash() -> None:
    assert select(Profile.MIB, 1) == ()
    # The paper's studies are cases of their own.
    assert all(one.cell.window is None and one.cell.case for one in select(Profile.PAPER, 1))
    assert select_for_controls(Profile.MIB) == ()


@pytest.mark.parametrize(
    ("profile", "capabilities", "windows"),
    [
        (Profile.QUICK, BASIC, set(WindowName)),
        (Profile.STANDARD, set(CapabilityVariant), set(WindowName)),
        (Profile.FULL, set(CapabilityVariant), set(WindowName)),
        (Profile.SELFTEST, BASIC, {WindowName.IN_REQUEST, WindowName.AFTER_RECEIPT}),
        (Profile.PAPER, BASIC, {WindowName.AFTER_COMMIT}),
    ],
)
def test_controls_run_on_each_window_and_capability(
    profile: Profile, capabilities: set[CapabilityVariant], windows: set[WindowName]
) -> None:
    chosen = select_for_controls(profile)
    assert {(one.cell.window, one.cell.capability) for one in chosen} == {
        (window, capability) for window in windows for capability in capabilities
    }
    assert {(one.kills, one.operations_per_kill, one.cell.arm) for one in chosen} == {
        (1, 5, Arm.MEMORY)
    }
    assert len(chosen) == len(windows) * len(capabilities)


# -- seeds ---------------------------------------------------------------------------------------


def test_sub_seeds_differ_by_seed_case_and_trial() -> None:
    first = sub_seed(1, cell(), 0)
    assert 0 <= first < 1 << 63
    others = {
        sub_seed(2, cell(), 0),
        sub_seed(1, cell(), 1),
        sub_seed(1, cell(capability=CapabilityVariant.IDEMPOTENT), 0),
        sub_seed(1, cell(fault=FaultKind.CLOCK_JUMP), 0),
    }
    assert len(others | {first}) == 5


def test_telemetry_changes_no_sub_seed() -> None:
    for fault in (FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN, FaultKind.KILL):
        observed = cell(arm=Arm.BOTH, fault=fault)
        assert case_of(observed) == case_of(cell())
        assert sub_seed(3, observed, 4) == sub_seed(3, cell(), 4)


def test_a_sub_seed_is_pinned() -> None:
    text = "continuity/memory/in_request/none/kill=agent/drop/skewed"
    assert case_of(cell()) == text
    digest = hashlib.sha256(f"20260922:continuity:{text}:3".encode()).digest()
    assert sub_seed(20260922, cell(), 3) == int.from_bytes(digest[:8], "big") // 2


def test_trials_are_numbered_through_and_share_kills() -> None:
    one = PlannedCell(cell=cell(), rows=("L", "X"), kills=2, operations_per_kill=3)
    trials = trials_of([one], 9)
    assert [trial.number for trial in trials] == list(range(6))
    assert [trial.kill_number for trial in trials] == [0, 0, 0, 1, 1, 1]
    assert [trial.sub_seed for trial in trials] == [sub_seed(9, cell(), n) for n in range(6)]
