"""Judges of `families.identity`."""

from __future__ import annotations

from collections.abc import Mapping

import grpc

from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.probes import Probe, every, refused_with

__all__ = ["JUDGES"]

_FIELDS = (
    "arguments",
    "tool",
    "destination",
    "capability",
    "key",
    "retention",
    "principal",
    "workflow",
    "intent",
)
_CORE = ("arguments", "tool", "destination", "capability")
_PREFIX = "continuity.identity"
_MALFORMED = refused_with(grpc.StatusCode.INVALID_ARGUMENT)


def _rejected(probe: Probe) -> bool:
    return probe.kind == "REJECT"


def _bound(check: str, *names: str) -> Judge:
    return every(f"{_PREFIX}.{check}", _rejected, "REJECT", names)


def _allowed(check: str, method: str) -> Judge:
    """Every answer of one method is one that the oracle allows: the case is about nothing else."""

    def judge(trial: CaseFacts) -> None:
        asked = [call for call in trial.calls if call.method == method]
        bad = [
            f"{call.observed} at trace record {call.sequence}" for call in asked if call.violates
        ]
        trial.find.rig(
            "rig.probe", "MQ-C-10", bool(asked), f"{method} was asked", f"{method} was never asked"
        )
        trial.find.that(
            f"{_PREFIX}.{check}",
            trial.case.requirement_id,
            not bad,
            "every answer is allowed",
            "; ".join(bad),
        )

    return judge


JUDGES: Mapping[str, Judge] = {
    **{
        f"identity.other_{field}": _bound(f"other_{field}", "live", "holder", "complete")
        for field in _FIELDS
    },
    # REJECT, or what a namespace of its own owes: nothing of the first is given away.
    "identity.other_namespace": _allowed("other_namespace", "Begin"),
    "identity.after_expiry": _bound("after_expiry", *_CORE),
    "identity.after_restart": _bound("after_restart", *_CORE),
    "identity.wrong_digest": every(
        f"{_PREFIX}.wrong_digest", _MALFORMED, "INVALID_ARGUMENT", ("first", "again")
    ),
    "identity.oversize": every(
        f"{_PREFIX}.oversize",
        _MALFORMED,
        "INVALID_ARGUMENT",
        ("principal", "tool", "destination", "tool_call_id"),
    ),
    "identity.other_life": _allowed("other_life", "Begin"),
    "identity.repeat_after_expiry": _allowed("repeat_after_expiry", "Begin"),
    "identity.repeat_of_wait": _allowed("repeat_of_wait", "Begin"),
    "identity.peek": _allowed("peek", "Peek"),
}
