import sqlite3
from pathlib import Path

import pytest

from services.common import settings
from services.common.database import Database

NAME = "MEMQUAL_TEST_SETTING"


def test_a_variable_is_read_and_an_empty_one_counts_as_unset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(NAME, "value")
    assert settings.env(NAME, "default") == "value"
    assert settings.env_or_none(NAME) == "value"
    monkeypatch.setenv(NAME, "")
    assert settings.env(NAME, "default") == "default"
    assert settings.env_or_none(NAME) is None
    assert settings.env_path(NAME, "folder") == Path("folder")
    with pytest.raises(settings.SettingsError, match=NAME):
        settings.env(NAME)


@pytest.mark.parametrize("text", ["", "x", "1.5", "0", "11"])
def test_a_number_that_is_none_or_out_of_bounds_is_named(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(NAME, text)
    with pytest.raises(settings.SettingsError, match=NAME):
        settings.env_int(NAME, minimum=1, maximum=10)


def test_a_number_within_bounds_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "10")
    assert settings.env_int(NAME, 3, minimum=1, maximum=10) == 10
    monkeypatch.delenv(NAME)
    assert settings.env_int(NAME, 3, minimum=1, maximum=10) == 3


def test_the_data_folder_must_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMQUAL_DATA_DIR", str(tmp_path))
    assert settings.data_dir() == tmp_path
    monkeypatch.setenv("MEMQUAL_DATA_DIR", str(tmp_path / "missing"))
    with pytest.raises(settings.SettingsError, match="create or mount"):
        settings.data_dir()


def test_run_turns_a_bad_setting_into_code_2() -> None:
    with pytest.raises(SystemExit) as caught:
        settings.run(lambda: print(settings.env(NAME)))
    assert caught.value.code == settings.EXIT_USAGE


def test_run_turns_a_bad_store_into_code_1(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        settings.run(lambda: Database(tmp_path / "missing" / "test.db").close())
    assert caught.value.code == settings.EXIT_STORE


def test_run_lets_a_defect_through() -> None:
    with pytest.raises(sqlite3.ProgrammingError):
        settings.run(lambda: sqlite3.connect(":memory:").execute("SELECT ?").close())
