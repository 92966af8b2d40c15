"""Limits: one thing is done as often as the memory declares that it can be, and once more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from memqual.v1 import common_pb2, continuity_pb2, vendor_pb2
from orchestrator.suites.continuity.families.limits import (
    attempts_to_take,
    operations_to_bind,
    renewals_to_take,
    revisions_to_make,
)
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.specs import receipt_for

__all__ = ["LIMITS", "LONG_LIMITS", "Worn", "wear_out"]

_QUESTIONS_MAX = 120
_AT_ONCE = 6


class Worn(Protocol):
    """The workflow whose limits are met."""

    @property
    def limits(self) -> vendor_pb2.Limits:
        """What the memory declares."""

    def host(self, name: str) -> Incarnation:
        """A life of a host of the workflow's own."""

    def operation(self, number: int) -> continuity_pb2.OperationSpec:
        """The workflow's operation of that number; 0: the lane's own."""

    def ask(self, host: Incarnation) -> continuity_pb2.Decision | None:
        """Ask about the lane's own operation; what is granted is kept as of any other agent."""

    def renew(self) -> bool:
        """Ask for more time under the latest grant; whether it was given."""

    def say(self, word: str) -> None:
        """An operator's word."""


def wear_out(lane: Worn, limit: str) -> None:
    """Meet a limit; one that is not declared, or that takes too long to meet, is left alone."""
    LIMITS[limit or "renewals"](lane)


def _renewals(lane: Worn) -> None:
    most = renewals_to_take(lane.limits)
    for _ in range((most or 0) + 1):
        if not lane.renew():
            return


def _questions(lane: Worn) -> None:
    """Each time the destination is asked, nobody can tell."""
    most = min(lane.limits.max_uncertain_queries, _QUESTIONS_MAX)
    for number in range(most + 1):
        host = lane.host(f"q{number}")
        decision = lane.ask(host)
        if decision is None or not decision.HasField("query"):
            return
        told = decision.query
        uncertain = common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
        host.record_query(lane.operation(0), told.attempt, told.query_ticket, uncertain)


def _attempts(lane: Worn) -> None:
    """After each one an operator says that nothing happened, so that the next is owed."""
    most = attempts_to_take(lane.limits)
    for number in range(0 if most is None else most + 1):
        decision = lane.ask(lane.host(f"a{number}"))
        if decision is None or not decision.HasField("execute"):
            return
        lane.say("did_not_happen")


def _operations(lane: Worn) -> None:
    most = operations_to_bind(lane.limits)
    for number in range(0 if most is None else most + 1):
        if lane.host("many").begin(lane.operation(number)).answer is None:
            return


def _revisions(lane: Worn) -> None:
    """Challenges that nobody answers revise an operation; what completes it is taken all the same.

    An operation of its own: of one that is full a memory may refuse what anybody else asks.
    """
    most = revisions_to_make(lane.limits) or 0
    host, spec = lane.host("full"), lane.operation(1)
    decision = host.begin(spec).answer if most else None
    if decision is None or not decision.HasField("execute"):
        return

    def ask(_: int) -> None:
        host.request_resolve(spec)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(ask, range(most)))
    told = decision.execute
    host.record(spec, told.attempt, told.lease_token, receipt_for(spec, told.attempt))
    lane.host("reader").begin(spec)


LIMITS: Mapping[str, Callable[[Worn], None]] = {
    "renewals": _renewals,
    "questions": _questions,
    "attempts": _attempts,
    "operations": _operations,
    "revisions": _revisions,
}
LONG_LIMITS = frozenset({"attempts", "operations", "revisions"})
"""Those that hundreds of calls are needed for."""
