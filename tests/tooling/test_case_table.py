"""docs/continuity.md names every case of the registry."""

from pathlib import Path

from orchestrator.suites.continuity.families import CASES
from tools.case_table import case_table, with_table

PAGE = Path(__file__).parents[2] / "docs" / "continuity.md"


def test_the_page_has_the_table_of_the_registry() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page


def test_every_case_has_a_row() -> None:
    rows = [line for line in case_table().splitlines() if line.startswith("| ")]
    families = {case.family for case in CASES.values()}
    assert len(rows) == len(CASES) + len(families)
