"""Why a view cannot be judged.

OracleError            (an EvidenceError: the evidence, not the vendor, is at fault)
├── ViewError         the trace lacks, or contradicts, what a view is made of
└── OracleLimitError  more possible worlds than the bound: the history is too ambiguous to judge
"""

from orchestrator.errors import EvidenceError

__all__ = ["OracleError", "OracleLimitError", "ViewError"]


class OracleError(EvidenceError):
    """A view cannot be judged; a trial that raises it ends as ERROR, never as FAIL."""

    def __init__(self, diagnosis: str) -> None:
        super().__init__(
            diagnosis,
            next_step="Look at the trial's trace; replay the trial when the trace was cut short.",
        )


class ViewError(OracleError):
    """The trace does not hold what a view is made of, or contradicts itself."""


class OracleLimitError(OracleError):
    """A history leaves open more worlds than the bound allows to follow."""
