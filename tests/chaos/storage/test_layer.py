"""The mounted volume, as programs use it."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.errors import FaultNotPossible
from chaos.storage.gate import Fate
from chaos.storage.layer import StorageLayer
from chaos.storage.mounts import mounts_below
from services.common.platform import kill_process, process_alive

pytestmark = pytest.mark.e2e_process


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[StorageLayer]:
    try:
        made = StorageLayer(tmp_path / "layer", tmp_path / "log")
    except FaultNotPossible as error:
        pytest.skip(str(error))
    yield made
    made.close()
    assert mounts_below(tmp_path) == ()


WRITER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute(f"PRAGMA synchronous={sys.argv[2]}")
connection.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)")
for number in range(int(sys.argv[3])):
    connection.execute("INSERT INTO t VALUES (?)", (number,))
    print(number, flush=True)
os.kill(os.getpid(), 9)
"""


def _write(file: Path, synchronous: str, count: int) -> None:
    """Commits rows in another process, which dies without closing anything."""
    arguments = [sys.executable, "-c", WRITER, str(file), synchronous, str(count)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == [str(number) for number in range(count)], done.stderr


def _count(file: Path) -> int:
    connection = sqlite3.connect(file)
    try:
        return int(connection.execute("SELECT count(*) FROM t").fetchone()[0])
    finally:
        connection.close()


def test_commits_with_synchronous_full_survive_a_loss_of_power(layer: StorageLayer) -> None:
    file = layer.mount / "a.db"
    _write(file, "FULL", 20)
    lost = layer.lose_power()
    assert (lost.unsynced_gone, lost.synced_there) == (True, True)
    assert _count(file) == 20
    _write(file, "FULL", 5)
    layer.lose_power()
    assert _count(file) == 25


def test_commits_without_fsync_do_not(layer: StorageLayer) -> None:
    file = layer.mount / "a.db"
    _write(file, "FULL", 3)
    assert _count(file) == 3
    _write(file, "OFF", 20)
    lost = layer.lose_power()
    assert lost.dropped_bytes > 0
    assert _count(file) == 3


def test_two_processes_share_a_log(layer: StorageLayer) -> None:
    file = layer.mount / "a.db"
    _write(file, "FULL", 3)
    reader = sqlite3.connect(file)
    assert reader.execute("SELECT count(*) FROM t").fetchone()[0] == 3
    _write(file, "FULL", 3)
    assert reader.execute("SELECT count(*) FROM t").fetchone()[0] == 6
    reader.close()


def test_a_full_volume_refuses_growth_until_there_is_room(layer: StorageLayer) -> None:
    connection = sqlite3.connect(layer.mount / "a.db", isolation_level=None)
    connection.execute("CREATE TABLE t (n BLOB)")
    layer.fill(after=1)
    with pytest.raises(sqlite3.OperationalError, match="full"):
        connection.executemany("INSERT INTO t VALUES (zeroblob(?))", [(20_000,)] * 20)
    assert layer.lift() > 0
    connection.execute("INSERT INTO t VALUES (zeroblob(20000))")
    connection.close()


def test_where_nothing_is_written_in_place_every_write_needs_room(layer: StorageLayer) -> None:
    file = layer.mount / "a"
    file.write_bytes(b"1234")
    layer.fill()
    with file.open("r+b", buffering=0) as within:
        within.write(b"56")
    layer.fill(everything=True)
    with file.open("r+b", buffering=0) as within, pytest.raises(OSError, match="No space"):
        within.write(b"78")
    assert layer.lift() == 1
    assert file.read_bytes() == b"5634"


def test_a_held_write_is_torn(layer: StorageLayer) -> None:
    file = layer.mount / "a"
    file.write_bytes(b"before")
    layer.hold(0, writes_only=True)
    program = f"open({str(file)!r}, 'ab').write(b'01234567')"
    writer = subprocess.Popen([sys.executable, "-c", program])
    held = layer.await_held(20)
    assert (held.held, held.held_offset, held.held_bytes) == ("write /a", 6, 8)
    kill_process(writer.pid)
    layer.release(Fate.TEAR)
    writer.wait(20)
    assert file.read_bytes() == b"before0123"


def test_a_snapshot_comes_back(layer: StorageLayer) -> None:
    file = layer.mount / "d" / "a"
    file.parent.mkdir()
    file.write_bytes(b"1")
    assert layer.snapshot() == 1
    file.write_bytes(b"22")
    assert layer.restore().differs
    assert file.read_bytes() == b"1"
    layer.wipe()
    assert list(layer.mount.iterdir()) == []


def test_metadata_is_what_programs_expect(layer: StorageLayer) -> None:
    file = layer.mount / "a"
    file.write_bytes(b"1")
    os.link(file, layer.mount / "b")
    assert file.stat().st_nlink == 2
    assert file.stat().st_ino == (layer.mount / "b").stat().st_ino
    os.utime(file, ns=(1, 2_000))
    file.chmod(0o600)
    told = file.stat()
    assert (told.st_mtime_ns, told.st_mode & 0o777, told.st_size) == (2_000, 0o600, 1)
    (layer.mount / "l").symlink_to("a")
    assert (layer.mount / "l").read_bytes() == b"1"


def test_a_layer_whose_process_was_killed_is_taken_away(layer: StorageLayer) -> None:
    folder = layer.mount.parent
    kill_process(layer.pid)
    with pytest.raises(FaultNotPossible, match="its process"):
        layer.status()
    layer.close()
    assert mounts_below(folder) == ()
    layer.close()


def test_users_who_stand_still_end_with_the_layer(layer: StorageLayer) -> None:
    layer.hold(0)
    program = f"open({str(layer.mount / 'a')!r}, 'wb').write(b'1')"
    user = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    assert layer.await_held(20).held == "create /a"
    layer.close()
    assert user.wait(20) != 0


def test_a_killed_owner_leaves_no_mount(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from chaos.storage.layer import StorageLayer
layer = StorageLayer(Path({str(tmp_path / "layer")!r}), Path({str(tmp_path / "log")!r}))
print(layer.pid, flush=True)
sys.stdin.read()
"""
    owner = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert owner.stdout is not None
    assert owner.stdin is not None
    line = owner.stdout.readline()
    if not line:
        pytest.skip("no volume can be mounted here")
    owner.kill()
    owner.wait(20)
    for _ in range(500):
        if not process_alive(int(line)):
            break
        time.sleep(0.02)
    assert mounts_below(tmp_path) == ()
    owner.stdin.close()
    owner.stdout.close()
