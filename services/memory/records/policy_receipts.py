"""The rules of receipts as episodes: whose word counts, and what disproves it (DESIGN §4, pure).

A receipt's authority comes from its binding and from what this memory's own continuity part knows
of the operation; an agent's account of it is the agent's claim, however it is worded or labelled.
"""

from dataclasses import replace

from services.memory.records.model import Binding, Reason, Source, SourceType
from services.memory.records.receipts import KnownOperation, Proof, proof_of

__all__ = ["ReceiptRules"]


class ReceiptRules:
    """One small rule each, for controls to override."""

    def receipt_proof(self, operation: KnownOperation | None, text: str) -> Proof:
        """What the memory's own rows say to a receipt's text."""
        return proof_of(operation, text)

    def receipt_doubt(self, source: Source, proof: Proof) -> Reason | None:
        """Why a receipt's binding does not count, or None where it does.

        The host's word stands unless this memory knows better; "verified" wants this memory's own
        proof; the caller's word never counts anyway.
        """
        if source.type is not SourceType.RECEIPT or source.binding is Binding.CALLER_ASSERTED:
            return None
        if proof is Proof.CONTRADICTED:
            return Reason.RECEIPT_CONTRADICTED
        if source.binding is Binding.VERIFIED and proof is Proof.UNKNOWN:
            return Reason.RECEIPT_NOT_PROVEN
        return None

    def believed(self, source: Source, doubt: Reason | None) -> Source:
        """The source as it counts: a doubted receipt is the caller's word only."""
        return source if doubt is None else replace(source, binding=Binding.CALLER_ASSERTED)

    def receipt_is_own_word(self, source: Source, proof: Proof) -> bool:
        """True when nobody can have put a word of his own into it: this memory has them all."""
        return source.type is SourceType.RECEIPT and proof is Proof.BOUND
