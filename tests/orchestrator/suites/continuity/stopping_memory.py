"""A memory with one flaw: a tool's refusal completes nothing, so that tasks stop at it.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

from services.common import logging, settings
from services.memory.answers import Disposition, RecordStep, Refused
from services.memory.model import Operation, Receipt, ReceiptOutcome
from services.memory.process import Composition, run
from services.memory.recordings import RecordingRules


class NoRefusals(RecordingRules):
    """Keeps a refusal as evidence only; the lease lives on."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """EVIDENCE_ONLY for a tool's refusal."""
        if receipt.outcome is ReceiptOutcome.TOOL_ERROR:
            return RecordStep(operation, Disposition.EVIDENCE_ONLY)
        return super().complete(operation, receipt)


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    run(Composition("stopping", recordings=NoRefusals()))


if __name__ == "__main__":
    settings.run(main)
