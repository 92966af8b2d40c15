"""What every case of a family must come to beyond the oracle, by the case's name (DESIGN §6).

Decisions are judged by the oracle, effects by the journal, in every case alike. A judge adds what
only its case can tell: mostly that the fault really met what it was meant for. A family's module
has a mapping `JUDGES`; a case without a judge is judged by oracle and journal alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orchestrator.scoring.families import (
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
    resolve,
    rollback,
    storage,
    telemetry,
    zombie,
)
from orchestrator.scoring.families.facts import CaseFacts, Judge

__all__ = ["JUDGES", "CaseFacts", "Judge"]

JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        **identity.JUDGES,
        **clock.JUDGES,
        **zombie.JUDGES,
        **concurrency.JUDGES,
        **explore.JUDGES,
        **receipts.JUDGES,
        **network.JUDGES,
        **golden.JUDGES,
        **matrix.JUDGES,
        **paper_acceptance.JUDGES,
        **paper_parity.JUDGES,
        **paper_interrupted.JUDGES,
        **storage.JUDGES,
        **bad_input.JUDGES,
        **telemetry.JUDGES,
        **limits.JUDGES,
        **resolve.JUDGES,
        **paper_pilot.JUDGES,
        **rollback.JUDGES,
    }
)
