"""The table of flaws: what each one does wrong and which one check must catch it (DESIGN §9)."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.controls.continuity_flaws import (
    AlwaysConfirm,
    AlwaysWait,
    ExpiredNoneExecutes,
    ForgetsReceipts,
    IgnoresLease,
    Naive,
    NaiveRecordings,
)
from services.controls.null_service import answer_empty
from services.memory.process import Composition

__all__ = ["FLAWS", "Flaw"]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One memory that is wrong on purpose.

    Attributes:
        composition: the reference with one part replaced.
        wrong: what it does wrong, in words.
        primary_check: class of the finding that must catch it: `unsafe_decision`,
            `needless_decision` or `malformed_answer` of the oracle.
        row: row of DESIGN §6 that is broken first.
    """

    composition: Composition
    wrong: str
    primary_check: str
    row: str


def _named(flaw: str) -> str:
    return f"memqual-control-{flaw}"


FLAWS: Mapping[str, Flaw] = {
    "naive": Flaw(
        Composition(_named("naive"), decisions=Naive, recordings=NaiveRecordings()),
        "answers every Begin with a fresh EXECUTE",
        "unsafe_decision",
        "L, X or C: whichever the second Begin meets",
    ),
    "null": Flaw(
        Composition(_named("null"), replace_registrars=answer_empty),
        "answers OK with an empty message at once",
        "malformed_answer",
        "N",
    ),
    "expired_none_executes": Flaw(
        Composition(_named("expired_none_executes"), decisions=ExpiredNoneExecutes),
        "EXECUTE after an expired lease, capability none",
        "unsafe_decision",
        "X, none",
    ),
    "ignores_lease": Flaw(
        Composition(_named("ignores_lease"), decisions=IgnoresLease),
        "EXECUTE while another attempt's lease is live",
        "unsafe_decision",
        "L",
    ),
    "forgets_receipts": Flaw(
        Composition(_named("forgets_receipts"), recordings=ForgetsReceipts()),
        "acknowledges receipts and keeps none",
        "needless_decision",
        "C",
    ),
    "always_confirm": Flaw(
        Composition(_named("always_confirm"), decisions=AlwaysConfirm),
        "CONFIRM, whatever is asked",
        "needless_decision",
        "N",
    ),
    "always_wait": Flaw(
        Composition(_named("always_wait"), decisions=AlwaysWait),
        "WAIT, whatever is asked",
        "needless_decision",
        "N",
    ),
}
