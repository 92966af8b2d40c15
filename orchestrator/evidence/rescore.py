"""`memqual rescore`: every verdict once more, from raw files alone (DESIGN §8).

The destination's evidence comes first: of each batch its journal, then the interposer's trace, then
what the hosts said. What rests on the vendor's own account, the integrity axis, comes last. Batches
are read one at a time, so that a run of any size fits in memory. What comes out is compared with
trials.jsonl and aggregate.json byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.errors import MemqualError
from orchestrator.evidence.bundle import Bundle
from orchestrator.evidence.comparison import aggregate_differences, record_differences
from orchestrator.evidence.examination import SHOWN_MAX
from orchestrator.evidence.kept_stories import stories_of
from orchestrator.evidence.kept_trials import KeptTrials
from orchestrator.evidence.rundir import json_bytes
from orchestrator.evidence.slim import slim
from orchestrator.evidence.sums import SUMS_FILE, check_sums
from orchestrator.model import RunVerdict, Suite, TrialRecord, Verdict
from orchestrator.plan import ExpectedCells
from orchestrator.report.text import counted, say, visible
from orchestrator.scoring.batch import score_batch
from orchestrator.scoring.run import Aggregate, aggregate
from orchestrator.suites.integrity.evidence import raw_file_name
from orchestrator.suites.integrity.score import score_job
from orchestrator.suites.narrative.score import score_narrative

__all__ = ["rescore_bundle"]

_EQUAL, _DIFFERENT = 0, RunVerdict.INVALID.exit_code
_KEPT_MAX = 1_000


@dataclass
class _Outcome:
    """What has come out so far.

    Attributes:
        recomputed: Slim records by trial id.
        equal: Trials whose record came out byte for byte.
        differences: In words; at most _KEPT_MAX are kept.
        difference_count: All of them.
        not_recomputable: Trials of which there is no evidence to recompute them from.
    """

    recomputed: dict[str, TrialRecord] = field(default_factory=dict)
    equal: int = 0
    differences: list[str] = field(default_factory=list)
    difference_count: int = 0
    not_recomputable: list[str] = field(default_factory=list)

    def differ(self, text: str) -> None:
        """Note a difference."""
        self.difference_count += 1
        if len(self.differences) < _KEPT_MAX:
            self.differences.append(text)


def rescore_bundle(path: Path) -> int:
    """Recompute a bundle's verdicts, compare, and print what differs.

    Args:
        path: Run folder.

    Returns:
        0 when every record that counts and the aggregate came out byte for byte, 3 otherwise. A
        trial that cannot be recomputed is never equal.

    Raises:
        RunDirectoryError: There is no such folder.
        EvidenceError: trials.jsonl or expected-cells.json cannot be read.
    """
    bundle = Bundle(path)
    say(f"Bundle {visible(path.name)}")
    outcome = _Outcome()
    _tell_sums(bundle, outcome)
    expected = bundle.model("expected-cells.json", ExpectedCells)
    with KeptTrials(bundle) as kept:
        _rescore(
            outcome,
            kept,
            [f"batches/{batch_id}.json" for batch_id in bundle.batch_ids()],
            lambda name: _score_batch(bundle, name),
            "destination's journals and interposer's traces",
        )
        _rescore(
            outcome,
            kept,
            [raw_file_name(job_id) for job_id in bundle.ids("integrity", ".jsonl")],
            lambda name: score_job(bundle.lines(name)),
            "vendor's own account (integrity)",
        )
        _rescore_stories(bundle, outcome, kept)
        left = _sort_out_the_rest(outcome, kept)
        records = [*kept.superseded, *outcome.recomputed.values(), *left]
        result = _add_up(bundle, outcome, records, expected)
    return _conclude(outcome, result)


def _rescore_stories(bundle: Bundle, outcome: _Outcome, kept: KeptTrials) -> None:
    """The narrative axis, where the run has one."""
    suite = Suite.NARRATIVE
    names = [raw_file_name(job_id, suite) for job_id in bundle.ids(suite.value, ".jsonl")]
    if not names:
        return
    corpus = stories_of(bundle)
    _rescore(
        outcome,
        kept,
        names,
        lambda name: score_narrative(bundle.lines(name), corpus),
        "what was told and asked (narrative)",
    )


def _score_batch(bundle: Bundle, name: str) -> Sequence[TrialRecord]:
    """One batch, its journal read before anything else of it."""
    batch_id = Path(name).stem
    journal = list(bundle.journal(batch_id))
    trace = list(bundle.trace(batch_id))
    return score_batch(bundle.batch(batch_id), trace, journal)


def _rescore(
    outcome: _Outcome,
    kept: KeptTrials,
    names: Sequence[str],
    score: Callable[[str], Iterable[TrialRecord]],
    what: str,
) -> None:
    """Recompute the trials of each file and compare them with what was kept."""
    trials = 0
    equal_before = outcome.equal
    for name in names:
        try:
            records = list(score(name))
        except MemqualError as error:
            outcome.differ(f"{name}: cannot be scored: {error.diagnosis}")
            continue
        except Exception as error:
            # A bundle can hold anything; whatever it makes a score raise is no verdict.
            outcome.differ(f"{name}: cannot be scored: {type(error).__name__}: {error}")
            continue
        for record in records:
            trials += 1
            _compare(outcome, kept, name, record)
    equal = outcome.equal - equal_before
    files = counted(len(names), "file")
    say(f"{what}: {equal} of {counted(trials, 'trial')} in {files} came out byte for byte")


def _compare(outcome: _Outcome, kept: KeptTrials, name: str, record: TrialRecord) -> None:
    if record.trial_id in outcome.recomputed:
        outcome.differ(f"{record.trial_id}: {name} holds it, as another file does")
        return
    outcome.recomputed[record.trial_id] = slim(record)
    text = kept.last_text(record.trial_id)
    if text is None:
        outcome.differ(f"{record.trial_id}: {name} holds it, trials.jsonl does not")
    elif text == record.model_dump_json():
        outcome.equal += 1
    else:
        told = record_differences(TrialRecord.model_validate_json(text), record)
        outcome.differ(f"{record.trial_id}: {told}")


def _sort_out_the_rest(outcome: _Outcome, kept: KeptTrials) -> list[TrialRecord]:
    """Trials that no raw file holds; returns their kept records."""
    left = []
    for trial_id in kept.trial_ids():
        if trial_id in outcome.recomputed:
            continue
        record = kept.last(trial_id)
        left.append(slim(record))
        excused = record.verdict is Verdict.ERROR and record.error_kind == "infrastructure"
        if excused:
            outcome.not_recomputable.append(f"{trial_id}: {record.cause}")
        else:
            outcome.differ(f"{trial_id}: is {record.verdict.value}, and no raw file holds it")
    # A FAIL counts whatever comes after it (DESIGN §7), and its evidence was replaced.
    outcome.not_recomputable += [
        f"{record.trial_id}: a FAIL that counts; the trial was run again, which replaced its "
        "evidence"
        for record in kept.superseded
        if record.verdict is Verdict.FAIL
    ]
    replaced = sum(record.verdict is not Verdict.FAIL for record in kept.superseded)
    if replaced:
        say(
            f"note: {counted(replaced, 'earlier record')} of trials that were run again: their "
            "evidence was replaced and they do not count"
        )
    return left


def _add_up(
    bundle: Bundle, outcome: _Outcome, records: Sequence[TrialRecord], expected: ExpectedCells
) -> Aggregate | None:
    """Compute the aggregate of what came out, and compare it; None when there can be none."""
    try:
        result = aggregate(records, expected)
        data = bundle.document("aggregate.json")
    except MemqualError as error:
        outcome.differ(error.diagnosis)
        return None
    except ValueError as error:
        # Subjects or cells that no run of this version has.
        outcome.differ(f"the trials cannot be added up: {error}")
        return None
    if data == json_bytes(result):
        say("aggregate.json: came out byte for byte")
    else:
        say("aggregate.json: differs")
        outcome.differ(f"aggregate.json: {aggregate_differences(data, result)}")
    return result


def _tell_sums(bundle: Bundle, outcome: _Outcome) -> None:
    """An altered bundle is recomputed all the same, to show what was altered in it."""
    if not bundle.has(SUMS_FILE):
        outcome.differ(f"{SUMS_FILE} is missing: the run did not end, or the bundle is not whole")
        return
    try:
        for problem in check_sums(bundle.root):
            outcome.differ(f"{SUMS_FILE}: {problem}")
    except OSError as error:
        outcome.differ(f"{SUMS_FILE}: a file cannot be read: {error}")


def _conclude(outcome: _Outcome, result: Aggregate | None) -> int:
    _print_list("not recomputable, and so never equal", outcome.not_recomputable)
    _print_list("differences", outcome.differences, outcome.difference_count)
    if outcome.difference_count or outcome.not_recomputable or result is None:
        say(
            f"NOT EQUAL: {counted(outcome.difference_count, 'difference')}, "
            f"{len(outcome.not_recomputable)} not recomputable. "
            f"Recomputed verdict: {'none' if result is None else result.verdict.value}."
        )
        say(
            "Next step: `memqual verify` names what was altered; another version's rules are at "
            "the commit in manifest.json."
        )
        return _DIFFERENT
    say(f"EQUAL: {counted(outcome.equal, 'trial')} and the aggregate: {result.verdict.value}.")
    return _EQUAL


def _print_list(title: str, lines: Sequence[str], count: int | None = None) -> None:
    total = len(lines) if count is None else count
    if not total:
        return
    say(f"{title} ({total}):")
    for line in lines[:SHOWN_MAX]:
        say(f"  {visible(line, 1_000)}")
    if total > SHOWN_MAX:
        say(f"  … and {total - SHOWN_MAX} more")
