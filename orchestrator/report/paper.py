"""The paper's three tables, with the published values beside ours (DESIGN §10).

Each table is of one evidence class, and none is added to another. Comparator arms stand beside the
memory's and are not scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.model import Arm, TrialRecord, Verdict
from orchestrator.report.paper_values import (
    HASH_CHARACTERS,
    NOT_PUBLISHED,
    PaperRow,
    PaperTable,
    PaperValue,
    SeenTrial,
    counted,
    digests_of,
    matched,
    values_of,
    yes_or_no,
)
from orchestrator.suites.continuity.families import CASES, FamilyCase, Weight
from orchestrator.suites.continuity.families.paper_interrupted import GUARDED
from orchestrator.suites.continuity.paper.published import (
    ACCEPTANCE,
    INTERRUPTED,
    PARITY,
    PUBLISHED_REDISPATCHING_ARMS,
)

__all__ = ["PaperBuilder", "PaperTable", "is_of_study"]

_ORDER = (Arm.BASELINE, Arm.MEMORY, Arm.OBSERVER, Arm.BOTH)


class PaperBuilder:
    """Collects the study's trials, one at a time; all others are passed over."""

    def __init__(self) -> None:
        self._seen: list[SeenTrial] = []

    def add(self, trial: TrialRecord) -> None:
        """Add the record of a trial that counts."""
        if is_of_study(trial):
            self._seen.append(
                SeenTrial(
                    case=trial.cell.case,
                    arm=trial.cell.arm,
                    verdict=trial.verdict,
                    cause=trial.cause,
                    figures={one.name: one.value for one in trial.figures},
                )
            )

    def result(self) -> tuple[PaperTable, ...]:
        """The tables of what was scheduled; none without a study."""
        tables = (self._parity(), self._interrupted(), self._acceptance(), *self._others())
        return tuple(table for table in tables if table.rows)

    def _parity(self) -> PaperTable:
        name = "paper_parity.recorded"
        trials = self._of(name)
        rows = []
        for arm in _ORDER:
            of_arm = [one for one in trials if one.arm is arm]
            if not of_arm:
                continue
            published = PARITY[arm]
            of_tau2 = all(one.figures.get("task", "tau2-").startswith("tau2-") for one in of_arm)
            hash_published = published.final_hash[:HASH_CHARACTERS]
            rows.append(
                PaperRow(
                    arm.value,
                    (
                        PaperValue(f"{published.matched} of {published.requests}", matched(of_arm)),
                        PaperValue(str(published.calls), values_of(of_arm, "calls")),
                        PaperValue(str(published.operations), values_of(of_arm, "operations")),
                        PaperValue(NOT_PUBLISHED, digests_of(of_arm, "trajectory")),
                        PaperValue(NOT_PUBLISHED, digests_of(of_arm, "graph")),
                        PaperValue(
                            hash_published if of_tau2 else NOT_PUBLISHED,
                            digests_of(of_arm, "final hash"),
                        ),
                    ),
                    counted(of_arm),
                )
            )
        return PaperTable(
            _title("No-fault parity", CASES.get(name)),
            (
                "model requests matched",
                "tool calls",
                "governed operations",
                "trajectory",
                "graph",
                "final hash",
            ),
            tuple(rows),
            (*_parity_notes(trials), *self._hash_notes()),
        )

    def _hash_notes(self) -> Iterable[str]:
        """What became of the published calls alone."""
        trials = self._of("paper_parity.published_hash")
        if not trials:
            return
        told = counted(trials)
        why = next((one.cause for one in trials if one.verdict is Verdict.NOT_RUN), "")
        found = digests_of(trials, "final hash")
        yield (
            f"The published task's calls alone, without a conversation: {told}"
            + (f", final hash {found}" if found != NOT_PUBLISHED else "")
            + (f" ({why})" if why else "")
        )

    def _interrupted(self) -> PaperTable:
        rows, notes = [], []
        for name, guard in GUARDED.items():
            trials = self._of(name)
            for arm in _ORDER:
                of_arm = [one for one in trials if one.arm is arm]
                if of_arm:
                    rows.append(_interrupted_row(name, guard, arm, of_arm))
            evaluated = [one for one in trials if "new calls" in one.figures]
            if evaluated:
                again = {one.arm for one in evaluated if one.figures["new calls"] != "0"}
                published = str(PUBLISHED_REDISPATCHING_ARMS) if guard else NOT_PUBLISHED
                notes.append(
                    f"R_dispatch, {_setting(name, guard)}: arms with a new call after the restart: "
                    f"{len(again)} of {len({one.arm for one in evaluated})} (published {published})"
                )
        return PaperTable(
            _title("Interrupted exchange", CASES.get(next(iter(GUARDED)))),
            ("new calls", "new effects", "native errors", "end"),
            tuple(rows),
            tuple(notes),
        )

    def _acceptance(self) -> PaperTable:
        rows = []
        for name, published in ACCEPTANCE.items():
            trials = self._of(name)
            if not trials:
                continue
            rows.append(
                PaperRow(
                    name.partition(".")[2].replace("_", " "),
                    (
                        PaperValue(published.decisions, values_of(trials, "decisions")),
                        PaperValue("yes", yes_or_no(trials, "completed")),
                        PaperValue(str(published.effects), values_of(trials, "effects")),
                        PaperValue("1", values_of(trials, "documents")),
                        PaperValue("yes", yes_or_no(trials, "as asked")),
                    ),
                    counted(trials),
                )
            )
        return PaperTable(
            _title("Installed acceptance", CASES.get(next(iter(ACCEPTANCE)))),
            ("decisions", "completed", "effects", "documents", "same bytes"),
            tuple(rows),
            ("Our decisions name the answer that ends the operation, reuse, as well.",)
            if rows
            else (),
        )

    def _others(self) -> Iterable[PaperTable]:
        """Further cases of the study, such as a fresh model's, each in a table of its own."""
        known = {*GUARDED, *ACCEPTANCE, "paper_parity.recorded", "paper_parity.published_hash"}
        for name in dict.fromkeys(one.case for one in self._seen if one.case not in known):
            trials = self._of(name)
            figures = list(dict.fromkeys(key for one in trials for key in one.figures))
            rows = []
            for arm in _ORDER:
                of_arm = [one for one in trials if one.arm is arm]
                if of_arm:
                    values = tuple(
                        PaperValue(NOT_PUBLISHED, values_of(of_arm, key)) for key in figures
                    )
                    rows.append(PaperRow(arm.value, values, counted(of_arm)))
            causes = dict.fromkeys(one.cause for one in trials if one.cause)
            title = name.replace("paper_", "").replace(".", ": ").replace("_", " ")
            yield PaperTable(
                _title(title.capitalize(), CASES.get(name)), tuple(figures), tuple(rows), (*causes,)
            )

    def _of(self, case: str) -> list[SeenTrial]:
        return [one for one in self._seen if one.case == case]


def is_of_study(trial: TrialRecord) -> bool:
    """Whether a trial belongs to the study."""
    case = CASES.get(trial.cell.case)
    return case is not None and case.weight is Weight.PAPER


def _interrupted_row(name: str, guard: bool, arm: Arm, trials: Sequence[SeenTrial]) -> PaperRow:
    published = INTERRUPTED[arm]
    told = (published.calls, published.effects, published.errors, published.end)
    columns = ("new calls", "new effects", "native errors", "end")
    return PaperRow(
        f"{arm.value} · {_setting(name, guard)}",
        tuple(
            # Published under the tool's own precondition only.
            PaperValue(str(value) if guard else NOT_PUBLISHED, values_of(trials, column))
            for value, column in zip(told, columns, strict=True)
        ),
        counted(trials),
    )


def _setting(name: str, guard: bool) -> str:
    way = CASES[name].expiry.value
    return f"guard {'on' if guard else 'off'}, lease {way}"


def _title(title: str, case: FamilyCase | None) -> str:
    return title if case is None else f"{title} ({case.evidence_class.value})"


def _parity_notes(trials: Sequence[SeenTrial]) -> Iterable[str]:
    evaluated = [one for one in trials if "trajectory" in one.figures]
    if not evaluated:
        return
    tasks = dict.fromkeys(one.figures["task"] for one in evaluated)
    yield f"Tasks: {', '.join(tasks)}."
    if all(not task.startswith("tau2-") for task in tasks):
        yield (
            "Played on the generated store: the published hash is N/R (platform: needs the "
            "benchmark's own store)."
        )
    graphs = {one.figures["graph"] for one in evaluated}
    yield "One graph in every arm." if len(graphs) == 1 else f"{len(graphs)} different graphs."
    for task in tasks:
        of_task = [one for one in evaluated if one.figures["task"] == task]
        paths = {one.figures["trajectory"] for one in of_task}
        states = {one.figures["final hash"] for one in of_task}
        arms = len({one.arm for one in of_task})
        yield (
            f"{task}: {len(paths)} trajectory and {len(states)} final state over {arms} arms"
            f" and {len(of_task)} trials."
        )
