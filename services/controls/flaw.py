"""What a memory that is wrong on purpose is (DESIGN §9)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from services.common.challenges import load_public_keys
from services.common.database import Database
from services.memory.process import Composition
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records, create
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing

__all__ = ["Flaw", "Parts", "named", "of_parts", "of_policy"]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One memory that is wrong on purpose.

    Attributes:
        composition: the reference with one part replaced.
        wrong: what it does wrong, in words.
        primary_check: the one check that must catch it: the oracle's `unsafe_decision`,
            `needless_decision` or `malformed_answer`, an integrity or narrative check by its id,
            or, where a narrative case is graded, its id and the checkpoint whose rate must fall.
        row: row of DESIGN §6 that is broken first; empty for records.
        consequences: other checks that may fail, too, since the same wrong is seen there; whatever
            else fails is a false alarm.
    """

    composition: Composition
    wrong: str
    primary_check: str
    row: str = ""
    consequences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """The reference's operations on records; a control replaces one of them.

    Attributes:
        writing: makes Write, Supersede and Derive.
        recalling: makes Recall, Inspect and ListProcedures.
        lifecycle: makes Quarantine, Archive, Forget and RecordOutcome.
    """

    writing: Callable[[Desk], Writing] = Writing
    recalling: Callable[[Desk], Recalling] = Recalling
    lifecycle: Callable[[Desk], Lifecycle] = Lifecycle


def named(flaw: str) -> str:
    """Product name of a control."""
    return f"memqual-control-{flaw}"


def of_policy(
    flaw: str,
    policy: Callable[[], Policy],
    wrong: str,
    primary_check: str,
    *consequences: str,
) -> Flaw:
    """A control whose records follow a policy with one rule replaced.

    Args:
        flaw: its name in the registry.
        policy: makes the flawed policy.
        wrong: what it does wrong, in words.
        primary_check: the integrity check that must catch it.
        consequences: other integrity checks that may fail, too.
    """
    composition = Composition(named(flaw), records=partial(_records, policy))
    return Flaw(composition, wrong, primary_check, consequences=consequences)


def of_parts(flaw: str, parts: Parts, wrong: str, primary_check: str, *consequences: str) -> Flaw:
    """A control with the reference's policy and one operation replaced; see `of_policy`."""
    composition = Composition(named(flaw), records=partial(_assembled, parts))
    return Flaw(composition, wrong, primary_check, consequences=consequences)


def _assembled(parts: Parts, database: Database, reviewer_keys_path: Path | None) -> Records:
    keys = load_public_keys(reviewer_keys_path)
    desk = Desk(database, Policy())
    servicer = MemoryServicer(
        parts.writing(desk), parts.recalling(desk), parts.lifecycle(desk), Review(desk, keys)
    )
    return Records(desk, servicer)


def _records(
    policy: Callable[[], Policy], database: Database, reviewer_keys_path: Path | None
) -> Records:
    return create(database, reviewer_keys_path, policy())
