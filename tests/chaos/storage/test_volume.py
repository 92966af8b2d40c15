"""What a loss of power takes back, and what it must leave."""

from pathlib import Path

import pytest

from chaos.storage.nodes import BLOCK_BYTES, File
from chaos.storage.volume import Volume


@pytest.fixture
def volume(tmp_path: Path) -> Volume:
    return Volume(tmp_path)


def made(volume: Volume, path: str, content: bytes = b"") -> File:
    file = volume.create(path, 0o644, 0, 0)
    file.write(0, content)
    return file


def content(volume: Volume, path: str) -> bytes:
    file = volume.file(path)
    return file.read(0, file.size)


def names(volume: Volume, path: str = "/") -> set[str]:
    return set(volume.directory(path).entries)


def test_a_file_that_was_never_synced_is_gone(volume: Volume) -> None:
    made(volume, "/a", b"1")
    dropped = volume.lose_power()
    assert names(volume) == set()
    assert (dropped.writes, dropped.written_bytes, dropped.names) == (1, 1, 1)


def test_fsync_of_a_new_file_keeps_content_and_name_and_folders_above(volume: Volume) -> None:
    volume.make_directory("/d", 0o755, 0, 0)
    volume.sync_file(made(volume, "/d/a", b"1"))
    made(volume, "/d/b", b"2")
    volume.lose_power()
    assert names(volume, "/d") == {"a"}
    assert content(volume, "/d/a") == b"1"


def test_writes_after_the_sync_are_taken_back(volume: Volume) -> None:
    file = made(volume, "/a", b"x" * BLOCK_BYTES * 3)
    volume.sync_file(file)
    file.write(BLOCK_BYTES, b"y")
    file.write(BLOCK_BYTES * 3, b"more")
    dropped = volume.lose_power()
    assert content(volume, "/a") == b"x" * BLOCK_BYTES * 3
    assert (dropped.writes, dropped.written_bytes, dropped.names) == (2, 2 * BLOCK_BYTES, 0)


def test_a_truncation_that_was_not_synced_is_taken_back(volume: Volume) -> None:
    file = made(volume, "/a", b"0123456789")
    volume.sync_file(file)
    file.truncate(3)
    volume.lose_power()
    assert content(volume, "/a") == b"0123456789"


def test_what_was_cut_off_and_lengthened_again_is_zero_after_the_sync(volume: Volume) -> None:
    file = made(volume, "/a", b"0123456789")
    volume.sync_file(file)
    file.truncate(3)
    file.write(8, b"z")
    volume.sync_file(file)
    volume.lose_power()
    assert content(volume, "/a") == b"012\0\0\0\0\0z"


def test_a_name_that_was_taken_away_comes_back_until_its_folder_is_synced(volume: Volume) -> None:
    volume.sync_file(made(volume, "/a", b"1"))
    volume.unlink("/a")
    volume.lose_power()
    assert content(volume, "/a") == b"1"
    volume.unlink("/a")
    volume.sync_directory(volume.root)
    volume.lose_power()
    assert names(volume) == set()


def test_a_replacement_by_rename_is_whole_or_not_at_all(volume: Volume) -> None:
    volume.sync_file(made(volume, "/a", b"old"))
    made(volume, "/a.new", b"new")
    volume.rename("/a.new", "/a")
    volume.lose_power()
    assert content(volume, "/a") == b"old"
    made(volume, "/a.new", b"new")
    volume.rename("/a.new", "/a")
    volume.sync_directory(volume.root)
    volume.lose_power()
    assert (names(volume), content(volume, "/a")) == ({"a"}, b"new")


def test_a_new_name_without_the_content_is_an_empty_file(volume: Volume) -> None:
    made(volume, "/a", b"1")
    volume.sync_directory(volume.root)
    volume.lose_power()
    assert content(volume, "/a") == b""


def test_a_move_between_folders_leaves_one_name(volume: Volume) -> None:
    for folder in ("/d", "/e"):
        volume.make_directory(folder, 0o755, 0, 0)
    volume.sync_directory(volume.root)
    volume.sync_file(made(volume, "/d/a", b"1"))
    volume.rename("/d/a", "/e/a")
    volume.sync_directory(volume.directory("/e"))
    volume.lose_power()
    assert (names(volume, "/d"), names(volume, "/e")) == (set(), {"a"})


def test_an_image_comes_back_as_it_was_and_survives(volume: Volume) -> None:
    volume.make_directory("/d", 0o700, 1, 2)
    made(volume, "/d/a", b"1")
    image = volume.image()
    volume.file("/d/a").write(0, b"22")
    volume.unlink("/d/a")
    volume.restore(image)
    volume.lose_power()
    assert volume.image() == image
    assert content(volume, "/d/a") == b"1"


def test_a_volume_that_is_synced_loses_nothing(volume: Volume) -> None:
    made(volume, "/a", b"1")
    volume.sync_all()
    dropped = volume.lose_power()
    assert (dropped.writes, dropped.names) == (0, 0)
    assert content(volume, "/a") == b"1"
