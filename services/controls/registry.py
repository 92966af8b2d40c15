"""The table of flaws: what each one does wrong and which one check must catch it (DESIGN §9)."""

from collections.abc import Mapping

from services.controls import (
    clock_flaws,
    concurrency_flaws,
    durability_flaws,
    experience_flaws,
    identity_flaws,
    laundering_flaws,
    lifecycle_flaws,
    limit_flaws,
    matrix_flaws,
    narrative_flaws,
    network_flaws,
    paper_flaws,
    receipt_flaws,
    resolve_flaws,
    review_flaws,
    rollback_flaws,
    storage_flaws,
    telemetry_flaws,
    waiting_flaws,
    zombie_flaws,
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
from services.controls.rag_part import create as create_rag
from services.controls.transcript_dump import create as create_transcript_dump
from services.memory.process import Composition

__all__ = ["FLAWS", "Flaw"]

# The one case of the integrity axis that calls Begin; a flaw of Begin shows there, too.
_SAFETY_OF_BEGIN = "integrity.fire.safety.procedure"
_UTILITY_OF_BEGIN = "integrity.fire.utility.procedure"

_SECRETS = ("tokens", "private_key", "password", "card", "connection", "split", "base64")

FLAWS: Mapping[str, Flaw] = {
    "naive": Flaw(
        Composition(named("naive"), decisions=Naive, recordings=NaiveRecordings()),
        "answers every Begin with a fresh EXECUTE",
        "unsafe_decision",
        "L, X or C: whichever the second Begin meets",
        consequences=(_SAFETY_OF_BEGIN, _UTILITY_OF_BEGIN),
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
        consequences=(_SAFETY_OF_BEGIN, _UTILITY_OF_BEGIN),
    ),
    "forgets_receipts": Flaw(
        Composition(named("forgets_receipts"), recordings=ForgetsReceipts()),
        "acknowledges receipts and keeps none",
        "needless_decision",
        "C",
        consequences=(_UTILITY_OF_BEGIN,),
    ),
    "always_confirm": Flaw(
        Composition(named("always_confirm"), decisions=AlwaysConfirm),
        "CONFIRM, whatever is asked",
        "needless_decision",
        "N",
        consequences=(_UTILITY_OF_BEGIN,),
    ),
    "always_wait": Flaw(
        Composition(named("always_wait"), decisions=AlwaysWait),
        "WAIT, whatever is asked",
        "needless_decision",
        "N",
        consequences=(_UTILITY_OF_BEGIN,),
    ),
    "trusts_label": Flaw(
        Composition(named("trusts_label"), records=label_trusting_records),
        'a caller\'s label "reviewer" or "admin" makes what it writes authoritative',
        "integrity.A.safety",
        # Writing under labels is one of the ways in T.
        consequences=("integrity.K.safety.label_only", "integrity.T.safety"),
    ),
    "stores_secrets": Flaw(
        Composition(named("stores_secrets"), records=secret_storing_records),
        "keeps secrets on every surface",
        "integrity.L.safety",
        # A key of one issuer and a secret of any other kind are kept alike.
        consequences=tuple(f"integrity.S.safety.{kind}" for kind in _SECRETS),
    ),
    "rag": Flaw(
        Composition(named("rag"), narrative=create_rag),
        "tells the nearest sentences, whatever is asked and whatever has changed since",
        "narrative.level.core.cp8_strict",
    ),
    "transcript_dump": Flaw(
        Composition(named("transcript_dump"), narrative=create_transcript_dump),
        "answers with everything that the speaker said",
        "narrative.level.core.cp8_strict",
    ),
    **laundering_flaws.FLAWS,
    **experience_flaws.FLAWS,
    **lifecycle_flaws.FLAWS,
    **review_flaws.FLAWS,
    **durability_flaws.FLAWS,
    **concurrency_flaws.FLAWS,
    **clock_flaws.FLAWS,
    **zombie_flaws.FLAWS,
    **waiting_flaws.FLAWS,
    **matrix_flaws.FLAWS,
    **narrative_flaws.FLAWS,
    **network_flaws.FLAWS,
    **paper_flaws.FLAWS,
    **storage_flaws.FLAWS,
    **telemetry_flaws.FLAWS,
    **identity_flaws.FLAWS,
    **receipt_flaws.FLAWS,
    **limit_flaws.FLAWS,
    **resolve_flaws.FLAWS,
    **rollback_flaws.FLAWS,
}
