"""What every fault receipt has (`chaos.receipts`)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["FaultReceipt", "FrozenModel"]


class FrozenModel(BaseModel):
    """Immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FaultReceipt(FrozenModel):
    """What every receipt has.

    Attributes:
        operations_before: operations that succeeded before the fault; None: not counted yet.
        operations_after: operations that succeeded after it; None: not counted yet.
    """

    operations_before: int | None = Field(default=None, ge=0)
    operations_after: int | None = Field(default=None, ge=0)

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking; empty: the fault happened as declared."""
        lacking = []
        if not self.operations_before:
            lacking.append("operations_before: no operation was seen to succeed before the fault")
        if not self.operations_after:
            lacking.append("operations_after: no operation was seen to succeed after the fault")
        return lacking
