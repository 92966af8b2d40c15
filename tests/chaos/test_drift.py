"""A drift moves the wall clock evenly, stops where it is, and is proven in the target itself."""

import time
from pathlib import Path

import pytest

from chaos.clock import TIMESTAMP_FILE, clock_environment, read_offset_ns, write_offset_ns
from chaos.clock import shared_object as library_of_faketime
from chaos.drift import ClockDrift
from chaos.errors import FaultNotPossible
from chaos.receipts import ClockReading, DriftReceipt, parse_receipt
from tests.chaos.processes import ProcessTarget, Spawner
from tests.chaos.test_clock import LOOK, NEAR_NS, SECOND_NS, ask, needs_library

LIVELY = {"operations_before": 1, "operations_after": 1}


def reading(wall_ns: int, monotonic_ns: int) -> ClockReading:
    return ClockReading(wall_unix_ns=wall_ns, monotonic_ns=monotonic_ns)


def receipt(rate: float, wall_ns: int, passed_ns: int) -> DriftReceipt:
    return DriftReceipt(
        service="memory",
        asked_rate=rate,
        before=reading(0, 50),
        after=reading(wall_ns, 50 + passed_ns),
    ).model_copy(update=LIVELY)


@needs_library
@pytest.mark.parametrize("rate", [30.0, 0.2])
def test_a_target_sees_its_clock_drift(spawn: Spawner, tmp_path: Path, rate: float) -> None:
    write_offset_ns(tmp_path, 5 * SECOND_NS)
    library = library_of_faketime()
    assert library is not None
    environment = clock_environment(str(library), str(tmp_path / TIMESTAMP_FILE))
    target = ProcessTarget("memory", lambda: spawn.python(["-c", LOOK], environment), tmp_path)
    target.start()

    def read_now() -> ClockReading:
        return reading(*ask(target.life(), "look"))

    active = ClockDrift(rate, read_now).inject(target)
    time.sleep(1.5)
    found = active.lift()
    assert isinstance(found, DriftReceipt)
    assert found.model_copy(update=LIVELY).missing() == []
    stopped_ns = read_offset_ns(tmp_path)
    assert (stopped_ns > 5 * SECOND_NS) is (rate > 1)
    assert abs(read_now().wall_unix_ns - time.time_ns() - stopped_ns) < NEAR_NS


@pytest.mark.parametrize("rate", [0.0, -1.0, 1.0, 5_000.0])
def test_no_clock_drifts_at_such_a_rate(spawn: Spawner, tmp_path: Path, rate: float) -> None:
    target = ProcessTarget("memory", lambda: spawn.python(["-c", LOOK], {}), tmp_path)
    with pytest.raises(FaultNotPossible, match="rate"):
        ClockDrift(rate, lambda: reading(0, 0)).inject(target)


def test_a_clock_without_a_folder_cannot_drift(spawn: Spawner) -> None:
    target = ProcessTarget("memory", lambda: spawn.python(["-c", LOOK], {}))
    fault = ClockDrift(2.0, lambda: reading(0, 0))
    assert not fault.available(target).available
    with pytest.raises(FaultNotPossible, match="clock of memory"):
        fault.inject(target)


@pytest.mark.parametrize(
    ("rate", "wall_ns", "passed_ns", "lacking"),
    [
        (2.0, 4 * SECOND_NS, 2 * SECOND_NS, None),
        (0.5, SECOND_NS, 2 * SECOND_NS, None),
        (2.0, 2 * SECOND_NS, 2 * SECOND_NS, "asked for 2.0, measured 1.000"),
        (0.5, 4 * SECOND_NS, 2 * SECOND_NS, "asked for 0.5, measured 2.000"),
        (2.0, 1_000_000, 500_000, "of 500000 ns only"),
        (2.0, SECOND_NS, -SECOND_NS, "of one life"),
    ],
)
def test_the_receipt_says_what_is_lacking(
    rate: float, wall_ns: int, passed_ns: int, lacking: str | None
) -> None:
    missing = receipt(rate, wall_ns, passed_ns).missing()
    assert any(lacking in text for text in missing) if lacking else missing == []


def test_a_receipt_is_read_back_as_it_was() -> None:
    kept = receipt(2.0, 4 * SECOND_NS, 2 * SECOND_NS)
    assert parse_receipt(kept.model_dump_json()) == kept
