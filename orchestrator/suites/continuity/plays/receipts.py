"""Plays of `families.receipts`: what a host may report, and what it may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.suites.continuity.families.receipts import PAUSES_MAX, QUESTIONS_MAX
from orchestrator.suites.continuity.plays.asking import (
    Held,
    asking,
    finish,
    granted,
    in_turn,
    label,
)
from orchestrator.suites.continuity.specs import receipt_for, spec_of, tool_error_receipt
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import canonical_json, sha256_hex

__all__ = ["PLAYS"]

_RESULT_BYTES = 65_536
_PRESENT = common_pb2.EFFECT_PRESENCE_PRESENT
_ABSENT_FINAL = common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
_ABSENT_UNCERTAIN = common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
_UNKNOWN = common_pb2.EFFECT_PRESENCE_UNKNOWN


def _still_held(stage: Stage, held: Held) -> None:
    """Nothing was changed and no lease was freed: others are told so."""
    asking(stage, held.member, "second").begin(held.spec)


def _forged(stage: Stage, held: Held) -> None:
    label(stage, held.member, "never given")
    replace(held, token="forged-token").record()
    label(stage, held.member, "a byte more")
    replace(held, token=held.token[:127] + "x").record()
    _still_held(stage, held)


def _other_life(stage: Stage, held: Held) -> None:
    label(stage, held.member, "other life")
    replace(held, host=asking(stage, held.member, "second")).record()
    _still_held(stage, held)


def _foreign(stage: Stage, held: Held) -> None:
    member = held.member
    other = granted(stage, member, spec=_unlike(spec_of(member, "other")), name="other")
    if other is None:
        return
    label(stage, member, "other operation's receipt")
    held.record(receipt_for(other.spec, other.attempt))
    label(stage, member, "other operation's name")
    named = receipt_for(held.spec, held.attempt)
    named.operation_id = other.spec.operation_id
    held.record(named)
    label(stage, member, "other operation's lease")
    replace(held, token=other.token).record()
    _still_held(stage, held)
    _still_held(stage, other)
    finish(stage, other)


def _unlike(spec: continuity_pb2.OperationSpec) -> continuity_pb2.OperationSpec:
    """The operation with arguments of its own, so that it is another intent, too."""
    spec.arguments_digest = sha256_hex(f"arguments of {spec.operation_id}".encode())
    spec.intent_digest = sha256_hex(f"intent of {spec.operation_id}".encode())
    return spec


def _wrong_attempt(stage: Stage, held: Held) -> None:
    label(stage, held.member, "next attempt")
    replace(held, attempt=held.attempt + 1).record()
    label(stage, held.member, "next attempt within")
    held.record(receipt_for(held.spec, held.attempt + 1))
    _still_held(stage, held)


def _other_arguments(stage: Stage, held: Held) -> None:
    wrong = receipt_for(held.spec, held.attempt)
    wrong.arguments_digest = sha256_hex(b"other")
    label(stage, held.member, "other arguments")
    held.record(wrong)
    _still_held(stage, held)


def _wrong_digest(stage: Stage, held: Held) -> None:
    wrong = receipt_for(held.spec, held.attempt)
    wrong.result_digest = sha256_hex(b"other")
    label(stage, held.member, "other digest")
    held.record(wrong)
    _still_held(stage, held)


def _sized(held: Held, size_bytes: int) -> continuity_pb2.Receipt:
    receipt = receipt_for(held.spec, held.attempt)
    frame = len(canonical_json({"value": ""}))
    receipt.result_json = canonical_json({"value": "x" * (size_bytes - frame)}).decode()
    receipt.result_digest = sha256_hex(receipt.result_json.encode())
    return receipt


def _oversize(stage: Stage, held: Held) -> None:
    label(stage, held.member, "a byte too long")
    held.record(_sized(held, _RESULT_BYTES + 1))
    _still_held(stage, held)
    held.record(_sized(held, _RESULT_BYTES))
    asking(stage, held.member, "last").begin(held.spec)


def _repeat(stage: Stage, held: Held) -> None:
    held.record()
    label(stage, held.member, "again")
    held.record()
    asking(stage, held.member, "second").begin(held.spec)
    label(stage, held.member, "once more")
    held.record()
    asking(stage, held.member, "last").begin(held.spec)


def _other_result(stage: Stage, held: Held) -> None:
    held.record()
    held.record(receipt_for(held.spec, held.attempt, "another result"))
    _ask_first_result(stage, held, "after another")
    held.record(tool_error_receipt(held.spec, held.attempt))
    _ask_first_result(stage, held, "after a refusal")
    held.record()
    _ask_first_result(stage, held, "after its own")


def _ask_first_result(stage: Stage, held: Held, name: str) -> None:
    label(stage, held.member, name)
    asking(stage, held.member, "reader").begin(held.spec)


def _tool_error(stage: Stage, held: Held) -> None:
    held.record(tool_error_receipt(held.spec, held.attempt))
    label(stage, held.member, "after a refusal")
    asking(stage, held.member, "second").begin(held.spec)


def _asked_meanwhile(stage: Stage, held: Held) -> None:
    """Another life asks after the lease's end: no question supersedes an attempt."""
    if held.spec.capability != common_pb2.EFFECT_CAPABILITY_IDEMPOTENT:
        asking(stage, held.member, "second").begin(held.spec)


def _late(stage: Stage, held: Held) -> None:
    label(stage, held.member, "late")
    finish(stage, held)


def _superseded(stage: Stage, held: Held) -> None:
    second = granted(stage, held.member, name="second")
    if second is None:
        return
    label(stage, held.member, "superseded")
    held.record()
    asking(stage, held.member, "third").begin(held.spec)
    second.record(receipt_for(held.spec, second.attempt, "of the second"))
    held.record()
    label(stage, held.member, "complete")
    asking(stage, held.member, "last").begin(held.spec)


def _question(stage: Stage, held: Held, name: str = "asker") -> continuity_pb2.Query | None:
    """What the memory wants to know of the destination; None where it asks nothing."""
    decision = asking(stage, held.member, name).begin(held.spec).answer
    return decision.query if decision is not None and decision.HasField("query") else None


def _question_after_pauses(stage: Stage, held: Held) -> continuity_pb2.Query | None:
    """As `_question`; a memory that puts its asker off is asked again when that time is over."""
    for _ in range(PAUSES_MAX):
        decision = asking(stage, held.member, "asker").begin(held.spec).answer
        if decision is None or not decision.HasField("wait"):
            break
        stage.pauses.let_pass(decision.wait.remaining_ms / 1_000)
    return decision.query if decision is not None and decision.HasField("query") else None


def _tell(
    stage: Stage,
    held: Held,
    query: continuity_pb2.Query,
    presence: common_pb2.EffectPresence.ValueType,
    receipt: continuity_pb2.Receipt | None = None,
) -> None:
    asker = asking(stage, held.member, "asker")
    asker.record_query(held.spec, query.attempt, query.query_ticket, presence, receipt)


def _complete_by_query(stage: Stage, held: Held, query: continuity_pb2.Query) -> None:
    _tell(stage, held, query, _PRESENT, receipt_for(held.spec, query.attempt))
    asking(stage, held.member, "last").begin(held.spec)


def _wrong_ticket(stage: Stage, held: Held) -> None:
    query = _question(stage, held)
    if query is None:
        return
    wrong = continuity_pb2.Query(attempt=query.attempt, query_ticket="forged-ticket")
    for name, presence in (("absent", _ABSENT_FINAL), ("uncertain", _ABSENT_UNCERTAIN)):
        label(stage, held.member, name)
        _tell(stage, held, wrong, presence)
    label(stage, held.member, "present")
    _tell(stage, held, wrong, _PRESENT, receipt_for(held.spec, query.attempt))
    label(stage, held.member, "lease token")
    lease = continuity_pb2.Query(attempt=query.attempt, query_ticket=held.token)
    _tell(stage, held, lease, _ABSENT_FINAL)
    _complete_by_query(stage, held, _question(stage, held) or query)


def _query_attempt(stage: Stage, held: Held) -> None:
    query = _question(stage, held)
    if query is None:
        return
    ahead = continuity_pb2.Query(attempt=query.attempt + 1, query_ticket=query.query_ticket)
    label(stage, held.member, "absent")
    _tell(stage, held, ahead, _ABSENT_FINAL)
    label(stage, held.member, "present")
    _tell(stage, held, ahead, _PRESENT, receipt_for(held.spec, ahead.attempt))
    _complete_by_query(stage, held, _question(stage, held) or query)


def _query_foreign(stage: Stage, held: Held) -> None:
    query = _question(stage, held)
    if query is None:
        return
    other = _unlike(spec_of(held.member, "other"))
    label(stage, held.member, "other operation's receipt")
    _tell(stage, held, query, _PRESENT, receipt_for(other, query.attempt))
    wrong = receipt_for(held.spec, query.attempt)
    wrong.arguments_digest = sha256_hex(b"other")
    # A memory that has an open question may ask no other: then this one still wants its answer.
    again = _question(stage, held) or query
    label(stage, held.member, "other arguments")
    _tell(stage, held, again, _PRESENT, wrong)
    _complete_by_query(stage, held, _question(stage, held) or again)


def _unknown(stage: Stage, held: Held) -> None:
    query = _question(stage, held)
    for _ in range(3):
        if query is None:
            return
        _tell(stage, held, query, _UNKNOWN)
        label(stage, held.member, "after unknown")
        query = _question(stage, held)
    if query is not None:
        _complete_by_query(stage, held, query)


def _present(stage: Stage, held: Held) -> None:
    query = _question(stage, held)
    if query is None:
        return
    _tell(stage, held, query, _ABSENT_UNCERTAIN)
    label(stage, held.member, "after uncertain")
    again = _question(stage, held)
    if again is not None:
        _complete_by_query(stage, held, again)
        label(stage, held.member, "complete")
        asking(stage, held.member, "reader").begin(held.spec)


def _old_absence(stage: Stage) -> None:
    """Two attempts; then the answer about the first one comes once more."""
    trials = [granted(stage, member) for member in stage.batch.members]
    stage.reach_lease_end()
    old: list[tuple[Held, continuity_pb2.Query]] = []
    for held in trials:
        query = None if held is None else _question(stage, held)
        if held is None or query is None:
            continue
        _tell(stage, held, query, _ABSENT_FINAL)
        second = granted(stage, held.member, name="second")
        if second is None:
            continue
        label(stage, held.member, "while the second lives")
        _tell(stage, second, query, _ABSENT_FINAL)
        old.append((second, query))
    stage.reach_lease_end()
    for second, query in old:
        label(stage, second.member, "after the second's lease")
        _tell(stage, second, query, _ABSENT_FINAL)
        last = _question(stage, second)
        if last is not None:
            _complete_by_query(stage, second, last)


def _uncertain(stage: Stage, held: Held) -> None:
    for _ in range(QUESTIONS_MAX):
        query = _question_after_pauses(stage, held)
        if query is None:
            break
        _tell(stage, held, query, _ABSENT_UNCERTAIN)
    label(stage, held.member, "in the end")
    asking(stage, held.member, "reader").begin(held.spec)
    # The attempt is not superseded: what its holder knows still counts.
    finish(stage, held)


def _live(part: Callable[[Stage, Held], None]) -> Callable[[Stage], None]:
    return in_turn(part, finish)


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "receipts.forged": _live(_forged),
    "receipts.other_life": _live(_other_life),
    "receipts.foreign": _live(_foreign),
    "receipts.wrong_attempt": _live(_wrong_attempt),
    "receipts.other_arguments": _live(_other_arguments),
    "receipts.wrong_digest": _live(_wrong_digest),
    "receipts.oversize": in_turn(_oversize),
    "receipts.repeat": in_turn(_repeat),
    "receipts.other_result": in_turn(_other_result),
    "receipts.tool_error": in_turn(_tool_error),
    "receipts.late": in_turn(None, _asked_meanwhile, _late),
    "receipts.superseded": in_turn(None, _superseded),
    "receipts.wrong_ticket": in_turn(None, _wrong_ticket),
    "receipts.query_attempt": in_turn(None, _query_attempt),
    "receipts.query_foreign": in_turn(None, _query_foreign),
    "receipts.unknown": in_turn(None, _unknown),
    "receipts.old_absence": _old_absence,
    "receipts.present": in_turn(None, _present),
    "receipts.uncertain": in_turn(None, _uncertain),
}
