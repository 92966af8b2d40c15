"""The table of flaws: what each one does wrong and which one check must catch it (DESIGN §9)."""

from collections.abc import Mapping

from services.controls import (
    durability_flaws,
    experience_flaws,
    laundering_flaws,
    lifecycle_flaws,
    review_flaws,
)
from services.controls.continuity_flaws import (
    AlwaysConfirm,
    AlwaysWait,
    ExpiredNoneExecutes,
    ForgetsReceipts,
    IgnoresLease,
    Naive,
    NaiveRecordings,
)
from services.controls.flaw import Flaw, named
from services.controls.integrity_flaws import label_trusting_records, secret_storing_records
from services.controls.null_service import answer_empty
from services.memory.process import Composition

__all__ = ["FLAWS", "Flaw"]

FLAWS: Mapping[str, Flaw] = {
    "naive": Flaw(
        Composition(named("naive"), decisions=Naive, recordings=NaiveRecordings()),
        "answers every Begin with a fresh EXECUTE",
        "unsafe_decision",
        "L, X or C: whichever the second Begin meets",
    ),
    "null": Flaw(
        Composition(named("null"), replace_registrars=answer_empty),
        "answers OK with an empty message at once",
        "malformed_answer",
        "N",
    ),
    "expired_none_executes": Flaw(
        Composition(named("expired_none_executes"), decisions=ExpiredNoneExecutes),
        "EXECUTE after an expired lease, capability none",
        "unsafe_decision",
        "X, none",
    ),
    "ignores_lease": Flaw(
        Composition(named("ignores_lease"), decisions=IgnoresLease),
        "EXECUTE while another attempt's lease is live",
        "unsafe_decision",
        "L",
    ),
    "forgets_receipts": Flaw(
        Composition(named("forgets_receipts"), recordings=ForgetsReceipts()),
        "acknowledges receipts and keeps none",
        "needless_decision",
        "C",
    ),
    "always_confirm": Flaw(
        Composition(named("always_confirm"), decisions=AlwaysConfirm),
        "CONFIRM, whatever is asked",
        "needless_decision",
        "N",
    ),
    "always_wait": Flaw(
        Composition(named("always_wait"), decisions=AlwaysWait),
        "WAIT, whatever is asked",
        "needless_decision",
        "N",
    ),
    "trusts_label": Flaw(
        Composition(named("trusts_label"), records=label_trusting_records),
        'a caller\'s label "reviewer" or "admin" makes what it writes authoritative',
        "integrity.A.safety",
        consequences=("integrity.K.safety.label_only",),
    ),
    "stores_secrets": Flaw(
        Composition(named("stores_secrets"), records=secret_storing_records),
        "keeps secrets on every surface",
        "integrity.L.safety",
        "",
    ),
    **laundering_flaws.FLAWS,
    **experience_flaws.FLAWS,
    **lifecycle_flaws.FLAWS,
    **review_flaws.FLAWS,
    **durability_flaws.FLAWS,
}
