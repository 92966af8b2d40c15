"""Every case of every family, by name. A family is a module here with a tuple `CASES`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orchestrator.model import Cell
from orchestrator.suites.continuity.families import (
    bad_input,
    clock,
    concurrency,
    explore,
    golden,
    identity,
    limits,
    matrix,
    network,
    paper_acceptance,
    paper_interrupted,
    paper_parity,
    paper_pilot,
    receipts,
    regression,
    resolve,
    rollback,
    storage,
    telemetry,
    zombie,
)
from orchestrator.suites.continuity.families.model import (
    Account,
    End,
    EvidenceClass,
    FamilyCase,
    Need,
    Weight,
)

__all__ = [
    "CASES",
    "Account",
    "End",
    "EvidenceClass",
    "FamilyCase",
    "Need",
    "Weight",
    "case_of_cell",
]

_FAMILIES = (
    identity,
    clock,
    zombie,
    concurrency,
    explore,
    regression,
    receipts,
    network,
    paper_acceptance,
    paper_parity,
    paper_interrupted,
    storage,
    bad_input,
    telemetry,
    limits,
    golden,
    matrix,
    resolve,
    paper_pilot,
    rollback,
)


def _by_name() -> Mapping[str, FamilyCase]:
    found: dict[str, FamilyCase] = {}
    for family in _FAMILIES:
        for case in family.CASES:
            if case.name in found:
                raise ValueError(f"two cases are called {case.name}")
            found[case.name] = case
    return MappingProxyType(found)


CASES: Mapping[str, FamilyCase] = _by_name()


def case_of_cell(cell: Cell) -> FamilyCase | None:
    """The case that a continuity cell is of; None for a cell of the window table.

    Raises:
        ValueError: The cell names a case that does not exist.
    """
    if not cell.case:
        return None
    try:
        return CASES[cell.case]
    except KeyError:
        raise ValueError(f"no family has a case {cell.case!r}") from None
