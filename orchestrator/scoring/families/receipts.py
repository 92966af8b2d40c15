"""Judges of `families.receipts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import grpc

from memqual.v1 import continuity_pb2
from orchestrator.oracle.messages import DecisionKind
from orchestrator.scoring.end_checks import waits_for_ever
from orchestrator.scoring.families.facts import CaseFacts, Judge
from orchestrator.scoring.families.probes import Probe, every, probes_of, refused_with
from orchestrator.suites.continuity.families.receipts import QUESTIONS_MAX

__all__ = ["JUDGES"]

_PREFIX = "continuity.receipts"
_REFUSED = refused_with()
_COMPLETING = frozenset(
    {
        continuity_pb2.RECEIPT_DISPOSITION_COMPLETED,
        continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED,
    }
)


def _refused(name: str, *labels: str) -> Judge:
    return every(f"{_PREFIX}.{name}", _REFUSED, "a refusal", labels)


def _malformed(name: str, *labels: str) -> Judge:
    holds = refused_with(grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED)
    return every(f"{_PREFIX}.{name}", holds, "INVALID_ARGUMENT", labels)


def _disposition(probe: Probe) -> int:
    if probe.status_code != 0:
        return continuity_pb2.RECEIPT_DISPOSITION_UNSPECIFIED
    return continuity_pb2.RecordReceiptResponse.FromString(probe.payload).disposition


def _taken(probe: Probe) -> bool:
    return _disposition(probe) in _COMPLETING


def _reuse(holds: Callable[[continuity_pb2.Receipt], bool]) -> Callable[[Probe], bool]:
    def check(probe: Probe) -> bool:
        if probe.kind != "REUSE":
            return False
        decision = continuity_pb2.BeginResponse.FromString(probe.payload).decision
        return holds(decision.reuse.receipt)

    return check


def _tells(text: str) -> Callable[[continuity_pb2.Receipt], bool]:
    """Whether a receipt is the one that `specs.receipt_for` made with this result."""
    return lambda receipt: f'"{text}"' in receipt.result_json


def _superseded(probe: Probe) -> bool:
    if probe.name == "superseded":
        return _disposition(probe) == continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
    return _reuse(_tells("of the second"))(probe)


def _is_refusal(receipt: continuity_pb2.Receipt) -> bool:
    return receipt.outcome == continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR


def _present(probe: Probe) -> bool:
    # Whether it asks once more, or leaves it to a person, after one uncertain answer, is its own.
    return probe.name != "complete" or probe.kind == "REUSE"


def _uncertain(trial: CaseFacts) -> None:
    """CONFIRM in the end; a pause before the next question is the memory's own affair.

    That CONFIRM comes within the declared number, and that no pause is longer than declared, the
    oracle says. A pause that could not pass here proves nothing.
    """
    check_id, name = f"{_PREFIX}.uncertain", "in the end"
    ends = {"CONFIRM"}
    if trial.facts.declared.max_uncertain > QUESTIONS_MAX:
        ends |= {"QUERY", "WAIT"}
    puts_off = any(
        probe.name == name and probe.kind == "WAIT"
        for probe in probes_of(trial.facts, trial.member.workflow_id)
    )
    if puts_off and "WAIT" not in ends and not _waited_for_ever(trial):
        told = "WAIT, and what it asked for could not pass here"
        trial.find.open(check_id, trial.case.requirement_id, told)
        return
    every(check_id, lambda probe: probe.kind in ends, "CONFIRM", (name,))(trial)


def _waited_for_ever(trial: CaseFacts) -> bool:
    """Whether each pause before the last WAIT had passed; what comes after that one completes."""
    decisions = [call for one in trial.judgements for call in one.decisions]
    waits = [at for at, call in enumerate(decisions) if call.kind is DecisionKind.WAIT]
    return bool(waits) and waits_for_ever(decisions[: waits[-1] + 1], trial.facts.clock)


JUDGES: Mapping[str, Judge] = {
    "receipts.forged": _refused("forged", "never given", "a byte more"),
    "receipts.other_life": _refused("other_life", "other life"),
    "receipts.foreign": _refused(
        "foreign",
        "other operation's receipt",
        "other operation's name",
        "other operation's lease",
    ),
    "receipts.wrong_attempt": _refused("wrong_attempt", "next attempt", "next attempt within"),
    "receipts.other_arguments": _refused("other_arguments", "other arguments"),
    "receipts.wrong_digest": _malformed("wrong_digest", "other digest"),
    "receipts.oversize": _malformed("oversize", "a byte too long"),
    "receipts.repeat": every(f"{_PREFIX}.repeat", _taken, "acknowledged", ("again", "once more")),
    "receipts.other_result": every(
        f"{_PREFIX}.other_result",
        _reuse(_tells("done")),
        "REUSE of the first receipt",
        ("after another", "after a refusal", "after its own"),
    ),
    "receipts.tool_error": every(
        f"{_PREFIX}.tool_error", _reuse(_is_refusal), "REUSE of the refusal", ("after a refusal",)
    ),
    "receipts.late": every(f"{_PREFIX}.late", _taken, "it completes", ("late",)),
    "receipts.superseded": every(
        f"{_PREFIX}.superseded",
        _superseded,
        "EVIDENCE_ONLY, and REUSE of the second's",
        ("superseded", "complete"),
    ),
    "receipts.wrong_ticket": _refused(
        "wrong_ticket", "absent", "uncertain", "present", "lease token"
    ),
    "receipts.query_attempt": _refused("query_attempt", "absent", "present"),
    "receipts.query_foreign": _refused(
        "query_foreign", "other operation's receipt", "other arguments"
    ),
    "receipts.unknown": every(
        f"{_PREFIX}.unknown", lambda probe: probe.kind == "QUERY", "QUERY", ("after unknown",)
    ),
    "receipts.old_absence": _refused(
        "old_absence", "while the second lives", "after the second's lease"
    ),
    "receipts.present": every(f"{_PREFIX}.present", _present, "REUSE once it is complete"),
    "receipts.uncertain": _uncertain,
}
