import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.common.database import READ_CONNECTIONS, Database, DatabaseError, Synchronous
from services.common.platform import KILLED_EXIT_CODE

CHILD_THAT_DIES = """
import os, pathlib, sys
from services.common.database import Database
from services.common.platform import kill_process
database = Database(pathlib.Path(sys.argv[1]))
with database.transaction() as connection:
    connection.execute("CREATE TABLE numbers (number INTEGER)")
    connection.execute("INSERT INTO numbers VALUES (1)")
with database.transaction() as connection:
    connection.execute("INSERT INTO numbers VALUES (2)")
    kill_process(os.getpid())
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "test.db")
    with database.transaction() as connection:
        connection.execute("CREATE TABLE numbers (number INTEGER UNIQUE)")
    yield database
    database.close()


def numbers(database: Database) -> list[int]:
    with database.read() as connection:
        return [row[0] for row in connection.execute("SELECT number FROM numbers ORDER BY number")]


def test_a_transaction_commits_whole(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO numbers VALUES (1), (2)")
    assert numbers(database) == [1, 2]


def test_an_exception_undoes_the_transaction_and_passes_on(database: Database) -> None:
    with pytest.raises(KeyError), database.transaction() as connection:
        raise KeyError(connection.execute("INSERT INTO numbers VALUES (1)"))
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.execute("INSERT INTO numbers VALUES (1), (1)")
    assert numbers(database) == []


def test_transactions_do_not_nest(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO numbers VALUES (1)")
        with pytest.raises(RuntimeError, match="nest"), database.transaction():
            pass
    assert numbers(database) == [1]


def test_it_runs_with_a_write_ahead_log_and_full_sync(database: Database) -> None:
    with database.transaction() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_normal_sync_can_be_chosen(tmp_path: Path) -> None:
    database = Database(tmp_path / "normal.db", synchronous=Synchronous.NORMAL)
    with database.transaction() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
    database.close()


def test_readers_cannot_write_and_see_one_snapshot(database: Database) -> None:
    with database.read() as reader:
        assert reader.execute("SELECT count(*) FROM numbers").fetchone() == (0,)
        with database.transaction() as writer:
            writer.execute("INSERT INTO numbers VALUES (1)")
        assert reader.execute("SELECT count(*) FROM numbers").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("INSERT INTO numbers VALUES (2)")
    assert numbers(database) == [1]


def test_more_readers_than_connections_take_turns(database: Database) -> None:
    inside = threading.Semaphore(0)
    leave = threading.Event()
    seen: list[int] = []

    def read() -> None:
        with database.read() as connection:
            inside.release()
            leave.wait()
            seen.append(connection.execute("SELECT count(*) FROM numbers").fetchone()[0])

    threads = [threading.Thread(target=read) for _ in range(READ_CONNECTIONS + 4)]
    for thread in threads:
        thread.start()
    for _ in range(READ_CONNECTIONS):
        inside.acquire()
    assert inside.acquire(blocking=False) is False
    leave.set()
    for thread in threads:
        thread.join()
    assert seen == [0] * (READ_CONNECTIONS + 4)


def test_writers_in_parallel_lose_nothing(database: Database) -> None:
    def write(start: int) -> None:
        for number in range(start, start + 25):
            with database.transaction() as connection:
                connection.execute("INSERT INTO numbers VALUES (?)", (number,))

    threads = [threading.Thread(target=write, args=(start,)) for start in range(0, 200, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(database) == list(range(200))


def test_only_what_was_committed_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "killed.db"
    child = subprocess.run(
        [sys.executable, "-c", CHILD_THAT_DIES, str(path)],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=30,
    )
    assert child.returncode == KILLED_EXIT_CODE
    database = Database(path)
    assert numbers(database) == [1]
    database.close()


def test_a_file_that_is_no_database_is_named_with_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("this is a text and no database at all" * 100)
    with pytest.raises(DatabaseError, match=r"text\.db.*fresh volume") as caught:
        Database(path)
    assert caught.value.transient is False


def test_a_damaged_page_is_found_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "torn.db"
    database = Database(path)
    with database.transaction() as connection:
        connection.execute("CREATE TABLE texts (text TEXT)")
        connection.executemany("INSERT INTO texts VALUES (?)", [("x" * 500,)] * 200)
    database.close()
    damaged = bytearray(path.read_bytes())
    damaged[8192:20480] = b"\xff" * 12288
    path.write_bytes(damaged)
    with pytest.raises(DatabaseError, match=r"damaged|malformed"):
        Database(path)


def test_a_missing_folder_is_named_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="check the mount"):
        Database(tmp_path / "missing" / "test.db")


def test_a_full_volume_is_transient_and_undoes_the_transaction(database: Database) -> None:
    with database.transaction() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute("INSERT INTO numbers VALUES (1)")
    # A limit on pages makes SQLite report the same error as a volume without space.
    with database.transaction() as connection:
        connection.execute("COMMIT")
        connection.execute(f"PRAGMA max_page_count={pages}")
        connection.execute("BEGIN")
    many = ",".join(str(number) for number in range(2, 5000))

    def fill() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO numbers VALUES (1000000)")
            connection.execute(f"INSERT INTO numbers SELECT value FROM json_each('[{many}]')")

    with pytest.raises(DatabaseError, match="free some space") as caught:
        fill()
    assert caught.value.transient is True
    assert numbers(database) == [1]


def test_close_can_be_repeated(database: Database) -> None:
    assert numbers(database) == []
    database.close()
    database.close()
