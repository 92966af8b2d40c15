"""The benchmark's store is the published file, or none."""

import os
from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.runtimes.base import StackSpec
from orchestrator.suites.continuity.families.model import Need
from orchestrator.suites.continuity.paper.store import checked_store, lacking_store

TAU2 = os.environ.get("MEMQUAL_TAU2_RETAIL", "")


def test_no_store_is_fine_and_told_where_one_is_needed(tmp_path: Path) -> None:
    assert checked_store(None) is None
    spec = StackSpec(run_id="r", stack_id="s", folder=tmp_path)
    assert set(lacking_store(spec)) == {Need.TAU2_STORE.value}
    assert "--retail-store" in lacking_store(spec)[Need.TAU2_STORE.value]


def test_a_stack_with_a_store_lacks_nothing(tmp_path: Path) -> None:
    spec = StackSpec(run_id="r", stack_id="s", folder=tmp_path, retail_store=tmp_path / "db.json")
    assert lacking_store(spec) == {}


def test_another_file_is_refused_with_its_digest(tmp_path: Path) -> None:
    other = tmp_path / "db.json"
    other.write_text('{"products": {}, "users": {}, "orders": {}}')
    with pytest.raises(UsageError, match="not the published retail store") as refused:
        checked_store(other)
    assert "413a65160adbdb5fde0ffc0015c49b6d70250b10c18128de169b597af7766765" in str(refused.value)


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_store_that_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        checked_store(tmp_path / name)


def test_the_published_file_is_taken() -> None:
    if not TAU2:
        pytest.skip("MEMQUAL_TAU2_RETAIL names no folder with the benchmark's db.json")
    assert checked_store(Path(TAU2) / "db.json") == (Path(TAU2) / "db.json").resolve()
