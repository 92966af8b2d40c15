"""Judges of `families.limits`: declared and weaker, or declared and narrower, is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import grpc

from memqual.v1 import continuity_pb2, vendor_pb2
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.probes import Probe, every, probes_of, refused_with
from orchestrator.suites.continuity.families.limits import (
    attempts_to_take,
    operations_to_bind,
    renewals_to_take,
    revisions_to_grant,
)

__all__ = ["JUDGES"]

_PREFIX = "continuity.limits"
_EXHAUSTED = refused_with(grpc.StatusCode.RESOURCE_EXHAUSTED)
_REFUSED = refused_with()
_COMPLETED = continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
_WITHIN = "within:"


def _renewal(declared: int) -> Callable[[Probe], bool]:
    def holds(probe: Probe) -> bool:
        if probe.name == "beyond":
            return _EXHAUSTED(probe)
        if probe.status_code != 0:
            # A memory that declares no renewals may take none.
            return not declared and _REFUSED(probe)
        left = continuity_pb2.RenewResponse.FromString(probe.payload).remaining_renewals
        return not declared or left == declared - int(probe.name.removeprefix(_WITHIN))

    return holds


def _renewals(trial: CaseFacts) -> None:
    limits = trial.facts.describe.limits
    wanted = [f"{_WITHIN}1"] + (["beyond"] if renewals_to_take(limits) else [])
    told = probes_of(trial.facts, trial.member.workflow_id)
    every(
        f"{_PREFIX}.renewals",
        _renewal(limits.max_renewals),
        f"{limits.max_renewals} renewals, counted down, and then RESOURCE_EXHAUSTED",
        sorted({*wanted, *(one.name for one in told)}),
    )(trial)


def _met(check: str, reached: Callable[[vendor_pb2.Limits], int | None], *names: str) -> Judge:
    """What is beyond a limit that can be met is refused; nothing is checked of one that cannot."""

    def judge(trial: CaseFacts) -> None:
        if reached(trial.facts.describe.limits) is not None:
            every(f"{_PREFIX}.{check}", _EXHAUSTED, "RESOURCE_EXHAUSTED", names)(trial)

    return judge


def _revisions(trial: CaseFacts) -> None:
    """Beyond the limit nothing is granted, where grants alone reach it; no harm is done there."""
    by_grants = revisions_to_grant(trial.facts.describe.limits) is not None

    def holds(probe: Probe) -> bool:
        if probe.name == "beyond":
            # Short of it by grants, whether one is left is the memory's own: the oracle judges.
            return not by_grants or _EXHAUSTED(probe)
        if probe.name == "receipt":
            told = continuity_pb2.RecordReceiptResponse.FromString(probe.payload)
            return probe.status_code == 0 and told.disposition == _COMPLETED
        return probe.kind == "REUSE"

    every(
        f"{_PREFIX}.revisions",
        holds,
        "RESOURCE_EXHAUSTED, then COMPLETED, then REUSE",
        ("beyond", "receipt", "read"),
    )(trial)


JUDGES: Mapping[str, Judge] = {
    "limits.renewals": _renewals,
    "limits.renewal_holder": every(
        f"{_PREFIX}.renewal_holder",
        refused_with(),
        "a refusal",
        ("forged token", "other life", "other attempt", "after its end", "complete"),
    ),
    "limits.attempts": _met("attempts", attempts_to_take, "beyond"),
    "limits.operations": _met("operations", operations_to_bind, "beyond", "beyond, one complete"),
    "limits.revisions": _revisions,
}
