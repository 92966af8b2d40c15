"""Whether a memory takes an operator's word at all (DESIGN §4, §7).

No capability stands for it, so nothing is declared: as on the integrity axis, a method that answers
UNIMPLEMENTED is absent, and what is about it is N/R. A memory that issues a challenge once, or
takes a word once, serves them, and is judged.
"""

from __future__ import annotations

from collections.abc import Sequence

import grpc

from memqual.v1 import interposer_pb2
from orchestrator.model import NotRunSubtype
from orchestrator.plan import Member
from orchestrator.scoring.declared import NotRun
from orchestrator.suites.continuity.families import Need, case_of_cell

__all__ = ["unserved_word"]

_SERVICE = "/memqual.v1.ContinuityService/"
_CHALLENGE = f"{_SERVICE}RequestResolve"
_METHODS = frozenset({_CHALLENGE, f"{_SERVICE}Resolve"})
_OK: int = grpc.StatusCode.OK.value[0]
_UNIMPLEMENTED: int = grpc.StatusCode.UNIMPLEMENTED.value[0]


def unserved_word(member: Member, trace: Sequence[interposer_pb2.TraceRecord]) -> NotRun | None:
    """Why a trial about an operator's word has nothing to judge; None where it has.

    Args:
        member: The trial.
        trace: The interposer's records of its batch.
    """
    case = case_of_cell(member.cell)
    if case is None or Need.OPERATOR_WORD not in case.needs:
        return None
    answers = [
        record
        for record in trace
        if record.kind == interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED and record.method in _METHODS
    ]
    if any(record.status_code == _OK for record in answers):
        return None
    own = [
        record.status_code
        for record in answers
        if record.method == _CHALLENGE
        and record.metadata.get("memqual-workflow") == member.workflow_id
    ]
    if not own or set(own) != {_UNIMPLEMENTED}:
        return None
    return NotRun(
        subtype=NotRunSubtype.CAPABILITY_ABSENT,
        cause="ContinuityService.RequestResolve is not served, and no capability stands for it",
    )
