"""The table of the continuity axis's cases in docs/continuity.md, made from the registry.

Run as `python -m tools.case_table` to rewrite it; a test compares it.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from orchestrator.suites.continuity.families import CASES, FamilyCase

__all__ = ["case_table", "with_table"]

_BEGIN = "<!-- cases: made by `python -m tools.case_table` -->"
_END = "<!-- end of cases -->"
_PAGE = Path(__file__).parents[1] / "docs" / "continuity.md"


def case_table() -> str:
    """One table a family: case, what happens, whom it is charged to, cells, first profile."""
    lines: list[str] = []
    for family, cases in groupby(CASES.values(), lambda case: case.family):
        lines += [
            "",
            f"**{family}**",
            "",
            "| case | what happens | cells | from |",
            "|---|---|---|---|",
        ]
        lines += [_row(case) for case in cases]
    return "\n".join(lines).strip()


def with_table(page: str) -> str:
    """The page with its table made anew.

    Raises:
        ValueError: The page has no place for it.
    """
    head, begin, rest = page.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not begin or not end:
        raise ValueError("the page does not mark where its table stands")
    return f"{head}{_BEGIN}\n\n{case_table()}\n\n{_END}{tail}"


def _row(case: FamilyCase) -> str:
    name = case.name.partition(".")[2]
    charged = (
        f" An extra effect goes to the account *{case.account.value}*." if case.account else ""
    )
    needs = f" Needs {', '.join(sorted(case.needs))}." if case.needs else ""
    title = case.title.replace("|", "\\|")
    return f"| {name} | {title}{charged}{needs} | {len(case.cells())} | {case.weight.value} |"


def _main() -> None:
    _PAGE.write_text(with_table(_PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    _main()
