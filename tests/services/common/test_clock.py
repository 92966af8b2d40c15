import time

from services.common import clock


def test_a_reading_lies_between_two_looks_at_the_clocks() -> None:
    before = time.time_ns(), time.monotonic_ns()
    reading = clock.reading()
    after = time.time_ns(), time.monotonic_ns()
    assert before[0] <= reading.wall_unix_ns <= after[0]
    assert before[1] <= reading.monotonic_ns <= after[1]
    assert clock.wall_ns() >= before[0]
    assert clock.monotonic_ns() >= after[1]
