"""A receipt says what it lacks: each proof taken away is missed by name."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.receipts import (
    CLOCK_TOLERANCE_NS,
    ClockReading,
    ClockReceipt,
    FaultReceipt,
    JournalPrecondition,
    KillReceipt,
    LeaseWaitReceipt,
    NetworkReceipt,
    ReconfigureReceipt,
    ReleaseRecord,
    ReviveReceipt,
    SuspendReceipt,
    TargetKill,
    TelemetryReceipt,
    parse_receipt,
)

SECOND_NS = 1_000_000_000
LIVELY: Any = {"operations_before": 3, "operations_after": 3}

TARGET = TargetKill(
    service="agent",
    pid=7,
    started_before_ns=100,
    kill_monotonic_ns=5,
    exit_code=137,
    oom_killed=False,
    exit_monotonic_ns=6,
    started_after_ns=200,
)


def kill_receipt(**changes: Any) -> KillReceipt:
    """A receipt that lacks nothing, but for the changes."""
    values: dict[str, Any] = {
        "injection_id": "i1",
        "window": "in_request",
        "expected_held": 2,
        "held_workflows": ("w1", "w2"),
        "precondition": JournalPrecondition(
            name="no effect", expected=0, seen=0, journal_sequence=9
        ),
        "frozen_monotonic_ns": 4,
        "targets": (TARGET,),
        "eof_clients_gone": 2,
        "strays": 0,
        "release": ReleaseRecord(
            fate="drop", point="at once", released=2, interposer_monotonic_ns=8
        ),
        "restarted": ("agent",),
        "healthy_after_ms": {"agent": 12},
        "steps": (),
        **LIVELY,
    }
    return KillReceipt(**{**values, **changes})


def target(**changes: Any) -> tuple[TargetKill, ...]:
    return (TARGET.model_copy(update=changes),)


def test_whole_receipt_lacks_nothing() -> None:
    assert kill_receipt().missing() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"held_workflows": ("w1",)}, "held: 1 of 2"),
        ({"held_workflows": ("w1", "w1")}, "held: 1 of 2"),
        ({"precondition": None}, "precondition"),
        (
            {
                "precondition": JournalPrecondition(
                    name="effect", expected=2, seen=1, journal_sequence=9
                )
            },
            "effect: 1 of 2",
        ),
        ({"frozen_monotonic_ns": None}, "freeze"),
        ({"targets": ()}, "no target"),
        ({"targets": target(exit_code=None)}, "exit code"),
        ({"targets": target(exit_code=1)}, "exit code"),
        ({"targets": target(oom_killed=True)}, "out of memory"),
        ({"targets": target(oom_killed=None)}, "out of memory"),
        ({"targets": target(started_after_ns=None)}, "start time"),
        ({"targets": target(started_after_ns=100)}, "start time"),
        ({"eof_clients_gone": None}, "eof"),
        ({"strays": None}, "strays"),
        ({"release": None}, "release"),
        (
            {
                "release": ReleaseRecord(
                    fate="deliver", point="late", released=1, interposer_monotonic_ns=8
                )
            },
            "release: 1 of 2",
        ),
        ({"operations_before": None}, "operations_before"),
        ({"operations_before": 0}, "operations_before"),
        ({"operations_after": 0}, "operations_after"),
    ],
)
def test_each_proof_is_missed_by_name(changes: dict[str, Any], words: str) -> None:
    (lacking,) = [text for text in kill_receipt(**changes).missing() if words in text]
    assert lacking


def test_new_life_is_wanted_only_of_what_was_restarted() -> None:
    receipt = kill_receipt(restarted=(), targets=target(started_after_ns=None))
    assert receipt.missing() == []


def test_barrier_of_a_dead_host_needs_no_release_count() -> None:
    release = ReleaseRecord(
        fate="died with its host", point="at once", released=0, interposer_monotonic_ns=8
    )
    assert kill_receipt(release=release).missing() == []


def clock_receipt(asked_ns: int, moved_ns: int, passed_ns: int = 5_000_000) -> ClockReceipt:
    return ClockReceipt(
        service="memory",
        asked_skew_ns=asked_ns,
        before=ClockReading(wall_unix_ns=1_000 * SECOND_NS, monotonic_ns=50),
        after=ClockReading(
            wall_unix_ns=1_000 * SECOND_NS + passed_ns + moved_ns, monotonic_ns=50 + passed_ns
        ),
        **LIVELY,
    )


@given(
    st.integers(-10_000 * SECOND_NS, 10_000 * SECOND_NS).filter(bool),
    st.integers(-2 * CLOCK_TOLERANCE_NS, 2 * CLOCK_TOLERANCE_NS),
    st.integers(1, 60 * SECOND_NS),
)
def test_clock_receipt_compares_wall_with_monotonic(
    asked_ns: int, error_ns: int, passed_ns: int
) -> None:
    receipt = clock_receipt(asked_ns, asked_ns + error_ns, passed_ns)
    assert receipt.measured_skew_ns == asked_ns + error_ns
    assert (receipt.missing() == []) == (abs(error_ns) <= CLOCK_TOLERANCE_NS)


def test_clock_that_did_not_move_or_was_not_asked_to_is_missed() -> None:
    assert any("measured 0" in text for text in clock_receipt(SECOND_NS, 0).missing())
    assert any("none was asked" in text for text in clock_receipt(0, 0).missing())
    assert any("one life" in text for text in clock_receipt(SECOND_NS, SECOND_NS, 0).missing())


def test_telemetry_and_suspension() -> None:
    telemetry = TelemetryReceipt(
        fault="drop",
        rule_id="t",
        events_affected=1,
        first_sequence=1,
        last_sequence=9,
        **LIVELY,
    )
    assert telemetry.missing() == []
    assert telemetry.model_copy(update={"events_affected": 0}).missing() == [
        "telemetry: drop happened to no event"
    ]
    suspended = SuspendReceipt(
        service="agent",
        pid=7,
        stopped_monotonic_ns=1,
        silent=True,
        continued_monotonic_ns=2,
        answers_again=True,
        **LIVELY,
    )
    assert suspended.missing() == []
    for changes in (
        {"silent": None},
        {"silent": False},
        {"continued_monotonic_ns": None},
        {"continued_monotonic_ns": 1},
        {"answers_again": False},
    ):
        assert len(suspended.model_copy(update=changes).missing()) == 1, changes


def lease_wait() -> LeaseWaitReceipt:
    return LeaseWaitReceipt(
        service="memory",
        lease_clock="monotonic",
        lease_seconds=3,
        before_ns=SECOND_NS,
        after_ns=4 * SECOND_NS + 1,
        began_monotonic_ns=1,
        ended_monotonic_ns=2,
        **LIVELY,
    )


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [
        ({}, ""),
        ({"after_ns": 4 * SECOND_NS}, "a lease of 3 s went by on the memory's monotonic clock"),
        ({"ended_monotonic_ns": 1}, "that the wait ended after it began"),
        ({"operations_before": 0}, "no operation was seen to succeed before"),
    ],
)
def test_a_waited_lease_is_proven_by_the_memorys_own_clock(
    changes: dict[str, Any], lacking: str
) -> None:
    told = lease_wait().model_copy(update=changes).missing()
    assert (len(told), lacking in "".join(told)) == (1 if lacking else 0, True)


@pytest.mark.parametrize(
    "receipt",
    [
        kill_receipt(),
        lease_wait(),
        clock_receipt(SECOND_NS, SECOND_NS),
        TelemetryReceipt(
            fault="observer_down",
            rule_id="",
            events_affected=2,
            first_sequence=1,
            last_sequence=2,
        ),
        NetworkReceipt(
            action="lost",
            edges=("agent>memory",),
            direction="both",
            until_lifted=True,
            rule_ids=("n1",),
            messages_affected=1,
            passed_after=1,
            first_sequence=1,
            last_sequence=2,
        ),
        SuspendReceipt(service="agent", pid=None, stopped_monotonic_ns=1),
    ],
    ids=lambda receipt: receipt.kind,
)
def test_receipts_come_back_from_json_as_they_were(receipt: FaultReceipt) -> None:
    assert parse_receipt(receipt.model_dump_json()) == receipt


@pytest.mark.parametrize("text", ["", "{}", '{"kind": "wish"}', '{"kind": "clock", "extra": 1}'])
def test_what_is_no_receipt_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        parse_receipt(text)


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [
        ({}, []),
        ({"variables": ()}, ["memory: that anything of its configuration is another"]),
        ({"started_after_ns": 100}, ["memory: that it was started again"]),
        ({"healthy_after_ms": None}, ["memory: that it was healthy again"]),
    ],
)
def test_a_second_configuration_is_proven(changes: dict[str, Any], lacking: list[str]) -> None:
    values: dict[str, Any] = {
        "service": "memory",
        "variables": ("TZ",),
        "started_before_ns": 100,
        "started_after_ns": 200,
        "healthy_after_ms": 7,
        **LIVELY,
        **changes,
    }
    receipt = ReconfigureReceipt(**values)
    assert receipt.missing() == lacking
    assert parse_receipt(receipt.model_dump_json()) == receipt


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [
        ({}, []),
        ({"started_after_ns": 100}, ["memory: that it was started again"]),
        ({"healthy_after_ms": None}, ["memory: that it was healthy again"]),
    ],
)
def test_an_end_of_its_own_is_proven(changes: dict[str, Any], lacking: list[str]) -> None:
    values: dict[str, Any] = {
        "service": "memory",
        "exit_code": 3,
        "started_before_ns": 100,
        "started_after_ns": 200,
        "healthy_after_ms": 7,
        **LIVELY,
        **changes,
    }
    receipt = ReviveReceipt(**values)
    assert receipt.missing() == lacking
    assert parse_receipt(receipt.model_dump_json()) == receipt
