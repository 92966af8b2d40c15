"""A second opinion on histories of many clients: can any memory have answered all of it in order?

The judge (`orchestrator.oracle.judge`) classifies each answer, with exact bounds on every instant.
This checker knows far less: which grants, receipts and words there were, and when a lease cannot be
over yet. It shares the reading of messages with the judge and nothing else, so the two check each
other: what this one rejects, the judge must blame, or the rig is at fault.
"""

from orchestrator.oracle.history.checker import STATES_MAX, HistoryResult, Verdict, check_history

__all__ = ["STATES_MAX", "HistoryResult", "Verdict", "check_history"]
