"""A process's wall clock moves when told to, and nothing else of its time does."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.clock import (
    FALLBACK_FILE,
    OFFSET_MAX_NS,
    TIMESTAMP_FILE,
    clock_environment,
    read_offset_ns,
    remove_shared_memory,
    shared_object,
    write_offset_ns,
)
from chaos.errors import ClockError
from tests.chaos.processes import Process, Spawner, kill

SECOND_NS = 1_000_000_000
NEAR_NS = 50_000_000

needs_library = pytest.mark.skipif(
    shared_object() is None, reason="libfaketime has no shared object for this platform (N/R)"
)

# Reads its clocks, or sleeps and says how long, whenever it is asked to.
LOOK = """
import json, sys, time
for line in sys.stdin:
    if line.strip() == "sleep":
        started = time.monotonic_ns()
        time.sleep(0.1)
        print(time.monotonic_ns() - started, flush=True)
    else:
        print(json.dumps([time.time_ns(), time.monotonic_ns()]), flush=True)
"""


def ask(process: Process, what: str) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(what + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@pytest.fixture
def skewable(spawn: Spawner, tmp_path: Path) -> Process:
    """A process whose clock the test's folder sets; it starts with the real time."""
    write_offset_ns(tmp_path, 0)
    library = shared_object()
    assert library is not None
    environment = clock_environment(str(library), str(tmp_path / TIMESTAMP_FILE))
    return spawn.python(["-c", LOOK], environment)


@needs_library
def test_wall_clock_jumps_at_the_next_look_and_monotonic_does_not(
    skewable: Process, tmp_path: Path
) -> None:
    for offset_ns in (0, 121 * SECOND_NS, 121_500_000_000, -3_600_250_000_000, 1_000_000_000_125):
        write_offset_ns(tmp_path, offset_ns)
        before = (time.time_ns(), time.monotonic_ns())
        wall_ns, monotonic_ns = ask(skewable, "look")
        after = (time.time_ns(), time.monotonic_ns())
        assert before[0] - NEAR_NS <= wall_ns - offset_ns <= after[0] + NEAR_NS
        # One machine, one monotonic clock: the child's answer lies between two of ours.
        assert before[1] <= monotonic_ns <= after[1]


@needs_library
def test_sleep_lasts_as_long_as_it_should(skewable: Process, tmp_path: Path) -> None:
    write_offset_ns(tmp_path, 500 * SECOND_NS)
    slept_ns = ask(skewable, "sleep")
    # Debian's 0.9.10 returns at once here.
    assert slept_ns >= 100_000_000


@needs_library
def test_killed_process_leaves_shared_memory_that_can_be_removed(skewable: Process) -> None:
    ask(skewable, "look")
    kill(skewable)
    removed = remove_shared_memory(skewable.pid)
    assert {path.name for path in removed} <= {
        f"faketime_shm_{skewable.pid}",
        f"sem.faketime_sem_{skewable.pid}",
    }
    assert remove_shared_memory(skewable.pid) == []


# Four threads look at the clock through the C library, which lets them look at once.
CROWD = """
import ctypes, sys, threading
class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]
library, earliest, behind = ctypes.CDLL(None), int(sys.argv[1]), []
def look():
    moment = Moment()
    for _ in range(20_000):
        library.clock_gettime(0, ctypes.byref(moment))
        if moment.seconds < earliest:
            behind.append(moment.seconds)
threads = [threading.Thread(target=look) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(behind))
"""


@needs_library
def test_threads_that_look_at_once_all_see_the_set_time(tmp_path: Path) -> None:
    write_offset_ns(tmp_path, 15_004 * SECOND_NS)
    library = shared_object()
    assert library is not None
    environment = {
        **os.environ,
        **clock_environment(str(library), str(tmp_path / TIMESTAMP_FILE)),
        "HOME": str(tmp_path),
    }
    earliest = str(int(time.time()) + 10_000)
    done = subprocess.run(
        [sys.executable, "-c", CROWD, earliest],
        env=environment,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == b"0"


@given(st.integers(-OFFSET_MAX_NS, OFFSET_MAX_NS))
def test_offset_is_read_back_to_the_nanosecond(
    tmp_path_factory: pytest.TempPathFactory, offset_ns: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    write_offset_ns(folder, offset_ns)
    assert read_offset_ns(folder) == offset_ns


@pytest.mark.parametrize(
    ("offset_ns", "text"),
    [
        (0, "+000000000000.000000000\n"),
        (121_500_000_000, "+000000000121.500000000\n"),
        (-1, "-000000000000.000000001\n"),
    ],
)
def test_file_is_what_libfaketime_parses(tmp_path: Path, offset_ns: int, text: str) -> None:
    write_offset_ns(tmp_path, offset_ns)
    assert (tmp_path / TIMESTAMP_FILE).read_text() == text
    assert (tmp_path / FALLBACK_FILE).read_text() == text
    assert {path.name for path in tmp_path.iterdir()} == {TIMESTAMP_FILE, FALLBACK_FILE}


def test_the_second_file_stays_the_same_file_and_as_long(tmp_path: Path) -> None:
    write_offset_ns(tmp_path, OFFSET_MAX_NS)
    before = (tmp_path / FALLBACK_FILE).stat()
    write_offset_ns(tmp_path, -1)
    after = (tmp_path / FALLBACK_FILE).stat()
    # It is mounted by itself: another file in its place would stay unseen.
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert (tmp_path / FALLBACK_FILE).read_text() == (tmp_path / TIMESTAMP_FILE).read_text()


def test_other_users_can_read_the_file(tmp_path: Path) -> None:
    write_offset_ns(tmp_path, 1)
    assert (tmp_path / TIMESTAMP_FILE).stat().st_mode & 0o444


@pytest.mark.parametrize("text", ["", "+", "121", "+1 2", "@2020-01-01 00:00:00", "+1.5x2", "+x"])
def test_what_is_no_relative_offset_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / TIMESTAMP_FILE).write_text(text)
    with pytest.raises(ClockError, match="relative offset"):
        read_offset_ns(tmp_path)


@pytest.mark.parametrize("text", ["+0", "+0\n", "-7", "+1.5"])
def test_short_forms_are_understood(tmp_path: Path, text: str) -> None:
    (tmp_path / TIMESTAMP_FILE).write_text(text)
    assert read_offset_ns(tmp_path) == round(float(text) * SECOND_NS)


def test_errors_name_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ClockError, match="cannot be read"):
        read_offset_ns(tmp_path)
    with pytest.raises(ClockError, match="cannot be written"):
        write_offset_ns(tmp_path / "missing", 0)
    with pytest.raises(ClockError, match="century"):
        write_offset_ns(tmp_path, OFFSET_MAX_NS + 1)
