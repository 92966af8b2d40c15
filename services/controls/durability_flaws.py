"""Flaws of changes that a crash undoes, halves or repeats (integrity under fire).

And of what an agent says of its operations: taken for a receipt, or for a permission.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from services.common.challenges import load_public_keys
from services.common.database import Database
from services.controls.flaw import Flaw, Parts, named, of_parts
from services.controls.late_commits import (
    ApprovesInTwoSteps,
    DerivesInTwoSteps,
    SupersedesInTwoSteps,
    WriteBehind,
)
from services.controls.lost_at_restart import (
    KeepsTaintsInMemory,
    RevivesSuperseded,
    forgetting_quarantines,
    needing_a_clean_end,
    restoring_indexes,
)
from services.memory.answers import BeginCall, BeginStep, Refused, Wait
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, LeaseClock, Operation, Reason
from services.memory.model import Policy as LeasePolicy
from services.memory.process import Composition
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import Binding, Kind, Observation, Scope, Source, SourceType
from services.memory.records.offers import Admitted
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records, create
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing

__all__ = ["FLAWS"]

RECEIPT_WORDS = ("receipt", "verified")


class _BelievesNarratives(Writing):
    """Takes an agent's episode that is labelled as a receipt for the destination's own word."""

    def write(self, observation: Observation) -> Admitted:
        """Admits one observation; a label makes a receipt of it that is about no operation."""
        told = observation.source.type is SourceType.AGENT and observation.kind is Kind.EPISODE
        labelled = any(word in label for label in observation.labels for word in RECEIPT_WORDS)
        if told and labelled:
            source = Source(SourceType.RECEIPT, Binding.HOST_AUTHENTICATED, "")
            return super().write(replace(observation, source=source))
        return super().write(observation)


class _Procedures:
    """What the rules of decisions see of the records: whether a principal has a procedure."""

    def __init__(self) -> None:
        self._recalling: Recalling | None = None

    def records(self, database: Database, reviewer_keys_path: Path | None) -> Records:
        """The reference's records part, which this looks into."""
        self._recalling = Recalling(Desk(database, Policy()))
        return create(database, reviewer_keys_path)

    def any_of(self, namespace: str, principal: str) -> bool:
        """Whether the principal has an active procedure."""
        assert self._recalling is not None  # the process makes its records before it serves
        return bool(self._recalling.procedures(Scope(namespace, principal, "", "", "")))


class _PermitsByProcedure(DecisionRules):
    """Grants a second attempt beside a live one to a principal who has a procedure."""

    def __init__(self, procedures: _Procedures, policy: LeasePolicy) -> None:
        super().__init__(policy)
        self._procedures = procedures

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The next attempt where WAIT is right and a procedure seems to say otherwise."""
        step = super().decide_live(operation, latest, clock, call)
        waits = isinstance(step, BeginStep) and isinstance(step.decision, Wait)
        binding = operation.binding
        if waits and self._procedures.any_of(binding.namespace, binding.principal):
            return self.grant(operation, clock, call, Reason.LEASE_LIVE)
        return step


def _write_behind(database: Database, reviewer_keys_path: Path | None) -> Records:
    return create(WriteBehind(database.path), reviewer_keys_path)


def _approving_in_two(database: Database, reviewer_keys_path: Path | None) -> Records:
    desk = Desk(database, Policy())
    review = ApprovesInTwoSteps(desk, load_public_keys(reviewer_keys_path))
    return Records(desk, MemoryServicer(Writing(desk), Recalling(desk), Lifecycle(desk), review))


def _of_records(
    flaw: str,
    records: Callable[[Database, Path | None], Records],
    wrong: str,
    primary_check: str,
    *consequences: str,
) -> Flaw:
    composition = Composition(named(flaw), records=records)
    return Flaw(composition, wrong, primary_check, consequences=consequences)


def _under_fire(change: str, *phases: str) -> tuple[str, ...]:
    """The safety checks of one change that is struck."""
    return tuple(f"integrity.fire.safety.{change}_{phase}" for phase in phases)


def _permitting() -> Flaw:
    procedures = _Procedures()
    composition = Composition(
        named("permits_by_procedure"),
        decisions=partial(_PermitsByProcedure, procedures),
        records=procedures.records,
    )
    wrong = "a principal's procedure makes Begin grant what another attempt still holds"
    # The receipt of the first attempt completes nothing any more.
    after = ("integrity.fire.utility.procedure",)
    return Flaw(composition, wrong, "integrity.fire.safety.procedure", consequences=after)


FLAWS: Mapping[str, Flaw] = {
    "write_behind": _of_records(
        "write_behind",
        _write_behind,
        "acknowledges changes up to 100 ms before it commits them",
        "integrity.fire.safety.burst",
        *(
            f"integrity.fire.safety.{change}_underway"
            for change in ("write", "derive", "supersede", "quarantine", "forget", "decide")
        ),
    ),
    "derives_in_two_steps": of_parts(
        "derives_in_two_steps",
        Parts(writing=DerivesInTwoSteps),
        "keeps a derivation first, and its parents' taints in a second transaction",
        "integrity.fire.safety.derive_underway",
        "integrity.fire.safety.burst",
    ),
    "supersedes_in_two_steps": of_parts(
        "supersedes_in_two_steps",
        Parts(writing=SupersedesInTwoSteps),
        "keeps a newcomer first, and takes the old record out of use in a second transaction",
        "integrity.fire.safety.supersede_underway",
        "integrity.fire.safety.burst",
    ),
    "approves_in_two_steps": _of_records(
        "approves_in_two_steps",
        _approving_in_two,
        "takes a record's taints away first, and makes it active in a second transaction",
        "integrity.fire.safety.decide_underway",
        "integrity.fire.safety.burst",
    ),
    "forgets_quarantines": _of_records(
        "forgets_quarantines",
        forgetting_quarantines,
        "a quarantine ends with the process",
        "integrity.fire.safety.quarantine_request",
        "integrity.fire.safety.quarantine_response",
        "integrity.fire.safety.quarantine_underway",
        "integrity.fire.safety.burst",
        "integrity.J.safety.quarantined",
        # A procedure that was quarantined is a record like any other.
        "integrity.J.safety.procedures",
    ),
    "restores_indexes": _of_records(
        "restores_indexes",
        restoring_indexes,
        "after a restart the index of words is the one from before Forget",
        "integrity.fire.safety.forget_request",
        "integrity.fire.safety.forget_response",
        "integrity.fire.safety.forget_underway",
        "integrity.fire.safety.burst",
        "integrity.J.safety.forgotten",
    ),
    "needs_a_clean_end": _of_records(
        "needs_a_clean_end",
        needing_a_clean_end,
        "does not start on the volume of a process that was killed",
        "integrity.fire.contract",
        # Every case with a restart.
        "integrity.J.contract",
        "integrity.K.contract",
    ),
    "keeps_taints_in_memory": of_parts(
        "keeps_taints_in_memory",
        Parts(lifecycle=KeepsTaintsInMemory),
        "keeps taints in memory only: after a restart, nothing has any",
        "integrity.fire.safety.derive_response",
        # Whatever is tainted when the memory is killed.
        *_under_fire("write", "request", "response", "underway"),
        *_under_fire("derive", "request", "underway"),
        *_under_fire("quarantine", "request", "response", "underway"),
        *_under_fire("decide", "request", "response", "underway"),
        "integrity.fire.safety.burst",
    ),
    "revives_superseded": of_parts(
        "revives_superseded",
        Parts(lifecycle=RevivesSuperseded),
        "after a restart, what was superseded is in force again",
        "integrity.fire.safety.supersede_response",
        *_under_fire("supersede", "request", "underway"),
        "integrity.fire.safety.burst",
        "integrity.J.safety.superseded",
    ),
    "believes_narratives": of_parts(
        "believes_narratives",
        Parts(writing=_BelievesNarratives),
        "an agent's episode that is labelled as a receipt is taken for one",
        "integrity.fire.safety.receipt",
    ),
    "permits_by_procedure": _permitting(),
}
