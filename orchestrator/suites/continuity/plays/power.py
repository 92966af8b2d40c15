"""Plays of `families.storage` in which power fails: right after each kind of acknowledgement.

What was acknowledged is asked about by a new life of a host after each loss. Only a state that
differs without the lost change shows that it was kept: an answer is told when a lease is over, and
a renewal is asked about between the end that the lease would have had and the one that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chaos.storage_receipts import PowerLossReceipt
from memqual.v1 import common_pb2
from orchestrator.model import CapabilityVariant
from orchestrator.suites.continuity.downtime import (
    await_memory,
    kill_memory,
    start_memory,
    started,
)
from orchestrator.suites.continuity.plays.asking import Held, asking, granted, label
from orchestrator.suites.continuity.plays.operator import challenge_for, say, signed_word
from orchestrator.suites.continuity.plays.volumes import acknowledge, ask_again, layer_of
from orchestrator.suites.continuity.skewing import MemoryTime
from orchestrator.suites.continuity.specs import receipt_for
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import canonical_json

__all__ = ["POWER"]

_PRESENT = common_pb2.EFFECT_PRESENCE_PRESENT
_ABSENT_FINAL = common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
_RESULT = canonical_json({"found_by": "operator"}).decode()


def _lose_power(stage: Stage) -> None:
    """Kill the memory, drop what it had not synced, and see its next life healthy."""
    layer = layer_of(stage)
    target = kill_memory(stage)
    lost = layer.lose_power()
    start_memory(stage)
    stage.keep(
        PowerLossReceipt(
            target=started(stage, target),
            dropped_writes=lost.dropped_writes,
            dropped_bytes=lost.dropped_bytes,
            dropped_names=lost.dropped_names,
            unsynced_gone=lost.unsynced_gone,
            synced_there=lost.synced_there,
        )
    )
    await_memory(stage)


def _after_grants(stage: Stage) -> None:
    """One loss for each trial, right after its last acknowledgement: a grant's, or a receipt's."""
    for number, member in enumerate(stage.batch.members):
        acknowledge(stage, member, complete=bool(number % 2))
        _lose_power(stage)
        ask_again(stage, [member])
    ask_again(stage, stage.batch.members)


def _after_renewals(stage: Stage) -> None:
    """Each lease is renewed half-way, and asked about a second after its first end."""
    for member in stage.batch.members:
        at_memory = MemoryTime(stage)
        held = granted(stage, member)
        if held is not None:
            at_memory.move(at_memory.lease_ns / 2e9)
            label(stage, member, "renewed")
            held.host.renew(held.spec, held.attempt, held.token)
        _lose_power(stage)
        if held is not None:
            at_memory.move(at_memory.lease_ns / 2e9 + 1)
        ask_again(stage, [member])
    ask_again(stage, stage.batch.members)


def _after_answers(stage: Stage) -> None:
    """The destination was asked when leases were over, and the memory was told its answer."""
    trials = [(member, granted(stage, member)) for member in stage.batch.members]
    stage.reach_lease_end()
    for number, (member, held) in enumerate(trials):
        if held is not None:
            _tell(stage, held, present=bool(number % 2))
        _lose_power(stage)
        ask_again(stage, [member])
    ask_again(stage, stage.batch.members)


def _tell(stage: Stage, held: Held, *, present: bool) -> None:
    """Answer the memory's question: PRESENT, or that nothing of the attempt will ever arrive."""
    host = asking(stage, held.member, "second")
    decision = host.begin(held.spec).answer
    if decision is None or not decision.HasField("query"):
        return
    # An absence that is not fenced is owed nothing that could be lost.
    present = present or held.member.cell.capability is not CapabilityVariant.QUERY_FENCED
    label(stage, held.member, "told")
    host.record_query(
        held.spec,
        decision.query.attempt,
        decision.query.query_ticket,
        _PRESENT if present else _ABSENT_FINAL,
        receipt_for(held.spec, decision.query.attempt) if present else None,
    )


def _after_words(stage: Stage) -> None:
    """Challenges are issued and power fails; then it fails after each word, which is said again."""
    trials = [(member, granted(stage, member)) for member in stage.batch.members]
    stage.reach_lease_end()
    asked = [
        (member, held, None if held is None else challenge_for(stage, held))
        for member, held in trials
    ]
    _lose_power(stage)
    for number, (member, held, challenge) in enumerate(asked):
        if held is None or challenge is None:
            ask_again(stage, [member])
            continue
        happened = bool(number % 2)
        word, result = ("happened", _RESULT) if happened else ("did_not_happen", "")
        signed = signed_word(stage, challenge, word, result)
        label(stage, member, "word")
        say(stage, held, signed)
        _lose_power(stage)
        label(stage, member, "used")
        say(stage, held, signed)
        ask_again(stage, [member])
    ask_again(stage, stage.batch.members)


POWER: Mapping[str, Callable[[Stage], None]] = {
    "storage.power_loss": _after_grants,
    "storage.power_loss_renewal": _after_renewals,
    "storage.power_loss_answer": _after_answers,
    "storage.power_loss_word": _after_words,
}
