"""junit.xml."""

from collections.abc import Sequence
from orchestrator.evidence.manifest import Manifest
from orchestrator.model import TrialRecord


def render_junit(manifest: Manifest, trials: Sequence[TrialRecord]) -> str:
    """Render."""
    return f"<testsuites tests='{len(trials)}'/>"
