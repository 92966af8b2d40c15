"""Closes a bundle: what its trials amount to, the reports, the sums (DESIGN §8).

Trials are read one at a time, so that a run of any size fits in memory.
"""

from __future__ import annotations

from orchestrator.evidence.claims import claims_of
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.evidence.sums import write_sums
from orchestrator.model import RunVerdict
from orchestrator.plan import ExpectedCells
from orchestrator.report.console import ConsoleTable
from orchestrator.report.html import PageBuilder
from orchestrator.report.junit import JunitBuilder
from orchestrator.scoring.counting import CountingRecords
from orchestrator.scoring.run import Totals

__all__ = ["finish_bundle"]


def finish_bundle(folder: RunDirectory) -> RunVerdict:
    """Add the run up, write aggregate, claims, reports and sums, print the result.

    Raises:
        EvidenceError: The bundle cannot be read.
    """
    manifest = folder.read_model("manifest.json", Manifest)
    expected = folder.read_model("expected-cells.json", ExpectedCells)
    totals, page = Totals(expected), PageBuilder(manifest.run_id)
    junit, console = JunitBuilder(manifest.run_id), ConsoleTable()
    for trial in CountingRecords(expected, folder.trials):
        totals.add(trial)
        page.add(trial)
        junit.add(trial)
        console.add(trial)
    result = totals.result()
    folder.write_json("aggregate.json", result)
    folder.write_json("claims.json", claims_of(manifest, result))
    folder.write_text("junit.xml", junit.render(manifest, result))
    folder.write_text("report.html", page.render(manifest, result))
    write_sums(folder.root)
    console.print(folder.root, manifest, result)
    return result.verdict
