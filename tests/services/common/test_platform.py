import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from services.common import platform

SLEEPER = "import time; time.sleep(60)"
POLL_TRIES = 500


def spawn(code: str, folder: Path) -> subprocess.Popen[bytes]:
    return platform.spawn_process(
        [sys.executable, "-c", code],
        environment=os.environ,
        folder=folder,
        output=subprocess.PIPE,
        errors=subprocess.DEVNULL,
    )


def status_becomes(pid: int, *wanted: str) -> bool:
    for _ in range(POLL_TRIES):
        if psutil.Process(pid).status() in wanted:
            return True
        time.sleep(0.01)
    return False


def test_a_killed_process_ends_at_once_and_another_kill_is_no_error(tmp_path: Path) -> None:
    child = spawn(SLEEPER, tmp_path)
    assert platform.process_alive(child.pid) is True
    platform.kill_process(child.pid)
    assert child.wait(30) == platform.KILLED_EXIT_CODE
    assert platform.process_alive(child.pid) is False
    platform.kill_process(child.pid)
    platform.terminate_process(child.pid)


def test_a_group_is_killed_with_what_it_started(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', "
        f"{SLEEPER!r}]); print(child.pid, flush=True); child.wait()"
    )
    leader = spawn(code, tmp_path)
    assert leader.stdout is not None
    grandchild = psutil.Process(int(leader.stdout.readline()))
    platform.kill_group(leader.pid)
    assert leader.wait(30) == platform.KILLED_EXIT_CODE
    # Whoever adopts it may leave it a zombie; it does not run any more.
    gone = [psutil.STATUS_ZOMBIE]
    assert not grandchild.is_running() or status_becomes(grandchild.pid, *gone)
    leader.stdout.close()
    platform.kill_group(leader.pid)


def test_a_suspended_process_stops_and_goes_on(tmp_path: Path) -> None:
    child = spawn(SLEEPER, tmp_path)
    try:
        platform.suspend_process(child.pid)
        assert status_becomes(child.pid, psutil.STATUS_STOPPED)
        platform.resume_process(child.pid)
        assert status_becomes(child.pid, psutil.STATUS_SLEEPING, psutil.STATUS_RUNNING)
    finally:
        platform.kill_process(child.pid)
        child.wait(30)
        assert child.stdout is not None
        child.stdout.close()


@pytest.mark.parametrize("request_stop", [platform.terminate_process, platform.interrupt_process])
def test_a_stop_signal_calls_back(tmp_path: Path, request_stop: object) -> None:
    code = (
        "import threading; from services.common.platform import on_stop_signal\n"
        "stop = threading.Event(); on_stop_signal(stop.set); print('ready', flush=True)\n"
        "stop.wait(); print('stopped', flush=True)"
    )
    child = platform.spawn_process(
        [sys.executable, "-c", code],
        environment={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        folder=tmp_path,
        output=subprocess.PIPE,
        errors=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    assert child.stdout.readline().strip() == b"ready"
    assert callable(request_stop)
    request_stop(child.pid)
    assert child.stdout.readline().strip() == b"stopped"
    assert child.wait(30) == 0
    child.stdout.close()


@pytest.mark.parametrize("pid", [0, -1])
def test_groups_are_never_addressed_by_accident(pid: int) -> None:
    for call in (
        platform.kill_process,
        platform.suspend_process,
        platform.kill_group,
        platform.process_alive,
    ):
        with pytest.raises(ValueError, match="positive"):
            call(pid)


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    platform.atomic_write_bytes(path, b"old")
    platform.atomic_write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_failed_replacement_leaves_the_old_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(OSError, match=r"."):
        platform.atomic_write_bytes(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
    platform.fsync_dir(tmp_path)
