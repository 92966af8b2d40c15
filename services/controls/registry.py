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
from services.controls.integrity_flaws import label_trusting_records, secret_storing_records
from services.controls.null_service import answer_empty
from services.memory.process import Composition

__all__ = ["FLAWS", "Flaw"]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One memory that is wrong on purpose.

    Attributes:
        composition: the reference with one part replaced.
        wrong: what it does wrong, in words.
        primary_check: the one check that must catch it: the oracle's `unsafe_decision`,
            `needless_decision` or `malformed_answer`, or an integrity check by its id.
        row: row of DESIGN §6 that is broken first; empty for records.
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
    "trusts_label": Flaw(
        Composition(_named("trusts_label"), records=label_trusting_records),
        'a caller\'s label "reviewer" or "admin" makes what it writes authoritative',
        "integrity.A.safety",
        "",
    ),
    "stores_secrets": Flaw(
        Composition(_named("stores_secrets"), records=secret_storing_records),
        "keeps secrets on every surface",
        "integrity.L.safety",
        "",
    ),
}
