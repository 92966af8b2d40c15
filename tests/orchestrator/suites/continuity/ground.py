"""A stack of local processes on which cases of the axis are played and scored.

By hand, one case or a whole family on one memory, and what became of each trial:

    python -m tests.orchestrator.suites.continuity.ground 'identity.*' [flaw] [--docker] [-n 5]
"""

import argparse
import fnmatch
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

import pytest
from _pytest.mark import ParameterSet

from chaos.client import InterposerClient
from orchestrator.campaign.jobs import StackContext, StackProgress
from orchestrator.campaign.lane import declaration
from orchestrator.campaign.model_endpoint import lacking_endpoint
from orchestrator.campaign.schedule import control_config
from orchestrator.campaign.sink import Sink
from orchestrator.campaign.stack_variants import VariantStacks
from orchestrator.evidence.records import BatchEvidence
from orchestrator.model import CapabilityVariant, CheckOutcome, TrialRecord, Verdict
from orchestrator.plan import VENDOR, Batch, batches_for
from orchestrator.runtimes.base import Runtime, StackSpec
from orchestrator.runtimes.process_runtime import ProcessRuntime
from orchestrator.runtimes.storage import lacking_storage
from orchestrator.session import Session
from orchestrator.stacks import StackVariant
from orchestrator.suites.continuity.cells import PlannedCell, trials_of
from orchestrator.suites.continuity.families import CASES
from orchestrator.suites.continuity.job import ContinuityJob
from orchestrator.suites.continuity.paper.store import lacking_store
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import VendorConfig

SEED = 20261201


@dataclass
class KeptBatches:
    """What jobs gave to the sink, batch by batch."""

    batches: list[tuple[BatchEvidence, Sequence[str], Sequence[str]]] = field(default_factory=list)

    def batch(self, evidence: BatchEvidence, trace: Sequence[str], journal: Sequence[str]) -> None:
        self.batches.append((evidence, trace, journal))


@dataclass
class Ground:
    """A stack with one memory, and what was kept."""

    context: StackContext
    reviewer: Reviewer
    kept: KeptBatches

    def play(
        self,
        case: str,
        capability: CapabilityVariant | None = None,
        operations: int = 3,
    ) -> list[TrialRecord]:
        """Plays one case, in one capability or all of its own; returns the scored trials.

        A ground whose stack was spoiled by a case must not be used for another. As in a run, what
        could not be evaluated is played once more, where nothing failed and the stack allows it.
        """
        records: list[TrialRecord] = []
        for batch in batches_of(case, capability, operations, self.context.subject):
            found = self._run(batch)
            verdicts = {record.verdict for record in found}
            noisy = Verdict.ERROR in verdicts and Verdict.FAIL not in verdicts
            if noisy and not self.context.progress.spoiled:
                again = batches_of(case, batch.cell.capability, operations, self.context.subject)
                other = next(one for one in again if one.cell == batch.cell)
                # A batch of its own: its canaries have other names.
                name = f"{other.batch_id}x"
                found = self._run(other.model_copy(update={"batch_id": name}))
            records += found
        return records

    def _run(self, batch: Batch) -> Sequence[TrialRecord]:
        assert not self.context.progress.spoiled, self.context.progress.spoiled
        return ContinuityJob(batch, self.reviewer).run(self.context)


def batches_of(
    case: str, capability: CapabilityVariant | None, operations: int, subject: str = VENDOR
) -> tuple[Batch, ...]:
    """One batch for each cell of a case, with fewer operations than a run has."""
    cells = [
        PlannedCell(cell=cell, rows=(), kills=1, operations_per_kill=operations)
        for cell in CASES[case].cells()
        if capability in (None, cell.capability)
    ]
    assert cells, f"{case} has no cell of {capability}"
    # Another mark each time, so that no two batches of one stack share a workflow.
    mark = secrets.randbits(32)
    plans = [
        plan.model_copy(update={"sub_seed": plan.sub_seed ^ mark})
        for plan in trials_of(cells, SEED)
    ]
    return batches_for(subject, plans, join_capabilities=False)


@contextmanager
def ground(
    folder: Path,
    flaw: str = "",
    *,
    vendor: VendorConfig | None = None,
    runtime: Runtime | None = None,
    changes: Mapping[str, object] = MappingProxyType({}),
    variant: StackVariant = StackVariant.USUAL,
) -> Iterator[Ground]:
    """A whole stack; its memory is the reference, a control by its name, or a vendor's.

    Args:
        folder: For logs and keys.
        flaw: Name in services.controls.registry; empty for the reference.
        vendor: Wins over `flaw`.
        runtime: Where the stack runs; processes of this machine by default.
        changes: Further fields of StackSpec.
        variant: Kind of stack; see the case's `stack`.
    """
    reviewer = Reviewer.generate()
    keys = folder / "reviewer-keys.json"
    keys.write_text(reviewer.public_keys_json())
    run_id = f"t{secrets.token_hex(5)}"
    config = vendor or (control_config(f"control:{flaw}") if flaw else None)
    spec = StackSpec(
        run_id=run_id,
        stack_id="s0",
        folder=folder,
        vendor=config,
        reviewer_keys=keys,
        clock_skew=True,
    )
    runtime = runtime or ProcessRuntime()
    variants = VariantStacks(runtime.name)
    try:
        spec = replace(spec, **changes)  # type: ignore[arg-type]  # fields of the dataclass
        special = variants.spec(spec, variant)
        stack = runtime.start(special)
    except BaseException:
        variants.close()
        raise
    try:
        session = Session(stack.control_address, stack.control_token, run_id)
        kept = KeptBatches()
        context = StackContext(
            run_id=run_id,
            subject=f"control:{flaw}" if flaw else VENDOR,
            stack=stack,
            session=session,
            interposer=InterposerClient(session.channel, stack.control_token),
            describe=declaration(session, stack),
            progress=StackProgress(),
            skew=stack.service("memory").clock_folder is not None,
            sink=cast(Sink, kept),
            unavailable={
                **lacking_storage(stack.storage),
                **lacking_store(spec),
                **lacking_endpoint(runtime.name),
            },
        )
        try:
            yield Ground(context, reviewer, kept)
        finally:
            if context.progress.standby is not None:
                context.progress.standby.await_healthy()
            session.close()
    finally:
        stack.close()
        variants.close()


def sampled(names: Iterable[str], first: int = 2) -> list[ParameterSet]:
    """Parameters of a test that takes a stack for each: the first ones always, all of them nightly.

    Args:
        names: In the order in which they are of interest.
        first: How many are played in every run.
    """
    return [
        pytest.param(name, marks=[pytest.mark.nightly] if at >= first else [])
        for at, name in enumerate(names)
    ]


def violated(records: Sequence[TrialRecord]) -> set[str]:
    """Ids of the checks that were violated in any of the trials."""
    return {
        check.check_id
        for record in records
        for check in record.checks
        if check.outcome is CheckOutcome.VIOLATED
    }


def not_passed(records: Sequence[TrialRecord]) -> list[str]:
    """What stands in the way of PASS, in words, of each trial that did not pass."""
    return [
        f"{record.verdict.value} {record.trial_id}: {record.cause}"
        for record in records
        if record.verdict is not Verdict.PASS
    ]


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern")
    parser.add_argument("flaw", nargs="?", default="")
    parser.add_argument("-n", type=int, default=3)
    parser.add_argument("--docker", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        changes: dict[str, object] = {}
        runtime: Runtime | None = None
        if options.docker:
            from orchestrator.campaign.console import progress_for
            from orchestrator.campaign.images import images_for
            from orchestrator.runtimes.select import select_runtime

            runtime = select_runtime("docker").runtime
            config = control_config(f"control:{options.flaw}") if options.flaw else None
            changes["images"] = images_for(
                runtime, config, base_image=None, progress=progress_for(lines=True)
            )
        for case in fnmatch.filter(CASES, options.pattern):
            changes["failing_storage"] = CASES[case].stack is StackVariant.FAILING_STORAGE
            with ground(
                Path(folder),
                options.flaw,
                runtime=runtime,
                changes=changes,
                variant=CASES[case].stack,
            ) as on:
                for record in on.play(case, operations=options.n):
                    print(f"{record.verdict.value:8} {record.trial_id} {record.cause}")


if __name__ == "__main__":
    _main()
