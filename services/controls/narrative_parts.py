"""How a control's narrative part is made: the reference's, with its servicer or its start replaced.

A flaw that shows in what is said replaces the servicer: it changes what goes into the reference or
what comes out of it, and nothing of how the reference works, which may change under it.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from services.common.database import Database
from services.controls.flaw import Flaw, named
from services.memory.narrative import store
from services.memory.narrative.part import Narrative
from services.memory.narrative.servicer import NarrativeServicer
from services.memory.process import Composition

__all__ = [
    "AFTER_KILL",
    "AGAIN",
    "AHEAD",
    "ANSWERED",
    "BEHIND",
    "EVERY_ANSWERED",
    "EVERY_COMPARISON",
    "FACTS",
    "INDEPENDENT",
    "INGEST",
    "OTHERS",
    "OWN",
    "REFUSED",
    "REVERSED",
    "STATE",
    "TAKEN",
    "TWIN",
    "FlawedNarrative",
    "forget_all",
    "of_part",
    "of_servicer",
]

AFTER_KILL = "narrative.property.persistence.answers"
STATE = "narrative.property.persistence.state"
INGEST = "narrative.property.persistence_ingest.answers"
AHEAD = "narrative.property.temporal_order.ahead"
BEHIND = "narrative.property.temporal_order.behind"
REVERSED = "narrative.property.arrival_order.reversed"
FACTS = "narrative.property.disambiguation.facts"
OWN = "narrative.property.disambiguation.own"
OTHERS = "narrative.property.disambiguation.others"
INDEPENDENT = "narrative.property.model_independence.answers"
AGAIN = "narrative.property.determinism.again"
TWIN = "narrative.property.determinism.twin"
REFUSED = "narrative.property.bad_input.refused"
TAKEN = "narrative.property.bad_input.taken"

ANSWERED = "narrative.property.persistence.answered"
EVERY_ANSWERED = (
    ANSWERED,
    *(
        f"narrative.property.{name}.answered"
        for name in (
            "persistence_ingest",
            "temporal_order",
            "arrival_order",
            "disambiguation",
            "model_independence",
            "determinism",
        )
    ),
)
"""The checks that a memory answers at all."""

EVERY_COMPARISON = (AFTER_KILL, INGEST, AHEAD, BEHIND, INDEPENDENT, AGAIN, TWIN)
"""The checks that hold two sets of answers against each other."""


class FlawedNarrative(Narrative):
    """The reference's narrative part with another servicer.

    Args:
        database: the process's own.
        servicer: the flawed one's class.
    """

    def __init__(self, database: Database, servicer: type[NarrativeServicer]) -> None:
        super().__init__(database)
        self.servicer = servicer(self.memory)


def forget_all(database: Database) -> None:
    """Empties the narrative part's tables."""
    with database.transaction() as conn:
        for namespace in _namespaces(conn):
            store.delete_namespace(conn, namespace)


def of_servicer(
    flaw: str,
    servicer: type[NarrativeServicer],
    wrong: str,
    primary_check: str,
    consequences: Sequence[str] = (),
) -> Flaw:
    """A control whose servicer is another one.

    Args:
        flaw: its name in the registry.
        servicer: the flawed one's class.
        wrong: what it does wrong, in words.
        primary_check: the narrative check, or the graded checkpoint of a case, that must catch it.
        consequences: other narrative checks that may fail, too.
    """
    return of_part(
        flaw, partial(FlawedNarrative, servicer=servicer), wrong, primary_check, consequences
    )


def of_part(
    flaw: str,
    part: Callable[[Database], Narrative],
    wrong: str,
    primary_check: str,
    consequences: Sequence[str] = (),
) -> Flaw:
    """A control whose narrative part is another one; see `of_servicer`."""
    composition = Composition(named(flaw), narrative=part)
    return Flaw(composition, wrong, primary_check, consequences=tuple(consequences))


def _namespaces(conn: sqlite3.Connection) -> Iterator[str]:
    yield from [name for (name,) in conn.execute("SELECT DISTINCT namespace FROM nar_turns")]
