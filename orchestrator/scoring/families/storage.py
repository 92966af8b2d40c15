"""Judges of `families.storage`.

The oracle judges every answer; these make sure that what was acknowledged was asked about again
after the fault, and take a refusal of a damaged volume for what it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from google.protobuf.message import DecodeError

from memqual.v1 import continuity_pb2, interposer_pb2
from orchestrator.oracle.worlds import Row
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.probes import Probe, every, probes_of, refused_with

__all__ = ["JUDGES"]

_REFUSED_MARK = "refused_volume"
_SECOND_MS = 1_000


@dataclass(frozen=True)
class _Refusal:
    """A start that refused a changed volume.

    Attributes:
        exit_code: What the memory ended with.
        at_ns: When its end was seen, on the interposer's clock.
    """

    exit_code: int
    at_ns: int


def _asked_again(trial: CaseFacts) -> None:
    """The trial's operation was asked about after the fault, or the memory refused its volume."""
    refusals = _refusals(trial)
    trial.find.rig(
        "rig.rows",
        "MQ-C-10",
        bool(_asked_after(trial)) or bool(refusals),
        "asked about again after the fault",
        "never asked about again",
    )
    if refusals:
        trial.find.that(
            "continuity.storage.refusal",
            trial.case.requirement_id,
            all(one.exit_code != 0 for one in refusals),
            "a refused volume is told by an exit code",
            "the memory ended with exit code 0",
        )
    _tell_loss(trial, refusals)


def _tell_loss(trial: CaseFacts, refusals: list[_Refusal]) -> None:
    """A refusal is honest, and what the volume held is lost with it: a reader is to know both."""
    granted_ns = min((call.forwarded_ns for call in trial.calls), default=None)
    for one in refusals:
        if granted_ns is not None and granted_ns < one.at_ns:
            trial.findings.append(
                f"refused_volume: the memory refused its volume (exit code {one.exit_code}), "
                "and all that it had acknowledged is lost with it"
            )
            return


def _renewed(trial: CaseFacts) -> None:
    """It was asked about after the end that the lease would have had, and before the renewed one.

    A memory that renews for less than a whole lease, or not at all, promised no such time.
    """
    _asked_again(trial)
    told = [one for one in probes_of(trial.facts, _id(trial)) if one.name == "renewed"]
    lease_ms = trial.facts.describe.limits.lease_seconds * 1_000
    if not told or _renewed_ms(told[0]) < lease_ms - _SECOND_MS or not trial.proven:
        return
    asked = [call for one in trial.judgements for call in one.decisions][1:2]
    trial.find.rig(
        "rig.clock",
        "MQ-C-10",
        any(Row.LEASE_LIVE in call.rows or call.violates for call in asked),
        "asked while the renewed lease was live, and its first end was over",
        "asked when the renewed lease was over, too",
    )


def _renewed_ms(probe: Probe) -> int:
    """Time that a renewal promised; 0 where it was refused, or nobody can read its answer."""
    if probe.status_code != 0:
        return 0
    try:
        return continuity_pb2.RenewResponse.FromString(probe.payload).remaining_lease_ms
    except DecodeError:
        return 0


_REFUSED = refused_with()
_word_kept = every(
    "continuity.storage.word",
    lambda probe: probe.status_code == 0 if probe.name == "word" else _REFUSED(probe),
    "challenge, word and its use outlive a loss of power",
    ("word", "used"),
)


def _word(trial: CaseFacts) -> None:
    """A word that power took would be taken twice: nobody would know that it was said."""
    _asked_again(trial)
    _word_kept(trial)


def _asked_after(trial: CaseFacts) -> list[Probe]:
    probes = probes_of(trial.facts, _id(trial))
    return [probe for probe in probes if probe.name.startswith("again")]


def _id(trial: CaseFacts) -> str:
    return trial.member.workflow_id


def _refusals(trial: CaseFacts) -> list[_Refusal]:
    """Starts that refused a changed volume, in order."""
    found = []
    for record in trial.facts.trace:
        if record.kind == interposer_pb2.TRACE_KIND_MARK:
            mark = json.loads(record.mark_json)
            if mark.get("kind") == _REFUSED_MARK:
                found.append(_Refusal(int(mark["exit_code"]), record.monotonic_ns))
    return found


_NAMES = (
    "power_loss",
    "power_loss_answer",
    "first_start_storm",
    "recovery_storm",
    "full_volume",
    "rolled_back",
    "torn_write",
)
JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        **{f"storage.{name}": _asked_again for name in _NAMES},
        "storage.power_loss_renewal": _renewed,
        "storage.power_loss_word": _word,
    }
)
