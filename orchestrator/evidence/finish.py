"""Closes a bundle: what its trials amount to, the reports, the sums (DESIGN §8)."""

from __future__ import annotations

from orchestrator.evidence.claims import claims_of
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.evidence.slim import shared
from orchestrator.evidence.sums import write_sums
from orchestrator.model import RunVerdict
from orchestrator.plan import ExpectedCells
from orchestrator.report.console import print_result
from orchestrator.report.html import render_html
from orchestrator.report.junit import render_junit
from orchestrator.scoring.run import aggregate

__all__ = ["finish_bundle"]


def finish_bundle(folder: RunDirectory) -> RunVerdict:
    """Add the run up, write aggregate, claims, reports and sums, print the result.

    Raises:
        EvidenceError: The bundle cannot be read.
    """
    manifest = folder.read_model("manifest.json", Manifest)
    expected = folder.read_model("expected-cells.json", ExpectedCells)
    trials = [shared(trial) for trial in folder.trials()]
    result = aggregate(trials, expected)
    folder.write_json("aggregate.json", result)
    folder.write_json("claims.json", claims_of(manifest, result))
    folder.write_text("junit.xml", render_junit(manifest, result, trials))
    folder.write_text("report.html", render_html(manifest, result, trials))
    write_sums(folder.root)
    print_result(folder.root, manifest, result, trials)
    return result.verdict
